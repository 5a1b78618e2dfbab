/* assay finalize RESULT --llm-score N|FILE: the result that a waiting one becomes. */
#include "verbs.h"

#include "evaluation.h"
#include "fd.h"
#include "input.h"
#include "scoring.h"
#include "workspace.h"

#include <unistd.h>

struct finalize_options {
        struct common_options common;
        const char *llm_score, *fail_under;
};

/* What came back. */
struct final {
        struct buffer result; /* as JSON */
        char *outcome, *score, *test_score, *llm_score;
        uint32_t scale;
        bool passed;
};

static void final_free(struct final *f)
{
        buffer_free(&f->result);
        free(f->outcome);
        free(f->score);
        free(f->test_score);
        free(f->llm_score);
}

static char *take_decimal(struct reader *r, bool may_be_empty)
{
        char *text = scorer_text(r, SCORE_MAX_NAME);

        if (text && !scorer_is_decimal(text) && !(may_be_empty && *text == '\0'))
                r->bad = true;
        return text;
}

static void take_score(struct final *f, struct reader *r)
{
        r->bad |= f->score != NULL;
        if (r->bad)
                return;
        f->passed = get_u8(r);
        f->outcome = scorer_text(r, SCORE_MAX_NAME);
        f->score = take_decimal(r, false);
        f->scale = get_u32(r);
        f->test_score = take_decimal(r, true);
        f->llm_score = take_decimal(r, true);
}

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct final *f = to;

        if (type == FINAL_SCORE) {
                take_score(f, r);
        } else if (type == FINAL_PIECE) {
                size_t len;
                const unsigned char *bytes = get_bytes(r, FINAL_MAX_PIECE, &len);

                if (!r->bad)
                        buffer_add(&f->result, bytes, len);
        } else {
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        }
        return 0;
}

static int print(const struct finalize_options *o, const struct final *f, struct error *err)
{
        _cleanup_buffer_ struct buffer text = BUFFER_INIT;
        const struct buffer *out = o->common.json ? &f->result : &text;

        if (o->common.quiet && !o->common.json)
                return 0;
        buffer_add_format(&text, "%s, %s of %u", f->outcome, f->score, f->scale);
        if (*f->test_score && *f->llm_score)
                buffer_add_format(&text, " (tests %s, judge %s)", f->test_score, f->llm_score);
        buffer_add_char(&text, '\n');
        if (!buffer_ok(out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the result");
        return fd_write_all(STDOUT_FILENO, out->data, out->len) < 0
                       ? error_errno(err, CODE_INFRA_IO, errno, "cannot write the result")
                       : 0;
}

static int exit_status(const struct finalize_options *o, const struct final *f)
{
        const bool passed =
                o->fail_under ? scorer_compare(f->score, o->fail_under) >= 0 : f->passed;

        return passed ? END_PASSED : END_NOT_PASSED;
}

static int finalize(const char *result, const struct finalize_options *o, struct error *err)
{
        const bool by_number = scorer_is_score(o->llm_score);
        _cleanup_buffer_ struct buffer options = BUFFER_INIT;
        struct scoring s = {
                .files = {{DOCUMENT_RECORD, result, "the result", SCORE_MAX_REQUEST / 2, -EBADF,
                                  CODE_RESULT_INVALID},
                        {DOCUMENT_VERDICT, by_number ? NULL : o->llm_score, "--llm-score",
                                SCORE_MAX_VERDICT, -EBADF, CODE_JUDGE_INVALID}},
                .file_count = 2,
        };
        struct final f = {.result = BUFFER_INIT};
        char id[WORKSPACE_ID_SIZE];
        int r = workspace_new_id(id, err);

        put_text(&options, id);
        put_text(&options, by_number ? o->llm_score : "");
        if (r == 0)
                r = scoring_open(&s, err);
        if (r == 0)
                r = scoring_ask(&s, HELPER_FINALIZE, REQUEST_FINALIZE, &options, take, &f, err);
        if (r == 0 && (!f.score || f.result.len == 0))
                r = error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no result");
        if (r == 0)
                r = print(o, &f, err);
        if (r == 0)
                r = exit_status(o, &f);
        final_free(&f);
        scoring_close(&s);
        return r;
}

int verb_finalize(int argc, char **argv, struct error *err)
{
        struct finalize_options o = {0};
        const struct option table[] = {
                {"--llm-score", OPTION_TEXT, &o.llm_score, "N|FILE",
                        "the score that came: a number, or a verdict as JSON"},
                {"--fail-under", OPTION_TEXT, &o.fail_under, "N",
                        "exit status 1 for a lower score, whatever the task passes"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("finalize RESULT --llm-score N|FILE",
                        "Blends a result that waits for its judge (assay run --json, or a file of\n"
                        "assay batch; - for standard input) with a score that came later. The new\n"
                        "result, with --json on standard output, supersedes the old one, which\n"
                        "stays as it is.",
                        table, sizeof table / sizeof *table);
        if (rest != 1 || !o.llm_score)
                return error_set(
                        err, CODE_USAGE, "finalize: needs a result, and --llm-score N or FILE");
        if (scorer_is_decimal(o.llm_score) && !scorer_is_score(o.llm_score))
                return error_set(err, CODE_USAGE,
                        "--llm-score %s: not between 0 and 100, or too long", o.llm_score);
        if (evaluation_check_options(
                    &(struct evaluation_options){.fail_under = o.fail_under}, err) < 0)
                return -1;
        return finalize(argv[0], &o, err);
}
