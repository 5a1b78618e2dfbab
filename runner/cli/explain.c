/* assay explain CODE */
#include "verbs.h"

#include "report/json.h"

static void show_text(enum code code)
{
        const struct code_info *info = code_info(code);

        printf("%s\n  caused by: %s\n  exit status: %d\n  what to do: %s\n", info->name,
                error_class_name(info->class), info->ending, info->remedy);
}

static void add_json(struct json_writer *w, enum code code)
{
        const struct code_info *info = code_info(code);

        json_open_object(w, NULL);
        json_text(w, "code", info->name);
        json_text(w, "class", error_class_name(info->class));
        json_number(w, "exit", info->ending);
        json_text(w, "remedy", info->remedy);
        json_close(w);
}

/* The codes from `first` to `last`; more than one are an array. */
static void show(enum code first, enum code last, const struct common_options *common)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};

        if (first != last)
                json_open_array(&w, NULL);
        for (enum code code = first; code <= last; code++) {
                add_json(&w, code);
                if (!common->json && !common->quiet)
                        show_text(code);
        }
        if (first != last)
                json_close(&w);
        if (common->json)
                printf("%s\n", buffer_text(&out));
}

int verb_explain(int argc, char **argv, struct error *err)
{
        struct common_options common = {0};
        int rest = options_parse(NULL, 0, &common, argc, argv, err);
        enum code code;

        if (rest < 0)
                return -1;
        if (common.help)
                return options_help("explain [CODE]",
                        "Says what an error code means and what to do; without CODE, all of them.",
                        NULL, 0);
        if (rest > 1)
                return error_set(err, CODE_USAGE, "explain: takes one code");
        if (rest == 0) {
                show(CODE_NONE + 1, CODE_COUNT - 1, &common);
                return 0;
        }
        code = code_find(argv[0]);
        if (code == CODE_NONE)
                return error_set(err, CODE_USAGE,
                        "explain: %s is no code of Assay; `assay explain` lists them", argv[0]);
        show(code, code, &common);
        return 0;
}
