/* Masks; see mask.h. Directories on the way are in one too, with the attributes that they have. */
#include "images/mask.h"

#include "images/tar_write.h"

#include "frame.h"

#include <stdlib.h>

enum { MOST_HIDDEN = 1000000 };

struct place { /* without links on the way */
        char *path;
        bool itself; /* else what is in that directory */
};

struct mask {
        struct merged *merged;
        struct tar_writer out;
        struct place *real; /* owned */
        size_t count;
        struct report *report;
        struct buffer directories; /* texts: what else the command names */
        struct path last;          /* directory that was written, with those above it */
        uint64_t hidden;
};

static bool was_written(const struct mask *k, const char *path)
{
        size_t len = strlen(path);

        return strncmp(k->last.text, path, len) == 0 &&
               (k->last.text[len] == '/' || k->last.text[len] == '\0');
}

/* The directories on the way to `path`, and itself. */
static int write_folders(struct mask *k, const char *path, struct error *err)
{
        struct merged_item item;
        struct path so_far;
        size_t len = 0;

        while (path[len]) {
                len += strcspn(path + len, "/");
                memcpy(so_far.text, path, len);
                so_far.text[len] = '\0';
                if (!was_written(k, so_far.text) &&
                        (merged_look(k->merged, so_far.text, &item, err) < 0 ||
                                tar_write_entry(&k->out, so_far.text, &item.st, err) < 0))
                        return -1;
                len += path[len] == '/';
        }
        snprintf(k->last.text, sizeof k->last.text, "%s", path);
        return 0;
}

static int write_whiteout(struct mask *k, const char *folder, const char *name, struct error *err)
{
        static const struct stat nothing = {.st_mode = S_IFREG};
        char path[UNPACK_MAX_PATH + 8];

        if (++k->hidden > MOST_HIDDEN)
                return error_set(
                        err, CODE_IMAGE_TOO_LARGE, "more than %d names are hidden", MOST_HIDDEN);
        snprintf(path, sizeof path, "%s%s.wh.%s", folder, *folder ? "/" : "", name);
        return tar_write_entry(&k->out, path, &nothing, err);
}

/* --- one path ------------------------------------------------------------------------------- */

static int hide_content(struct mask *k, const char *path, struct error *err)
{
        _cleanup_buffer_ struct buffer names = BUFFER_INIT;
        const char *name;
        struct merged_item item;
        size_t count;
        int r = merged_look(k->merged, path, &item, err);

        if (r <= 0 || !S_ISDIR(item.st.st_mode))
                return r < 0 ? -1 : 0;
        if (merged_list(k->merged, path, &item, &names, &count, err) < 0)
                return -1;
        if (count > 0 && write_folders(k, path, err) < 0)
                return -1;
        name = buffer_text(&names);
        for (; count > 0; count--, name += strlen(name) + 1)
                if (write_whiteout(k, path, name, err) < 0)
                        return -1;
        return 0;
}

static int hide_name(struct mask *k, const char *path, struct error *err)
{
        const char *slash = strrchr(path, '/');
        struct path folder;

        snprintf(folder.text, sizeof folder.text, "%.*s", slash ? (int)(slash - path) : 0, path);
        return write_folders(k, folder.text, err) < 0
                       ? -1
                       : write_whiteout(k, folder.text, slash ? slash + 1 : path, err);
}

/* --- all ------------------------------------------------------------------------------------ */

static int compare(const void *left, const void *right)
{
        const struct place *l = left, *r = right;

        return strcmp(l->path, r->path);
}

static int note(struct mask *k, const char *path, bool itself, struct error *err)
{
        struct place *more = realloc(k->real, (k->count + 1) * sizeof *more);

        if (more) {
                k->real = more;
                more[k->count] = (struct place){strdup(path), itself};
        }
        if (!more || !more[k->count].path)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        k->count++;
        return 0;
}

/* Where it really is, and where it leads to if it is a link. 1; 0: there is no such path; -1. */
static int find_itself(struct mask *k, const char *path, struct error *err)
{
        struct merged_item item;
        struct path real;

        for (int last = 0; last < 2; last++) {
                int r = merged_follow(k->merged, path, last, &real, &item, err);

                if (r <= 0)
                        return r < 0 ? -1 : last;
                if (note(k, real.text, *real.text != '\0', err) < 0)
                        return -1;
                if (!S_ISLNK(item.st.st_mode))
                        return 1;
        }
        return 1;
}

/* A directory that the command names may be the suite's, or not. */
static int find_script(void *to, enum script_kind kind, const char *path, struct error *err)
{
        struct mask *k = to;

        if (kind == SCRIPT_FILE)
                return find_itself(k, path, err) < 0 ? -1 : 0;
        if (kind == SCRIPT_UNKNOWN)
                return report_warning(k->report, path,
                        "is in the image's command, and may name a script that submissions see",
                        err);
        put_text(&k->directories, path);
        return 0;
}

static bool is_noted(const struct mask *k, char *path)
{
        const struct place wanted = {.path = path};

        return k->count > 0 && bsearch(&wanted, k->real, k->count, sizeof *k->real, compare);
}

/* It is hidden already, with a directory above it. */
static bool is_within(const struct mask *k, const char *path)
{
        struct path above;

        if (*path && is_noted(k, (char[]){""}))
                return true;
        snprintf(above.text, sizeof above.text, "%s", path);
        for (char *slash; (slash = strrchr(above.text, '/'));) {
                *slash = '\0';
                if (is_noted(k, above.text))
                        return true;
        }
        return false;
}

static int find_all(struct mask *k, const struct mask_request *q, struct error *err)
{
        for (size_t i = 0; i < q->count; i++) {
                const struct hiding *h = &q->paths[i];
                int r = h->kind == UNPACK_HIDE_CONTENT ? note(k, h->path, false, err)
                                                       : find_itself(k, h->path, err);

                if (r < 0 ||
                        (r == 0 && h->kind == UNPACK_HIDE_NAMED &&
                                report_warning(k->report, h->path, "is not in the image", err) < 0))
                        return -1;
        }
        return script_find(k->merged, &q->command, find_script, k, err);
}

static int warn_of_directories(struct mask *k, struct error *err)
{
        struct reader r = reader_of(k->directories.data, k->directories.len);

        while (r.left > 0) {
                struct merged_item item;
                struct path path, real;
                int found;

                get_text(&r, path.text, sizeof path.text);
                found = merged_follow(k->merged, path.text, true, &real, &item, err);
                if (found < 0)
                        return -1;
                if (!is_noted(k, real.text) && !is_within(k, real.text) &&
                        report_warning(k->report, path.text,
                                "is a directory that the image's command names; submissions see it",
                                err) < 0)
                        return -1;
        }
        return 0;
}

/* Two masks of one image may hide the same, but an overlay takes no layer twice: so they say where
 * they lie, by a mark that means nothing to whoever unpacks them. */
static int write_position(struct mask *k, struct error *err)
{
        static const struct stat nothing = {.st_mode = S_IFREG};
        char path[64];

        snprintf(path, sizeof path, ".wh..wh.mask-%u", k->merged->count);
        return tar_write_entry(&k->out, path, &nothing, err);
}

static int hide_all(struct mask *k, struct error *err)
{
        for (size_t i = 0; i < k->count; i++) {
                const struct place *p = &k->real[i];

                if ((i > 0 && compare(p, p - 1) == 0) || is_within(k, p->path))
                        continue;
                if ((p->itself ? hide_name(k, p->path, err) : hide_content(k, p->path, err)) < 0)
                        return -1;
        }
        return 0;
}

int mask_write(struct merged *m, const struct mask_request *q, int file, struct report *report,
        uint64_t *ret_hidden, struct error *err)
{
        struct mask k = {.merged = m,
                .out = {.fd = file, .pending = BUFFER_INIT},
                .report = report,
                .directories = BUFFER_INIT};
        int r = find_all(&k, q, err);

        if (k.count > 0)
                qsort(k.real, k.count, sizeof *k.real, compare);
        if (r == 0)
                r = warn_of_directories(&k, err);
        if (r == 0)
                r = hide_all(&k, err);
        if (r == 0 && k.hidden > 0)
                r = write_position(&k, err);
        if (r == 0)
                r = tar_write_end(&k.out, err);
        buffer_free(&k.out.pending);
        buffer_free(&k.directories);
        while (k.count > 0)
                free(k.real[--k.count].path);
        free(k.real);
        *ret_hidden = k.hidden;
        return r;
}
