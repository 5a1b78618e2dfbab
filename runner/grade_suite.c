/* The suite's result, and that of cases: read by assay-score, checked again as it comes. */
#include "grade_rows.h"

#include "fd.h"

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

static void free_suite(struct suite_result *s)
{
        free(s->score);
        free(s->raw);
        free(s->notes);
        rows_free(s->breakdown, s->breakdown_count);
        rows_free(s->dimensions, s->dimension_count);
        for (unsigned i = 0; i < s->test_count; i++)
                free_test(&s->tests[i]);
        free(s->tests);
        for (unsigned i = 0; i < s->warning_count; i++)
                free_warning(&s->warnings[i]);
        free(s->warnings);
}

static void take_test(struct suite_result *s, struct reader *r)
{
        struct test_result t = {.name = scorer_text(r, SCORE_MAX_TEXT)};

        t.passed = get_u8(r);
        t.visibility = VISIBILITY_COUNT; /* the task's */
        t.duration_ms = rows_take_decimal(r, scorer_is_decimal, true);
        t.error = scorer_text(r, SCORE_MAX_TEXT);
        rows_append((void **)&s->tests, &s->test_count, &t, sizeof t, r);
        if (r->bad)
                free_test(&t);
}

static void take_warning(struct suite_result *s, struct reader *r)
{
        struct warning w = {.field = scorer_text(r, SCORE_MAX_TEXT)};

        w.message = scorer_text(r, SCORE_MAX_TEXT);
        rows_append((void **)&s->warnings, &s->warning_count, &w, sizeof w, r);
        if (r->bad)
                free_warning(&w);
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

        row.score = rows_take_decimal(r, scorer_is_decimal, false);
        rows_append((void **)&s->dimensions, &s->dimension_count, &row, sizeof row, r);
        if (r->bad)
                row_free(&row);
}

static void take_suite_score(struct suite_result *s, struct reader *r)
{
        if (s->score) {
                r->bad = true;
                return;
        }
        s->score = rows_take_decimal(r, scorer_is_exact, true);
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
                rows_take(&s->breakdown, &s->breakdown_count, r, false);
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

void grade_forget_suite(struct evaluation *e)
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
                grade_forget_suite(e);
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
                grade_note(e, "suite",
                        "all its tests passed, but it exited with a status other than 0");
}

int grade_collect(struct evaluation *e, struct error *err)
{
        if (e->outcome.oom_kills > 0)
                grade_note(e, "limits.memory",
                        "the memory limit killed a process of the suite's cell");
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
        rows_append((void **)&s->tests, &s->test_count, &t, sizeof t, &good);
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
