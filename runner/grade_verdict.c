/* The judge's verdict, whoever gave it: read by assay-score, compared with the rubric here. */
#include "grade_rows.h"

#include "input.h"
#include "judge.h"
#include "replay.h"

static void take_record(struct verdict *v, struct reader *r)
{
        r->bad |= v->record.prompt_sha256 != NULL;
        if (r->bad)
                return;
        v->record.prompt_sha256 = scorer_text(r, SCORE_MAX_NAME);
        v->record.prompt_tokens = rows_take_decimal(r, scorer_is_decimal, true);
        v->record.completion_tokens = rows_take_decimal(r, scorer_is_decimal, true);
        v->record.runs = rows_take_decimal(r, scorer_is_decimal, true);
        v->record.tries = rows_take_decimal(r, scorer_is_decimal, true);
}

int grade_take_verdict(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct verdict *v = to;

        switch (type) {
        case VERDICT_CRITERION:
                rows_take(&v->criteria, &v->criterion_count, r, true);
                break;
        case VERDICT_RECORD:
                take_record(v, r);
                break;
        case VERDICT_SUMMARY:
                if (v->summary) {
                        r->bad = true;
                        break;
                }
                v->summary = scorer_text(r, SCORE_MAX_TEXT);
                v->model = scorer_text(r, SCORE_MAX_TEXT);
                break;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        }
        return 0;
}

const struct score_row *grade_verdict_row(const struct verdict *v, const char *name)
{
        for (unsigned i = 0; i < v->criterion_count; i++)
                if (strcmp(v->criteria[i].name, name) == 0)
                        return &v->criteria[i];
        return NULL;
}

/* Each llm criterion of the rubric once, and nothing else. */
static int check_verdict(const struct evaluation *e, struct error *err)
{
        unsigned wanted = 0;

        for (unsigned i = 0; i < e->task.criterion_count; i++) {
                const struct criterion *c = &e->task.criteria[i];

                if (c->source != SOURCE_LLM)
                        continue;
                wanted++;
                if (!grade_verdict_row(&e->verdict, c->name))
                        return error_set(err, CODE_JUDGE_INVALID,
                                "the verdict does not score the criterion \"%s\"", c->name);
        }
        if (wanted != e->verdict.criterion_count)
                return error_set(err, CODE_JUDGE_INVALID,
                        "the verdict has %u criteria, the rubric has %u for the judge",
                        e->verdict.criterion_count, wanted);
        return 0;
}

static int take_number(struct verdict *v, const char *text, struct error *err)
{
        v->number = strdup(text);
        if (!v->number)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        v->present = true;
        return 0;
}

static int no_verdict(struct evaluation *e, struct error *err)
{
        switch (e->task.llm_missing) {
        case LLM_MISSING_ZERO:
                grade_note(e, "llm_score", "there was none; the task says that this counts as 0");
                return take_number(&e->verdict, "0", err);
        case LLM_MISSING_ERROR:
                return error_set(
                        err, CODE_JUDGE_MISSING, "the task needs an llm score and got none");
        default:
                return error_set(err, CODE_JUDGE_PENDING, "the llm score is not there yet");
        }
}

void grade_forget_verdict(struct verdict *v)
{
        char *const texts[] = {v->summary, v->model, v->record.prompt_sha256,
                v->record.prompt_tokens, v->record.completion_tokens, v->record.runs,
                v->record.tries};

        rows_free(v->criteria, v->criterion_count);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
        free(v->number);
        *v = (struct verdict){0};
}

/* One that is none leaves nothing behind: the next try begins anew. */
static int read_verdict(struct evaluation *e, int file, struct error *err)
{
        struct verdict *v = &e->verdict;

        if (scorer_ask(&e->channel, HELPER_VERDICT, file, grade_take_verdict, v, err) == 0 &&
                check_verdict(e, err) == 0) {
                v->present = true;
                return 0;
        }
        grade_forget_verdict(v);
        return error_add(err, "the verdict");
}

int grade_verdict(struct evaluation *e, struct error *err)
{
        uint64_t bytes;

        if (e->replay.file >= 0 && !e->options->llm_score) {
                replay_verdict(e);
                return e->verdict.present ? check_verdict(e, err) : no_verdict(e, err);
        }
        if (!e->options->llm_score)
                return judge_is_there(e) ? judge_ask(e, read_verdict, err) : no_verdict(e, err);
        if (e->verdict_file < 0)
                return take_number(&e->verdict, e->options->llm_score, err);
        if (input_settle(&e->verdict_file, SCORE_MAX_VERDICT, &bytes, err) < 0)
                return error_add(err, "the verdict");
        return read_verdict(e, e->verdict_file, err);
}
