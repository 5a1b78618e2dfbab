/* Trajectories; see trajectory.h. One that is not valid is no error of the task: it says why. */
#include "trajectory.h"

#include "fields.h"

enum { SLACK_SECONDS = 5, MOST_LINES = 1000000 };

enum { CALL_LLM = 1, CALL_TOOL };

struct call {
        unsigned type;
        struct json_value ts;
        const char *model, *tool;
        char input[NUMBER_TEXT_SIZE], output[NUMBER_TEXT_SIZE], duration[NUMBER_TEXT_SIZE];
};

static bool read_value(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        (void)r;
        (void)f;
        *(struct json_value *)to = s->value;
        return json_is_number(s->value.node) || json_is_string(s->value.node);
}

static void want_time(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "seconds since 1970, or a time such as \"2026-01-31T12:00:00Z\"");
}

static const struct field_type field_time = {read_value, want_time};
static const struct choice types[] = {
        {"llm_call", CALL_LLM},
        {"tool_call", CALL_TOOL},
        {0},
};
static const struct field call_rows[] = {
        FIELD("type", field_choice, REQUIRED, struct call, type, .choices = types),
        FIELD("ts", field_time, REQUIRED, struct call, ts),
        FIELD("model", field_any_text, OPTIONAL, struct call, model),
        FIELD("tool", field_any_text, OPTIONAL, struct call, tool),
        FIELD("input_tokens", field_number, OPTIONAL, struct call, input),
        FIELD("output_tokens", field_number, OPTIONAL, struct call, output),
        FIELD("duration_ms", field_number, OPTIONAL, struct call, duration),
};
static const struct fields call_fields = FIELDS(call_rows, UNKNOWN_IGNORED);
static const struct field whole = {.type = &field_object, .fields = &call_fields};

void trajectory_init(struct trajectory *t)
{
        *t = (struct trajectory){0};
        mpz_init(t->tokens);
}

void trajectory_free(struct trajectory *t)
{
        mpz_clear(t->tokens);
}

/* --- times ---------------------------------------------------------------------------------- */

static bool two_digits(const char *text, int *ret)
{
        if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
                return false;
        *ret = 10 * (text[0] - '0') + text[1] - '0';
        return true;
}

/* Days since 1970 of a day of the Gregorian calendar. */
static long days_of(int year, int month, int day)
{
        const int y = year - (month <= 2), era = y / 400, of_era = y - 400 * era;
        const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

        return 146097L * era + 365L * of_era + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* A fraction of a second, ".25", then Z or an offset. */
static bool parse_rest(const char *text, mpq_t ret, long *ret_offset)
{
        size_t digits = *text == '.' ? strspn(text + 1, "0123456789") : 0;
        char fraction[NUMBER_TEXT_SIZE];
        int hours, minutes;

        if (*text == '.' && (digits == 0 || digits > 20))
                return false;
        snprintf(fraction, sizeof fraction, "0.%.*s", digits > 0 ? (int)digits : 1,
                digits > 0 ? text + 1 : "0");
        number_parse(ret, fraction);
        text += digits > 0 ? digits + 1 : 0;
        *ret_offset = 0;
        if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
                return true;
        if ((*text != '+' && *text != '-') || strlen(text) != 6 || text[3] != ':' ||
                !two_digits(text + 1, &hours) || !two_digits(text + 4, &minutes))
                return false;
        *ret_offset = (*text == '+' ? 60L : -60L) * (60L * hours + minutes);
        return true;
}

/* A time of RFC 3339 as seconds since 1970. */
static bool parse_time(const char *text, mpq_t ret)
{
        int century, year, month, day, hour, minute, second;
        long offset;
        mpq_t whole_seconds;

        if (strlen(text) < 20 || !two_digits(text, &century) || !two_digits(text + 2, &year) ||
                text[4] != '-' || !two_digits(text + 5, &month) || text[7] != '-' ||
                !two_digits(text + 8, &day) || !strchr("Tt ", text[10]) ||
                !two_digits(text + 11, &hour) || text[13] != ':' ||
                !two_digits(text + 14, &minute) || text[16] != ':' ||
                !two_digits(text + 17, &second) || month < 1 || month > 12 || day < 1 || day > 31 ||
                hour > 23 || minute > 59 || second > 60 || !parse_rest(text + 19, ret, &offset))
                return false;
        mpq_init(whole_seconds);
        mpq_set_si(whole_seconds,
                86400L * days_of(100 * century + year, month, day) + 3600L * hour + 60L * minute +
                        second - offset,
                1);
        mpq_add(ret, ret, whole_seconds);
        mpq_clear(whole_seconds);
        return true;
}

/* Within the match, with some slack for clocks. */
static bool is_within(const mpq_t time, const char *started, const char *submitted)
{
        mpq_t bound, slack;
        bool within = true;

        mpq_inits(bound, slack, NULL);
        mpq_set_ui(slack, SLACK_SECONDS, 1);
        if (*started && number_parse(bound, started) == 0) {
                mpq_sub(bound, bound, slack);
                within = mpq_cmp(time, bound) >= 0;
        }
        if (*submitted && number_parse(bound, submitted) == 0) {
                mpq_add(bound, bound, slack);
                within = within && mpq_cmp(time, bound) <= 0;
        }
        mpq_clears(bound, slack, NULL);
        return within;
}

static const char *check_time(struct json_value ts, const char *started, const char *submitted)
{
        const char *text = json_string_value(ts.node), *why = NULL;
        char number[NUMBER_TEXT_SIZE];
        mpq_t time;

        mpq_init(time);
        if (!text) {
                json_number_text(ts, number, sizeof number);
                number_parse(time, number);
        } else if (!parse_time(text, time))
                why = "ts is no time such as \"2026-01-31T12:00:00Z\"";
        if (!why && !is_within(time, started, submitted))
                why = "ts is outside of the match";
        mpq_clear(time);
        return why;
}

/* --- lines ---------------------------------------------------------------------------------- */

static const char *add_tokens(struct trajectory *t, const char *text)
{
        const char *why = NULL;
        mpq_t tokens;

        if (*text == '\0')
                return "a call of a model without input_tokens or output_tokens";
        mpq_init(tokens);
        if (number_parse(tokens, text) < 0 || mpq_sgn(tokens) < 0 ||
                mpz_cmp_ui(mpq_denref(tokens), 1) != 0)
                why = "tokens are whole numbers, not below 0";
        else
                mpz_add(t->tokens, t->tokens, mpq_numref(tokens));
        mpq_clear(tokens);
        return why;
}

static const char *take_call(struct trajectory *t, const struct call *c)
{
        const char *why;

        if (c->type == CALL_TOOL) {
                t->tool_calls++;
                return NULL;
        }
        t->llm_calls++;
        why = add_tokens(t, c->input);
        return why ? why : add_tokens(t, c->output);
}

static const char *take_line(struct trajectory *t, const char *line, size_t len,
        const char *started, const char *submitted, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        struct call call = {.model = "", .tool = ""};
        struct json_fault fault;
        struct reading r;
        struct spot root;
        const char *why;

        if (json_read(&doc, line, len, &fault) < 0)
                return fault.text;
        root = (struct spot){.value = json_root(&doc)};
        reading_begin(&r, &doc);
        field_read(&r, &whole, &root, &call);
        if (reading_error(&r, CODE_USAGE, err) < 0)
                return err->text;
        why = check_time(call.ts, started, submitted);
        return why ? why : take_call(t, &call);
}

void trajectory_read(struct trajectory *t, const struct buffer *lines, const char *started,
        const char *submitted)
{
        const char *text = buffer_text(lines), *end = text + lines->len;
        unsigned number = 0, calls = 0;
        struct error err;

        t->given = true;
        while (text < end) {
                const char *newline = memchr(text, '\n', (size_t)(end - text));
                const size_t len = (size_t)((newline ? newline : end) - text);
                const char *why;

                number++;
                if (len > 0 && !(len == 1 && *text == '\r')) {
                        why = calls++ < MOST_LINES
                                      ? take_line(t, text, len, started, submitted, &err)
                                      : "more than a million lines";
                        if (why) {
                                snprintf(t->why, sizeof t->why, "line %u: %.200s", number, why);
                                return;
                        }
                }
                text += len + 1;
        }
        t->valid = calls > 0;
        if (!t->valid)
                snprintf(t->why, sizeof t->why, "it is empty");
}
