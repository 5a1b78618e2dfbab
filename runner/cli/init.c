/* assay init DIR: a new task, from a template, that grades its own solutions. */
#include "verbs.h"

#include "fd.h"
#include "names.h"
#include "report/json.h"
#include "templates.h"
#include "text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usual[] = "io-cases";

struct init_options {
        struct common_options common;
        const char *template;
        bool list;
};

static int list(const struct templates *t, const struct common_options *common)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};

        json_open_array(&w, NULL);
        for (unsigned i = 0; i < t->count; i++) {
                json_open_object(&w, NULL);
                json_text(&w, "name", t->all[i].name);
                json_text(&w, "title", t->all[i].title);
                json_close(&w);
                if (!common->json && !common->quiet)
                        printf("%-16s%s\n", t->all[i].name, t->all[i].title);
        }
        json_close(&w);
        if (common->json)
                printf("%s\n", buffer_text(&out));
        return 0;
}

static bool is_empty(int directory)
{
        char **names = names_in(directory, CODE_USAGE, NULL);
        const bool empty = names && !*names;

        names_free(names);
        return empty;
}

/* New, or there and empty. */
static int make_directory(const char *path, struct error *err)
{
        int fd;

        if (mkdir(path, 0777) < 0 && errno != EEXIST)
                return error_errno(err, CODE_USAGE, errno, "%s: cannot be made", path);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return error_errno(err, CODE_USAGE, errno, "%s", path);
        if (is_empty(fd))
                return fd;
        fd_close(fd);
        return error_set(err, CODE_USAGE, "%s: is not empty; name a new directory", path);
}

static void take_path(void *to, const char *path)
{
        json_text(to, NULL, path);
}

static int make(const struct templates *t, const char *path, const struct init_options *o,
        struct error *err)
{
        const struct template *one = templates_find(t, o->template);
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        _cleanup_fd_ int directory = -EBADF;
        struct json_writer w = {.out = &out};
        char safe[1024];

        if (!one)
                return error_set(err, CODE_USAGE,
                        "--template %s: there is none of that name; `assay init --list` shows them",
                        o->template);
        directory = make_directory(path, err);
        if (directory < 0)
                return -1;
        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.init/1");
        json_text(&w, "directory", path);
        json_text(&w, "template", one->name);
        json_open_array(&w, "files");
        if (templates_copy(t, one, directory, take_path, &w, err) < 0)
                return error_add(err, "%s", path);
        json_close(&w);
        json_close(&w);
        text_escape(safe, sizeof safe, path, strlen(path));
        if (o->common.json)
                printf("%s\n", buffer_text(&out));
        else if (!o->common.quiet)
                printf("%s: a task from the template %s\n"
                       "try it:  assay verify %s\n"
                       "then read %s/README.md, and change task.json, tests/ and solutions/\n",
                        safe, one->name, safe, safe);
        return 0;
}

int verb_init(int argc, char **argv, struct error *err)
{
        struct init_options o = {.template = usual};
        struct templates templates = TEMPLATES_INIT;
        const struct option table[] = {
                {"--template", OPTION_TEXT, &o.template, "NAME", "which one; else io-cases"},
                {"--list", OPTION_FLAG, &o.list, NULL, "show the templates"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);
        int r;

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("init [OPTIONS] DIR",
                        "Makes a new task that grades its own sample solutions.", table,
                        sizeof table / sizeof *table);
        if (rest != (o.list ? 0 : 1))
                return error_set(err, CODE_USAGE, "init: needs one directory, or --list alone");
        r = templates_open(&templates, err);
        if (r == 0)
                r = o.list ? list(&templates, &o.common) : make(&templates, argv[0], &o, err);
        templates_close(&templates);
        return r;
}
