/* The types of single values; see fields.h. */
#include "fields.h"

#include "number.h"

#include "quantity.h"

static size_t characters(const char *text)
{
        size_t n = 0;

        for (; *text; text++)
                n += ((unsigned char)*text & 0xc0) != 0x80;
        return n;
}

static bool read_bounded_text(struct reading *r, const struct field *f, const struct spot *s,
        size_t (*length)(const char *), const char **to)
{
        const char *text = json_string_value(s->value.node);
        const char *complaint = NULL;

        if (!text || length(text) < f->least || length(text) > f->most)
                return false;
        if (f->check)
                complaint = f->check(text);
        if (complaint)
                reading_problem(r, s, "%s", complaint);
        else
                *to = text;
        return true;
}

static bool read_text(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        return read_bounded_text(r, f, s, strlen, to);
}

static bool read_prose(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        return read_bounded_text(r, f, s, characters, to);
}

static void want_length(const struct field *f, const char *unit, char *out, size_t size)
{
        if (f->least > 0)
                snprintf(out, size, "a text of %llu to %llu %s", (unsigned long long)f->least,
                        (unsigned long long)f->most, unit);
        else
                snprintf(out, size, "a text of at most %llu %s", (unsigned long long)f->most, unit);
}

static void want_text(const struct field *f, char *out, size_t size)
{
        want_length(f, "bytes", out, size);
}

static void want_prose(const struct field *f, char *out, size_t size)
{
        want_length(f, "characters", out, size);
}

static bool read_choice(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        const char *text = json_string_value(s->value.node);

        (void)r;
        for (const struct choice *c = f->choices; text && c->name; c++) {
                if (strcmp(c->name, text) != 0)
                        continue;
                *(unsigned *)to = c->value;
                return true;
        }
        return false;
}

static void want_choice(const struct field *f, char *out, size_t size)
{
        size_t used = 0;

        out[0] = '\0';
        for (const struct choice *c = f->choices; c->name; c++) {
                if (used >= size)
                        continue;
                used += (size_t)snprintf(
                        out + used, size - used, "%s\"%s\"", used > 0 ? " or " : "", c->name);
        }
}

static bool read_boolean(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        (void)r;
        (void)f;
        if (!json_is_boolean(s->value.node))
                return false;
        *(bool *)to = json_is_true(s->value.node);
        return true;
}

static void want_boolean(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "true or false");
}

static bool read_whole(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        char text[NUMBER_TEXT_SIZE];
        uint64_t value;

        (void)r;
        if (!json_is_number(s->value.node))
                return false;
        json_number_text(s->value, text, sizeof text);
        if (number_whole(text, f->most, &value) < 0 || value < f->least)
                return false;
        *(uint64_t *)to = value;
        return true;
}

static void want_whole(const struct field *f, char *out, size_t size)
{
        snprintf(out, size, "a whole number from %llu to %llu", (unsigned long long)f->least,
                (unsigned long long)f->most);
}

static bool read_decimal(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        char text[NUMBER_TEXT_SIZE];

        (void)r;
        if (!json_is_number(s->value.node))
                return false;
        json_number_text(s->value, text, sizeof text);
        if (!number_between(text, f->least, f->most))
                return false;
        memcpy(to, text, sizeof text);
        return true;
}

static void want_decimal(const struct field *f, char *out, size_t size)
{
        snprintf(out, size, "a number from %llu to %llu", (unsigned long long)f->least,
                (unsigned long long)f->most);
}

static bool read_number(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        (void)r;
        (void)f;
        if (!json_is_number(s->value.node))
                return false;
        json_number_text(s->value, to, NUMBER_TEXT_SIZE);
        return true;
}

static void want_number(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a number");
}

/* -0 is not below 0. */
static bool read_positive(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        bool good;
        mpq_t x;

        if (!read_number(r, f, s, to))
                return false;
        mpq_init(x);
        good = number_parse(x, to) == 0 && mpq_sgn(x) >= 0;
        mpq_clear(x);
        return good;
}

/* "1e-6" keeps its digits where a tool would turn the number into another one. */
static bool read_number_text(
        struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        const char *text = json_string_value(s->value.node);
        struct decimal d;

        if (!text)
                return read_positive(r, f, s, to);
        if (decimal_scan(text, strlen(text), &d) || d.length != strlen(text) || *text == '-' ||
                strlen(text) >= NUMBER_TEXT_SIZE)
                return false;
        snprintf(to, NUMBER_TEXT_SIZE, "%s", text);
        return true;
}

static void want_positive(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a number that is not below 0");
}

static bool read_anything(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        (void)r;
        (void)f;
        (void)s;
        (void)to;
        return true;
}

static void want_anything(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "anything");
}

/* "300s", "5m", or a number of seconds. */
static bool read_duration(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        static const struct {
                const char *unit;
                unsigned ms;
        } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
        const char *text = json_string_value(s->value.node);
        struct duration *d = to;
        struct decimal number;

        if (!text) {
                d->ms = 1000;
                return field_number.read(r, f, s, d->amount);
        }
        if (decimal_scan(text, strlen(text), &number) || number.length >= sizeof d->amount)
                return false;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
                if (strcmp(text + number.length, units[i].unit) == 0) {
                        snprintf(d->amount, sizeof d->amount, "%.*s", (int)number.length, text);
                        d->ms = units[i].ms;
                        return true;
                }
        return false;
}

static void want_duration(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a duration such as \"300s\", or a number of seconds");
}

static bool read_any_text(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        const char *text = json_is_null(s->value.node) ? "" : json_string_value(s->value.node);

        (void)r;
        (void)f;
        if (text)
                *(const char **)to = text;
        return text;
}

static void want_any_text(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a text");
}

static bool read_bytes(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        const char *text = json_string_value(s->value.node);
        uint64_t value;

        if (json_is_number(s->value.node))
                return read_whole(r, f, s, to);
        if (!text || quantity_parse_bytes(text, &value) < 0 || value < f->least || value > f->most)
                return false;
        *(uint64_t *)to = value;
        return true;
}

static void want_bytes(const struct field *f, char *out, size_t size)
{
        char least[32], most[32];

        quantity_format_bytes(least, sizeof least, f->least);
        quantity_format_bytes(most, sizeof most, f->most);
        snprintf(out, size, "a size from %s to %s such as \"10MiB\"", least, most);
}

const struct field_type field_text = {read_text, want_text};
const struct field_type field_prose = {read_prose, want_prose};
const struct field_type field_choice = {read_choice, want_choice};
const struct field_type field_boolean = {read_boolean, want_boolean};
const struct field_type field_whole = {read_whole, want_whole};
const struct field_type field_decimal = {read_decimal, want_decimal};
const struct field_type field_number = {read_number, want_number};
const struct field_type field_positive = {read_positive, want_positive};
const struct field_type field_number_text = {read_number_text, want_positive};
const struct field_type field_duration = {read_duration, want_duration};
const struct field_type field_anything = {read_anything, want_anything};
const struct field_type field_any_text = {read_any_text, want_any_text};
const struct field_type field_bytes = {read_bytes, want_bytes};
