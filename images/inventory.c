/* The names of a layer; see inventory.h. */
#include "images/inventory.h"

#include <search.h>
#include <stdlib.h>

/* What a search needs of an item; the name is not in it. */
struct key {
        const struct item *parent;
        const char *name;
        size_t len;
};

static int order(const struct key *k, const struct item *i)
{
        if (k->parent != i->parent)
                return (uintptr_t)k->parent < (uintptr_t)i->parent ? -1 : 1;
        if (k->len != i->name_len)
                return k->len < i->name_len ? -1 : 1;
        return memcmp(k->name, i->name, k->len);
}

/* The C library gives the key first. */
static int compare_key(const void *key, const void *item)
{
        return order(key, item);
}

static int compare_items(const void *left, const void *right)
{
        const struct item *l = left;

        return order(&(struct key){l->parent, l->name, l->name_len}, right);
}

int inventory_init(struct inventory *v, uint64_t max, struct error *err)
{
        *v = (struct inventory){.max = max, .root = calloc(1, sizeof *v->root)};
        if (!v->root)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        v->root->kind = ITEM_DIRECTORY;
        return 0;
}

void inventory_free(struct inventory *v)
{
        tdestroy(v->items, free);
        free(v->root);
        *v = (struct inventory){0};
}

static struct item *find(
        const struct inventory *v, const struct item *parent, const char *name, size_t len)
{
        const struct key key = {parent, name, len};
        void *const *found = tfind(&key, &v->items, compare_key);

        return found ? *found : NULL;
}

static struct item *insert(struct inventory *v, struct item *parent, const char *name, size_t len)
{
        struct item *i = malloc(sizeof *i + len);

        if (!i)
                return NULL;
        *i = (struct item){.parent = parent, .older = v->newest, .name_len = (uint16_t)len};
        memcpy(i->name, name, len);
        if (!tsearch(i, &v->items, compare_items)) {
                free(i);
                return NULL;
        }
        v->newest = i;
        v->count++;
        return i;
}

static int find_or_insert(struct inventory *v, struct item *parent, const char *path,
        const char *name, size_t len, struct item **ret, struct error *err)
{
        *ret = find(v, parent, name, len);
        if (*ret)
                return 0;
        if (v->count >= v->max)
                return error_set(err, CODE_IMAGE_TOO_LARGE, "%.300s: more than %llu names", path,
                        (unsigned long long)v->max);
        *ret = insert(v, parent, name, len);
        if (!*ret) /* at the limit of this program's memory */
                return error_set(err, CODE_IMAGE_TOO_LARGE,
                        "%.300s: more names than there is memory for", path);
        return 0;
}

static int not_a_folder(const struct item *i, const char *path, struct error *err)
{
        return error_set(err, CODE_IMAGE_LAYER_INVALID, "%.200s: %.*s is %s in the same layer",
                path, i->name_len, i->name,
                i->kind == ITEM_SYMLINK ? "a symbolic link" : "no folder");
}

static int become(struct item *i, const char *path, enum item_kind kind, struct error *err)
{
        if (kind == ITEM_NOTHING)
                return 0;
        if (i->kind != ITEM_NOTHING && (i->kind == ITEM_DIRECTORY) != (kind == ITEM_DIRECTORY))
                return error_set(err, CODE_IMAGE_LAYER_INVALID,
                        "%.300s: a folder and something else in the same layer", path);
        if (kind == ITEM_DIRECTORY && i->kind == ITEM_NOTHING)
                i->made_mode = i->at.mode = 0755;
        i->kind = (uint8_t)kind;
        return 0;
}

/* The first `len` bytes of `path` are where the last item went. */
static bool is_same_folder(const struct inventory *v, const char *path, size_t len)
{
        return v->folder && strncmp(v->folder_path.text, path, len) == 0 &&
               v->folder_path.text[len] == '\0';
}

/* The folder of the first `len` bytes of `path`, made where it is missing. */
static struct item *enter(
        struct inventory *v, const char *path, size_t len, size_t *ret_known, struct error *err)
{
        struct item *here = v->root;

        *ret_known = len;
        if (len == 0)
                return v->root;
        if (is_same_folder(v, path, len))
                return v->folder;
        *ret_known = 0;
        for (size_t at = 0, end; at < len; at = end + 1) {
                end = at + strcspn(path + at, "/");
                if (find_or_insert(v, here, path, path + at, end - at, &here, err) < 0)
                        return NULL;
                if (here->kind == ITEM_DIRECTORY)
                        *ret_known = end;
                else if (here->kind != ITEM_NOTHING) {
                        not_a_folder(here, path, err);
                        return NULL;
                } else
                        become(here, path, ITEM_DIRECTORY, err);
        }
        memcpy(v->folder_path.text, path, len);
        v->folder_path.text[len] = '\0';
        return v->folder = here;
}

int inventory_add(struct inventory *v, const char *path, enum item_kind kind, struct addition *ret,
        struct error *err)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        struct item *folder = enter(v, path, slash ? (size_t)(slash - path) : 0, &ret->known, err);

        if (!folder)
                return -1;
        ret->item = v->root;
        if (*name && find_or_insert(v, folder, path, name, strlen(name), &ret->item, err) < 0)
                return -1;
        ret->before = ret->item->kind;
        if (ret->before != ITEM_NOTHING)
                ret->known = strlen(path);
        return become(ret->item, path, kind, err);
}

struct item *inventory_find_in(
        const struct inventory *v, const struct item *folder, const char *name)
{
        return find(v, folder, name, strlen(name));
}

struct item *inventory_find(const struct inventory *v, const char *path)
{
        struct item *i = v->root;

        for (size_t len; i && *path; path += len + (path[len] == '/')) {
                len = strcspn(path, "/");
                i = find(v, i, path, len);
        }
        return i;
}

enum item_kind inventory_kind(const struct inventory *v, const char *path)
{
        const struct item *i = inventory_find(v, path);

        return i ? i->kind : ITEM_NOTHING;
}

void inventory_path(const struct item *item, struct path *ret)
{
        size_t len = 0;

        for (const struct item *i = item; i->parent; i = i->parent)
                len += i->name_len + (size_t)(len > 0);
        ret->text[len] = '\0';
        for (const struct item *i = item; i->parent; i = i->parent) {
                len -= i->name_len;
                memcpy(ret->text + len, i->name, i->name_len);
                if (len > 0)
                        ret->text[--len] = '/';
        }
}
