/* assay score SPEC SUBMISSION [TRUTH]: dimensions by primitives alone, without a cell. */
#include "verbs.h"

#include "dimensions.h"
#include "fd.h"
#include "scoring.h"

#include <unistd.h>

enum { MOST_BYTES = 16 << 20, BATCH_BYTES = 256 << 10, BATCH_LINES = 2000 };

struct score_options {
        struct common_options common;
        const char *time_used, *trajectory, *started, *submitted;
        bool batch, explain;
};

struct answer {
        const char *spec;
        struct dimensions dimensions;
        struct buffer *lines; /* of a batch: results as JSON lines */
        unsigned expected;    /* lines that are still to come */
        bool failed;          /* one of them */
};

static int take_one(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct answer *a = to;

        if (type != TASK_PROBLEM)
                return dimensions_take(&a->dimensions, type, r, err);
        scoring_print_problem(r, a->spec, stderr);
        return 0;
}

/* --- one ------------------------------------------------------------------------------------ */

static int print(const struct dimensions *d, const struct score_options *o, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};

        if (o->common.json) {
                json_open_object(&w, NULL);
                json_text(&w, "schema", "assay.score/1");
                json_text(&w, "status", "graded");
                dimensions_json(d, &w);
                json_close(&w);
                buffer_add_char(&out, '\n');
        } else if (!o->common.quiet)
                dimensions_text(d, &out);
        if (!buffer_ok(&out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return fd_write_all(STDOUT_FILENO, out.data, out.len) < 0
                       ? error_errno(err, CODE_INFRA_IO, errno, "cannot write the score")
                       : 0;
}

static void put_options(struct buffer *out, const struct score_options *o)
{
        put_text(out, o->time_used ? o->time_used : "");
        put_text(out, o->started ? o->started : "");
        put_text(out, o->submitted ? o->submitted : "");
        put_u8(out, o->explain);
}

static int score_one(struct scoring *s, const struct score_options *o, struct error *err)
{
        _cleanup_buffer_ struct buffer options = BUFFER_INIT;
        struct answer a = {.spec = s->files[0].path};
        int r;

        put_options(&options, o);
        r = scoring_ask(s, HELPER_DIMENSIONS, REQUEST_SCORE, &options, take_one, &a, err);
        if (r == 0 && !a.dimensions.present)
                r = error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
        if (r == 0)
                r = print(&a.dimensions, o, err);
        if (r == 0)
                r = a.dimensions.outcome == 0 ? END_PASSED : END_NOT_PASSED;
        dimensions_free(&a.dimensions);
        return r;
}

/* --- a batch -------------------------------------------------------------------------------- */

static void add_line(struct answer *a, const struct error *why)
{
        struct json_writer w = {.out = a->lines, .compact = true};

        json_open_object(&w, NULL);
        if (why) {
                const struct code_info *code = code_info(why->code);

                json_text(&w, "status", code->ending == END_REJECTED ? "rejected" : "error");
                json_text(&w, "class", error_class_name(code->class));
                json_text(&w, "code", code->name);
                json_text(&w, "reason", why->text);
                a->failed = true;
        } else {
                json_text(&w, "status", "graded");
                dimensions_json(&a->dimensions, &w);
        }
        json_close(&w);
        buffer_add_char(a->lines, '\n');
        dimensions_free(&a->dimensions);
}

/* An answer to each line, and no more: a scorer that one of them took over must not speak for those
 * of other batches. */
static int take_line(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct answer *a = to;
        struct error why = {0};
        enum error_class class;

        if (a->expected == 0)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer gave too many answers");
        switch (type) {
        case SCORE_LINE_END:
                if (!a->dimensions.present)
                        return error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
                a->expected--;
                add_line(a, NULL);
                return 0;
        case SCORE_LINE_ERROR:
                get_error(r, &why);
                class = code_info(why.code)->class;
                if (r->bad ||
                        (class != CLASS_USAGE && class != CLASS_SUBMISSION && class != CLASS_INFRA))
                        return error_set(
                                err, CODE_INTERNAL_FRAME, "the scorer blamed the wrong party");
                a->expected--;
                add_line(a, &why);
                return 0;
        default:
                return dimensions_take(&a->dimensions, type, r, err);
        }
}

/* A file that is read by lines; one line stands for all. */
struct line_file {
        FILE *file;
        char *line;
        size_t room;
        ssize_t len;
        bool only_one;
};

static int next_line(struct line_file *f)
{
        if (f->only_one && f->len > 0)
                return 1;
        f->len = getline(&f->line, &f->room, f->file);
        return f->len > 0;
}

/* Is there one line in all? Looks ahead, and goes back. */
static int open_lines(struct line_file *f, int fd, struct error *err)
{
        int copy = dup(fd);

        f->file = copy < 0 ? NULL : fdopen(copy, "r");
        if (!f->file)
                return error_errno(err, CODE_INFRA_MEMORY, errno, "a batch");
        next_line(f);
        f->only_one = fgetc(f->file) == EOF;
        rewind(f->file);
        f->len = 0;
        return 0;
}

/* Some lines at a time. */
struct batch {
        struct line_file files[3]; /* spec, submission, truth */
        struct buffer pieces[3];
        unsigned lines;
};

static int put_piece(
        int request, enum score_document which, const char *bytes, size_t len, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        size_t at = 0;

        do {
                size_t piece = len - at < SCORE_MAX_PIECE ? len - at : SCORE_MAX_PIECE;

                put_u8(&payload, (uint8_t)which);
                put_bytes(&payload, bytes + at, piece);
                if (scorer_put(request, REQUEST_PIECE, &payload, err) < 0)
                        return -1;
                at += piece;
        } while (at < len);
        return 0;
}

/* Documents: of each file a part of its lines. */
struct part {
        const char *bytes;
        size_t len;
};

static int ask_part(struct scoring *s, const struct part parts[3], unsigned lines,
        const struct score_options *o, struct answer *a, struct error *err)
{
        _cleanup_buffer_ struct buffer options = BUFFER_INIT;
        _cleanup_fd_ int request = scorer_request(err);

        if (request < 0)
                return -1;
        put_options(&options, o);
        if (scorer_put(request, REQUEST_SCORE, &options, err) < 0)
                return -1;
        for (unsigned i = 0; i < 3; i++)
                if (parts[i].bytes && put_piece(request, s->files[i].which, parts[i].bytes,
                                              parts[i].len, err) < 0)
                        return -1;
        if (s->files[3].path &&
                (lseek(s->files[3].fd, 0, SEEK_SET) < 0 ||
                        scorer_put_document(request, s->files[3].which, s->files[3].fd,
                                s->files[3].most, CODE_SCORE_ANSWER, err) < 0))
                return -1;
        if (scorer_end_request(request, err) < 0)
                return -1;
        a->expected = lines;
        if (scorer_ask(&s->channel, HELPER_DIMENSIONS_BATCH, request, take_line, a, err) < 0)
                return -1;
        return a->expected == 0
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME, "the scorer left answers out");
}

/* Each line by itself: when one of them was too much for all. */
static int ask_one_by_one(struct scoring *s, const struct batch *b, const struct score_options *o,
        struct answer *a, struct error *err)
{
        struct part parts[3] = {{NULL, 0}};

        for (unsigned n = 0; n < b->lines; n++) {
                struct error why = {0};

                for (unsigned i = 0; i < 3; i++) {
                        const char *end = buffer_text(&b->pieces[i]) + b->pieces[i].len;
                        const char *line = parts[i].bytes && !b->files[i].only_one
                                                   ? parts[i].bytes + parts[i].len
                                                   : buffer_text(&b->pieces[i]);

                        if (!b->files[i].file)
                                continue;
                        parts[i].bytes = line;
                        parts[i].len =
                                (size_t)((const char *)memchr(line, '\n', (size_t)(end - line)) +
                                         1 - line);
                }
                if (ask_part(s, parts, 1, o, a, &why) == 0)
                        continue;
                if (why.code == CODE_INTERRUPTED) {
                        *err = why;
                        return -1;
                }
                add_line(a, &why);
        }
        return 0;
}

static int ask_batch(struct scoring *s, struct batch *b, const struct score_options *o,
        struct answer *a, struct error *err)
{
        struct part parts[3] = {{NULL, 0}};
        const bool failed = a->failed;
        int r;

        for (unsigned i = 0; i < 3; i++)
                if (b->files[i].file)
                        parts[i] = (struct part){buffer_text(&b->pieces[i]), b->pieces[i].len};
        r = ask_part(s, parts, b->lines, o, a, err);
        if (r < 0 && err->code != CODE_INTERRUPTED) {
                buffer_clear(a->lines);
                dimensions_free(&a->dimensions);
                a->failed = failed;
                r = ask_one_by_one(s, b, o, a, err);
        }
        for (unsigned i = 0; i < 3; i++)
                buffer_clear(&b->pieces[i]);
        b->lines = 0;
        return r;
}

static int add_lines(struct batch *b, struct error *err)
{
        for (unsigned i = 0; i < 3; i++) {
                struct line_file *f = &b->files[i];

                if (!f->file || (b->lines > 0 && f->only_one))
                        continue;
                buffer_add(&b->pieces[i], f->line, (size_t)f->len);
                if (f->line[f->len - 1] != '\n')
                        buffer_add_char(&b->pieces[i], '\n');
                if (!buffer_ok(&b->pieces[i]))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        b->lines++;
        return 0;
}

/* The lines of the other files that belong to the next submission. */
static int next_of_others(struct batch *b, struct error *err)
{
        for (unsigned i = 0; i < 3; i += 2)
                if (b->files[i].file && !next_line(&b->files[i]))
                        return error_set(err, CODE_USAGE, "there are more submissions than %s",
                                i == 0 ? "specs" : "truths");
        return 0;
}

/* NULL, or the file whose line is longer than a document may be. */
static const char *too_long(const struct scoring *s, const struct batch *b)
{
        for (unsigned i = 0; i < 3; i++)
                if (b->files[i].file && b->files[i].len > MOST_BYTES)
                        return s->files[i].what;
        return NULL;
}

static int print_lines(struct answer *a, const struct score_options *o, struct error *err)
{
        int r = 0;

        if (!buffer_ok(a->lines))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if ((!o->common.quiet || o->common.json) &&
                fd_write_all(STDOUT_FILENO, a->lines->data, a->lines->len) < 0)
                r = error_errno(err, CODE_INFRA_IO, errno, "cannot write the scores");
        buffer_clear(a->lines);
        return r;
}

static int flush(struct scoring *s, struct batch *b, const struct score_options *o,
        struct answer *a, struct error *err)
{
        return (b->lines > 0 && ask_batch(s, b, o, a, err) < 0) || print_lines(a, o, err) < 0 ? -1
                                                                                              : 0;
}

static int score_line(struct scoring *s, struct batch *b, const struct score_options *o,
        struct answer *a, struct error *err)
{
        const char *what = too_long(s, b);
        struct error why;

        if (what) {
                error_set(&why, CODE_SCORE_ANSWER, "%s: a line of more than %d bytes", what,
                        MOST_BYTES);
                if (flush(s, b, o, a, err) < 0)
                        return -1;
                add_line(a, &why);
                return print_lines(a, o, err);
        }
        if (add_lines(b, err) < 0)
                return -1;
        return b->lines == BATCH_LINES || b->pieces[0].len > BATCH_BYTES ||
                               b->pieces[1].len > BATCH_BYTES || b->pieces[2].len > BATCH_BYTES
                       ? flush(s, b, o, a, err)
                       : 0;
}

/* Some lines at a time: each request has a process of its own, with bounds of its own. */
static int score_lines(struct scoring *s, struct batch *b, const struct score_options *o,
        struct answer *a, struct error *err)
{
        while (next_line(&b->files[1])) {
                struct error missing;

                if (next_of_others(b, &missing) < 0) {
                        flush(s, b, o, a, err);
                        *err = missing;
                        return -1;
                }
                if (score_line(s, b, o, a, err) < 0)
                        return -1;
                if (b->files[1].only_one)
                        break;
        }
        if (flush(s, b, o, a, err) < 0)
                return -1;
        for (unsigned i = 0; i < 3; i += 2)
                if (b->files[i].file && !b->files[i].only_one && next_line(&b->files[i]))
                        return error_set(err, CODE_USAGE, "there are more %s than submissions",
                                i == 0 ? "specs" : "truths");
        return 0;
}

static int score_batch(struct scoring *s, const struct score_options *o, struct error *err)
{
        _cleanup_buffer_ struct buffer lines = BUFFER_INIT;
        struct batch b = {.lines = 0};
        struct answer a = {.spec = s->files[0].path, .lines = &lines};
        int r = 0;

        for (unsigned i = 0; i < 3; i++) {
                b.pieces[i] = (struct buffer)BUFFER_INIT;
                if (r == 0 && s->files[i].path)
                        r = open_lines(&b.files[i], s->files[i].fd, err);
        }
        if (r == 0)
                r = score_lines(s, &b, o, &a, err);
        for (unsigned i = 0; i < 3; i++) {
                if (b.files[i].file)
                        fclose(b.files[i].file);
                free(b.files[i].line);
                buffer_free(&b.pieces[i]);
        }
        dimensions_free(&a.dimensions);
        return r < 0 ? -1 : a.failed ? END_NOT_PASSED : END_PASSED;
}

/* -------------------------------------------------------------------------------------------- */

static int check_number(const char *option, const char *text, struct error *err)
{
        return !text || (scorer_is_decimal(text) && *text != '-' && strlen(text) < 35)
                       ? 0
                       : error_set(err, CODE_USAGE, "%s %.100s: not a number of seconds", option,
                                 text);
}

static int score(struct score_options *o, int count, char **paths, struct error *err)
{
        const uint64_t most = o->batch ? UINT64_MAX >> 1 : MOST_BYTES;
        struct scoring s = {
                .files =
                        {
                                {.which = DOCUMENT_SPEC,
                                        .path = paths[0],
                                        .what = "the spec",
                                        .most = most,
                                        .fd = -EBADF},
                                {.which = DOCUMENT_SUBMISSION,
                                        .path = paths[1],
                                        .what = "the submission",
                                        .most = most,
                                        .fd = -EBADF},
                                {.which = DOCUMENT_TRUTH,
                                        .path = count > 2 ? paths[2] : NULL,
                                        .what = "the truth",
                                        .most = most,
                                        .fd = -EBADF},
                                {.which = DOCUMENT_TRAJECTORY,
                                        .path = o->trajectory,
                                        .what = "the trajectory",
                                        .most = MOST_BYTES,
                                        .fd = -EBADF},
                        },
                .file_count = 4,
        };
        int r;

        if (check_number("--time-used", o->time_used, err) < 0 ||
                check_number("--started", o->started, err) < 0 ||
                check_number("--submitted", o->submitted, err) < 0)
                return -1;
        r = scoring_open(&s, err);
        if (r == 0)
                r = o->batch ? score_batch(&s, o, err) : score_one(&s, o, err);
        scoring_close(&s);
        return r;
}

int verb_score(int argc, char **argv, struct error *err)
{
        struct score_options o = {0};
        const struct option table[] = {
                {"--time-used", OPTION_TEXT, &o.time_used, "SECONDS",
                        "for dimensions that measure time"},
                {"--trajectory", OPTION_TEXT, &o.trajectory, "FILE",
                        "what the agent did, as JSON lines"},
                {"--started", OPTION_TEXT, &o.started, "SECONDS",
                        "since 1970: no call of the trajectory is earlier"},
                {"--submitted", OPTION_TEXT, &o.submitted, "SECONDS", "since 1970: none is later"},
                {"--explain", OPTION_FLAG, &o.explain, NULL, "each step of the computation"},
                {"--batch", OPTION_FLAG, &o.batch, NULL,
                        "the files are JSON lines; so is the output"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("score [OPTIONS] SPEC SUBMISSION [TRUTH]",
                        "Scores an answer by a spec of dimensions, without a cell: 0 to 1000, a "
                        "win,\n"
                        "a draw or a loss. With --batch line n of each file belongs together; a "
                        "file\n"
                        "of one line serves all.\n\n"
                        "exit status: 0 won (a batch: all graded), 1 not, 2 the spec or the "
                        "truth,\n"
                        "3 the submission",
                        table, sizeof table / sizeof *table);
        if (rest < 2 || rest > 3)
                return error_set(err, CODE_USAGE,
                        "score: needs a spec, a submission, and perhaps the truth");
        return score(&o, rest, argv, err);
}
