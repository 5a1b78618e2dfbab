/* The limits of a cell; pure. Defaults are those of the contract. */
#include "limit.h"

#include "quantity.h"

#define SECONDS(n) ((n)*1000000ULL)
#define KIB(n)     ((n)*1024ULL)
#define MIB(n)     ((n)*1048576ULL)

static const struct limit_info rows[LIMIT_COUNT] = {
        [LIMIT_WALL] = {"wall", UNIT_TIME, {SECONDS(600), SECONDS(10)}, 1000, SECONDS(86400)},
        [LIMIT_CPU] = {"cpu", UNIT_TIME, {0, SECONDS(10)}, 1000, SECONDS(86400 * 64)},
        [LIMIT_CPUS] = {"cpus", UNIT_MILLI, {2000, 1000}, 10, 1024000},
        [LIMIT_MEMORY] = {"memory", UNIT_BYTES, {MIB(1024), MIB(256)}, MIB(1), MIB(1 << 24)},
        [LIMIT_DISK] = {"disk", UNIT_BYTES, {MIB(256), MIB(64)}, KIB(64), MIB(1 << 24)},
        [LIMIT_INODES] = {"inodes", UNIT_COUNT, {100000, 10000}, 64, 100000000},
        [LIMIT_PIDS] = {"pids", UNIT_COUNT, {256, 64}, 1, 1000000},
        [LIMIT_FILES] = {"files", UNIT_COUNT, {1024, 256}, 64, 1048576},
        [LIMIT_OUTPUT] = {"output", UNIT_BYTES, {MIB(1), KIB(64)}, 0, MIB(1024)},
        [LIMIT_RESULT] = {"result", UNIT_BYTES, {MIB(1), MIB(1)}, 1, MIB(16)},
};

const struct limit_info *limit_info(enum limit limit)
{
        return &rows[(unsigned)limit < LIMIT_COUNT ? limit : LIMIT_WALL];
}

enum limit limit_find(const char *name)
{
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                if (strcmp(rows[i].name, name) == 0)
                        return (enum limit)i;
        return LIMIT_COUNT;
}

void limits_standard(struct limits *ret, enum cell_kind kind)
{
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                ret->value[i] = rows[i].standard[kind];
}

int limit_parse(enum limit limit, const char *text, uint64_t *ret_value, struct error *err)
{
        const struct limit_info *row = limit_info(limit);
        static int (*const parsers[])(const char *, uint64_t *) = {
                [UNIT_COUNT] = quantity_parse_count,
                [UNIT_BYTES] = quantity_parse_bytes,
                [UNIT_TIME] = quantity_parse_duration,
                [UNIT_MILLI] = quantity_parse_milli,
        };
        static const char *const wanted[] = {
                [UNIT_COUNT] = "a whole number",
                [UNIT_BYTES] = "a size such as \"256MiB\"",
                [UNIT_TIME] = "a duration such as \"10s\"",
                [UNIT_MILLI] = "a number such as 2 or 0.5",
        };
        char least[32], most[32];
        uint64_t value;

        if (parsers[row->unit](text, &value) < 0)
                return error_set(err, CODE_USAGE, "%s must be %s, not \"%s\"", row->name,
                        wanted[row->unit], text);
        if (value < row->least || value > row->most) {
                limit_format(limit, row->least, least, sizeof least);
                limit_format(limit, row->most, most, sizeof most);
                return error_set(err, CODE_USAGE, "%s must be between %s and %s, not \"%s\"",
                        row->name, least, most, text);
        }
        *ret_value = value;
        return 0;
}

void limit_format(enum limit limit, uint64_t value, char *out, size_t size)
{
        switch (limit_info(limit)->unit) {
        case UNIT_BYTES:
                quantity_format_bytes(out, size, value);
                break;
        case UNIT_TIME:
                quantity_format_duration(out, size, value);
                break;
        case UNIT_MILLI:
                if (value % 1000 == 0)
                        snprintf(out, size, "%llu", (unsigned long long)(value / 1000));
                else
                        snprintf(out, size, "%llu.%03llu", (unsigned long long)(value / 1000),
                                (unsigned long long)(value % 1000));
                break;
        case UNIT_COUNT:
                snprintf(out, size, "%llu", (unsigned long long)value);
                break;
        }
}

void limits_settle(struct limits *l)
{
        if (l->value[LIMIT_CPU] == 0)
                l->value[LIMIT_CPU] = l->value[LIMIT_WALL] * l->value[LIMIT_CPUS] / 1000;
        if (l->value[LIMIT_CPU] > rows[LIMIT_CPU].most)
                l->value[LIMIT_CPU] = rows[LIMIT_CPU].most;
}

void limits_names(uint64_t mask, char *out, size_t size)
{
        *out = '\0';
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                if (mask & 1ULL << i)
                        snprintf(out + strlen(out), size - strlen(out), "%s%s", *out ? ", " : "",
                                rows[i].name);
}
