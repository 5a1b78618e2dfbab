/* Replaying a result; see replay.h. What is in it is read by assay-score. */
#include "replay.h"

#include "fd.h"
#include "grade_rows.h"
#include "input.h"
#include "report/report.h"
#include "text.h"

#include <sys/mman.h>
#include <unistd.h>

/* Two of them fit a request. */
enum { MOST_RESULT = SCORE_MAX_REQUEST / 2 };

/* --- what went in --------------------------------------------------------------------------- */

int replay_open(struct evaluation *e, struct error *err)
{
        const char *path = e->options->replay;

        if (!path)
                return 0;
        e->replay.file = input_open_file(path);
        return e->replay.file >= 0 ? 0 : error_errno(err, CODE_USAGE, errno, "--replay %s", path);
}

static void take_inputs(struct replay *p, struct reader *r)
{
        r->bad |= p->id != NULL;
        if (r->bad)
                return;
        p->id = scorer_text(r, SCORE_MAX_NAME);
        p->seed = scorer_text(r, SCORE_MAX_NAME);
        p->time_used = rows_take_decimal(r, scorer_is_decimal, true);
        p->llm_score = rows_take_decimal(r, scorer_is_score, true);
}

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct replay *p = to;

        if (type != STORED_INPUTS)
                return grade_take_verdict(&p->verdict, type, r, err);
        take_inputs(p, r);
        return 0;
}

int replay_read(struct evaluation *e, struct error *err)
{
        const struct evaluation_options *given = e->options;
        struct replay *p = &e->replay;
        struct error wrong = {0};
        uint64_t bytes;

        if (p->file < 0)
                return 0;
        if (input_settle(&p->file, MOST_RESULT, &bytes, err) < 0 ||
                (bytes > MOST_RESULT && error_set(err, CODE_RESULT_INVALID, "more than %d bytes",
                                                MOST_RESULT) < 0) ||
                scorer_ask(&e->channel, HELPER_STORED, p->file, take, p, err) < 0)
                return error_add(err, "--replay %s", given->replay);
        if (!p->id)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer told nothing of a result");
        p->options = *given;
        p->options.seed = p->seed;
        p->options.time_used = *p->time_used ? p->time_used : NULL;
        p->options.llm_score = *p->llm_score ? p->llm_score : NULL;
        e->options = &p->options;
        if (evaluation_check_options(e->options, &wrong) < 0)
                return error_set(err, CODE_RESULT_INVALID, "--replay %s: inputs: %s", given->replay,
                        wrong.text);
        return 0;
}

void replay_verdict(struct evaluation *e)
{
        e->verdict = e->replay.verdict;
        e->verdict.present = e->verdict.criterion_count > 0;
        e->replay.verdict = (struct verdict){0};
}

void replay_free(struct replay *r)
{
        fd_close(r->file);
        free(r->id);
        free(r->seed);
        free(r->time_used);
        free(r->llm_score);
        grade_forget_verdict(&r->verdict);
}

/* --- what came out -------------------------------------------------------------------------- */

static int take_difference(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct replay_differences *d = to;
        struct difference one;

        if (type == RESULTS_COMPARED) {
                d->count = get_u32(r);
                return 0;
        }
        if (type != RESULT_DIFFERS || d->listed == SCORE_MAX_DIFFERENCES)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        one.path = scorer_text(r, SCORE_MAX_TEXT);
        one.was = scorer_text(r, SCORE_MAX_TEXT);
        one.is = scorer_text(r, SCORE_MAX_TEXT);
        rows_append((void **)&d->list, &d->listed, &one, sizeof one, r);
        if (r->bad) {
                free(one.path);
                free(one.was);
                free(one.is);
        }
        return 0;
}

/* The new result, complete, as a file to be read. */
static int write_result(struct evaluation *e, struct error *err)
{
        _cleanup_buffer_ struct buffer text = BUFFER_INIT;
        _cleanup_fd_ int file = -EBADF;

        if (report_json(e, &text) < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the result");
        file = memfd_create("result", MFD_CLOEXEC);
        if (file < 0 || fd_write_all(file, text.data, text.len) < 0 || lseek(file, 0, SEEK_SET) < 0)
                return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot keep the result");
        return take_fd(&file);
}

static int put_request(const struct evaluation *e, int request, int now, struct error *err)
{
        _cleanup_buffer_ struct buffer nothing = BUFFER_INIT;

        if (lseek(e->replay.file, 0, SEEK_SET) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "the result");
        return scorer_put(request, REQUEST_DIFFER, &nothing, err) < 0 ||
                               scorer_put_document(request, DOCUMENT_RECORD, e->replay.file,
                                       SCORE_MAX_REQUEST, CODE_RESULT_INVALID, err) < 0 ||
                               scorer_put_document(request, DOCUMENT_RESULT, now, SCORE_MAX_REQUEST,
                                       CODE_RESULT_INVALID, err) < 0
                       ? -1
                       : scorer_end_request(request, err);
}

int replay_compare(struct evaluation *e, struct replay_differences *ret, struct error *err)
{
        _cleanup_fd_ int now = write_result(e, err);
        _cleanup_fd_ int request = now < 0 ? -1 : scorer_request(err);

        *ret = (struct replay_differences){0};
        if (request < 0 || put_request(e, request, now, err) < 0)
                return -1;
        return scorer_ask(&e->channel, HELPER_DIFFER, request, take_difference, ret, err);
}

void replay_differences_free(struct replay_differences *d)
{
        for (unsigned i = 0; i < d->listed; i++) {
                free(d->list[i].path);
                free(d->list[i].was);
                free(d->list[i].is);
        }
        free(d->list);
}

/* --- telling -------------------------------------------------------------------------------- */

static void add_json(
        const struct evaluation *e, const struct replay_differences *d, struct buffer *out)
{
        struct json_writer w = {.out = out};

        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.replay/1");
        json_text(&w, "of", e->replay.id);
        json_bool(&w, "same", d->count == 0);
        json_number(&w, "count", d->count);
        json_open_array(&w, "differences");
        for (unsigned i = 0; i < d->listed; i++) {
                json_open_object(&w, NULL);
                json_text(&w, "path", d->list[i].path);
                json_text(&w, "was", d->list[i].was);
                json_text(&w, "is", d->list[i].is);
                json_close(&w);
        }
        json_close(&w);
        json_close(&w);
        buffer_add_char(out, '\n');
}

static void add_escaped(struct buffer *out, const char *before, const char *text)
{
        char safe[1024];

        text_escape(safe, sizeof safe, text, strlen(text));
        buffer_add_format(out, "%s%s", before, safe);
}

static void add_text(
        const struct evaluation *e, const struct replay_differences *d, struct buffer *out)
{
        if (d->count == 0) {
                const char *outcome = report_outcome(e);

                add_escaped(out, "the same as ", e->replay.id);
                buffer_add_format(out, ": %s%s%s\n", status_name(evaluation_status(e)),
                        *outcome ? " " : "", outcome);
                return;
        }
        add_escaped(out, "differs from ", e->replay.id);
        buffer_add_text(out, ":\n");
        for (unsigned i = 0; i < d->listed; i++) {
                add_escaped(out, "  ", d->list[i].path);
                add_escaped(out, ": was ", d->list[i].was);
                add_escaped(out, ", is ", d->list[i].is);
                buffer_add_char(out, '\n');
        }
        if (d->count > d->listed)
                buffer_add_format(out, "  … and %u more\n", d->count - d->listed);
}

int replay_print(const struct evaluation *e, const struct replay_differences *d, bool json,
        struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        (json ? add_json : add_text)(e, d, &out);
        if (!buffer_ok(&out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        return fd_write_all(STDOUT_FILENO, out.data, out.len) < 0
                       ? error_errno(err, CODE_INFRA_IO, errno, "cannot write the report")
                       : 0;
}
