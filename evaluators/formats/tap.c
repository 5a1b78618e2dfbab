/* TAP, the Test Anything Protocol, versions 13 and 14 (and what calls itself neither). A plan is
 * required; points that it announces and that are missing failed. Skipped ones are left out; one
 * that is still to do fails nobody. Subtests are indented and count by their parent's own line. */
#include "evaluators/formats/formats.h"

#include "text.h"

enum { MOST_LINE = 4096, MOST_ERROR = 4096 };

struct tap {
        struct outcome *outcome;
        struct error *err;
        unsigned line;
        bool has_plan, after_point;
        size_t yaml; /* the indentation of the block that we are in; 0: none */
        uint64_t planned, seen, highest, skipped, passed;
        unsigned char *numbers; /* a bit for each that was there; owned */
        /* The point that lines of explanation still belong to. */
        struct buffer name, error;
        bool pending, good;
};

static int refuse(struct tap *t, const char *why)
{
        return error_set(t->err, CODE_SUITE_RESULT_INVALID, "line %u, column 1: %s", t->line, why);
}

/* What is no UTF-8 is shown, not refused. */
static void add_escaped(struct buffer *to, const char *text, size_t len)
{
        char safe[4 * MOST_LINE + 1];

        text_escape(safe, sizeof safe, text, len);
        buffer_add_text(to, safe);
}

static int finish_point(struct tap *t)
{
        if (!t->pending)
                return 0;
        t->pending = false;
        if (!buffer_ok(&t->name) || !buffer_ok(&t->error))
                return error_set(t->err, CODE_INFRA_MEMORY, "out of memory");
        return outcome_test(t->outcome, buffer_text(&t->name), t->good, "",
                t->good ? "" : buffer_text(&t->error), t->err);
}

static size_t digits(const char *text, uint64_t *ret)
{
        size_t n = strspn(text, "0123456789");

        *ret = n > 0 && n < 10 ? strtoull(text, NULL, 10) : UINT64_MAX;
        return n;
}

static int take_plan(struct tap *t, const char *rest)
{
        uint64_t last;
        size_t n = digits(rest, &last);

        if (n == 0 || (rest[n] != '\0' && rest[n] != ' ' && rest[n] != '\t'))
                return refuse(t, "a plan is written 1..N");
        if (last > SCORE_MAX_MANY)
                return refuse(t, "a plan of more than 100000 tests");
        if (t->has_plan)
                return refuse(t, "a second plan");
        t->has_plan = true;
        t->planned = last;
        return 0;
}

/* Each number once; without one it is the next. */
static int take_number(struct tap *t, uint64_t number)
{
        if (number == 0 || number > SCORE_MAX_MANY)
                return refuse(t, "a test number must be from 1 to 100000");
        if (t->numbers[number / 8] & 1U << number % 8)
                return refuse(t, "a test number that was there already");
        t->numbers[number / 8] |= (unsigned char)(1U << number % 8);
        t->highest = number > t->highest ? number : t->highest;
        return t->has_plan && t->highest > t->planned ? refuse(t, "a test that was not planned")
                                                      : 0;
}

/* The directive behind an unescaped #, or NULL. */
static const char *find_directive(const char *text)
{
        for (const char *at = text; (at = strchr(at, '#')); at++)
                if (at == text || (at[-1] != '\\' && (at[-1] == ' ' || at[-1] == '\t')))
                        return at + 1 + strspn(at + 1, " \t");
        return NULL;
}

/* SKIP is also written skipped. */
static bool is_directive(const char *text, const char *word)
{
        const size_t len = strlen(word);

        if (!text || strncasecmp(text, word, len) != 0)
                return false;
        text += len;
        if (strcmp(word, "skip") == 0 && strncasecmp(text, "ped", 3) == 0)
                text += 3;
        return *text == '\0' || strchr(" \t:-.,", *text);
}

/* Behind `ok` or `not ok`. */
static int take_point(struct tap *t, bool good, const char *rest)
{
        const char *directive;
        uint64_t number = 0;
        bool todo;
        size_t n;

        rest += strspn(rest, " \t");
        n = digits(rest, &number);
        if (n > 0 && rest[n] != '\0' && rest[n] != ' ' && rest[n] != '\t')
                n = 0; /* it begins the description */
        rest += n;
        t->seen++;
        if (take_number(t, n > 0 ? number : t->seen) < 0)
                return -1;
        rest += strspn(rest, " \t");
        if (rest[0] == '-' && (rest[1] == ' ' || rest[1] == '\t'))
                rest += 1 + strspn(rest + 1, " \t");
        directive = find_directive(rest);
        if (is_directive(directive, "skip")) {
                t->skipped++;
                return 0;
        }
        todo = is_directive(directive, "todo");
        good = good || todo;
        t->passed += good;
        t->pending = true;
        t->good = good;
        buffer_clear(&t->error);
        buffer_clear(&t->name);
        n = todo ? (size_t)(directive - rest) : strlen(rest);
        while (n > 0 && strchr(" \t#", rest[n - 1]))
                n--;
        if (n > 0)
                add_escaped(&t->name, rest, n);
        else
                buffer_add_format(&t->name, "%llu", (unsigned long long)t->seen);
        return 0;
}

static bool is_point(const char *line, const char *word, const char **ret_rest)
{
        size_t len = strlen(word);

        *ret_rest = line + len;
        return strncmp(line, word, len) == 0 &&
               (line[len] == '\0' || line[len] == ' ' || line[len] == '\t');
}

/* Comments and YAML behind a point that failed explain it. */
static void take_explanation(struct tap *t, const char *line)
{
        if (!t->pending || t->good || t->error.len > MOST_ERROR)
                return;
        if (t->error.len > 0)
                buffer_add_char(&t->error, '\n');
        add_escaped(&t->error, line, strlen(line));
}

/* A block of explanation stands behind a point, indented, between `---` and `...`. */
static bool take_yaml(struct tap *t, const char *line)
{
        const size_t indent = strspn(line, " \t");
        const char *text = line + indent;

        if (t->yaml > 0 && indent == 0 && *line)
                t->yaml = 0; /* it was cut off */
        if (t->yaml == 0) {
                if (t->after_point && indent > 0 && strcmp(text, "---") == 0)
                        t->yaml = indent;
                return t->yaml > 0;
        }
        if (indent == t->yaml && strcmp(text, "...") == 0)
                t->yaml = 0;
        else
                take_explanation(t, text);
        return true;
}

static int take_line(struct tap *t, const char *line)
{
        const char *rest;
        bool point;

        if (take_yaml(t, line))
                return 0;
        point = is_point(line, "ok", &rest) || is_point(line, "not ok", &rest);
        t->after_point = point || (t->after_point && *line == '#');
        if (point)
                return finish_point(t) < 0 ? -1 : take_point(t, *line == 'o', rest);
        if (*line == '#') {
                take_explanation(t, line + 1 + strspn(line + 1, " "));
                return 0;
        }
        if (strncmp(line, "Bail out!", 9) == 0) {
                char why[200];

                text_escape(why, sizeof why, line, strlen(line));
                return refuse(t, why);
        }
        return strncmp(line, "1..", 3) == 0 ? take_plan(t, line + 3) : 0;
}

static int take_all(struct tap *t, const struct buffer *file)
{
        const char *text = buffer_text(file), *end = text + file->len;

        while (text < end) {
                const char *newline = memchr(text, '\n', (size_t)(end - text));
                size_t len = (size_t)((newline ? newline : end) - text);
                char line[MOST_LINE + 1];

                t->line++;
                snprintf(line, sizeof line, "%.*s", (int)(len < MOST_LINE ? len : MOST_LINE), text);
                line[strcspn(line, "\r")] = '\0';
                if (take_line(t, line) < 0)
                        return -1;
                text += len + 1;
        }
        return finish_point(t);
}

static int count(struct tap *t)
{
        if (!t->has_plan)
                return error_set(t->err, CODE_SUITE_RESULT_INVALID,
                        "line %u, column 1: there is no plan (1..N): whether all tests ran is not "
                        "known",
                        t->line + 1);
        if (t->highest > t->planned)
                return error_set(t->err, CODE_SUITE_RESULT_INVALID,
                        "line %u, column 1: test %llu ran, %llu were planned", t->line + 1,
                        (unsigned long long)t->highest, (unsigned long long)t->planned);
        if (t->seen < t->planned)
                outcome_warn(t->outcome, "", "%llu of %llu planned tests did not run, and failed",
                        (unsigned long long)(t->planned - t->seen), (unsigned long long)t->planned);
        return outcome_count(t->outcome, t->passed, t->planned - t->skipped, t->err);
}

int tap_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        struct tap t = {.outcome = ret, .err = err, .name = BUFFER_INIT, .error = BUFFER_INIT};
        int r;

        t.numbers = calloc(SCORE_MAX_MANY / 8 + 1, 1);
        r = !t.numbers ? error_set(err, CODE_INFRA_MEMORY, "out of memory") : take_all(&t, q->file);
        if (r == 0)
                r = count(&t);
        free(t.numbers);
        buffer_free(&t.name);
        buffer_free(&t.error);
        return r;
}
