/* Ratings; see rating.h and §8 of the contract: new = max(100, floor(own + K (S − E) + ½)), with
 * E = 1 / (1 + 10^(d/400)), d what the opponent is above us. No arithmetic but of small whole
 * numbers: assay-store decides ratings by the same rows. */
#include "rating.h"

enum { NEWCOMER_MATCHES = 30, K_NEWCOMER = 32, K_LATER = 16 };

const struct rating_opponent rating_opponents[RATING_OPPONENTS] = {
        {"newcomer", 800}, {"contender", 1000}, {"veteran", 1200}, {"legendary", 1400}};

/* Is own + K (S − E) + ½ at least own + `gain`? With half = 2S and everything times 2K:
 *      2 K S − 2 K E + 1 >= 2 gain   <=>   E <= (K half + 1 − 2 gain) / (2 K) = q / (2 K)
 *      <=>   10^d >= ((2 K − q) / q)^400   (q > 0)
 * q is odd, so both sides are never equal; and there are K of them: the least d of each, for
 * q = 1, 3, 5, … The unit tests make each of them again with whole numbers of any length. */
static const int16_t least_of_newcomers[K_NEWCOMER] = {720, 524, 429, 365, 315, 274, 238, 206, 177,
        150, 125, 101, 78, 55, 33, 11, -10, -32, -54, -77, -100, -124, -149, -176, -205, -237, -273,
        -314, -364, -428, -523, -719};
static const int16_t least_later[K_LATER] = {
        597, 395, 293, 222, 163, 113, 66, 22, -21, -65, -112, -162, -221, -292, -394, -596};

static bool gains(int k, int half, int d, int gain)
{
        const int16_t *least = k == K_NEWCOMER ? least_of_newcomers : least_later;
        const int q = k * half + 1 - 2 * gain;

        if (q <= 0)
                return false;
        return q >= 2 * k || d >= least[q / 2];
}

/* Half up. */
static int32_t with_bonus(int32_t change, const struct match *m)
{
        const int tenths = m->benchmark ? 12 : m->verified ? 11 : 10;

        return change > 0 ? (2 * change * tenths + 10) / 20 : change;
}

int32_t rating_after(const struct match *m)
{
        const int k = m->matches < NEWCOMER_MATCHES ? K_NEWCOMER : K_LATER;
        const int half = 2 - (int)m->result;
        int gain = -k, after;

        while (gain < k && gains(k, half, m->opponent - m->own, gain + 1))
                gain++;
        after = m->own + gain;
        if (after < RATING_LEAST)
                after = RATING_LEAST;
        return m->own + with_bonus(after - m->own, m);
}
