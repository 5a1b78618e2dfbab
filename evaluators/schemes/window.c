/* Windows of composite scores; see window.h. */
#include "evaluators/schemes/window.h"

#include "evaluators/answer.h"
#include "evaluators/fields.h"
#include "evaluators/number.h"
#include "evaluators/request.h"
#include "evaluators/value.h"

#include <stdlib.h>

enum {
        PLACES = 6,
        WINDOW = 100,
        MOST_NAMES = 5000,
        MOST_BITS = 200000,
        MOST_BITS_IN_ALL = 60000000,
};

/* --- weights -------------------------------------------------------------------------------- */

/* The means as whole numbers of one denominator: their proportions are all that counts. */
static void bring_together(const mpq_t *means, size_t count, mpz_t *ret)
{
        mpz_t common, times;

        mpz_inits(common, times, NULL);
        mpz_set_ui(common, 1);
        for (size_t i = 0; i < count; i++)
                mpz_lcm(common, common, mpq_denref(means[i]));
        for (size_t i = 0; i < count; i++) {
                mpz_divexact(times, common, mpq_denref(means[i]));
                mpz_mul(ret[i], mpq_numref(means[i]), times);
        }
        mpz_clears(common, times, NULL);
}

/* What those have together that are not capped. */
static void sum_up(mpz_t *parts, size_t count, const bool *capped, mpz_t ret)
{
        mpz_set_ui(ret, 0);
        for (size_t i = 0; i < count; i++)
                if (!capped[i])
                        mpz_add(ret, ret, parts[i]);
}

/* With `caps` capped at 3/20, (20 − 3 caps)/20 are left. Cap those that would get more than 3/20 of
 * it: part / sum × (20 − 3 caps) > 3. */
static unsigned cap_some(mpz_t *parts, size_t count, bool *capped, const mpz_t sum, unsigned caps)
{
        unsigned more = 0;
        mpz_t share, most;

        mpz_inits(share, most, NULL);
        mpz_mul_ui(most, sum, 3);
        for (size_t i = 0; i < count; i++) {
                if (capped[i])
                        continue;
                mpz_mul_ui(share, parts[i], 20 - 3 * caps);
                if (mpz_cmp(share, most) > 0) {
                        capped[i] = true;
                        more++;
                }
        }
        mpz_clears(share, most, NULL);
        return more;
}

static void set_weight(mpq_t ret, const mpz_t part, const mpz_t sum, unsigned left)
{
        mpz_mul_ui(mpq_numref(ret), part, left);
        mpz_mul_ui(mpq_denref(ret), sum, 20);
        mpq_canonicalize(ret);
}

int window_weights(const mpq_t *means, size_t count, mpq_t *ret_weights, mpq_t ret_unassigned)
{
        mpz_t *parts = calloc(count + 1, sizeof *parts), sum;
        bool *capped = calloc(count + 1, sizeof *capped);
        unsigned caps = 0, more;

        if (!parts || !capped) {
                free(parts);
                free(capped);
                return -1;
        }
        mpz_init(sum);
        for (size_t i = 0; i < count; i++)
                mpz_init(parts[i]);
        bring_together(means, count, parts);
        do {
                sum_up(parts, count, capped, sum);
                more = mpz_sgn(sum) > 0 ? cap_some(parts, count, capped, sum, caps) : 0;
                caps += more;
        } while (more > 0);
        mpq_set_ui(ret_unassigned, 20 - 3 * caps, 20);
        if (mpz_sgn(sum) > 0)
                mpq_set_ui(ret_unassigned, 0, 1);
        mpq_canonicalize(ret_unassigned);
        for (size_t i = 0; i < count; i++) {
                if (capped[i])
                        mpq_set_ui(ret_weights[i], 3, 20);
                else if (mpz_sgn(sum) > 0)
                        set_weight(ret_weights[i], parts[i], sum, 20 - 3 * caps);
                else
                        mpq_set_ui(ret_weights[i], 0, 1);
                mpz_clear(parts[i]);
        }
        mpz_clear(sum);
        free(parts);
        free(capped);
        return 0;
}

/* --- an answer ------------------------------------------------------------------------------ */

/* A score from 0 to 1: a number, or a fraction as results have it in `exact`. */
static bool add_score(struct json_value v, mpq_t sum)
{
        const char *text = json_string_value(v.node);
        bool good = false;
        mpq_t score;

        mpq_init(score);
        if (json_is_number(v.node)) {
                value_number(v, score);
                good = true;
        } else if (text && strlen(text) < SCORE_MAX_NAME)
                good = number_parse_exact(score, text) == 0;
        good = good && mpq_sgn(score) >= 0 && mpq_cmp_ui(score, 1, 1) <= 0;
        if (good)
                mpq_add(sum, sum, score);
        mpq_clear(score);
        return good;
}

/* Of the last hundred, each alike. */
static void mean_of(struct reading *r, const struct spot *s, mpq_t ret, uint32_t *ret_count)
{
        const size_t all = json_array_size(s->value.node);
        const size_t first = all > WINDOW ? all - WINDOW : 0;
        struct json_value child;
        mpq_t count;

        mpq_set_ui(ret, 0, 1);
        *ret_count = (uint32_t)(all - first);
        if (!json_is_array(s->value.node))
                reading_problem(r, s, "must be an array of scores from 0 to 1");
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);

                if (w.index >= first && !add_score(child, ret))
                        reading_problem(r, &below,
                                "must be a score from 0 to 1, or one as a fraction (\"21/25\")");
        }
        if (*ret_count == 0)
                return;
        mpq_init(count);
        mpq_set_ui(count, *ret_count, 1);
        mpq_div(ret, ret, count);
        mpq_clear(count);
}

struct window {
        size_t count;
        const char **names;
        uint32_t *counts;
        mpq_t *means, *weights;
};

static int put_window(const struct window *w, struct buffer *out, struct error *err)
{
        mpq_t unassigned;
        size_t at;

        mpq_init(unassigned);
        if (window_weights(w->means, w->count, w->weights, unassigned) < 0) {
                mpq_clear(unassigned);
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        for (size_t i = 0; i < w->count; i++) {
                at = answer_begin(out, WINDOW_ROW);
                put_text(out, w->names[i]);
                put_u32(out, w->counts[i]);
                put_rounded(out, w->means[i], PLACES);
                put_rounded(out, w->weights[i], PLACES);
                put_exact(out, w->means[i]);
                put_exact(out, w->weights[i]);
                answer_end(out, at);
        }
        at = answer_begin(out, WINDOW_REST);
        put_rounded(out, unassigned, PLACES);
        put_exact(out, unassigned);
        answer_end(out, at);
        mpq_clear(unassigned);
        return 0;
}

/* Fractions grow with what is added up; those of all together must stay such that they can be
 * shown. */
static int check_digits(const struct window *w, struct error *err)
{
        size_t bits = 0;
        mpz_t common;

        mpz_init_set_ui(common, 1);
        for (size_t i = 0; i < w->count && bits <= MOST_BITS; i++) {
                mpz_lcm(common, common, mpq_denref(w->means[i]));
                bits = mpz_sizeinbase(common, 2);
        }
        mpz_clear(common);
        return bits <= MOST_BITS && bits * w->count <= MOST_BITS_IN_ALL
                       ? 0
                       : error_set(err, CODE_SCORE_SPEC,
                                 "the scores are fractions that are too long together: round them "
                                 "to some decimals");
}

static int read_window(const struct json *doc, struct window *w, struct error *err)
{
        const struct spot root = {.value = json_root(doc)};
        struct json_value child;
        struct reading r;

        reading_begin(&r, doc);
        if (!json_is_object(doc->root) || json_object_size(doc->root) > MOST_NAMES)
                reading_problem(&r, &root,
                        "must be an object of at most %d names, each with an "
                        "array of scores",
                        MOST_NAMES);
        for (struct json_walk at = json_walk(root.value);
                r.problems.count == 0 && json_next(&at, &child); w->count++) {
                struct spot below = spot_below(&root, &at, child);

                if (*at.key == '\0' || strlen(at.key) > SCORE_MAX_NAME)
                        reading_problem(
                                &r, &below, "a name must have 1 to %d bytes", SCORE_MAX_NAME);
                w->names[w->count] = at.key;
                mpq_inits(w->means[w->count], w->weights[w->count], NULL);
                mean_of(&r, &below, w->means[w->count], &w->counts[w->count]);
        }
        return reading_error(&r, CODE_SCORE_SPEC, err);
}

static int score_window(const struct request *q, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct window w = {0};
        size_t room;
        int r = reading_open(&doc, &q->documents[DOCUMENT_SUBMISSION].bytes, CODE_SCORE_SPEC, err);

        if (r < 0)
                return error_add(err, "the scores");
        room = json_object_size(doc.root) + 1;
        w.names = calloc(room, sizeof *w.names);
        w.counts = calloc(room, sizeof *w.counts);
        w.means = calloc(room, sizeof *w.means);
        w.weights = calloc(room, sizeof *w.weights);
        r = w.names && w.counts && w.means && w.weights
                    ? read_window(&doc, &w, err)
                    : error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (r == 0)
                r = check_digits(&w, err);
        if (r == 0)
                r = put_window(&w, out, err);
        for (size_t i = 0; i < w.count; i++)
                mpq_clears(w.means[i], w.weights[i], NULL);
        free(w.names);
        free(w.counts);
        free(w.means);
        free(w.weights);
        return r;
}

int window_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return request_answer(in, out, REQUEST_WINDOW, score_window, err);
}
