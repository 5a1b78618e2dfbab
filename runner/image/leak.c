/* Files of a task in an image; see leak.h. The unpacker reads both: the task's files, to tell their
 * digests, and those of the image that have the size of one. */
#include "image/leak.h"

#include "images/messages.h"

#include <stdlib.h>

enum { MOST_FILES = 200000, AT_ONCE = 5000 };

struct known_file {
        char digest[DIGEST_SIZE];
        uint64_t size;
        char *path; /* with the name of its tree */
};

struct known {
        struct known_file *files;
        size_t count;
        const char *tree;
};

/* --- what the task has ---------------------------------------------------------------------- */

static int add_file(struct known *k, struct reader *r, struct error *err)
{
        struct known_file *f, *more = k->files;
        char path[UNPACK_MAX_PATH + 1];

        if ((k->count & (k->count - 1)) == 0) /* full, or empty */
                more = realloc(k->files, (k->count ? 2 * k->count : 1) * sizeof *more);
        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        k->files = more;
        f = &more[k->count];
        get_text(r, path, sizeof path);
        f->size = get_u64(r);
        get_text(r, f->digest, sizeof f->digest);
        if (r->bad || f->size == 0)
                return 0;
        if (asprintf(&f->path, "%s/%s", k->tree, path) < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        k->count++;
        return 0;
}

static int take_file(void *to, unsigned type, struct reader *r, struct error *err)
{
        if (type == UNPACK_FILE)
                return add_file(to, r, err);
        if (type != UNPACK_DONE)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        *r = reader_of(NULL, 0);
        return 1;
}

static int list_tree(struct loading *l, struct known *k, const struct leak_tree *tree, int root,
        struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct helper_question q;

        put_u64(&payload, MOST_FILES);
        loading_question(&q, tree->fd, root, UNPACK_FILES, &payload, take_file, k);
        q.mode = HELPER_PLAIN;
        q.blamed = 1U << CLASS_SUBMISSION;
        k->tree = tree->name;
        if (helper_ask(l->channel, &q, err) == 0)
                return 0;
        if (code_info(err->code)->class == CLASS_SUBMISSION)
                err->code = CODE_TASK_UNSAFE;
        return error_add(err, "%s", tree->name);
}

static int compare(const void *left, const void *right)
{
        const struct known_file *l = left, *r = right;
        int differ = strcmp(l->digest, r->digest);

        return differ ? differ : strcmp(l->path, r->path);
}

/* Of files with the same content, the first. */
static void sort(struct known *k)
{
        size_t kept = 0;

        if (k->count > 0)
                qsort(k->files, k->count, sizeof *k->files, compare);
        for (size_t i = 0; i < k->count; i++)
                if (kept > 0 && strcmp(k->files[i].digest, k->files[kept - 1].digest) == 0)
                        free(k->files[i].path);
                else
                        k->files[kept++] = k->files[i];
        k->count = kept;
}

static void forget(struct known *k)
{
        while (k->count > 0)
                free(k->files[--k->count].path);
        free(k->files);
}

/* --- what the image has --------------------------------------------------------------------- */

struct batch {
        const struct leak_search *search;
        const struct known_file *files;
        uint32_t count;
};

static int take_found(void *to, unsigned type, struct reader *r, struct error *err)
{
        const struct batch *b = to;
        char path[UNPACK_MAX_PATH + 1];
        uint32_t which;

        if (type == UNPACK_DONE) {
                *r = reader_of(NULL, 0);
                return 1;
        }
        if (type != UNPACK_FOUND)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        which = get_u32(r);
        get_text(r, path, sizeof path);
        r->bad |= which >= b->count;
        return r->bad ? 0 : b->search->found(b->search->to, path, b->files[which].path, err);
}

static int search_batch(struct loading *l, const struct image *view, const struct batch *b,
        int root, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        stack_put(&payload, view);
        put_u32(&payload, b->count);
        for (uint32_t i = 0; i < b->count; i++) {
                put_u64(&payload, b->files[i].size);
                put_text(&payload, b->files[i].digest);
        }
        return loading_ask(l, l->store.layers, root, UNPACK_SEARCH, &payload, take_found,
                (void *)(uintptr_t)b, err);
}

static int search_all(struct loading *l, const struct image *view, const struct leak_search *search,
        struct known *k, int root, struct error *err)
{
        for (size_t i = 0; i < sizeof search->trees / sizeof *search->trees; i++)
                if (search->trees[i].fd >= 0 && list_tree(l, k, &search->trees[i], root, err) < 0)
                        return -1;
        sort(k);
        for (size_t at = 0; at < k->count; at += AT_ONCE) {
                const size_t left = k->count - at;
                const struct batch b = {
                        search, k->files + at, (uint32_t)(left < AT_ONCE ? left : AT_ONCE)};

                if (search_batch(l, view, &b, root, err) < 0)
                        return -1;
        }
        return 0;
}

int leak_find(struct loading *l, const struct image *view, const struct leak_search *search,
        struct error *err)
{
        struct known known = {0};
        struct image_store_layer unused;
        int r = image_store_begin_layer(&l->store, &unused, err);

        if (r == 0)
                r = search_all(l, view, search, &known, unused.tree, err);
        image_store_abandon_layer(&l->store, &unused);
        forget(&known);
        return r;
}
