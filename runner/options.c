/* Command lines; see options.h. */
#include "options.h"

static const struct option *find(const struct option *table, unsigned count, const char *arg)
{
        size_t len = strcspn(arg, "=");

        for (unsigned i = 0; i < count; i++)
                if (strlen(table[i].name) == len && strncmp(table[i].name, arg, len) == 0)
                        return &table[i];
        return NULL;
}

static int set(const struct option *o, const char *value, struct error *err)
{
        struct option_list *list = o->to;

        switch (o->kind) {
        case OPTION_FLAG:
                *(bool *)o->to = true;
                break;
        case OPTION_TEXT:
                *(const char **)o->to = value;
                break;
        case OPTION_LIST:
                if (list->count == OPTION_LIST_MAX)
                        return error_set(err, CODE_USAGE, "%s: given more than %d times", o->name,
                                OPTION_LIST_MAX);
                list->values[list->count++] = value;
                break;
        }
        return 0;
}

static int parse_one(const struct option *o, char **argv, int argc, int *at, struct error *err)
{
        const char *equals = strchr(argv[*at], '=');

        if (o->kind == OPTION_FLAG && equals)
                return error_set(err, CODE_USAGE, "%s: takes no value", o->name);
        if (o->kind == OPTION_FLAG)
                return set(o, NULL, err);
        if (equals)
                return set(o, equals + 1, err);
        if (*at + 1 >= argc)
                return error_set(err, CODE_USAGE, "%s: needs %s", o->name, o->value);
        return set(o, argv[++*at], err);
}

static int parse(const struct option *table, unsigned count, struct common_options *common,
        int argc, char **argv, bool first_only, struct error *err)
{
        const struct option every[] = {
                {"--help", OPTION_FLAG, &common->help, NULL, ""},
                {"-h", OPTION_FLAG, &common->help, NULL, ""},
                {"--json", OPTION_FLAG, &common->json, NULL, ""},
                {"--quiet", OPTION_FLAG, &common->quiet, NULL, ""},
        };
        bool ended = false;
        int rest = 0;

        for (int i = 0; i < argc; i++) {
                const struct option *o;

                if (ended || argv[i][0] != '-' || argv[i][1] == '\0') {
                        argv[rest++] = argv[i];
                        ended |= first_only;
                        continue;
                }
                if (strcmp(argv[i], "--") == 0) {
                        ended = true;
                        continue;
                }
                o = find(table, count, argv[i]);
                if (!o)
                        o = find(every, sizeof every / sizeof *every, argv[i]);
                if (!o)
                        return error_set(err, CODE_USAGE, "%s: no such option", argv[i]);
                if (parse_one(o, argv, argc, &i, err) < 0)
                        return -1;
        }
        return rest;
}

int options_parse(const struct option *table, unsigned count, struct common_options *common,
        int argc, char **argv, struct error *err)
{
        return parse(table, count, common, argc, argv, false, err);
}

int options_parse_first(const struct option *table, unsigned count, struct common_options *common,
        int argc, char **argv, struct error *err)
{
        return parse(table, count, common, argc, argv, true, err);
}

int options_help(const char *usage, const char *what, const struct option *table, unsigned count)
{
        printf("usage: assay %s\n\n%s\n\n", usage, what);
        for (unsigned i = 0; i < count; i++) {
                int used = printf("  %s%s%s", table[i].name, table[i].value ? " " : "",
                        table[i].value ? table[i].value : "");
                printf("%*s%s\n", used < 28 ? 28 - used : 1, "", table[i].help);
        }
        printf("  %-26s%s\n  %-26s%s\n  %-26s%s\n", "--json", "the answer as JSON", "--quiet",
                "nothing on standard output but with --json", "--help", "this text");
        return 0;
}
