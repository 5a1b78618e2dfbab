/* assay finalize RESULT --llm-score N|FILE: the result that a waiting one becomes; with --store
 * also there. */
#include "verbs.h"

#include "evaluation.h"
#include "fd.h"
#include "final.h"
#include "input.h"
#include "scoring.h"
#include "workspace.h"

#include <unistd.h>

struct finalize_options {
        struct common_options common;
        const char *llm_score, *fail_under, *store;
};

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

/* Where the waiting result is, and the new one goes. */
struct place {
        struct buffer result, data; /* of one that is in a store */
        struct store_channel store;
};

/* From here on no other result of the store can be superseded; nothing of the old one was looked
 * at yet. */
static int open_store(struct place *p, const char *id, const struct finalize_options *o,
        const char *new_id, struct error *err)
{
        const struct store_order order = {.url = o->store, .result_id = new_id, .supersedes = id};

        if (!o->store)
                return 0;
        return final_find(o->store, id, &p->result, &p->data, err) < 0 ||
                               store_channel_open(&p->store, &order, err) < 0
                       ? error_add(err, "--store")
                       : 0;
}

static int ask(struct scoring *s, const struct finalize_options *o, const char *id,
        struct final *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer options = BUFFER_INIT;

        put_text(&options, id);
        put_text(&options, scorer_is_score(o->llm_score) ? o->llm_score : "");
        return scoring_ask(s, HELPER_FINALIZE, REQUEST_FINALIZE, &options, final_take, ret, err) <
                                       0 ||
                               final_check(ret, o->store != NULL, err) < 0
                       ? -1
                       : 0;
}

static int finalize(const char *result, const struct finalize_options *o, struct error *err)
{
        const bool by_number = scorer_is_score(o->llm_score), stored = o->store != NULL;
        struct place p = {BUFFER_INIT, BUFFER_INIT, STORE_CHANNEL_INIT};
        struct scoring s = {
                .files = {{DOCUMENT_RECORD, stored ? NULL : result, "the result",
                                  SCORE_MAX_REQUEST / 2, -EBADF, CODE_RESULT_INVALID,
                                  stored ? &p.result : NULL},
                        {.which = DOCUMENT_VERDICT,
                                .path = by_number ? NULL : o->llm_score,
                                .what = "--llm-score",
                                .most = SCORE_MAX_VERDICT,
                                .fd = -EBADF,
                                .too_large = CODE_JUDGE_INVALID},
                        {DOCUMENT_SOURCES, NULL, "the result's data", SCORE_MAX_REQUEST / 4, -EBADF,
                                CODE_RESULT_INVALID, stored ? &p.data : NULL}},
                .file_count = 3,
                .channel = CHANNEL_INIT,
        };
        struct final f = FINAL_INIT;
        char id[ULID_SIZE];
        int r = ulid_new(id, err);

        if (r == 0)
                r = open_store(&p, result, o, id, err);
        if (r == 0)
                r = scoring_open(&s, err);
        if (r == 0)
                r = ask(&s, o, id, &f, err);
        if (r == 0 && stored)
                r = final_append(&p.store, &f, err);
        if (r == 0)
                r = print(o, &f, err);
        if (r == 0)
                r = exit_status(o, &f);
        final_free(&f);
        scoring_close(&s);
        store_channel_close(&p.store);
        buffer_free(&p.result);
        buffer_free(&p.data);
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
                {"--store", OPTION_TEXT, &o.store, "URL",
                        "RESULT is the id of a result there; the new one is stored as well"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("finalize RESULT --llm-score N|FILE",
                        "Blends a result that waits for its judge (assay run --json, or a file of\n"
                        "assay batch; - for standard input; with --store the id of a stored one)\n"
                        "with a score that came later. The new result, with --json on standard\n"
                        "output, supersedes the old one, which stays as it is.",
                        table, sizeof table / sizeof *table);
        if (rest != 1 || !o.llm_score)
                return error_set(err, CODE_USAGE,
                        "finalize: needs a result (with --store its id), and --llm-score N or "
                        "FILE");
        if (scorer_is_decimal(o.llm_score) && !scorer_is_score(o.llm_score))
                return error_set(err, CODE_USAGE,
                        "--llm-score %s: not between 0 and 100, or too long", o.llm_score);
        if (evaluation_check_options(
                    &(struct evaluation_options){.fail_under = o.fail_under}, err) < 0)
                return -1;
        return finalize(argv[0], &o, err);
}
