/* The blend of the suite's score and the judge's. Every number stays text here: assay-score reads
 * it, checks it and computes with it. */
#include "grade_rows.h"

#include "fd.h"
#include "glob.h"

static int put_verdict(
        const struct evaluation *e, int fd, struct buffer *payload, struct error *err)
{
        const struct verdict *v = &e->verdict;

        if (v->number) {
                put_text(payload, v->number);
                return scorer_put(fd, BLEND_LLM, payload, err);
        }
        for (unsigned i = 0; i < e->task.criterion_count; i++) {
                const struct criterion *c = &e->task.criteria[i];

                if (c->source != SOURCE_LLM)
                        continue;
                put_text(payload, c->name);
                put_u8(payload, (uint8_t)c->weight);
                put_text(payload, grade_verdict_row(v, c->name)->score);
                if (scorer_put(fd, BLEND_CRITERION, payload, err) < 0)
                        return -1;
        }
        return 0;
}

static bool is_of(const struct criterion *c, const char *test)
{
        for (char *const *glob = c->tests; *glob; glob++)
                if (glob_match(*glob, test))
                        return true;
        return false;
}

/* The rows of criteria that name tests. */
static int put_tests(const struct evaluation *e, int fd, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        for (unsigned i = 0; i < e->task.criterion_count; i++) {
                const struct criterion *c = &e->task.criteria[i];
                unsigned passed = 0, all = 0;

                for (unsigned n = 0; *c->tests && n < e->suite.test_count; n++)
                        if (is_of(c, e->suite.tests[n].name)) {
                                all++;
                                passed += e->suite.tests[n].passed;
                        }
                if (all == 0)
                        continue;
                put_text(&payload, c->name);
                put_u32(&payload, passed);
                put_u32(&payload, all);
                if (scorer_put(fd, BLEND_TESTS, &payload, err) < 0)
                        return -1;
        }
        return 0;
}

static int put_request(const struct evaluation *e, int fd, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        const struct task *t = &e->task;

        put_u8(&payload, (uint8_t)t->mode);
        put_u8(&payload, (uint8_t)t->test_weight);
        put_u8(&payload, (uint8_t)t->llm_weight);
        put_text(&payload, t->pass_from_suite ? "" : t->pass);
        if (scorer_put(fd, BLEND_MODE, &payload, err) < 0)
                return -1;
        if (t->mode != MODE_LLM) {
                put_text(&payload, e->suite.score);
                put_u8(&payload, (uint8_t)e->suite.pass);
                if (scorer_put(fd, BLEND_TEST, &payload, err) < 0)
                        return -1;
        }
        if (put_tests(e, fd, err) < 0)
                return -1;
        if (t->mode != MODE_CONTAINER &&
                (grade_waits(e) ? scorer_put(fd, BLEND_NO_VERDICT, &payload, err)
                                : put_verdict(e, fd, &payload, err)) < 0)
                return -1;
        return scorer_end_request(fd, err);
}

/* "21/25", "84", or nothing. */
static char *take_fraction(struct reader *r)
{
        char *text = scorer_text(r, SCORE_MAX_NAME);
        size_t top = text ? strspn(text, "0123456789") : 0;

        if (text && text[top] == '/')
                top += 1 + strspn(text + top + 1, "0123456789");
        if (text && text[top] != '\0')
                r->bad = true;
        return text;
}

static int take_blend(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct blend *b = to;

        if (type == BLEND_ROW) {
                rows_take(&b->rows, &b->row_count, r, false);
                return 0;
        }
        if (type != BLEND_FINAL || b->score)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        b->score = rows_take_decimal(r, scorer_is_score, true);
        b->test_score = rows_take_decimal(r, scorer_is_score, true);
        b->llm_score = rows_take_decimal(r, scorer_is_score, true);
        b->exact = take_fraction(r);
        b->exact_test = take_fraction(r);
        b->exact_llm = take_fraction(r);
        b->passed = get_u8(r);
        b->parts = reader_done(r);
        b->present = b->parts && *b->score;
        return 0;
}

/* A criterion that the suite says nothing of has a row without a score. */
static void note_missing_rows(struct evaluation *e)
{
        char text[200];

        if (e->task.mode == MODE_LLM || !e->suite.present || e->shaped.code != CODE_NONE)
                return;
        for (unsigned i = 0; i < e->task.criterion_count; i++) {
                const struct criterion *c = &e->task.criteria[i];

                if (c->source != SOURCE_TEST || grade_row(e, c))
                        continue;
                snprintf(text, sizeof text, "the suite says nothing of the criterion \"%.120s\"",
                        c->name);
                grade_note(e, "criteria", text);
        }
}

bool grade_waits(const struct evaluation *e)
{
        return code_info(e->error.code)->class == CLASS_JUDGE;
}

int grade_blend(struct evaluation *e, struct error *err)
{
        _cleanup_fd_ int request = scorer_request(err);

        if (request < 0 || put_request(e, request, err) < 0)
                return -1;
        if (scorer_ask(&e->channel, HELPER_BLEND, request, take_blend, &e->blend, err) < 0)
                return error_add(err, "the score");
        if (!e->blend.parts || e->blend.present != !grade_waits(e))
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
        note_missing_rows(e);
        if (e->blend.present && e->suite.present && e->suite.pass < 2 &&
                (e->suite.pass == 1) != e->blend.passed)
                grade_note(e, "suite_pass", "the suite's own `pass` differs from the outcome");
        return 0;
}

static const struct score_row *find_row(
        const struct score_row *rows, unsigned count, const char *name)
{
        for (unsigned i = 0; i < count; i++)
                if (strcmp(rows[i].name, name) == 0)
                        return &rows[i];
        return NULL;
}

const struct score_row *grade_row(const struct evaluation *e, const struct criterion *c)
{
        if (c->source == SOURCE_LLM)
                return find_row(e->verdict.criteria, e->verdict.criterion_count, c->name);
        if (*c->tests)
                return find_row(e->blend.rows, e->blend.row_count, c->name);
        return find_row(e->suite.breakdown, e->suite.breakdown_count, c->name);
}

void grade_free(struct evaluation *e)
{
        struct blend *b = &e->blend;
        char *texts[] = {
                b->score, b->test_score, b->llm_score, b->exact, b->exact_test, b->exact_llm};

        grade_forget_suite(e);
        grade_forget_verdict(&e->verdict);
        rows_free(b->rows, b->row_count);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
}
