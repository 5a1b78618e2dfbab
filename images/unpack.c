/* From an archive to a tree: judge each entry (entry.h), carry it out (tree.h), count.
 *
 * A tar archive is a stream and unpacked as it is read; a bad entry far inside leaves a partial
 * tree, which the runner removes. A zip archive has a directory: all its entries are judged
 * before the first is written. */
#include "images/unpack.h"

#include "beneath.h"
#include "fd.h"
#include "glob.h"
#include "images/source.h"
#include "images/tree.h"
#include "quantity.h"

#include <sys/stat.h>
#include <unistd.h>

struct unpacking {
        const struct request *request;
        struct report *report;
        struct tree tree;
        struct catalog catalog;
        struct buffer top_links; /* paths, each with its NUL, of links that reach_top */
        uint64_t headers;        /* entries read, also those left out */
        uint64_t bytes;          /* written, or read and left out */
        bool judged;             /* a zip archive, in its second pass */
};

/* A file may grow to `end` bytes. */
static int check_room(const struct unpacking *u, uint64_t end, const char *path, struct error *err)
{
        char most[32];

        if (end <= u->request->max_unpacked - u->bytes)
                return 0;
        quantity_format_bytes(most, sizeof most, u->request->max_unpacked);
        return error_set(err, CODE_ARCHIVE_TOO_LARGE,
                "%.300s: with it the submission has more than %s", path, most);
}

/* Carry the current entry's data to `fd`, or nowhere (-EBADF): what is left out counts too, else
 * it would be the place for a bomb. Holes count as bytes of the file. */
static int take_data(struct unpacking *u, struct source *s, const struct entry *e, int fd,
        const char *path, struct error *err)
{
        uint64_t end = 0, offset;
        const void *data;
        size_t len;
        int r;

        while ((r = source_data(s, &data, &len, &offset, err)) > 0) {
                if (offset < end)
                        return error_set(err, CODE_ARCHIVE_DAMAGED,
                                "%.300s: its pieces are not in order", path);
                end = offset + len;
                if (check_room(u, end, path, err) < 0)
                        return -1;
                if (fd >= 0 && tree_write(fd, data, len, offset, path, err) < 0)
                        return -1;
        }
        if (r < 0)
                return -1;
        if (e->size > end) { /* a hole at the end; truncating up is not among our rights */
                end = e->size;
                if (check_room(u, end, path, err) < 0)
                        return -1;
                if (fd >= 0 && tree_write(fd, "", 1, end - 1, path, err) < 0)
                        return -1;
        }
        u->bytes += end;
        return 0;
}

static mode_t file_mode(bool executable)
{
        return executable ? 0755 : 0644;
}

static int make_file(struct unpacking *u, struct source *s, const struct entry *e, const char *path,
        struct error *err)
{
        _cleanup_fd_ int fd = tree_make_file(&u->tree, path, file_mode(e->executable), err);

        return fd >= 0 ? take_data(u, s, e, fd, path, err) : -1;
}

static int make_copy(struct unpacking *u, const char *source, const char *path, struct error *err)
{
        _cleanup_fd_ int from = tree_open_file(&u->tree, source, err), to = -EBADF;
        static char piece[64 << 10];
        uint64_t offset = 0;
        struct stat st;
        ssize_t n;

        if (from < 0)
                return -1;
        if (fstat(from, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s", source);
        if (check_room(u, (uint64_t)st.st_size, path, err) < 0)
                return -1;
        to = tree_make_file(&u->tree, path, file_mode(st.st_mode & 0100), err);
        if (to < 0)
                return -1;
        while ((n = read(from, piece, sizeof piece)) > 0) {
                if (tree_write(to, piece, (size_t)n, offset, path, err) < 0)
                        return -1;
                offset += (uint64_t)n;
        }
        if (n < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%.300s", source);
        u->bytes += offset;
        return 0;
}

static int carry_out(struct unpacking *u, struct source *s, const struct entry *e,
        const struct plan *p, struct error *err)
{
        const char *path = p->path.text;

        if (p->step == PLAN_SKIP)
                return e->type == ENTRY_FILE ? take_data(u, s, e, -EBADF, e->path, err) : 0;
        if (tree_make_folders(&u->tree, path, p->known, p->step == PLAN_DIRECTORY, err) < 0)
                return -1;
        switch (p->step) {
        case PLAN_FILE:
                return make_file(u, s, e, path, err);
        case PLAN_COPY:
                return make_copy(u, p->source.text, path, err);
        case PLAN_SYMLINK:
                if (p->reaches_top)
                        buffer_add(&u->top_links, path, strlen(path) + 1);
                return tree_make_symlink(&u->tree, path, e->target, err);
        default:
                return 0;
        }
}

static int judge(
        struct unpacking *u, const struct entry *e, bool renamed, struct plan *p, struct error *err)
{
        const unsigned rules = (u->request->links_drop ? RULE_LINKS_DROP : 0) |
                               (u->request->built ? RULE_JUNK_STAYS : 0);

        if (++u->headers > u->request->max_entries)
                return error_set(err, CODE_ARCHIVE_ENTRIES, "more than %llu entries",
                        (unsigned long long)u->request->max_entries);
        if (entry_judge(e, rules, &u->catalog, p, err) < 0)
                return -1;
        if (u->judged)
                return 0; /* the first pass told */
        if (renamed && report_warning(u->report, p->path.text,
                               "its name is not UTF-8 and was read as code page 437", err) < 0)
                return -1;
        return p->warning ? report_warning(u->report, p->path.text, p->warning, err) : 0;
}

/* Go through the archive once. 1: it was a zip archive's first pass, another one must follow. */
static int pass(struct unpacking *u, int fd, struct outcome *ret, struct error *err)
{
        _cleanup_source_ struct source s = {0};
        bool renamed, only_judge = false;
        struct entry e;
        struct plan p = {.step = PLAN_SKIP};
        int r;

        if (source_open(&s, fd, u->request->max_entries, err) < 0)
                return -1;
        only_judge = s.kind == SOURCE_ZIP && !u->judged;
        while ((r = source_next(&s, &e, &renamed, err)) > 0) {
                if (judge(u, &e, renamed, &p, err) < 0)
                        return -1;
                if (!only_judge && carry_out(u, &s, &e, &p, err) < 0)
                        return -1;
        }
        if (r == 0 && source_left_some(&s))
                r = report_warning(u->report, "", "what stood behind its end was left out", err);
        if (r == 0)
                source_digest(&s, ret->digest);
        return r < 0 ? -1 : only_judge;
}

static int run_passes(struct unpacking *u, int fd, struct outcome *ret, struct error *err)
{
        int r = pass(u, fd, ret, err);

        if (r <= 0)
                return r;
        u->judged = true;
        u->headers = 0;
        catalog_free(&u->catalog);
        return pass(u, fd, ret, err);
}

/* Links that were inside the archive's tree but climb out of the folder that is now the root. */
static int settle_links(struct unpacking *u, struct error *err)
{
        const char *path = buffer_text(&u->top_links);
        const char *end = path + u->top_links.len;

        for (; path < end; path += strlen(path) + 1) {
                if (!u->request->links_drop)
                        return error_set(err, CODE_ARCHIVE_LINK_ESCAPE,
                                "%.300s: a symbolic link out of the submission's folder", path);
                if (tree_remove(&u->tree, path, err) < 0 ||
                        report_warning(u->report, path,
                                "left out: a symbolic link out of the submission's folder",
                                err) < 0)
                        return -1;
        }
        return 0;
}

static int settle_root(struct unpacking *u, struct outcome *ret, struct error *err)
{
        const char *root = u->request->strip_common_root ? catalog_common_root(&u->catalog) : NULL;

        if (!root)
                return 0;
        snprintf(ret->root, sizeof ret->root, "%s", root);
        return settle_links(u, err);
}

static int look_at_submission_md(
        struct unpacking *u, int top, struct outcome *ret, struct error *err)
{
        const char *name = catalog_find_file(&u->catalog, ret->root, "SUBMISSION.md");

        if (!name)
                return report_warning(u->report, "SUBMISSION.md",
                        "missing: no section is addressed; a judge would see a placeholder", err);
        ret->has_submission_md = true;
        return inspect_submission_md(top, name, u->report, &ret->sections, err);
}

struct search {
        const struct unpacking *u;
        const char *root; /* of the submission, in the tree */
};

static void count_file(void *to, const char *path)
{
        const struct search *s = to;
        size_t len = strlen(s->root);

        if (len > 0)
                path += len + 1; /* all files are in it */
        for (uint32_t i = 0; i < s->u->request->pattern_count; i++)
                s->u->request->patterns[i].found +=
                        glob_match(s->u->request->patterns[i].glob, path);
}

static int look_for_patterns(struct unpacking *u, const struct outcome *ret, struct error *err)
{
        struct search search = {u, ret->root};

        if (u->request->pattern_count > 0)
                catalog_each_file(&u->catalog, count_file, &search);
        for (uint32_t i = 0; i < u->request->pattern_count; i++) {
                const struct pattern *p = &u->request->patterns[i];

                if (p->found < p->min_files)
                        return error_set(err, CODE_ARCHIVE_REQUIRED,
                                "%.300s: matches %llu files, the task asks for %llu", p->glob,
                                (unsigned long long)p->found, (unsigned long long)p->min_files);
        }
        return 0;
}

static int look_at_files(struct unpacking *u, struct outcome *ret, struct error *err)
{
        _cleanup_fd_ int top =
                beneath_open(u->tree.root, *ret->root ? ret->root : ".", O_RDONLY | O_DIRECTORY, 0);

        if (top < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot open the unpacked tree");
        /* Warnings first: who mends one thing wants to know of the others. */
        if (look_at_submission_md(u, top, ret, err) < 0)
                return -1;
        for (uint32_t i = 0; i < u->request->required_count; i++)
                if (inspect_required(top, &u->request->required[i], err) < 0)
                        return -1;
        return look_for_patterns(u, ret, err);
}

static int look_at_result(struct unpacking *u, struct outcome *ret, struct error *err)
{
        if (u->catalog.files == 0)
                return error_set(err, CODE_ARCHIVE_EMPTY, "the archive holds no file");
        if (!buffer_ok(&u->top_links))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return settle_root(u, ret, err) < 0 ? -1 : look_at_files(u, ret, err);
}

int unpack(int fd, int root, const struct request *request, struct report *report,
        struct outcome *ret, struct error *err)
{
        struct unpacking u = {
                .request = request,
                .report = report,
                .tree = TREE_INIT(root),
                .top_links = BUFFER_INIT,
        };
        int r;

        catalog_init(&u.catalog, request->max_entries);
        r = run_passes(&u, fd, ret, err);
        ret->entries = u.catalog.count;
        ret->bytes = u.bytes;
        if (r == 0 && !request->built)
                r = look_at_result(&u, ret, err);
        if (r < 0 && request->built && code_info(err->code)->class == CLASS_SUBMISSION)
                err->code = CODE_BUILD_OUTPUT;
        tree_close(&u.tree);
        catalog_free(&u.catalog);
        buffer_free(&u.top_links);
        return r;
}
