/* Exact arithmetic on numbers of outsiders; see number.h. */
#include "number.h"

void number_plain(const char *text, char *out, size_t size)
{
        char zeros[NUMBER_PLAIN_SIZE];
        struct decimal d;
        const char *digits, *sign;
        int whole;

        /* Most are plain as they are. */
        if (text[strspn(text, "0123456789.")] == '\0' && text[strspn(text, "0.")] != '\0') {
                snprintf(out, size, "%s", text);
                return;
        }
        memset(zeros, '0', sizeof zeros);
        if (decimal_scan(text, strlen(text), &d) != NULL)
                d = (struct decimal){.digits = "0"};
        digits = d.digits + strspn(d.digits, "0");
        sign = d.negative && *digits ? "-" : "";
        whole = (int)strlen(digits) + d.exponent; /* digits before the point */
        if (*digits == '\0')
                snprintf(out, size, "0");
        else if (d.exponent >= 0)
                snprintf(out, size, "%s%s%.*s", sign, digits, d.exponent, zeros);
        else if (whole > 0)
                snprintf(out, size, "%s%.*s.%s", sign, whole, digits, digits + whole);
        else
                snprintf(out, size, "%s0.%.*s%s", sign, -whole, zeros, digits);
}

/* x × 10^exponent */
static void scale(mpq_t x, int exponent)
{
        mpz_t power;

        mpz_init(power);
        mpz_ui_pow_ui(power, 10, (unsigned long)abs(exponent));
        if (exponent >= 0)
                mpz_mul(mpq_numref(x), mpq_numref(x), power);
        else
                mpz_mul(mpq_denref(x), mpq_denref(x), power);
        mpq_canonicalize(x);
        mpz_clear(power);
}

int number_parse(mpq_t ret, const char *text)
{
        size_t len = strlen(text);
        struct decimal d;

        if (decimal_scan(text, len, &d) || d.length != len)
                return -1;
        mpz_set_str(mpq_numref(ret), d.digits, 10);
        mpz_set_ui(mpq_denref(ret), 1);
        scale(ret, d.exponent);
        if (d.negative)
                mpq_neg(ret, ret);
        return 0;
}

int number_parse_plain(mpq_t ret, const char *text)
{
        size_t whole = strspn(text, "0123456789"), fraction = 0;
        char digits[NUMBER_PLAIN_SIZE];

        if (text[whole] == '.')
                fraction = strspn(text + whole + 1, "0123456789");
        if (whole == 0 || strlen(text) != whole + (fraction ? fraction + 1 : 0) ||
                strlen(text) >= sizeof digits)
                return -1;
        memcpy(digits, text, whole);
        memcpy(digits + whole, text + whole + (fraction > 0), fraction);
        digits[whole + fraction] = '\0';
        mpz_set_str(mpq_numref(ret), digits, 10);
        mpz_set_ui(mpq_denref(ret), 1);
        scale(ret, -(int)fraction);
        return 0;
}

int number_parse_exact(mpq_t ret, const char *text)
{
        const size_t top = strspn(text, "0123456789");
        const char *bottom = text + top + 1;

        if (text[top] != '/')
                return number_parse_plain(ret, text);
        if (top == 0 || *bottom < '1' || *bottom > '9' ||
                bottom[strspn(bottom, "0123456789")] != '\0' || mpq_set_str(ret, text, 10) < 0)
                return -1;
        mpq_canonicalize(ret);
        return 0;
}

bool number_between(const char *text, unsigned long least, unsigned long most)
{
        mpq_t x;
        bool ok;

        mpq_init(x);
        ok = number_parse(x, text) == 0 && mpq_cmp_ui(x, least, 1) >= 0 &&
             mpq_cmp_ui(x, most, 1) <= 0;
        mpq_clear(x);
        return ok;
}

int number_whole(const char *text, uint64_t most, uint64_t *ret)
{
        int r = -1;
        mpq_t x;

        mpq_init(x);
        if (number_parse(x, text) == 0 && mpz_cmp_ui(mpq_denref(x), 1) == 0 && mpq_sgn(x) >= 0 &&
                mpq_cmp_ui(x, most, 1) <= 0) {
                *ret = mpz_get_ui(mpq_numref(x));
                r = 0;
        }
        mpq_clear(x);
        return r;
}

/* Half up is the floor of twice the number plus one, over two. */
void number_round(mpq_t x, unsigned places)
{
        scale(x, (int)places);
        mpz_mul_2exp(mpq_numref(x), mpq_numref(x), 1);
        mpz_add(mpq_numref(x), mpq_numref(x), mpq_denref(x));
        mpz_mul_2exp(mpq_denref(x), mpq_denref(x), 1);
        mpz_fdiv_q(mpq_numref(x), mpq_numref(x), mpq_denref(x));
        mpz_set_ui(mpq_denref(x), 1);
        scale(x, -(int)places);
}

void number_format(const mpq_t x, unsigned places, char *out, size_t size)
{
        unsigned long unit = 1;
        mpq_t scaled;
        mpz_t whole;
        unsigned long rest;

        for (unsigned i = 0; i < places; i++)
                unit *= 10;
        mpq_init(scaled);
        mpz_init(whole);
        mpq_set(scaled, x);
        scale(scaled, (int)places);
        rest = mpz_fdiv_q_ui(whole, mpq_numref(scaled), unit);
        if (places > 0)
                gmp_snprintf(out, size, "%Zd.%0*lu", whole, (int)places, rest);
        else
                gmp_snprintf(out, size, "%Zd", whole);
        mpz_clear(whole);
        mpq_clear(scaled);
}

void number_fraction(const mpq_t x, char *out, size_t size)
{
        gmp_snprintf(out, size, "%Qd", x);
}
