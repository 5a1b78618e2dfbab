/* Ratings; see rating.h and §8 of the contract: new = max(100, floor(own + K (S − E) + ½)), with
 * E = 1 / (1 + 10^(d/400)), d what the opponent is above us. */
#include "rating.h"

#include "answer.h"
#include "request.h"

#include <gmp.h>

enum { NEWCOMER_MATCHES = 30, K_NEWCOMER = 32, K_LATER = 16, SPREAD = 400 };

/* Is own + K (S − E) + ½ at least own + `gain`? E is irrational but for some differences; so both
 * sides are raised until they are whole. With half = 2S and everything times 2K:
 *      2 K S − 2 K E + 1 >= 2 gain   <=>   E <= (K half + 1 − 2 gain) / (2 K) = q / (2 K)
 *      <=>   1 + 10^(d/400) >= 2 K / q   (q > 0)   <=>   10^d >= ((2 K − q) / q)^400 */
static bool gains(int k, int half, int d, int gain)
{
        const int q = k * half + 1 - 2 * gain;
        mpz_t ten, left, right;
        bool yes;

        if (q <= 0)
                return false;
        if (q >= 2 * k)
                return true;
        mpz_inits(ten, left, right, NULL);
        mpz_ui_pow_ui(ten, 10, (unsigned long)(d < 0 ? -d : d));
        mpz_ui_pow_ui(left, (unsigned long)q, SPREAD);
        mpz_ui_pow_ui(right, (unsigned long)(2 * k - q), SPREAD);
        mpz_mul(d >= 0 ? left : right, d >= 0 ? left : right, ten);
        yes = mpz_cmp(left, right) >= 0;
        mpz_clears(ten, left, right, NULL);
        return yes;
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

static int answer_match(const struct request *q, struct buffer *out, struct error *err)
{
        struct reader options = q->options;
        struct match m;
        size_t at;

        m.own = (int32_t)get_u32(&options);
        m.opponent = (int32_t)get_u32(&options);
        m.result = get_u8(&options);
        m.matches = get_u32(&options);
        m.verified = get_u8(&options);
        m.benchmark = get_u8(&options);
        if (!reader_done(&options) || m.result > 2 || m.own < 0 || m.own > RATING_MOST ||
                m.opponent < 0 || m.opponent > RATING_MOST)
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        at = answer_begin(out, RATING);
        put_u32(out, (uint32_t)rating_after(&m));
        answer_end(out, at);
        return 0;
}

int rating_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return request_answer(in, out, REQUEST_RATE, answer_match, err);
}
