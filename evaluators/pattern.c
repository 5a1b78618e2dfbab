/* Reading regular expressions; see pattern.h. What follows them through a text is pattern_match.c.
 */
#include "pattern.h"

#include <ctype.h>
#include <string.h>

struct parser {
        struct pattern *p;
        const char *text;
        size_t len, at;
        const char *wrong;                   /* at `at`; NULL while nothing is */
        struct step body[PATTERN_MAX_STEPS]; /* what is being repeated */
};

static void refuse(struct parser *q, size_t at, const char *why)
{
        if (q->wrong)
                return;
        q->wrong = why;
        q->at = at;
}

static bool at_end(const struct parser *q)
{
        return q->wrong || q->at == q->len;
}

/* NUL at the end, and nowhere else. */
static char peek(const struct parser *q, size_t ahead)
{
        return q->len - q->at > ahead ? q->text[q->at + ahead] : '\0';
}

/* --- steps ---------------------------------------------------------------------------------- */

static bool has_room(struct parser *q, size_t more)
{
        if (q->p->count + more > PATTERN_MAX_STEPS)
                refuse(q, q->at,
                        "this makes more than 2000 steps when repetitions are written out");
        return !q->wrong;
}

/* Where the new step is. */
static size_t add(struct parser *q, enum step_kind kind, unsigned char byte)
{
        if (has_room(q, 1))
                q->p->steps[q->p->count++] = (struct step){.kind = (uint8_t)kind, .byte = byte};
        return q->p->count - 1;
}

static void add_all(struct parser *q, const struct step *steps, size_t count)
{
        if (!has_room(q, count))
                return;
        memcpy(q->p->steps + q->p->count, steps, count * sizeof *steps);
        q->p->count += count;
}

/* Put a fork before what begins at `start`, to what will come `beyond` steps after its end. */
static void insert_fork(struct parser *q, size_t start, size_t beyond)
{
        struct step *at = q->p->steps + start;

        if (!has_room(q, 1))
                return;
        memmove(at + 1, at, (q->p->count - start) * sizeof *at);
        q->p->count++;
        *at = (struct step){.kind = STEP_FORK, .to = (int16_t)(q->p->count + beyond - start)};
}

static void aim(struct parser *q, size_t step, size_t at)
{
        if (!q->wrong)
                q->p->steps[step].to = (int16_t)((int)at - (int)step);
}

/* --- sets ----------------------------------------------------------------------------------- */

static void set_add(struct byte_set *set, unsigned char byte)
{
        set->bits[byte / 32] |= 1U << byte % 32;
}

static const struct {
        const char *name;
        int (*has)(int c);
} classes[] = {
        {"alnum", isalnum},
        {"alpha", isalpha},
        {"blank", isblank},
        {"cntrl", iscntrl},
        {"digit", isdigit},
        {"graph", isgraph},
        {"lower", islower},
        {"print", isprint},
        {"punct", ispunct},
        {"space", isspace},
        {"upper", isupper},
        {"xdigit", isxdigit},
};

static bool add_class(struct byte_set *set, const char *name, size_t len)
{
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
                if (strlen(classes[i].name) != len || memcmp(classes[i].name, name, len) != 0)
                        continue;
                for (int c = 0; c < 128; c++)
                        if (classes[i].has(c))
                                set_add(set, (unsigned char)c);
                return true;
        }
        return false;
}

/* [:alpha:] */
static void take_class(struct parser *q, struct byte_set *set)
{
        const char *name = q->text + q->at + 2, *end = memmem(name, q->len - q->at - 2, ":]", 2);

        if (!end || !add_class(set, name, (size_t)(end - name)))
                refuse(q, q->at, "a class is one of [:alpha:], [:digit:], [:space:] and others");
        else
                q->at = (size_t)(end + 2 - q->text);
}

/* A byte in brackets, which may be written [.x.] or [=x=]. */
static unsigned char take_element(struct parser *q)
{
        const char kind = peek(q, 1);

        if (peek(q, 0) != '[' || (kind != '.' && kind != '=')) {
                q->at++;
                return (unsigned char)q->text[q->at - 1];
        }
        if (peek(q, 3) != kind || peek(q, 4) != ']') {
                refuse(q, q->at, "[. .] and [= =] take one byte");
                return 0;
        }
        q->at += 5;
        return (unsigned char)q->text[q->at - 3];
}

static void take_range(struct parser *q, struct byte_set *set, bool first)
{
        const size_t start = q->at;
        unsigned from, to;

        if (peek(q, 0) == '-' && !first && peek(q, 1) != ']') {
                refuse(q, start, "a - in brackets that makes no range comes first or last");
                return;
        }
        from = to = take_element(q);
        if (!at_end(q) && peek(q, 0) == '-' && peek(q, 1) != ']') {
                q->at++;
                if (!at_end(q))
                        to = take_element(q);
        }
        if (from > to)
                refuse(q, start, "this range ends before it begins");
        for (; from <= to; from++)
                set_add(set, (unsigned char)from);
}

static void parse_brackets(struct parser *q)
{
        const size_t start = q->at++;
        const bool inverted = peek(q, 0) == '^';
        struct byte_set *set = &q->p->sets[q->p->set_count];
        size_t first, at;

        *set = (struct byte_set){0};
        q->at += inverted;
        first = q->at;
        while (!at_end(q) && (peek(q, 0) != ']' || q->at == first)) {
                if (peek(q, 0) == '[' && peek(q, 1) == ':')
                        take_class(q, set);
                else
                        take_range(q, set, q->at == first);
        }
        if (at_end(q)) {
                refuse(q, start, "this [ has no ]");
                return;
        }
        q->at++;
        for (size_t i = 0; inverted && i < sizeof set->bits / sizeof *set->bits; i++)
                set->bits[i] = ~set->bits[i];
        at = add(q, STEP_SET, 0);
        if (!q->wrong)
                q->p->steps[at].to = (int16_t)q->p->set_count++;
}

/* --- repetitions ---------------------------------------------------------------------------- */

static bool take_count(struct parser *q, unsigned *ret)
{
        const size_t start = q->at;

        for (*ret = 0; isdigit((unsigned char)peek(q, 0)); q->at++)
                if (*ret <= PATTERN_MAX_COUNT)
                        *ret = *ret * 10 + (unsigned)(peek(q, 0) - '0');
        return q->at > start;
}

static void repeat_any(struct parser *q, size_t start)
{
        insert_fork(q, start, 1);
        aim(q, add(q, STEP_JUMP, 0), start);
}

/* {3} {2,5} {2,} */
static void repeat_counted(struct parser *q, size_t start)
{
        const size_t brace = q->at++, len = q->p->count - start;
        unsigned least, most;
        size_t end;
        bool clear = take_count(q, &least), open = false;

        most = least;
        if (clear && peek(q, 0) == ',') {
                q->at++;
                open = !take_count(q, &most);
        }
        if (!clear || peek(q, 0) != '}')
                refuse(q, brace, "{ begins a count such as {3} or {2,5}; \\{ is the character");
        else if (least > PATTERN_MAX_COUNT || most > PATTERN_MAX_COUNT)
                refuse(q, brace, "a count must not be above 255");
        else if (!open && most < least)
                refuse(q, brace, "the second count must not be below the first");
        if (q->wrong)
                return;
        end = q->at + 1;
        q->at = brace;
        memcpy(q->body, q->p->steps + start, len * sizeof *q->body);
        q->p->count = start;
        for (unsigned i = 0; i < least && !q->wrong; i++)
                add_all(q, q->body, len);
        for (unsigned i = least; (open ? i == least : i < most) && !q->wrong; i++) {
                start = q->p->count;
                add_all(q, q->body, len);
                if (open)
                        repeat_any(q, start);
                else
                        insert_fork(q, start, 0);
        }
        q->at = q->wrong ? brace : end;
}

static void repeat(struct parser *q, size_t start)
{
        switch (peek(q, 0)) {
        case '*':
                q->at++;
                repeat_any(q, start);
                break;
        case '+':
                q->at++;
                aim(q, add(q, STEP_FORK, 0), start);
                break;
        case '?':
                q->at++;
                insert_fork(q, start, 0);
                break;
        default:
                repeat_counted(q, start);
                break;
        }
}

/* --- expressions ---------------------------------------------------------------------------- */

static const char repetitions[] = "*+?{";

/* Before others a backslash means what POSIX does not know, such as a reference or an end of a
 * word, or nothing at all. */
static const char escaped[] = "^.[]$()|*+?{}\\/-\"";

static void parse_alternatives(struct parser *q);

static void parse_escape(struct parser *q)
{
        if (q->len - q->at < 2)
                refuse(q, q->at, "a backslash at the end escapes nothing");
        else if (!strchr(escaped, peek(q, 1)))
                refuse(q, q->at,
                        "a backslash makes signs such as . and * ordinary, nothing else; there "
                        "are classes such as [0-9] and [[:space:]]");
        add(q, STEP_BYTE, (unsigned char)peek(q, 1));
        q->at += q->wrong ? 0 : 2;
}

static void parse_group(struct parser *q)
{
        const size_t start = q->at++;

        parse_alternatives(q);
        if (at_end(q))
                refuse(q, start, "this ( has no )");
        q->at += !q->wrong;
}

static void parse_simple(struct parser *q)
{
        const char c = peek(q, 0);

        if (strchr(repetitions, c))
                refuse(q, q->at, "there is nothing before this that could be repeated");
        add(q,
                c == '^'   ? STEP_BEGIN
                : c == '$' ? STEP_END
                : c == '.' ? STEP_ANY
                           : STEP_BYTE,
                (unsigned char)c);
        q->at += !q->wrong;
}

static void parse_piece(struct parser *q)
{
        const size_t start = q->p->count;
        const char c = peek(q, 0);

        if (c == '\\')
                parse_escape(q);
        else if (c == '[')
                parse_brackets(q);
        else if (c == '(')
                parse_group(q);
        else
                parse_simple(q);
        if (c == '^' || c == '$')
                return;
        while (!at_end(q) && strchr(repetitions, peek(q, 0)))
                repeat(q, start);
}

/* As deep as there are bytes in the expression, at most. */
static void parse_alternatives(struct parser *q)
{
        const size_t start = q->p->count;
        size_t jump;

        while (!at_end(q) && peek(q, 0) != '|' && peek(q, 0) != ')')
                parse_piece(q);
        if (at_end(q) || peek(q, 0) != '|')
                return;
        q->at++;
        insert_fork(q, start, 1);
        jump = add(q, STEP_JUMP, 0);
        parse_alternatives(q);
        aim(q, jump, q->p->count);
}

static void parse(struct parser *q)
{
        const char *nul = memchr(q->text, '\0', q->len);

        if (q->len > PATTERN_MAX_LENGTH)
                refuse(q, PATTERN_MAX_LENGTH,
                        "a regular expression must not be longer than 1000 bytes");
        if (nul)
                refuse(q, (size_t)(nul - q->text), "a regular expression cannot have a NUL byte");
        if (!q->wrong)
                parse_alternatives(q);
        if (!at_end(q))
                refuse(q, q->at, "this ) has no (");
        add(q, STEP_MATCH, 0);
}

int pattern_compile(struct pattern *ret, const void *text, size_t len, struct error *err)
{
        struct parser q;

        q.p = ret;
        q.text = text;
        q.len = len;
        q.at = 0;
        q.wrong = NULL;
        ret->count = ret->set_count = 0;
        parse(&q);
        if (q.wrong)
                return error_set(err, CODE_TASK_INVALID,
                        "the regular expression \"%.*s\", byte %zu: %s",
                        (int)(len < 200 ? len : 200), q.text, q.at + 1, q.wrong);
        pattern_find_first(ret);
        return 0;
}
