/* From a layer to a directory: judge each entry (layer_entry.h), carry it out (tree.h), count. At
 * the end come whiteouts, since only then it is known what the layer has itself, and modes and
 * times of directories, which making something inside would change or need. */
#include "images/layer.h"

#include "beneath.h"
#include "fd.h"
#include "images/attributes.h"
#include "images/layer_entry.h"
#include "images/source.h"
#include "images/tree.h"
#include "quantity.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
        MOST_OPAQUE = 100000,
        WHILE_FILLING = 0700, /* of a directory: what we need ourselves */
        WHILE_WRITING = 0600,
        FOR_ALL = 0755, /* of the layer's root */
};

struct layering {
        unsigned opaque; /* directories that were told */
        const struct layer_request *request;
        struct report *report;
        struct source source;
        struct skeleton *skeleton;
        unsigned char *replaced; /* a bit for each entry whose file is gone, or NULL */
        struct tree tree;
        struct inventory inventory;
        struct entry entry;
        struct layer_plan plan;
        struct attributes at; /* of the entry */
        uint64_t headers;     /* entries read, also those left out */
        uint64_t bytes;       /* written, or read and left out */
        uint64_t dropped;     /* devices */
        uint64_t lost;        /* attributes */
        uint64_t unowned;     /* whose owner has no id here */
};

/* --- one entry ------------------------------------------------------------------------------ */

/* The current entry may have `end` bytes. */
static int check_room(const struct layering *l, uint64_t end, struct error *err)
{
        char most[32];

        if (end <= l->request->max_unpacked - l->bytes)
                return 0;
        quantity_format_bytes(most, sizeof most, l->request->max_unpacked);
        return error_set(err, CODE_IMAGE_TOO_LARGE, "%.300s: with it the image has more than %s",
                l->entry.path, most);
}

/* Carry the current entry's data to `fd`, or nowhere (-EBADF). Holes count as bytes of the file. */
static int take_data(struct layering *l, int fd, struct error *err)
{
        const char *path = l->entry.path;
        uint64_t end = 0, offset;
        const void *data;
        size_t len;
        int r;

        while ((r = source_data(&l->source, &data, &len, &offset, err)) > 0) {
                if (offset < end)
                        return error_set(err, CODE_IMAGE_LAYER_INVALID,
                                "%.300s: its pieces are not in order", path);
                end = offset + len;
                if (check_room(l, end, err) < 0 ||
                        (fd >= 0 && tree_write(fd, data, len, offset, path, err) < 0))
                        return -1;
        }
        if (r < 0)
                return -1;
        if (l->entry.size > end) { /* a hole at the end */
                end = l->entry.size;
                if (check_room(l, end, err) < 0 ||
                        (fd >= 0 && tree_write(fd, "", 1, end - 1, path, err) < 0))
                        return -1;
        }
        l->bytes += end;
        return 0;
}

/* Files are made as root's; so where ids are missing, they stay. */
static bool is_roots(const struct attributes *a)
{
        return a->uid == 0 && a->gid == 0;
}

static int keep_owner(
        struct layering *l, const char *path, const struct attributes *a, struct error *err)
{
        int r = is_roots(a) ? 1 : tree_set_owner(&l->tree, path, a->uid, a->gid, err);

        l->unowned += r == 0;
        return r < 0 ? -1 : 0;
}

static int keep_attributes(struct layering *l, int fd, mode_t made, struct error *err)
{
        const struct attributes *a = &l->at;

        if (attributes_any(l->source.entry))
                attributes_keep(l->source.entry, fd, &l->lost);
        if ((made != a->mode && fchmod(fd, a->mode) < 0) ||
                futimens(fd, (const struct timespec[2]){a->mtime, a->mtime}) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s", l->plan.path.text);
        return keep_owner(l, l->plan.path.text, a, err);
}

static int make_file(struct layering *l, struct error *err)
{
        _cleanup_fd_ int fd = -EBADF;
        mode_t made = l->at.mode;

        if (attributes_any(l->source.entry)) /* only who may write may give them */
                made |= WHILE_WRITING;
        fd = tree_make_file(&l->tree, l->plan.path.text, made, err);
        if (fd < 0 || take_data(l, fd, err) < 0)
                return -1;
        return keep_attributes(l, fd, made, err);
}

static int keep_folder_attributes(struct layering *l, struct error *err)
{
        const char *path = *l->plan.path.text ? l->plan.path.text : ".";
        _cleanup_fd_ int fd = -EBADF;

        if (!attributes_any(l->source.entry))
                return 0;
        fd = beneath_open(l->tree.root, path, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s", path);
        attributes_keep(l->source.entry, fd, &l->lost);
        return 0;
}

static int make_directory(struct layering *l, struct error *err)
{
        struct item *item = l->plan.place.item;

        item->told = true;
        item->at = l->at;
        if (l->plan.place.before == ITEM_NOTHING) {
                item->made_mode = l->at.mode | WHILE_FILLING;
                if (tree_make_folder(&l->tree, l->plan.path.text, item->made_mode, err) < 0)
                        return -1;
        }
        return keep_folder_attributes(l, err);
}

static int keep_named(struct layering *l, const char *path, struct error *err)
{
        return tree_set_time(&l->tree, path, &l->at.mtime, err) < 0
                       ? -1
                       : keep_owner(l, path, &l->at, err);
}

static int make_symlink(struct layering *l, struct error *err)
{
        const char *path = l->plan.path.text;

        if (tree_make_symlink(&l->tree, path, l->entry.target, err) < 0)
                return -1;
        return keep_named(l, path, err);
}

static int make_link(struct layering *l, struct error *err)
{
        return tree_make_link(&l->tree, l->plan.source.text, l->plan.path.text, err);
}

static int make_pipe(struct layering *l, struct error *err)
{
        const char *path = l->plan.path.text;

        if (tree_make_pipe(&l->tree, path, l->at.mode, err) < 0)
                return -1;
        return keep_named(l, path, err);
}

static int make_opaque(struct layering *l, struct error *err)
{
        if (l->plan.place.before != ITEM_NOTHING)
                return 0;
        return tree_make_folder(&l->tree, l->plan.path.text, l->plan.place.item->made_mode, err);
}

static int drop(struct layering *l, struct error *err)
{
        (void)err;
        l->dropped++;
        return 0;
}

static const struct {
        int (*make)(struct layering *l, struct error *err);
        bool has_place; /* in the tree, where its parents are needed */
        bool replaces;  /* what was there before */
} steps[] = {
        [LAYER_SKIP] = {NULL, false, false},
        [LAYER_DROP] = {drop, false, false},
        [LAYER_FOLDERS] = {NULL, true, false},
        [LAYER_OPAQUE] = {make_opaque, true, false},
        [LAYER_DIRECTORY] = {make_directory, true, false},
        [LAYER_FILE] = {make_file, true, true},
        [LAYER_SYMLINK] = {make_symlink, true, true},
        [LAYER_HARDLINK] = {make_link, true, true},
        [LAYER_PIPE] = {make_pipe, true, true},
};

static int carry_out(struct layering *l, struct error *err)
{
        const struct layer_plan *p = &l->plan;
        const char *path = p->path.text;

        if (steps[p->step].has_place &&
                tree_make_folders(&l->tree, path, p->place.known, false, err) < 0)
                return -1;
        if (steps[p->step].replaces && p->place.before != ITEM_NOTHING &&
                tree_remove(&l->tree, path, err) < 0)
                return -1;
        if (steps[p->step].make && steps[p->step].make(l, err) < 0)
                return -1;
        if (p->step != LAYER_FILE && l->entry.type == ENTRY_FILE)
                return take_data(l, -EBADF, err);
        return 0;
}

/* Its content is needed for the skeleton, but not there any more. */
static int note_replaced(struct layering *l, const struct item *i, struct error *err)
{
        if (i->number == 0)
                return 0;
        if (!l->replaced)
                l->replaced = calloc(l->request->max_entries / 8 + 1, 1);
        if (!l->replaced)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        l->replaced[i->number / 8] |= (unsigned char)(1U << i->number % 8);
        return 0;
}

static bool is_replaced(const struct layering *l)
{
        return l->replaced && l->replaced[l->headers / 8] & 1U << l->headers % 8;
}

/* Tell the skeleton where the current entry's content will be found. Who verifies the layer may
 * have no right to read a file that its owner may not read. */
static int note_content(struct layering *l, struct error *err)
{
        struct item *item = l->plan.place.item;
        bool in_tree = l->plan.step == LAYER_FILE && !is_replaced(l) && l->at.mode & S_IRUSR &&
                       source_is_whole(&l->source);
        int r = in_tree ? skeleton_file(l->skeleton, l->plan.path.text, source_offset(&l->source),
                                  l->entry.size, err)
                        : 0;

        if (steps[l->plan.step].replaces)
                item->number = r > 0 ? l->headers : 0;
        return r < 0 ? -1 : 0;
}

static int judge_next(struct layering *l, struct error *err)
{
        if (++l->headers > l->request->max_entries)
                return error_set(err, CODE_IMAGE_TOO_LARGE, "more than %llu entries",
                        (unsigned long long)l->request->max_entries);
        attributes_read(l->source.entry, &l->at);
        return layer_entry_judge(&l->entry, &l->inventory, &l->plan, err);
}

static int go_through(struct layering *l, struct error *err)
{
        bool renamed;
        int r;

        while ((r = source_next(&l->source, &l->entry, &renamed, err)) > 0) {
                if (judge_next(l, err) < 0 ||
                        (steps[l->plan.step].replaces &&
                                note_replaced(l, l->plan.place.item, err) < 0) ||
                        note_content(l, err) < 0 || carry_out(l, err) < 0)
                        return -1;
        }
        return r;
}

/* --- the end -------------------------------------------------------------------------------- */

static int settle_directory(
        struct layering *l, const struct item *i, const char *path, struct error *err)
{
        if (i->opaque || i->hidden) {
                if (++l->opaque > MOST_OPAQUE)
                        return error_set(err, CODE_IMAGE_TOO_LARGE,
                                "it replaces more than %d directories", MOST_OPAQUE);
                if (report_opaque(l->report, path, err) < 0)
                        return -1;
        }
        if (!i->told)
                return 0;
        if ((i->at.mode != i->made_mode && tree_set_mode(&l->tree, path, i->at.mode, err) < 0) ||
                tree_set_time(&l->tree, path, &i->at.mtime, err) < 0)
                return -1;
        return keep_owner(l, path, &i->at, err);
}

static int settle_root(struct layering *l, struct error *err)
{
        const struct item *i = l->inventory.root;

        if (i->opaque && report_opaque(l->report, "", err) < 0)
                return -1;
        if (!i->told)
                return 0;
        /* Whose layer it is has to get in, and is not who unpacks it. */
        if (fchmod(l->tree.root, i->at.mode | FOR_ALL) < 0 ||
                futimens(l->tree.root, (const struct timespec[2]){i->at.mtime, i->at.mtime}) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "the layer's root");
        return keep_owner(l, ".", &i->at, err);
}

/* From the newest name to the oldest: what a directory holds comes before itself. */
static int settle(struct layering *l, struct error *err)
{
        struct path path;

        for (const struct item *i = l->inventory.newest; i; i = i->older) {
                int r = 0;

                if (i->kind != ITEM_DIRECTORY && i->kind != ITEM_NOTHING)
                        continue;
                inventory_path(i, &path);
                if (i->kind == ITEM_DIRECTORY)
                        r = settle_directory(l, i, path.text, err);
                else if (i->hidden)
                        r = tree_make_whiteout(&l->tree, path.text, err);
                if (r < 0)
                        return -1;
        }
        return settle_root(l, err);
}

static int warn(struct layering *l, uint64_t count, const char *what, struct error *err)
{
        char message[128];

        if (count == 0)
                return 0;
        snprintf(message, sizeof message, "%llu %s", (unsigned long long)count, what);
        return report_warning(l->report, "", message, err);
}

static int warn_all(struct layering *l, struct error *err)
{
        if (warn(l, l->dropped, "devices or sockets were left out", err) < 0 ||
                warn(l, l->lost,
                        "attributes of files were left out: the file system does not "
                        "take them",
                        err) < 0 ||
                warn(l, l->unowned, "files belong to root instead: their owners have no ids here",
                        err) < 0)
                return -1;
        if (source_left_some(&l->source))
                return report_warning(l->report, "", "what stood behind its end was left out", err);
        return 0;
}

/* --- the blob ------------------------------------------------------------------------------- */

/* What the modules for archives say, about a layer. */
static enum code code_for_image(enum code code)
{
        switch (code) {
        case CODE_ARCHIVE_TRUNCATED:
        case CODE_ARCHIVE_DAMAGED:
        case CODE_ARCHIVE_EMPTY:
                return CODE_IMAGE_DAMAGED;
        case CODE_ARCHIVE_TOO_LARGE:
        case CODE_ARCHIVE_ENTRIES:
        case CODE_ARCHIVE_WINDOW:
                return CODE_IMAGE_TOO_LARGE;
        default:
                return code_info(code)->class == CLASS_SUBMISSION ? CODE_IMAGE_LAYER_INVALID : code;
        }
}

/* Only at the end it is known which files were replaced in the same layer. */
static int write_skeleton_again(struct layering *l, const struct blob *b, struct error *err)
{
        bool renamed;
        int r;

        source_close(&l->source);
        skeleton_close(l->skeleton);
        inventory_free(&l->inventory);
        l->headers = 0;
        if (skeleton_open(l->skeleton, l->report, err) < 0 ||
                inventory_init(&l->inventory, l->request->max_entries, err) < 0 ||
                source_open_layer(&l->source, b, l->skeleton, err) < 0)
                return -1;
        while ((r = source_next(&l->source, &l->entry, &renamed, err)) > 0)
                if (judge_next(l, err) < 0 || note_content(l, err) < 0)
                        return -1;
        return r < 0 ? -1 : skeleton_finish(l->skeleton, err);
}

static int unpack_blob(
        struct layering *l, const struct blob *b, struct layer_outcome *ret, struct error *err)
{
        if (skeleton_open(l->skeleton, l->report, err) < 0 ||
                source_open_layer(&l->source, b, l->skeleton, err) < 0 || go_through(l, err) < 0 ||
                skeleton_finish(l->skeleton, err) < 0 || settle(l, err) < 0 || warn_all(l, err) < 0)
                return -1;
        decompress_digests(l->source.bytes, ret->digest, ret->diff_id);
        ret->entries = l->inventory.count;
        ret->bytes = l->bytes;
        return l->replaced ? write_skeleton_again(l, b, err) : 0;
}

/* The file that the blob is in: the input, or one in it. A pipe there must not keep us waiting. */
static int open_file(int input, const char *member, int *ret_member, struct error *err)
{
        struct stat st;
        int fd = input;

        if (*member)
                fd = *ret_member =
                        beneath_open(input, member, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_errno(
                        err, CODE_IMAGE_DAMAGED, errno, "%.300s: cannot be read", member);
        if (!S_ISREG(st.st_mode))
                return error_set(err, CODE_IMAGE_DAMAGED, "%.300s: is not a regular file", member);
        return fd;
}

int layer_unpack(int input, int root, const struct layer_request *request, struct report *report,
        struct layer_outcome *ret, struct error *err)
{
        static struct skeleton skeleton;
        struct layering l = {.request = request,
                .report = report,
                .skeleton = &skeleton,
                .tree = TREE_INIT(root)};
        _cleanup_fd_ int member = -EBADF;
        struct blob blob = {.offset = request->offset, .length = request->length};
        int r = inventory_init(&l.inventory, request->max_entries, err);

        if (r == 0)
                r = blob.fd = open_file(input, request->member, &member, err);
        if (r >= 0)
                r = unpack_blob(&l, &blob, ret, err);
        if (r < 0)
                err->code = code_for_image(err->code);
        source_close(&l.source);
        skeleton_close(&skeleton);
        free(l.replaced);
        tree_close(&l.tree);
        inventory_free(&l.inventory);
        return r < 0 ? -1 : 0;
}
