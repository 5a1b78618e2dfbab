/* Files by their content; see search.h. Only what has the size of one that is wanted is read. */
#include "images/search.h"

#include "fd.h"
#include "images/digest.h"
#include "images/folder.h"

#include <stdlib.h>
#include <unistd.h>

/* --- what is wanted ------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
        const struct wanted *l = left, *r = right;

        return l->size != r->size ? (l->size > r->size) - (l->size < r->size)
                                  : strcmp(l->digest, r->digest);
}

/* The first with that size, or NULL. */
static const struct wanted *find_size(const struct wanted *list, size_t count, uint64_t size)
{
        size_t low = 0, high = count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (list[middle].size < size)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < count && list[low].size == size ? &list[low] : NULL;
}

static int hash_file(int fd, char ret[DIGEST_SIZE])
{
        static unsigned char piece[64 << 10];
        struct sha256_ctx context;
        ssize_t n;

        sha256_init(&context);
        while ((n = read(fd, piece, sizeof piece)) > 0)
                sha256_update(&context, (size_t)n, piece);
        digest_text(&context, ret);
        return n < 0 ? -1 : 0;
}

/* --- a tree --------------------------------------------------------------------------------- */

/* A directory on the way to where we are. */
struct level {
        struct buffer names; /* each with its NUL */
        size_t count;        /* left of them */
        size_t at;           /* the next, in `names` */
        size_t path_len;
        struct merged_item item;
};

struct searching {
        const struct merged *merged;
        const struct wanted *list;
        size_t count;
        struct report *report;
        unsigned found;
        struct level *levels;
        size_t depth;
        struct path path;
};

static int enter(struct searching *s, const struct merged_item *item, struct error *err)
{
        struct level *more = realloc(s->levels, (s->depth + 1) * sizeof *more), *l;

        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        s->levels = more;
        l = &more[s->depth++];
        *l = (struct level){.names = BUFFER_INIT, .path_len = strlen(s->path.text), .item = *item};
        return merged_list(s->merged, s->path.text, item, &l->names, &l->count, err);
}

static void leave(struct searching *s)
{
        buffer_free(&s->levels[--s->depth].names);
}

static int look_at_file(struct searching *s, const struct merged_item *item, struct error *err)
{
        const uint64_t size = (uint64_t)item->st.st_size;
        const struct wanted *w = find_size(s->list, s->count, size);
        char digest[DIGEST_SIZE];
        _cleanup_fd_ int fd = -EBADF;

        if (!w || size == 0)
                return 0;
        fd = merged_open_file(s->merged, &s->path, item, err);
        if (fd < 0)
                return -1;
        if (hash_file(fd, digest) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s", s->path.text);
        for (; w < s->list + s->count && w->size == size; w++)
                if (strcmp(w->digest, digest) == 0)
                        return ++s->found > SEARCH_MOST_FOUND
                                       ? 0
                                       : report_found(s->report, w->number, s->path.text, err);
        return 0;
}

/* The next name of the directory that we are in. */
static int step(struct searching *s, struct error *err)
{
        struct level *l = &s->levels[s->depth - 1];
        const char *name = buffer_text(&l->names) + l->at;
        struct merged_item item = l->item;
        size_t len = strlen(name);
        int r;

        s->path.text[l->path_len] = '\0';
        if (l->count == 0) {
                leave(s);
                return 0;
        }
        l->count--;
        l->at += len + 1;
        if (l->path_len + len + 2 > sizeof s->path.text)
                return error_set(err, CODE_IMAGE_UNSUPPORTED, "%.300s: too long", s->path.text);
        snprintf(s->path.text + l->path_len, sizeof s->path.text - l->path_len, "%s%s",
                l->path_len > 0 ? "/" : "", name);
        r = merged_down(s->merged, s->path.text, &item, err);
        if (r > 0 && S_ISDIR(item.st.st_mode))
                r = enter(s, &item, err);
        else if (r > 0 && S_ISREG(item.st.st_mode))
                r = look_at_file(s, &item, err);
        return r < 0 ? -1 : 0;
}

int search_tree(const struct merged *m, struct wanted *list, size_t count, struct report *report,
        struct error *err)
{
        struct searching s = {.merged = m, .list = list, .count = count, .report = report};
        struct merged_item root;
        int r = merged_root(m, &root, err);

        if (count > 0)
                qsort(list, count, sizeof *list, compare);
        if (r > 0)
                r = enter(&s, &root, err);
        while (r == 0 && s.depth > 0 && s.found <= SEARCH_MOST_FOUND)
                r = step(&s, err);
        while (s.depth > 0)
                leave(&s);
        free(s.levels);
        return r < 0 ? -1 : 0;
}

/* --- a directory ---------------------------------------------------------------------------- */

static int tell_file(struct folder *f, const char *path, struct report *report, struct error *err)
{
        char digest[DIGEST_SIZE];
        struct sha256_ctx context;
        uint64_t size = 0, offset;
        const void *data;
        size_t len;
        int r;

        sha256_init(&context);
        while ((r = folder_data(f, &data, &len, &offset, err)) > 0) {
                sha256_update(&context, len, data);
                size += len;
        }
        digest_text(&context, digest);
        return r < 0 ? -1 : report_file(report, path, size, digest, err);
}

int search_files(int root, uint64_t max, struct report *report, struct error *err)
{
        struct folder *f = malloc(sizeof *f);
        struct entry e;
        int r = f ? folder_open(f, root, max, err)
                  : error_set(err, CODE_INFRA_MEMORY, "out of memory");

        while (r == 0 && (r = folder_next(f, &e, err)) > 0)
                r = e.type == ENTRY_FILE ? tell_file(f, e.path, report, err) : 0;
        if (f)
                folder_close(f);
        free(f);
        return r;
}
