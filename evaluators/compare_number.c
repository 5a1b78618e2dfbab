/* Comparing numbers within a tolerance; see compare_number.h. */
#include "compare_number.h"

void tolerance_init(struct tolerance *t)
{
        *t = (struct tolerance){0};
        mpz_inits(t->abs.digits, t->rel.digits, t->expected.digits, t->actual.digits,
                t->difference.digits, t->allowed.digits, t->power.digits, NULL);
}

void tolerance_free(struct tolerance *t)
{
        mpz_clears(t->abs.digits, t->rel.digits, t->expected.digits, t->actual.digits,
                t->difference.digits, t->allowed.digits, t->power.digits, NULL);
}

static int read_decimal(const char *text, size_t len, struct scaled *ret)
{
        struct decimal d;

        if (decimal_scan(text, len, &d) || d.length != len)
                return -1;
        mpz_set_str(ret->digits, d.digits, 10);
        if (d.negative)
                mpz_neg(ret->digits, ret->digits);
        ret->exponent = d.exponent;
        return 0;
}

static int set_one(struct scaled *ret, char *ret_text, const char *text)
{
        if (*text == '\0')
                text = "0";
        snprintf(ret_text, NUMBER_TEXT_SIZE, "%s", text);
        return read_decimal(text, strlen(text), ret) < 0 || mpz_sgn(ret->digits) < 0 ? -1 : 0;
}

int tolerance_set(struct tolerance *t, const char *abs, const char *rel)
{
        if (set_one(&t->abs, t->abs_text, abs) < 0)
                return -1;
        return set_one(&t->rel, t->rel_text, rel);
}

static size_t count_digits(const unsigned char *at, const unsigned char *end)
{
        size_t n = 0;

        while (at + n < end && at[n] >= '0' && at[n] <= '9')
                n++;
        return n;
}

/* Bring it to the form of decimal.h: what has no room there is too long for a number anyway. */
static int read_printed(const unsigned char *token, size_t len, struct scaled *ret)
{
        const unsigned char *at = token, *end = token + len;
        const bool negative = len > 0 && *at == '-', plus = len > 0 && *at == '+';
        char text[NUMBER_TEXT_SIZE];
        size_t whole, rest, used = 0;
        const unsigned char *point;
        bool fraction, bare;

        at += negative || plus;
        if (plus && at < end && *at == '-')
                return -1;
        while (end - at > 1 && at[0] == '0' && at[1] >= '0' && at[1] <= '9')
                at++;
        whole = count_digits(at, end);
        point = at + whole < end && at[whole] == '.' ? at + whole : NULL;
        fraction = point && count_digits(point + 1, end) > 0;
        bare = point && whole > 0 && (point + 1 == end || point[1] == 'e' || point[1] == 'E');
        if ((size_t)(end - at) + 2 > sizeof text)
                return -1;
        if (negative)
                text[used++] = '-';
        if (whole == 0 && fraction)
                text[used++] = '0';
        memcpy(text + used, at, whole);
        used += whole;
        at += whole + bare;
        rest = (size_t)(end - at);
        memcpy(text + used, at, rest);
        return read_decimal(text, used + rest, ret);
}

/* Bring x to a lower exponent. */
static void lower(struct tolerance *t, struct scaled *x, int exponent)
{
        if (x->exponent <= exponent)
                return;
        mpz_ui_pow_ui(t->power.digits, 10, (unsigned long)(x->exponent - exponent));
        mpz_mul(x->digits, x->digits, t->power.digits);
        x->exponent = exponent;
}

/* difference ≤ allowed */
static bool is_allowed(struct tolerance *t)
{
        lower(t, &t->difference, t->allowed.exponent);
        lower(t, &t->allowed, t->difference.exponent);
        return mpz_cmp(t->difference.digits, t->allowed.digits) <= 0;
}

enum closeness tolerance_compare(struct tolerance *t, const unsigned char *expected,
        size_t expected_len, const unsigned char *actual, size_t actual_len)
{
        struct scaled *e = &t->expected, *a = &t->actual, *allowed = &t->allowed;

        if (read_printed(expected, expected_len, e) < 0 || read_printed(actual, actual_len, a) < 0)
                return NUMBERS_NOT_BOTH;
        lower(t, e, a->exponent);
        lower(t, a, e->exponent);
        mpz_sub(t->difference.digits, e->digits, a->digits);
        mpz_abs(t->difference.digits, t->difference.digits);
        t->difference.exponent = e->exponent;
        mpz_set(allowed->digits, t->abs.digits);
        allowed->exponent = t->abs.exponent;
        if (is_allowed(t))
                return NUMBERS_CLOSE;
        mpz_mul(allowed->digits, t->rel.digits, e->digits);
        mpz_abs(allowed->digits, allowed->digits);
        allowed->exponent = t->rel.exponent + e->exponent;
        return is_allowed(t) ? NUMBERS_CLOSE : NUMBERS_APART;
}
