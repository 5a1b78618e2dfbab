/* Verifying layers; see verify.h. An entry is compared when it comes; what came last for a name
 * counts. Directories are complete only at the end. */
#include "images/verify.h"

#include "beneath.h"
#include "fd.h"
#include "images/layer_entry.h"
#include "images/listing.h"
#include "images/source.h"
#include "images/tree.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
        FOR_ALL = 0755, /* as layer.c makes a layer's root, and folders that are not told */
        PIECE = 64 << 10,
};

struct verifying {
        int tree;
        struct tree scratch;
        struct rebuild *rebuilt;
        struct report *report;
        struct source source;
        struct inventory inventory;
        struct entry entry;
        struct layer_plan plan;
        struct attributes at; /* of the entry */
        uint64_t headers, max_headers;
};

static const char trial[] = "trial";

/* --- attributes ----------------------------------------------------------------------------- */

/* What this file system and these ids make of attributes: file times have their bounds, and not
 * every owner has an id here. */
static int try_attributes(
        struct verifying *v, const struct attributes *at, struct stat *ret, struct error *err)
{
        _cleanup_fd_ int fd = tree_make_file(&v->scratch, trial, 0600, err);

        if (fd < 0 || tree_set_owner(&v->scratch, trial, at->uid, at->gid, err) < 0 ||
                tree_set_time(&v->scratch, trial, &at->mtime, err) < 0)
                return -1;
        if (fstat(fd, ret) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "a trial");
        return tree_remove(&v->scratch, trial, err);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
        return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* How it differs from what the layer says, in `ret`, or NULL. */
static int compare_attributes(struct verifying *v, const struct stat *st,
        const struct attributes *at, const char **ret, struct error *err)
{
        struct stat would;

        *ret = NULL;
        if (!S_ISLNK(st->st_mode) && (st->st_mode & 07777) != at->mode)
                *ret = "has another mode";
        if (*ret || (st->st_uid == at->uid && st->st_gid == at->gid &&
                            same_time(&st->st_mtim, &at->mtime)))
                return 0;
        if (try_attributes(v, at, &would, err) < 0)
                return -1;
        if (st->st_uid != would.st_uid || st->st_gid != would.st_gid)
                *ret = "has another owner";
        else if (!same_time(&st->st_mtim, &would.st_mtim))
                *ret = "has another time";
        return 0;
}

/* --- what an entry made --------------------------------------------------------------------- */

/* An error is that of the machine; what is not there has an empty mode. */
static int look(
        struct verifying *v, const char *path, struct stat *ret, int *ret_fd, struct error *err)
{
        *ret = (struct stat){0};
        *ret_fd = beneath_open(v->tree, *path ? path : ".", O_PATH | O_NOFOLLOW, 0);
        if (*ret_fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
                return 0;
        if (*ret_fd >= 0 && fstat(*ret_fd, ret) == 0)
                return 0;
        return error_errno(err, CODE_INFRA_IO, errno, "%.300s", path);
}

/* The bytes of the file from `at` to `end` are `data`, or zeros (NULL). */
static bool same_bytes(int fd, const unsigned char *data, uint64_t at, uint64_t end)
{
        static const unsigned char zeros[PIECE];
        static unsigned char got[PIECE];

        while (at < end) {
                size_t most = end - at < sizeof got ? (size_t)(end - at) : sizeof got;
                ssize_t n = pread(fd, got, most, (off_t)at);

                if (n <= 0 || memcmp(got, data ? data : zeros, (size_t)n) != 0)
                        return false;
                at += (uint64_t)n;
                data = data ? data + n : NULL;
        }
        return true;
}

/* Read all of the current entry's content and compare it with the file, unless there is none. */
static int compare_content(struct verifying *v, int fd, bool *ret_same, struct error *err)
{
        uint64_t end = 0, offset;
        const void *data;
        size_t len;
        int r;

        *ret_same = true;
        while ((r = source_data(&v->source, &data, &len, &offset, err)) > 0) {
                *ret_same = *ret_same && fd >= 0 && same_bytes(fd, NULL, end, offset) &&
                            same_bytes(fd, data, offset, offset + len);
                end = offset + len;
        }
        *ret_same = *ret_same && fd >= 0 && same_bytes(fd, NULL, end, v->entry.size);
        return r;
}

static int compare_file(
        struct verifying *v, const struct stat *st, const char **ret, struct error *err)
{
        _cleanup_fd_ int fd = -EBADF;
        bool same;

        if (!S_ISREG(st->st_mode)) {
                *ret = "is no regular file";
                return 0;
        }
        if ((uint64_t)st->st_size != v->entry.size) {
                *ret = "has another size";
                return 0;
        }
        fd = beneath_open(v->tree, v->plan.path.text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        if (fd < 0) /* its owner may not, and we have no more rights */
                return (v->at.mode & S_IRUSR) != 0
                               ? error_errno(err, CODE_INFRA_IO, errno, "%.300s", v->plan.path.text)
                               : 0;
        if (compare_content(v, fd, &same, err) < 0)
                return -1;
        *ret = same ? NULL : "has another content";
        return 0;
}

static const char *compare_symlink(const struct verifying *v, int fd, const struct stat *st)
{
        char target[UNPACK_MAX_PATH + 1];
        ssize_t len;

        if (!S_ISLNK(st->st_mode))
                return "is no symbolic link";
        len = readlinkat(fd, "", target, sizeof target);
        return len >= 0 && (size_t)len == strlen(v->entry.target) &&
                               memcmp(target, v->entry.target, (size_t)len) == 0
                       ? NULL
                       : "leads elsewhere";
}

/* What the current entry made, against what is there. */
static int compare_entry(struct verifying *v, const char **ret, struct error *err)
{
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;

        *ret = NULL;
        if (look(v, v->plan.path.text, &st, &fd, err) < 0)
                return -1;
        if (fd < 0)
                *ret = "is missing";
        else if (v->plan.step == LAYER_FILE && compare_file(v, &st, ret, err) < 0)
                return -1;
        else if (v->plan.step == LAYER_SYMLINK)
                *ret = compare_symlink(v, fd, &st);
        else if (v->plan.step == LAYER_PIPE && !S_ISFIFO(st.st_mode))
                *ret = "is no pipe";
        return *ret ? 0 : compare_attributes(v, &st, &v->at, ret, err);
}

static int note_entry(struct verifying *v, struct error *err)
{
        struct item *item = v->plan.place.item;

        switch (v->plan.step) {
        case LAYER_DIRECTORY:
                item->told = true;
                item->at = v->at;
                return 0;
        case LAYER_FILE:
        case LAYER_SYMLINK:
        case LAYER_PIPE:
                item->number = v->headers;
                item->source = NULL;
                return compare_entry(v, &item->differs, err);
        case LAYER_HARDLINK:
                item->source = inventory_find(&v->inventory, v->plan.source.text);
                item->number = item->source->number;
                item->differs = NULL;
                return 0;
        default:
                return 0;
        }
}

static int go_through(struct verifying *v, struct error *err)
{
        bool renamed;
        int r;

        while ((r = source_next(&v->source, &v->entry, &renamed, err)) > 0) {
                if (++v->headers > v->max_headers)
                        return error_set(err, CODE_IMAGE_TOO_LARGE, "more than %llu entries",
                                (unsigned long long)v->max_headers);
                attributes_read(v->source.entry, &v->at);
                if (layer_entry_judge(&v->entry, &v->inventory, &v->plan, err) < 0 ||
                        note_entry(v, err) < 0)
                        return -1;
        }
        return r;
}

/* --- the end -------------------------------------------------------------------------------- */

static int differs(const char *path, const char *how, struct error *err)
{
        return error_set(err, CODE_IMAGE_CORRUPT, "%.300s: %s", *path ? path : "its root", how);
}

/* Nothing is in it that the layer has not. */
static int check_names(
        struct verifying *v, const struct item *folder, const char *path, struct error *err)
{
        _cleanup_fd_ int dir = beneath_open(v->tree, *path ? path : ".", O_RDONLY | O_DIRECTORY, 0);
        static struct listing l;
        const struct dirent64 *e;

        if (dir < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s", path);
        listing_begin(&l, dir);
        while ((e = listing_next(&l))) {
                const struct item *i = inventory_find_in(&v->inventory, folder, e->d_name);

                if (!i || (i->kind == ITEM_NOTHING && !i->hidden))
                        return error_set(err, CODE_IMAGE_CORRUPT,
                                "%.200s%s%.200s: is not in the layer", path, *path ? "/" : "",
                                e->d_name);
        }
        return l.failed ? error_errno(err, CODE_INFRA_IO, errno, "%.300s", path) : 0;
}

static int check_directory(
        struct verifying *v, const struct item *i, const char *path, struct error *err)
{
        _cleanup_fd_ int fd = -EBADF;
        struct attributes at = i->at;
        const char *how = NULL;
        struct stat st;

        if (look(v, path, &st, &fd, err) < 0)
                return -1;
        if (!S_ISDIR(st.st_mode))
                return differs(path, fd < 0 ? "is missing" : "is no directory", err);
        if (check_names(v, i, path, err) < 0)
                return -1;
        if (!i->told)
                how = (st.st_mode & 07777) == FOR_ALL ? NULL : "has another mode";
        else {
                at.mode |= i->parent ? 0 : FOR_ALL;
                if (compare_attributes(v, &st, &at, &how, err) < 0)
                        return -1;
        }
        if (how)
                return differs(path, how, err);
        return i->opaque || i->hidden ? report_opaque(v->report, path, err) : 0;
}

static int check_whiteout(struct verifying *v, const char *path, struct error *err)
{
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;

        if (look(v, path, &st, &fd, err) < 0)
                return -1;
        return S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0)
                       ? 0
                       : differs(path, fd < 0 ? "is missing" : "is no whiteout", err);
}

/* What it is a second name of may have been replaced since. */
static int check_link(
        struct verifying *v, const struct item *i, const char *path, struct error *err)
{
        _cleanup_fd_ int one = -EBADF, other = -EBADF;
        struct stat here, there;
        struct path source;

        inventory_path(i->source, &source);
        if (look(v, path, &here, &one, err) < 0 || look(v, source.text, &there, &other, err) < 0)
                return -1;
        if (one < 0)
                return differs(path, "is missing", err);
        return i->source->number != i->number ||
                               (here.st_ino == there.st_ino && here.st_dev == there.st_dev)
                       ? 0
                       : differs(path, "is no hard link to what it was", err);
}

static int check_item(struct verifying *v, const struct item *i, struct error *err)
{
        struct path path;

        inventory_path(i, &path);
        if (i->kind == ITEM_DIRECTORY)
                return check_directory(v, i, path.text, err);
        if (i->kind == ITEM_NOTHING)
                return i->hidden ? check_whiteout(v, path.text, err) : 0;
        if (i->differs)
                return differs(path.text, i->differs, err);
        return i->source ? check_link(v, i, path.text, err) : 0;
}

static int check_all(struct verifying *v, struct error *err)
{
        for (const struct item *i = v->inventory.newest; i; i = i->older)
                if (check_item(v, i, err) < 0)
                        return -1;
        return check_item(v, v->inventory.root, err);
}

/* --- all ------------------------------------------------------------------------------------ */

static int open_part(int store, const char *name, const char *part, int flags, struct error *err)
{
        char path[UNPACK_MAX_PATH + 1];
        int fd;

        snprintf(path, sizeof path, "%s/%s", name, part);
        fd = beneath_open(store, path, flags | O_NOFOLLOW, 0);
        if (fd < 0 && errno == ENOENT)
                return error_set(err, CODE_IMAGE_CORRUPT, "its %s is missing", part);
        return fd < 0 ? error_errno(err, CODE_INFRA_STATE, errno, "its %s", part) : fd;
}

static int open_rebuilt(struct rebuild *r, int store, const char *name, int tree, struct error *err)
{
        int skeleton = open_part(store, name, UNPACK_SKELETON_FILE, O_RDONLY | O_NONBLOCK, err);

        return skeleton < 0 ? -1 : rebuild_open(r, tree, skeleton, err);
}

/* Whatever the reader finds wrong in it, it was right when it was unpacked. */
static int corrupt(struct error *err)
{
        switch (code_info(err->code)->class) {
        case CLASS_SUBMISSION:
                err->code = CODE_IMAGE_CORRUPT;
                return error_add(err, "its tar");
        default:
                if (err->code == CODE_IMAGE_LAYER_INVALID || err->code == CODE_IMAGE_TOO_LARGE)
                        err->code = CODE_IMAGE_CORRUPT;
                return -1;
        }
}

static int verify(struct verifying *v, struct layer_outcome *ret, struct error *err)
{
        if (source_open_rebuilt(&v->source, v->rebuilt, err) < 0 || go_through(v, err) < 0 ||
                check_all(v, err) < 0)
                return corrupt(err);
        ret->entries = v->inventory.count;
        ret->bytes = v->rebuilt->bytes;
        rebuild_digest(v->rebuilt, ret->diff_id);
        return 0;
}

int layer_verify(int store, const char *name, int scratch, uint64_t max_entries,
        struct report *report, struct layer_outcome *ret, struct error *err)
{
        static struct rebuild rebuilt;
        _cleanup_fd_ int tree = open_part(store, name, "tree", O_RDONLY | O_DIRECTORY, err);
        struct verifying v = {.tree = tree,
                .scratch = TREE_INIT(scratch),
                .rebuilt = &rebuilt,
                .report = report,
                .max_headers = max_entries};
        int r;

        if (tree < 0 || open_rebuilt(&rebuilt, store, name, tree, err) < 0)
                return -1;
        r = inventory_init(&v.inventory, max_entries, err);
        if (r == 0)
                r = verify(&v, ret, err);
        source_close(&v.source);
        inventory_free(&v.inventory);
        rebuild_close(&rebuilt);
        return r;
}

int layer_write_tar(
        int store, const char *name, int out, struct layer_outcome *ret, struct error *err)
{
        static struct rebuild rebuilt;
        _cleanup_fd_ int tree = open_part(store, name, "tree", O_RDONLY | O_DIRECTORY, err);
        const unsigned char *piece;
        ssize_t n;

        if (tree < 0 || open_rebuilt(&rebuilt, store, name, tree, err) < 0)
                return -1;
        do {
                n = rebuild_next(&rebuilt, &piece, err);
                if (n > 0 && fd_write_all(out, piece, (size_t)n) < 0)
                        n = error_errno(err, CODE_INFRA_IO, errno, "a layer cannot be written");
        } while (n > 0);
        ret->bytes = rebuilt.bytes;
        rebuild_digest(&rebuilt, ret->diff_id);
        rebuild_close(&rebuilt);
        return n < 0 ? -1 : 0;
}
