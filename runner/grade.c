/* From the suite's result and the judge's verdict to the score. Every number stays text here:
 * assay-score reads it, checks it and computes with it. */
#include "evaluation.h"

#include "fd.h"
#include "glob.h"
#include "input.h"
#include "judge.h"

/* Append a row of `size` bytes to a list, or leave the list as it is and say that it is bad. */
static void append(void **list, unsigned *count, const void *row, size_t size, struct reader *r)
{
        char *more = NULL;

        if (!r->bad && *count < SCORE_MAX_MANY)
                more = realloc(*list, (*count + 1) * size);
        if (!more) {
                r->bad = true;
                return;
        }
        memcpy(more + *count * size, row, size);
        *list = more;
        (*count)++;
}

static char *take_decimal(struct reader *r, bool (*is_such)(const char *text), bool may_be_empty)
{
        char *text = scorer_text(r, SCORE_MAX_NAME);

        if (text && !is_such(text) && !(may_be_empty && *text == '\0'))
                r->bad = true;
        return text;
}

static void free_row(struct score_row *row)
{
        free(row->name);
        free(row->score);
        free(row->reasoning);
}

static void free_test(struct test_result *t)
{
        free(t->name);
        free(t->duration_ms);
        free(t->error);
}

static void free_warning(struct warning *w)
{
        free(w->field);
        free(w->message);
}

static void free_rows(struct score_row *rows, unsigned count)
{
        for (unsigned i = 0; i < count; i++)
                free_row(&rows[i]);
        free(rows);
}

static void free_suite(struct suite_result *s)
{
        free(s->score);
        free(s->raw);
        free(s->notes);
        free_rows(s->breakdown, s->breakdown_count);
        free_rows(s->dimensions, s->dimension_count);
        for (unsigned i = 0; i < s->test_count; i++)
                free_test(&s->tests[i]);
        free(s->tests);
        for (unsigned i = 0; i < s->warning_count; i++)
                free_warning(&s->warnings[i]);
        free(s->warnings);
}

static void note(struct evaluation *e, const char *field, const char *message)
{
        if (e->note_count == sizeof e->notes / sizeof *e->notes)
                return;
        snprintf(e->notes[e->note_count].field, sizeof e->notes->field, "%s", field);
        snprintf(e->notes[e->note_count++].message, sizeof e->notes->message, "%s", message);
}

/* --- the suite's result --------------------------------------------------------------------- */

static void take_test(struct suite_result *s, struct reader *r)
{
        struct test_result t = {.name = scorer_text(r, SCORE_MAX_TEXT)};

        t.passed = get_u8(r);
        t.visibility = VISIBILITY_COUNT; /* the task's */
        t.duration_ms = take_decimal(r, scorer_is_decimal, true);
        t.error = scorer_text(r, SCORE_MAX_TEXT);
        append((void **)&s->tests, &s->test_count, &t, sizeof t, r);
        if (r->bad)
                free_test(&t);
}

static void take_warning(struct suite_result *s, struct reader *r)
{
        struct warning w = {.field = scorer_text(r, SCORE_MAX_TEXT)};

        w.message = scorer_text(r, SCORE_MAX_TEXT);
        append((void **)&s->warnings, &s->warning_count, &w, sizeof w, r);
        if (r->bad)
                free_warning(&w);
}

static void take_row(
        struct score_row **list, unsigned *count, struct reader *r, bool with_reasoning)
{
        struct score_row row = {.name = scorer_text(r, SCORE_MAX_TEXT)};

        row.score = take_decimal(r, scorer_is_score, false);
        if (with_reasoning)
                row.reasoning = scorer_text(r, SCORE_MAX_TEXT);
        append((void **)list, count, &row, sizeof row, r);
        if (r->bad)
                free_row(&row);
}

/* It may be below 0. */
static char *take_raw(struct reader *r)
{
        char *text = scorer_text(r, SCORE_MAX_NAME);

        if (text && *text && !scorer_is_exact(text + (*text == '-')))
                r->bad = true;
        return text;
}

static void take_dimension(struct suite_result *s, struct reader *r)
{
        struct score_row row = {.name = scorer_text(r, SCORE_MAX_TEXT)};

        row.score = take_decimal(r, scorer_is_decimal, false);
        append((void **)&s->dimensions, &s->dimension_count, &row, sizeof row, r);
        if (r->bad)
                free_row(&row);
}

static void take_suite_score(struct suite_result *s, struct reader *r)
{
        if (s->score) {
                r->bad = true;
                return;
        }
        s->score = take_decimal(r, scorer_is_exact, true);
        s->pass = get_u8(r);
        s->ungradable = get_u8(r);
        s->raw = take_raw(r);
        r->bad |= s->pass > 2;
        s->present = !r->bad;
}

static int take_result(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct suite_result *s = to;

        switch (type) {
        case RESULT_SCORE:
                take_suite_score(s, r);
                break;
        case RESULT_DIMENSION:
                take_dimension(s, r);
                break;
        case RESULT_BREAKDOWN:
                take_row(&s->breakdown, &s->breakdown_count, r, false);
                break;
        case RESULT_NOTES:
                if (s->notes)
                        r->bad = true;
                else
                        s->notes = scorer_text(r, SCORE_MAX_TEXT);
                break;
        case RESULT_TEST:
                take_test(s, r);
                break;
        case RESULT_WARNING:
                take_warning(s, r);
                break;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        }
        return 0;
}

/* --- asking for it -------------------------------------------------------------------------- */

static int put_file(
        const struct evaluation *e, int request, unsigned which, unsigned from, struct error *err)
{
        if (e->outcome.results[from].state != RESULT_FILE)
                return 0;
        return scorer_put_document(request, which, e->outcome.results[from].fd, SCORE_MAX_RESULT,
                CODE_SUITE_RESULT_INVALID, err);
}

/* The end of standard output, where the result is one of its lines. */
static int put_output(const struct evaluation *e, int request, struct error *err)
{
        const struct log *l = &e->output[0];
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        unsigned char *tail = malloc(l->tail_size + 1);
        size_t len = tail ? log_tail(l, tail) : 0;
        _cleanup_buffer_ struct buffer text = BUFFER_INIT;
        int r = 0;

        if (log_dropped(l) == 0)
                buffer_add(&text, l->head, l->head_len);
        buffer_add(&text, tail, len);
        free(tail);
        for (size_t at = 0; r == 0 && (at < text.len || at == 0); at += SCORE_MAX_PIECE) {
                const size_t left = text.len - at;

                put_u8(&payload, DOCUMENT_RESULT);
                put_bytes(
                        &payload, text.data + at, left < SCORE_MAX_PIECE ? left : SCORE_MAX_PIECE);
                r = scorer_put(request, REQUEST_PIECE, &payload, err);
        }
        return buffer_ok(&text) ? r : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static int put_documents(
        const struct evaluation *e, const char *format, int request, struct error *err)
{
        if (strcmp(format, "stdout-json") == 0)
                return put_output(e, request, err);
        if (strcmp(format, "harbor") == 0)
                return put_file(e, request, DOCUMENT_RESULT, 0, err) < 0 ||
                                       put_file(e, request, DOCUMENT_RESULT_TEXT, 1, err) < 0
                               ? -1
                               : 0;
        if (strcmp(format, "tests.jsonl") == 0)
                return put_file(e, request, DOCUMENT_RESULT, e->suite_cell.partial, err);
        return *e->task.result_path ? put_file(e, request, DOCUMENT_RESULT, 0, err) : 0;
}

static int put_result_request(
        const struct evaluation *e, const char *format, int request, struct error *err)
{
        _cleanup_buffer_ struct buffer options = BUFFER_INIT;
        const bool partial = strcmp(format, "tests.jsonl") == 0;
        char planned[16];

        snprintf(planned, sizeof planned, "%u", e->task.planned);
        put_text(&options, format);
        put_text(&options, e->task.result_key);
        put_text(&options, e->task.result_min);
        put_text(&options, partial ? planned : e->task.result_max);
        put_u32(&options, e->outcome.status);
        if (scorer_put(request, REQUEST_RESULT, &options, err) < 0 ||
                put_documents(e, format, request, err) < 0)
                return -1;
        return scorer_end_request(request, err);
}

static void forget_suite(struct evaluation *e)
{
        free_suite(&e->suite);
        e->suite = (struct suite_result){0};
}

static int ask_for_result(struct evaluation *e, const char *format, struct error *err)
{
        const bool partial = strcmp(format, "tests.jsonl") == 0;
        _cleanup_fd_ int request = scorer_request(err);

        if (request < 0 || put_result_request(e, format, request, err) < 0 ||
                scorer_ask(&e->channel, HELPER_RESULT, request, take_result, &e->suite, err) < 0) {
                forget_suite(e);
                return error_add(err, "%s",
                        partial                ? "the tests that ended"
                        : *e->task.result_path ? e->task.result_path
                                               : "the result");
        }
        return e->suite.present ? 0
                                : error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
}

static void note_exit(struct evaluation *e)
{
        unsigned failed = 0;

        for (unsigned i = 0; i < e->suite.test_count; i++)
                failed += !e->suite.tests[i].passed;
        if (e->outcome.status != 0 && failed == 0 && e->suite.test_count > 0)
                note(e, "suite", "all its tests passed, but it exited with a status other than 0");
}

int grade_collect(struct evaluation *e, struct error *err)
{
        if (e->outcome.oom_kills > 0)
                note(e, "limits.memory", "the memory limit killed a process of the suite's cell");
        if (ask_for_result(e, e->task.result_format, err) < 0)
                return -1;
        if ((!e->suite.score || !*e->suite.score) && !e->suite.ungradable &&
                e->suite.dimension_count == 0)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
        note_exit(e);
        if (!e->suite.ungradable)
                return 0;
        return error_set(err, CODE_SUITE_UNGRADABLE,
                "the suite says that the submission cannot be "
                "graded");
}

/* --- cases ---------------------------------------------------------------------------------- */

static int add_case(struct suite_result *s, struct case_result *c, struct error *err)
{
        struct reader good = reader_of(NULL, 0);
        struct test_result t = {.passed = c->passed, .visibility = c->visibility};

        if (asprintf(&t.duration_ms, "%llu", (unsigned long long)(c->us / 1000)) < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        t.name = c->name;
        t.error = c->reason ? c->reason : strdup("");
        c->name = c->reason = NULL;
        append((void **)&s->tests, &s->test_count, &t, sizeof t, &good);
        if (!good.bad)
                return 0;
        free_test(&t);
        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int grade_cases(struct evaluation *e, struct error *err)
{
        if (cases_score(&e->channel, &e->cases, take_result, &e->suite, err) < 0)
                return -1;
        if (!e->suite.present)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
        for (unsigned i = 0; i < e->cases.count; i++)
                if (add_case(&e->suite, &e->cases.results[i], err) < 0)
                        return -1;
        return 0;
}

int grade_as_zero(struct evaluation *e, struct error *why)
{
        e->suite.score = strdup("0");
        e->suite.raw = strdup("");
        if (!e->suite.score || !e->suite.raw)
                return error_set(why, CODE_INFRA_MEMORY, "out of memory");
        e->suite.pass = e->task.pass_from_suite ? 0 : 2;
        e->suite.present = true;
        e->shaped = *why;
        return 0;
}

/* Without one finished test there is nothing to count: the limit is the end of it. */
int grade_partial(struct evaluation *e, struct error *why)
{
        struct error unread;

        if (e->outcome.results[e->suite_cell.partial].state != RESULT_FILE)
                return -1;
        if (ask_for_result(e, "tests.jsonl", &unread) < 0) {
                if (unread.code != CODE_SUITE_NO_RESULT)
                        *why = unread;
                return -1;
        }
        if (e->task.pass_from_suite)
                e->suite.pass = 0;
        e->shaped = *why;
        return 0;
}

/* --- the verdict ---------------------------------------------------------------------------- */

static void take_record(struct verdict *v, struct reader *r)
{
        r->bad |= v->record.prompt_sha256 != NULL;
        if (r->bad)
                return;
        v->record.prompt_sha256 = scorer_text(r, SCORE_MAX_NAME);
        v->record.prompt_tokens = take_decimal(r, scorer_is_decimal, true);
        v->record.completion_tokens = take_decimal(r, scorer_is_decimal, true);
        v->record.runs = take_decimal(r, scorer_is_decimal, true);
        v->record.tries = take_decimal(r, scorer_is_decimal, true);
}

static int take_verdict(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct verdict *v = to;

        switch (type) {
        case VERDICT_CRITERION:
                take_row(&v->criteria, &v->criterion_count, r, true);
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

static const struct score_row *verdict_row(const struct verdict *v, const char *name)
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
                if (!verdict_row(&e->verdict, c->name))
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
                note(e, "llm_score", "there was none; the task says that this counts as 0");
                return take_number(&e->verdict, "0", err);
        case LLM_MISSING_ERROR:
                return error_set(
                        err, CODE_JUDGE_MISSING, "the task needs an llm score and got none");
        default:
                return error_set(err, CODE_JUDGE_PENDING, "the llm score is not there yet");
        }
}

static void forget_verdict(struct verdict *v)
{
        char *const texts[] = {v->summary, v->model, v->record.prompt_sha256,
                v->record.prompt_tokens, v->record.completion_tokens, v->record.runs,
                v->record.tries};

        free_rows(v->criteria, v->criterion_count);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
        free(v->number);
        *v = (struct verdict){0};
}

/* One that is none leaves nothing behind: the next try begins anew. */
static int read_verdict(struct evaluation *e, int file, struct error *err)
{
        struct verdict *v = &e->verdict;

        if (scorer_ask(&e->channel, HELPER_VERDICT, file, take_verdict, v, err) == 0 &&
                check_verdict(e, err) == 0) {
                v->present = true;
                return 0;
        }
        forget_verdict(v);
        return error_add(err, "the verdict");
}

int grade_verdict(struct evaluation *e, struct error *err)
{
        uint64_t bytes;

        if (!e->options->llm_score)
                return judge_is_there(e) ? judge_ask(e, read_verdict, err) : no_verdict(e, err);
        if (e->verdict_file < 0)
                return take_number(&e->verdict, e->options->llm_score, err);
        if (input_settle(&e->verdict_file, SCORE_MAX_VERDICT, &bytes, err) < 0)
                return error_add(err, "the verdict");
        return read_verdict(e, e->verdict_file, err);
}

/* --- the blend ------------------------------------------------------------------------------ */

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
                put_text(payload, verdict_row(v, c->name)->score);
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
        if (t->mode != MODE_CONTAINER && put_verdict(e, fd, &payload, err) < 0)
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
                take_row(&b->rows, &b->row_count, r, false);
                return 0;
        }
        if (type != BLEND_FINAL || b->score)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        b->score = take_decimal(r, scorer_is_score, false);
        b->test_score = take_decimal(r, scorer_is_score, true);
        b->llm_score = take_decimal(r, scorer_is_score, true);
        b->exact = take_fraction(r);
        b->exact_test = take_fraction(r);
        b->exact_llm = take_fraction(r);
        b->passed = get_u8(r);
        b->present = reader_done(r);
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
                note(e, "criteria", text);
        }
}

int grade_blend(struct evaluation *e, struct error *err)
{
        _cleanup_fd_ int request = scorer_request(err);

        if (request < 0 || put_request(e, request, err) < 0)
                return -1;
        if (scorer_ask(&e->channel, HELPER_BLEND, request, take_blend, &e->blend, err) < 0)
                return error_add(err, "the score");
        if (!e->blend.present)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no score");
        note_missing_rows(e);
        if (e->suite.present && e->suite.pass < 2 && (e->suite.pass == 1) != e->blend.passed)
                note(e, "suite_pass", "the suite's own `pass` differs from the outcome");
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

        free_suite(&e->suite);
        forget_verdict(&e->verdict);
        free_rows(b->rows, b->row_count);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
}
