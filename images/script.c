/* Scripts in commands; see script.h. Nobody can tell for sure what a shell will make of a line, so
 * each piece of it that is a file of the image counts. */
#include "images/script.h"

#include "fd.h"

#include <unistd.h>

enum { MOST_PIECES = 4096, MOST_PLACES = 64 };

struct finding {
        const struct merged *merged;
        const struct command *command;
        int (*found)(void *to, enum script_kind kind, const char *path, struct error *err);
        void *to;
        struct path workdir;
        struct path where; /* the directory that was named last: what follows may be in it */
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
static int is_tool(const struct merged *m, const struct path *path, const struct merged_item *item,
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
        f->where = *real;
        return *real->text && strcmp(real->text, f->workdir.text) != 0
                       ? f->found(f->to, SCRIPT_DIRECTORY, path->text, err)
                       : 0;
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

/* `runs`: it may be a command, which is looked for along PATH. */
static int look_for(struct finding *f, const char *name, size_t len, bool runs, struct error *err)
{
        const struct path where = f->where; /* which looking may change */

        if (len == 0)
                return 0;
        if (++f->pieces > MOST_PIECES)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "its command has more than %d words to look for", MOST_PIECES);
        if (*name == '/')
                return look(f, "", name + 1, len - 1, err) < 0 ? -1 : 0;
        if (look(f, f->workdir.text, name, len, err) < 0 ||
                (strcmp(where.text, f->workdir.text) != 0 &&
                        look(f, where.text, name, len, err) < 0))
                return -1;
        return runs && !memchr(name, '/', len) ? look_along_path(f, name, len, err) : 0;
}

static int look_in_line(struct finding *f, const char *line, struct error *err)
{
        static const char between[] = " \t\r\n'\"`;|&()<>{}=,";

        while (*line) {
                size_t len = strcspn(line, between);

                if (look_for(f, line, len, true, err) < 0)
                        return -1;
                line += len;
                line += strspn(line, between);
        }
        return 0;
}

/* Without links; where there is none, the root. */
static int find_workdir(struct finding *f, struct error *err)
{
        struct merged_item item;
        struct path path;
        int r;

        snprintf(path.text, sizeof path.text, "%s", f->command->workdir);
        r = merged_follow(f->merged, path.text, true, &f->workdir, &item, err);
        if (r == 0)
                f->workdir.text[0] = '\0';
        f->where = f->workdir;
        return r < 0 ? -1 : 0;
}

int script_find(const struct merged *m, const struct command *c,
        int (*found)(void *to, enum script_kind kind, const char *path, struct error *err),
        void *to, struct error *err)
{
        struct finding f = {.merged = m, .command = c, .found = found, .to = to};

        if (c->count > 0 && find_workdir(&f, err) < 0)
                return -1;
        for (size_t i = 0; i < c->count; i++) {
                const char *word = c->words[i];

                if (look_for(&f, word, strlen(word), i == 0, err) < 0)
                        return -1;
                if (strpbrk(word, " \t\n=;&|") && look_in_line(&f, word, err) < 0)
                        return -1;
        }
        return 0;
}
