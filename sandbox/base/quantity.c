/* Amounts as people write them; pure. */
#include "quantity.h"

struct unit {
        const char *name;
        uint64_t factor;
};

static const struct unit byte_units[] = {
        {"", 1},
        {"B", 1},
        {"KiB", 1ULL << 10},
        {"MiB", 1ULL << 20},
        {"GiB", 1ULL << 30},
        {"kB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {NULL, 0},
};

static const struct unit time_units[] = {
        {"us", 1},
        {"ms", 1000},
        {"s", 1000000},
        {"m", 60000000},
        {"h", 3600000000},
        {NULL, 0},
};

/* The number of digits at `*text`, which moves behind them; -1 without a digit or on overflow. */
static int digits(const char **text, uint64_t *ret_value)
{
        const char *p = *text;
        uint64_t v = 0;

        if (*p < '0' || *p > '9')
                return -1;
        for (; *p >= '0' && *p <= '9'; p++)
                if (__builtin_mul_overflow(v, 10, &v) ||
                        __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
                        return -1;
        *text = p;
        *ret_value = v;
        return 0;
}

/* A decimal number times `factor`, which must come out whole. */
static int scaled(const char *text, const struct unit *units, uint64_t *ret_value)
{
        uint64_t whole, fraction = 0, tenth = 1, value, part;
        const char *p = text;

        if (digits(&p, &whole) < 0)
                return -1;
        if (*p == '.') {
                const char *start = ++p;

                if (digits(&p, &fraction) < 0 || p - start > 9)
                        return -1;
                for (const char *q = start; q < p; q++)
                        tenth *= 10;
        }
        for (; units->name; units++)
                if (strcmp(units->name, p) == 0)
                        break;
        if (!units->name || __builtin_mul_overflow(whole, units->factor, &value) ||
                __builtin_mul_overflow(fraction, units->factor, &part) || part % tenth != 0 ||
                __builtin_add_overflow(value, part / tenth, &value))
                return -1;
        *ret_value = value;
        return 0;
}

int quantity_parse_count(const char *text, uint64_t *ret_value)
{
        uint64_t v;

        if (digits(&text, &v) < 0 || *text != '\0')
                return -1;
        *ret_value = v;
        return 0;
}

int quantity_parse_bytes(const char *text, uint64_t *ret_bytes)
{
        return scaled(text, byte_units, ret_bytes);
}

int quantity_parse_duration(const char *text, uint64_t *ret_us)
{
        return scaled(text, time_units, ret_us);
}

int quantity_parse_milli(const char *text, uint64_t *ret_milli)
{
        static const struct unit milli[] = {{"", 1000}, {NULL, 0}};

        return scaled(text, milli, ret_milli);
}

void quantity_format_bytes(char *out, size_t size, uint64_t bytes)
{
        const struct unit *best = &byte_units[1];

        for (const struct unit *u = &byte_units[1]; u <= &byte_units[4]; u++)
                if (bytes > 0 && bytes % u->factor == 0)
                        best = u;
        snprintf(out, size, "%llu %s", (unsigned long long)(bytes / best->factor), best->name);
}

void quantity_format_duration(char *out, size_t size, uint64_t us)
{
        uint64_t whole = us / 1000000, rest = us % 1000000;

        if (us > 0 && us < 1000000 && us % 1000 == 0)
                snprintf(out, size, "%llu ms", (unsigned long long)(us / 1000));
        else if (us > 0 && us < 1000000)
                snprintf(out, size, "%llu us", (unsigned long long)us);
        else if (rest == 0)
                snprintf(out, size, "%llu s", (unsigned long long)whole);
        else {
                char fraction[8];
                size_t len;

                snprintf(fraction, sizeof fraction, "%06u", (unsigned)rest);
                for (len = 6; len > 1 && fraction[len - 1] == '0'; len--)
                        fraction[len - 1] = '\0';
                snprintf(out, size, "%llu.%s s", (unsigned long long)whole, fraction);
        }
}
