/* Medians, computed exactly; see median.h. */
#include "evaluators/judge/median.h"

#include "evaluators/number.h"

/* The place of the median: as many are less, or equal and earlier, as are not. */
static unsigned middle(const mpq_t *values, unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                unsigned before = 0;

                for (unsigned j = 0; j < n; j++) {
                        int c = mpq_cmp(values[j], values[i]);

                        before += c < 0 || (c == 0 && j < i);
                }
                if (before == n / 2)
                        return i;
        }
        return 0;
}

static void add_weighted(mpq_t sum, const char *score, uint64_t weight)
{
        mpq_t x, w;

        mpq_inits(x, w, NULL);
        number_parse(x, score);
        mpq_set_ui(w, weight, 1);
        mpq_mul(x, x, w);
        mpq_add(sum, sum, x);
        mpq_clears(x, w, NULL);
}

static unsigned middle_and_clear(mpq_t *values, unsigned n)
{
        unsigned i = middle(values, n);

        for (unsigned j = 0; j < n; j++)
                mpq_clear(values[j]);
        return i;
}

unsigned median_score(const struct reply *runs, unsigned n, size_t criterion)
{
        mpq_t values[MEDIAN_MOST];

        for (unsigned i = 0; i < n; i++) {
                mpq_init(values[i]);
                add_weighted(values[i], runs[i].opinions->of[criterion].score, 1);
        }
        return middle_and_clear(values, n);
}

unsigned median_total(const struct reply *runs, unsigned n, const struct list *rubric)
{
        const struct judge_criterion *c = rubric->items;
        mpq_t values[MEDIAN_MOST];

        for (unsigned i = 0; i < n; i++) {
                mpq_init(values[i]);
                for (size_t k = 0; k < rubric->count; k++)
                        add_weighted(values[i], runs[i].opinions->of[k].score, c[k].weight);
        }
        return middle_and_clear(values, n);
}
