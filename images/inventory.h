/* Everything a layer of an image has put into its directory so far, by name, and what remains to be
 * done with it at the end.
 *
 * Names are compared by their bytes. As in catalog.h, directories that the layer only implies are
 * in it too, and a balanced tree holds it, which nobody can choose names for that make it slow.
 * Pure.
 */
#ifndef ASSAY_IMAGES_INVENTORY_H
#define ASSAY_IMAGES_INVENTORY_H

#include "images/attributes.h"
#include "images/name.h"

enum item_kind { ITEM_NOTHING, ITEM_DIRECTORY, ITEM_FILE, ITEM_SYMLINK, ITEM_PIPE };

/* A name. An ITEM_NOTHING is only hidden. */
struct item {
        struct item *parent; /* NULL: the layer's root */
        struct item *older;  /* the one added before; a directory is older than what it holds */
        union {
                struct attributes at;        /* of a directory, at the end */
                struct {                     /* of what is none */
                        uint64_t number;     /* of the entry that made it, or 0 */
                        struct item *source; /* what it is a second name of */
                        const char *differs; /* how, from what it must be */
                };
        };
        mode_t made_mode; /* until then */
        uint16_t name_len;
        uint8_t kind;
        bool hidden; /* what the layers below have of this name */
        bool opaque; /* hides what they have in this directory */
        bool told;   /* what is in `at` comes from the layer */
        char name[];
};

struct inventory {
        void *items;         /* of tsearch() */
        struct item *newest; /* without the root */
        struct item *root;
        uint64_t count, max;     /* items, without the root */
        struct item *folder;     /* where the last one went */
        struct path folder_path; /* entries of one folder mostly come together */
};

int inventory_init(struct inventory *v, uint64_t max, struct error *err);
void inventory_free(struct inventory *v);

struct addition {
        struct item *item;
        enum item_kind before; /* what it was; ITEM_NOTHING: it has to be made */
        size_t known;          /* bytes of the path that are there already, in whole names */
};

/* Note that `path` (normal form; empty is the root) is now a `kind`. ITEM_NOTHING changes nothing
 * of what is there, but makes the item, and its parents. -1: image.layer_invalid (below something
 * that is no directory; a directory and something else), image.too_large. */
int inventory_add(struct inventory *v, const char *path, enum item_kind kind, struct addition *ret,
        struct error *err);
/* What is known of `path`, or NULL. */
struct item *inventory_find(const struct inventory *v, const char *path);
/* Of a name in a directory. */
struct item *inventory_find_in(
        const struct inventory *v, const struct item *folder, const char *name);
/* What `path` is so far. */
enum item_kind inventory_kind(const struct inventory *v, const char *path);
void inventory_path(const struct item *item, struct path *ret);

#endif
