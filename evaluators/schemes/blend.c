/* Blending, and the frames it is asked with and answers; see blend.h and messages.h. */
#include "evaluators/schemes/blend.h"

#include "evaluators/answer.h"
#include "evaluators/fields.h"
#include "evaluators/number.h"

enum { PLACES = 2 };

void blend_init(struct blend *b)
{
        *b = (struct blend){.mode = MODE_COUNT, .rows = BUFFER_INIT};
        mpq_inits(b->pass, b->test, b->llm, NULL);
}

void blend_free(struct blend *b)
{
        mpq_clears(b->pass, b->test, b->llm, NULL);
        buffer_free(&b->rows);
}

/* x × weight */
static void weigh(mpq_t x, unsigned weight)
{
        mpz_mul_ui(mpq_numref(x), mpq_numref(x), weight);
        mpq_canonicalize(x);
}

static void divide(mpq_t x, unsigned divisor)
{
        mpz_mul_ui(mpq_denref(x), mpq_denref(x), divisor);
        mpq_canonicalize(x);
}

void blend_final(struct blend *b, mpq_t ret_final)
{
        mpq_t part;

        if (b->criteria_weight > 0)
                divide(b->llm, b->criteria_weight);
        b->criteria_weight = 0;
        if (b->mode != MODE_HYBRID) {
                mpq_set(ret_final, b->mode == MODE_LLM ? b->llm : b->test);
                return;
        }
        mpq_init(part);
        mpq_set(ret_final, b->test);
        weigh(ret_final, b->test_weight);
        mpq_set(part, b->llm);
        weigh(part, b->llm_weight);
        mpq_add(ret_final, ret_final, part);
        divide(ret_final, 100);
        mpq_clear(part);
}

bool blend_passes(const struct blend *b, const mpq_t final)
{
        mpq_t shown;
        bool passes;

        if (b->pass_from_suite)
                return b->suite_pass == SUITE_PASSED;
        mpq_init(shown);
        mpq_set(shown, final);
        number_round(shown, PLACES);
        passes = mpq_cmp(shown, b->pass) >= 0;
        mpq_clear(shown);
        return passes;
}

/* --- the request --- */

static bool get_score(struct reader *p, mpq_t ret)
{
        char text[SCORE_MAX_NAME];

        get_text(p, text, sizeof text);
        return !p->bad && number_parse_exact(ret, text) == 0 && mpq_cmp_ui(ret, 100, 1) <= 0;
}

static bool get_mode(struct blend *b, struct reader *p)
{
        char pass[SCORE_MAX_NAME];

        b->mode = get_u8(p);
        b->test_weight = get_u8(p);
        b->llm_weight = get_u8(p);
        get_text(p, pass, sizeof pass);
        b->pass_from_suite = pass[0] == '\0';
        if (b->mode == MODE_HYBRID && b->test_weight + b->llm_weight != 100)
                return false;
        return b->mode < MODE_COUNT &&
               (b->pass_from_suite || (number_parse_plain(b->pass, pass) == 0 &&
                                              mpq_cmp_ui(b->pass, 100, 1) <= 0));
}

static bool get_test(struct blend *b, struct reader *p)
{
        bool again = b->test_given;

        b->test_given = get_score(p, b->test);
        b->suite_pass = get_u8(p);
        return b->test_given && !again && b->suite_pass <= SUITE_DID_NOT_SAY;
}

static bool get_llm(struct blend *b, struct reader *p)
{
        bool again = b->llm_given;

        b->llm_given = get_score(p, b->llm);
        return b->llm_given && !again;
}

static bool get_criterion(struct blend *b, struct reader *p)
{
        char name[SCORE_MAX_NAME + 1];
        unsigned weight;
        mpq_t score;
        bool ok;

        get_text(p, name, sizeof name);
        weight = get_u8(p);
        mpq_init(score);
        ok = get_score(p, score) && weight >= 1 && weight <= 100 &&
             (!b->llm_given || b->criteria_weight > 0) && b->criteria_weight + weight <= 100;
        if (ok) {
                weigh(score, weight);
                mpq_add(b->llm, b->llm, score);
                b->criteria_weight += weight;
                b->llm_given = true;
        }
        mpq_clear(score);
        return ok;
}

/* The row of a criterion that tests decide: how many of them passed. */
static bool get_tests(struct blend *b, struct reader *p)
{
        char name[SCORE_MAX_NAME + 1];
        unsigned long passed, all;
        mpq_t score;
        size_t at;

        get_text(p, name, sizeof name);
        passed = get_u32(p);
        all = get_u32(p);
        if (p->bad || all == 0 || passed > all)
                return false;
        mpq_init(score);
        mpq_set_ui(score, 100 * passed, all);
        mpq_canonicalize(score);
        at = answer_begin(&b->rows, BLEND_ROW);
        put_text(&b->rows, name);
        put_rounded(&b->rows, score, PLACES);
        answer_end(&b->rows, at);
        mpq_clear(score);
        return true;
}

static bool get_no_verdict(struct blend *b, struct reader *p)
{
        (void)p;
        b->waits = true;
        return true;
}

static bool get_end(struct blend *b, struct reader *p)
{
        (void)p;
        if ((b->mode != MODE_LLM) != b->test_given ||
                (b->mode != MODE_CONTAINER) != (b->llm_given || b->waits) ||
                (b->llm_given && b->waits))
                return false;
        return !b->pass_from_suite || (b->test_given && b->suite_pass != SUITE_DID_NOT_SAY);
}

static const struct {
        uint16_t type;
        const char *name;
        bool (*get)(struct blend *b, struct reader *payload);
} requests[] = {
        {BLEND_MODE, "mode", get_mode},
        {BLEND_TEST, "test score", get_test},
        {BLEND_LLM, "llm score", get_llm},
        {BLEND_CRITERION, "criterion", get_criterion},
        {BLEND_NO_VERDICT, "lack of a verdict", get_no_verdict},
        {BLEND_TESTS, "tests", get_tests},
        {SCORE_END, "end", get_end},
};

static int get_frame(struct blend *b, uint16_t type, struct reader *p, struct error *err)
{
        bool first = b->mode == MODE_COUNT;

        for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
                if (requests[i].type != type)
                        continue;
                if ((type == BLEND_MODE) != first)
                        return error_set(err, CODE_INTERNAL_FRAME,
                                "a blend request has its %s out of place", requests[i].name);
                if (!requests[i].get(b, p) || !reader_done(p))
                        return error_set(err, CODE_INTERNAL_FRAME,
                                "a blend request has an invalid %s", requests[i].name);
                return 0;
        }
        return error_set(err, CODE_INTERNAL_FRAME, "a blend request has an unknown frame");
}

static int get_request(struct blend *b, const struct buffer *in, struct error *err)
{
        struct reader r = reader_of(in->data, in->len), payload;
        uint16_t type = 0;

        while (type != SCORE_END && answer_next(&r, &type, &payload))
                if (get_frame(b, type, &payload, err) < 0)
                        return -1;
        if (type != SCORE_END || !reader_done(&r))
                return error_set(
                        err, CODE_INTERNAL_FRAME, "a blend request does not end where it should");
        return 0;
}

/* --- the answer --- */

static void put_shown(struct buffer *out, const mpq_t x)
{
        put_rounded(out, x, PLACES);
}

static void put_final(struct buffer *out, const struct blend *b, const mpq_t final)
{
        void (*const put[])(struct buffer *, const mpq_t) = {put_shown, put_exact};
        const struct {
                bool given;
                const mpq_t *value;
        } parts[] = {{!b->waits, (const mpq_t *) final}, {b->test_given, &b->test},
                {b->llm_given, &b->llm}};
        size_t at = answer_begin(out, BLEND_FINAL);

        for (unsigned i = 0; i < COUNT(put); i++)
                for (unsigned n = 0; n < COUNT(parts); n++)
                        if (parts[n].given)
                                put[i](out, *parts[n].value);
                        else
                                put_text(out, "");
        put_u8(out, !b->waits && blend_passes(b, final));
        answer_end(out, at);
}

int blend_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        struct blend b;
        mpq_t final;
        int result;

        blend_init(&b);
        mpq_init(final);
        result = get_request(&b, in, err);
        if (result == 0) {
                blend_final(&b, final);
                buffer_add(out, b.rows.data, b.rows.len);
                out->failed |= b.rows.failed;
                put_final(out, &b, final);
        }
        mpq_clear(final);
        blend_free(&b);
        return result;
}
