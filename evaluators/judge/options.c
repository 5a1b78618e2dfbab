/* Options and environment; see options.h. */
#include "evaluators/judge/options.h"

#include "evaluators/judge/median.h"
#include "evaluators/number.h"

#include "fd.h"
#include "runner/options.h"
#include "quantity.h"
#include "text.h"

#include <fcntl.h>

enum { MOST_KEY = 16 << 10 };

/* An option whose value is a number, in the unit of its parser. */
struct amount {
        const char *name, *value, *help, *must;
        int (*parse)(const char *text, uint64_t *ret);
        uint64_t standard, least, most;
};

enum {
        AMOUNT_RUNS,
        AMOUNT_TIMEOUT,
        AMOUNT_TRIES,
        AMOUNT_INPUT,
        AMOUNT_SEED,
        AMOUNT_PAUSE,
        AMOUNT_COUNT
};

static const struct amount amounts[AMOUNT_COUNT] = {
        [AMOUNT_RUNS] = {"--runs", "N", "verdicts, of which the median counts; odd (default 1)",
                "an odd number from 1 to 9", quantity_parse_count, 1, 1, MEDIAN_MOST},
        [AMOUNT_TIMEOUT] = {"--timeout", "S", "seconds for each try (default 120)",
                "seconds, above 0 and up to 3600", quantity_parse_milli, 120000, 1, 3600000},
        [AMOUNT_TRIES] = {"--tries", "N", "tries for each verdict (default 3)",
                "a number from 1 to 10", quantity_parse_count, 3, 1, 10},
        [AMOUNT_INPUT] = {"--max-input", "BYTES",
                "of the submission in the prompt (default 256KiB)", "a size from 1 KiB to 16 MiB",
                quantity_parse_bytes, 256 << 10, 1 << 10, 16 << 20},
        [AMOUNT_SEED] = {"--seed", "N", "of the model; the second run has N + 1, and so on",
                "a whole number up to 2147483647", quantity_parse_count, 0, 0, INT32_MAX},
        [AMOUNT_PAUSE] = {"--pause", "MS",
                "first pause between tries, in milliseconds (default 1000)",
                "milliseconds, up to 60000", quantity_parse_count, 1000, 0, 60000},
};

static const struct {
        const char *name, *help;
} variables[] = {
        {"ASSAY_JUDGE_URL", "of an OpenAI-compatible API, such as http://127.0.0.1:8080/v1"},
        {"ASSAY_JUDGE_MODEL", "the model's name there"},
        {"ASSAY_JUDGE_KEY_FILE", "the file with the API's key, if it wants one"},
        {"ASSAY_JUDGE_KEY", "or the key itself"},
};

static int bad_value(struct error *err, const char *name, const char *value, const char *must)
{
        return error_set(err, CODE_USAGE, "%s: \"%.100s\": must be %s", name, value, must);
}

static int set_amount(uint64_t *to, const struct amount *a, const char *value, struct error *err)
{
        uint64_t n = a->standard;

        if (value && (a->parse(value, &n) < 0 || n < a->least || n > a->most))
                return bad_value(err, a->name, value, a->must);
        *to = n;
        return 0;
}

static int set_amounts(struct judge_options *o, const char *const *values, struct error *err)
{
        uint64_t *const to[AMOUNT_COUNT] = {
                [AMOUNT_RUNS] = &o->runs,
                [AMOUNT_TIMEOUT] = &o->timeout_ms,
                [AMOUNT_TRIES] = &o->tries,
                [AMOUNT_INPUT] = &o->max_input,
                [AMOUNT_SEED] = &o->seed,
                [AMOUNT_PAUSE] = &o->pause_ms,
        };

        for (unsigned i = 0; i < AMOUNT_COUNT; i++)
                if (set_amount(to[i], &amounts[i], values[i], err) < 0)
                        return -1;
        o->seed_given = values[AMOUNT_SEED];
        if (o->runs % 2 == 0)
                return bad_value(err, "--runs", values[AMOUNT_RUNS], amounts[AMOUNT_RUNS].must);
        if (o->temperature && !number_between(o->temperature, 0, 2))
                return bad_value(err, "--temperature", o->temperature, "a number from 0 to 2");
        return 0;
}

static int read_line(struct judge_options *o, int argc, char **argv, struct error *err)
{
        const char *values[AMOUNT_COUNT] = {0};
        struct option table[AMOUNT_COUNT + 2];
        struct common_options common = {0};
        int rest;

        for (unsigned i = 0; i < AMOUNT_COUNT; i++)
                table[i] = (struct option){
                        amounts[i].name, OPTION_TEXT, &values[i], amounts[i].value, ""};
        table[AMOUNT_COUNT] =
                (struct option){"--temperature", OPTION_TEXT, &o->temperature, "T", ""};
        table[AMOUNT_COUNT + 1] = (struct option){"--version", OPTION_FLAG, &o->version, NULL, ""};
        rest = options_parse(table, AMOUNT_COUNT + 2, &common, argc - 1, argv + 1, err);
        if (rest < 0)
                return -1;
        o->help = common.help;
        if (o->help || o->version)
                return 0;
        if (rest > 0)
                return error_set(err, CODE_USAGE,
                        "%.100s: is one word too many; the request comes on standard input",
                        argv[1]);
        return set_amounts(o, values, err);
}

/* --- environment ----------------------------------------------------------------------------- */

/* What is set to nothing is not set. */
static const char *variable(const char *name)
{
        const char *value = getenv(name);

        return value && *value ? value : NULL;
}

/* A runner hands it over as a descriptor, which nobody else has. */
static int open_key(const char *path)
{
        const char *number = variable("ASSAY_JUDGE_KEY_FD");
        uint64_t fd;

        if (!number)
                return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        return quantity_parse_count(number, &fd) == 0 && fd < 1024 ? (int)fd : -1;
}

static int read_key_file(struct judge_options *o, const char *path, struct error *err)
{
        _cleanup_fd_ int fd = open_key(path);

        if (fd < 0)
                return error_errno(err, CODE_USAGE, errno, "ASSAY_JUDGE_KEY_FILE: %s", path);
        if (fd_read_all(fd, &o->key_bytes, MOST_KEY, CODE_USAGE, err) < 0)
                return error_add(err, "ASSAY_JUDGE_KEY_FILE: %s", path);
        while (o->key_bytes.len > 0 && strchr(" \t\r\n", o->key_bytes.data[o->key_bytes.len - 1]))
                o->key_bytes.data[--o->key_bytes.len] = '\0';
        o->key = buffer_text(&o->key_bytes);
        return 0;
}

/* It becomes a line of a header: nothing in it may begin another. */
static bool is_key(const char *key, size_t len)
{
        for (size_t i = 0; i < len; i++)
                if (key[i] < '!' || key[i] > '~')
                        return false;
        return len > 0;
}

static int read_key(struct judge_options *o, struct error *err)
{
        const char *path = variable("ASSAY_JUDGE_KEY_FD") ? "ASSAY_JUDGE_KEY_FD"
                                                          : variable("ASSAY_JUDGE_KEY_FILE");
        const char *name;
        size_t len;

        if (path && read_key_file(o, path, err) < 0)
                return -1;
        if (!path)
                o->key = variable("ASSAY_JUDGE_KEY");
        if (!o->key)
                return 0;
        name = path ? "ASSAY_JUDGE_KEY_FILE" : "ASSAY_JUDGE_KEY";
        len = path ? o->key_bytes.len : strlen(o->key);
        if (!is_key(o->key, len))
                return error_set(err, CODE_USAGE,
                        "%s: is no key; it must be one line of printable ASCII without spaces",
                        name);
        return 0;
}

static int read_environment(struct judge_options *o, struct error *err)
{
        o->url = variable("ASSAY_JUDGE_URL");
        o->model = variable("ASSAY_JUDGE_MODEL");
        if (!o->url)
                return error_set(err, CODE_USAGE, "ASSAY_JUDGE_URL: is not set");
        if (!o->model)
                return error_set(err, CODE_USAGE, "ASSAY_JUDGE_MODEL: is not set");
        if (strlen(o->model) > SCORE_MAX_NAME || !text_utf8_valid(o->model, strlen(o->model)))
                return error_set(err, CODE_USAGE,
                        "ASSAY_JUDGE_MODEL: is no name; it must be UTF-8 of at most %d bytes",
                        SCORE_MAX_NAME);
        return read_key(o, err);
}

int judge_options_read(struct judge_options *ret, int argc, char **argv, struct error *err)
{
        if (read_line(ret, argc, argv, err) < 0)
                return -1;
        return ret->help || ret->version ? 0 : read_environment(ret, err);
}

static void help_line(const char *name, const char *value, const char *help)
{
        printf("  %s %s%*s%s\n", name, value, 21 - (int)(strlen(name) + strlen(value)), "", help);
}

void judge_options_help(void)
{
        puts("usage: assay-judge [OPTIONS] < REQUEST > VERDICT\n\n"
             "Asks a language model for a verdict: an adapter from the judge protocol to\n"
             "OpenAI-compatible chat APIs.\n");
        for (unsigned i = 0; i < AMOUNT_COUNT; i++)
                help_line(amounts[i].name, amounts[i].value, amounts[i].help);
        help_line("--temperature", "T", "of the model (default: the server's)");
        help_line("--help", "", "this text");
        help_line("--version", "", "which one this is");
        puts("\nenvironment:");
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
                help_line(variables[i].name, "", variables[i].help);
}

void judge_options_free(struct judge_options *o)
{
        if (o->key_bytes.len > 0)
                explicit_bzero(o->key_bytes.data, o->key_bytes.len);
        buffer_free(&o->key_bytes);
}
