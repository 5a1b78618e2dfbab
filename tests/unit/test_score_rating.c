/* Ratings: what must hold whatever the numbers are. The vectors of the contract are in score.bats.
 */
#include "evaluators/rating.h"

#include <criterion/criterion.h>
#include <gmp.h>
#include <stdlib.h>

enum { WIN, DRAW, LOSS };

static int change(int own, int opponent, unsigned result, unsigned matches)
{
        const struct match m = {own, opponent, result, matches, false, false};

        return rating_after(&m) - own;
}

Test(score_rating, bounds)
{
        for (int own = 100; own <= 3000; own += 37)
                for (int opponent = 100; opponent <= 3000; opponent += 53)
                        for (unsigned result = WIN; result <= LOSS; result++)
                                for (unsigned matches = 29; matches <= 30; matches++) {
                                        const int k = matches < 30 ? 32 : 16;
                                        const int c = change(own, opponent, result, matches);

                                        cr_assert(abs(c) <= k && own + c >= 100, "%d %d %u: %d",
                                                own, opponent, result, c);
                                        cr_assert(result != WIN || c >= 0);
                                        cr_assert(result != LOSS || c <= 0);
                                }
}

Test(score_rating, better_results_and_stronger_opponents_never_give_less)
{
        for (int own = 200; own <= 2500; own += 91)
                for (int opponent = 100; opponent < 2600; opponent += 17)
                        for (unsigned result = WIN; result <= LOSS; result++) {
                                cr_assert(change(own, opponent + 17, result, 5) >=
                                          change(own, opponent, result, 5));
                                cr_assert(result == LOSS ||
                                          change(own, opponent, result, 5) >=
                                                  change(own, opponent, result + 1, 5));
                        }
}

/* What one wins the other loses, but for the half that is rounded up on both sides. */
Test(score_rating, symmetry)
{
        for (int own = 400; own <= 2000; own += 13)
                for (int opponent = 400; opponent <= 2000; opponent += 29)
                        for (unsigned result = WIN; result <= LOSS; result++) {
                                int sum = change(own, opponent, result, 40) +
                                          change(opponent, own, LOSS - result, 40);

                                cr_assert(sum == 0 || sum == 1, "%d %d %u: %d", own, opponent,
                                        result, sum);
                        }
        for (unsigned matches = 0; matches < 60; matches += 29)
                cr_assert_eq(change(1500, 1500, DRAW, matches), 0);
}

/* Where 10^(d/400) is rational, halves are met exactly: K (S − E) + ½ is whole at d = 0 alone. */
Test(score_rating, exactly_at_the_edge)
{
        cr_assert_eq(change(1000, 1000, WIN, 0), 16);
        cr_assert_eq(change(1000, 1000, LOSS, 0), -16);
        cr_assert_eq(change(1000, 1400, LOSS, 0), -3); /* E = 1/11: −32/11 + ½ = −2.41 */
        cr_assert_eq(change(100000, 0, WIN, 0), 0);
        cr_assert_eq(change(100, 100000, WIN, 0), 32);
}

Test(score_rating, bonuses_are_for_what_is_won_and_rounded_half_up)
{
        const struct match draw_that_wins = {1000, 1400, DRAW, 5, true, false};
        struct match m = {1000, 1000, WIN, 30, true, false};

        cr_assert_eq(rating_after(&m), 1009); /* 8.8 */
        m.benchmark = true;
        cr_assert_eq(rating_after(&m), 1010); /* 9.6 */
        m.result = LOSS;
        cr_assert_eq(rating_after(&m), 992);
        cr_assert_eq(rating_after(&draw_that_wins), 1000 + 14); /* 13 × 1.1 = 14.3 */
}

/* The formula itself, with both sides raised until they are whole: E <= q / (2 K) is
 * 10^d >= ((2 K - q) / q)^400. */
static bool expects_at_most(int k, int q, int d)
{
        mpz_t ten, left, right;
        bool yes;

        if (q <= 0 || q >= 2 * k)
                return q > 0;
        mpz_inits(ten, left, right, NULL);
        mpz_ui_pow_ui(ten, 10, (unsigned long)abs(d));
        mpz_ui_pow_ui(left, (unsigned long)q, 400);
        mpz_ui_pow_ui(right, (unsigned long)(2 * k - q), 400);
        mpz_mul(d >= 0 ? left : right, d >= 0 ? left : right, ten);
        yes = mpz_cmp(left, right) >= 0;
        mpz_clears(ten, left, right, NULL);
        return yes;
}

static int gain_by_formula(int k, int half, int d)
{
        int gain = -k;

        while (gain < k && expects_at_most(k, k * half + 1 - 2 * (gain + 1), d))
                gain++;
        return gain;
}

Test(score_rating, is_what_the_formula_says_at_every_difference)
{
        for (int d = -1000; d <= 1000; d++)
                for (unsigned result = WIN; result <= LOSS; result++)
                        for (unsigned matches = 29; matches <= 30; matches++) {
                                const int k = matches < 30 ? 32 : 16;

                                cr_assert_eq(change(2000, 2000 + d, result, matches),
                                        gain_by_formula(k, 2 - (int)result, d), "%d %u %d", d,
                                        result, k);
                        }
}
