/* Scripts in commands; see script.h. Nobody can tell for sure what a shell will make of a line, so
 * each piece of it that is a file of the image counts. */
#include "images/script.h"

#include "fd.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST_PIECES = 4096, MOST_PLACES = 64, MOST_DIRECTORIES = 16 };

struct finding {
        struct merged *merged;
        const struct command *command;
        int (*found)(void *to, enum script_kind kind, const char *path, struct error *err);
        void *to;
        /* Where relative names may lie: the working directory, then those that were named. */
        struct path directories[MOST_DIRECTORIES];
        unsigned directory_count;
        unsigned pieces;
};

/* Is the file's directory called bin or sbin? */
static bool is_in_bin(const char *path)
{
        const char *end = strrchr(path, '/'), *name = end;

        if (!end)
                return false;
        while (name > path && name[-1] != '/')
                name--;
        return (end - name == 3 && strncmp(name, "bin", 3) == 0) ||
               (end - name == 4 && strncmp(name, "sbin", 4) == 0);
}

/* 1; 0; -1. */
static int is_tool(struct merged *m, const struct path *path, const struct merged_item *item,
        struct error *err)
{
        static const char magic[] = "\177ELF";
        char start[sizeof magic - 1] = "";
        _cleanup_fd_ int fd = -EBADF;

        if (!is_in_bin(path->text))
                return 0;
        fd = merged_open_file(m, path, item, err);
        if (fd < 0)
                return -1;
        return read(fd, start, sizeof start) == sizeof start &&
               memcmp(start, magic, sizeof start) == 0;
}

static int tell_directory(
        struct finding *f, const struct path *path, const struct path *real, struct error *err)
{
        for (unsigned i = 0; i < f->directory_count; i++)
                if (strcmp(f->directories[i].text, real->text) == 0)
                        return 0;
        if (f->directory_count < MOST_DIRECTORIES)
                f->directories[f->directory_count++] = *real;
        return *real->text ? f->found(f->to, SCRIPT_DIRECTORY, path->text, err) : 0;
}

/* 1: there is something of that name. */
static int look(
        struct finding *f, const char *directory, const char *name, size_t len, struct error *err)
{
        struct merged_item item;
        struct path path, real;
        int r;

        directory += strspn(directory, "/");
        if ((size_t)snprintf(path.text, sizeof path.text, "/%s%s%.*s", directory,
                    *directory ? "/" : "", (int)len, name) >= sizeof path.text)
                return 0;
        r = merged_follow(f->merged, path.text, true, &real, &item, err);
        if (r <= 0)
                return r;
        if (S_ISDIR(item.st.st_mode))
                return tell_directory(f, &path, &real, err) < 0 ? -1 : 1;
        if (!S_ISREG(item.st.st_mode))
                return 1;
        r = is_tool(f->merged, &real, &item, err);
        if (r == 0)
                r = f->found(f->to, SCRIPT_FILE, path.text, err);
        return r < 0 ? -1 : 1;
}

static int look_along_path(struct finding *f, const char *name, size_t len, struct error *err)
{
        const char *at = f->command->search;
        int r = 0;

        for (unsigned n = 0; r == 0 && *at && n < MOST_PLACES; n++) {
                size_t size = strcspn(at, ":");
                struct path directory;

                snprintf(directory.text, sizeof directory.text, "%.*s", (int)size, at);
                r = look(f, directory.text, name, len, err);
                at += size + (at[size] == ':');
        }
        return r < 0 ? -1 : 0;
}

static int look_for(struct finding *f, const char *name, size_t len, struct error *err)
{
        const unsigned directories = f->directory_count; /* looking may add one */

        if (len == 0)
                return 0;
        if (++f->pieces > MOST_PIECES)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "its command has more than %d words to look for", MOST_PIECES);
        if (*name == '/')
                return look(f, "", name + 1, len - 1, err) < 0 ? -1 : 0;
        for (unsigned i = 0; i < directories; i++)
                if (look(f, f->directories[i].text, name, len, err) < 0)
                        return -1;
        return memchr(name, '/', len) ? 0 : look_along_path(f, name, len, err);
}

/* What `-m NAME` of an interpreter runs. */
static int look_for_module(struct finding *f, const char *name, struct error *err)
{
        static const char *const ends[] = {".py", "/__main__.py"};
        struct path path, file;

        snprintf(path.text, sizeof path.text, "%s", name);
        for (char *dot; (dot = strchr(path.text, '.'));)
                *dot = '/';
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
                snprintf(file.text, sizeof file.text, "%s%s", path.text, ends[i]);
                if (look_for(f, file.text, strlen(file.text), err) < 0)
                        return -1;
        }
        return 0;
}

static int tell_unknown(struct finding *f, const char *word, size_t len, struct error *err)
{
        struct path text;

        snprintf(text.text, sizeof text.text, "%.*s", (int)(len < 200 ? len : 200), word);
        return strpbrk(text.text, "$*?[~\\") ? f->found(f->to, SCRIPT_UNKNOWN, text.text, err) : 0;
}

/* What is between quotes, as a whole. */
static int look_between(struct finding *f, const char *line, char quote, struct error *err)
{
        for (const char *end, *start = line; (start = strchr(start, quote)); start = end + 1) {
                start++;
                end = strchr(start, quote);
                if (!end)
                        break;
                if (look_for(f, start, (size_t)(end - start), err) < 0)
                        return -1;
        }
        return 0;
}

static int look_in_line(struct finding *f, const char *line, struct error *err)
{
        static const char between[] = " \t\r\n'\"`;|&()<>{}=,";
        const char *at = line;

        if (line[strcspn(line, between)] && look_for(f, line, strlen(line), err) < 0)
                return -1;
        while (*at) {
                size_t len = strcspn(at, between);

                if (look_for(f, at, len, err) < 0 || tell_unknown(f, at, len, err) < 0)
                        return -1;
                at += len;
                at += strspn(at, between);
        }
        return look_between(f, line, '\'', err) < 0 ? -1 : look_between(f, line, '"', err);
}

/* Without links; where there is none, the root. */
static int find_workdir(struct finding *f, struct error *err)
{
        struct path *workdir = &f->directories[f->directory_count++];
        struct merged_item item;
        struct path path;
        int r;

        snprintf(path.text, sizeof path.text, "%s", f->command->workdir);
        r = merged_follow(f->merged, path.text, true, workdir, &item, err);
        if (r == 0)
                workdir->text[0] = '\0';
        return r < 0 ? -1 : 0;
}

static int look_all(struct finding *f, const struct command *c, struct error *err)
{
        if (c->count > 0 && find_workdir(f, err) < 0)
                return -1;
        for (size_t i = 0; i < c->count; i++) {
                const char *word = c->words[i];

                if (look_in_line(f, word, err) < 0 ||
                        (i > 0 && strcmp(c->words[i - 1], "-m") == 0 &&
                                look_for_module(f, word, err) < 0))
                        return -1;
        }
        return 0;
}

int script_find(struct merged *m, const struct command *c,
        int (*found)(void *to, enum script_kind kind, const char *path, struct error *err),
        void *to, struct error *err)
{
        struct finding *f = calloc(1, sizeof *f);
        int r;

        if (!f)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        *f = (struct finding){.merged = m, .command = c, .found = found, .to = to};
        r = look_all(f, c, err);
        free(f);
        return r;
}
