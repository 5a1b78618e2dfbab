/* Reading the digits of a number; see decimal.h. */
#include "decimal.h"

struct cursor {
        const char *text;
        size_t len, at;
};

static char peek(const struct cursor *c)
{
        return c->at < c->len ? c->text[c->at] : '\0';
}

static bool accept(struct cursor *c, char a, char b)
{
        if (peek(c) != a && peek(c) != b)
                return false;
        c->at += c->at < c->len;
        return true;
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* Take digits, appending those that have room; `used` counts all of them. */
static bool take_digits(struct cursor *c, struct decimal *d, size_t *used)
{
        size_t start = c->at;

        for (; is_digit(peek(c)); c->at++, (*used)++)
                if (*used < SCORE_MAX_DIGITS)
                        d->digits[*used] = peek(c);
        return c->at > start;
}

static const char *take_exponent(struct cursor *c, struct decimal *d)
{
        bool negative;
        size_t start;
        int value = 0;

        if (!accept(c, 'e', 'E'))
                return NULL;
        negative = peek(c) == '-';
        accept(c, '+', '-');
        start = c->at;
        for (; is_digit(peek(c)); c->at++)
                if (value <= NUMBER_MAX_EXPONENT)
                        value = value * 10 + (peek(c) - '0');
        if (c->at == start)
                return "an exponent needs a digit";
        /* Three digits at most: the text of a number has a bound, zeros in front included. */
        if (value > NUMBER_MAX_EXPONENT || c->at - start > 3) {
                c->at = start;
                return "an exponent must be between -100 and 100";
        }
        d->exponent += negative ? -value : value;
        return NULL;
}

static const char *take_number(struct cursor *c, struct decimal *d)
{
        size_t used = 0, start, whole;

        d->negative = accept(c, '-', '-');
        start = c->at;
        if (!take_digits(c, d, &used))
                return "a number needs a digit here";
        if (used > 1 && c->text[start] == '0') {
                c->at = start;
                return "a number must not begin with 0";
        }
        whole = used;
        if (accept(c, '.', '.') && !take_digits(c, d, &used))
                return "a digit must follow the decimal point";
        if (used > SCORE_MAX_DIGITS) {
                c->at = start;
                return "a number must not have more than 30 digits";
        }
        d->digits[used] = '\0';
        d->exponent = -(int)(used - whole);
        return take_exponent(c, d);
}

const char *decimal_scan(const char *text, size_t len, struct decimal *ret)
{
        struct cursor c = {.text = text, .len = len};
        const char *wrong;

        *ret = (struct decimal){0};
        wrong = take_number(&c, ret);
        ret->length = c.at;
        return wrong;
}
