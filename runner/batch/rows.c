/* The submissions of a batch; see rows.h. Run with the caller's rights: names are read, no content.
 */
#include "batch/rows.h"

#include "fd.h"
#include "input.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ROWS = 1000000 };

/* What RESULTS/NAME.json.new adds to a name. */
static const char longest_ending[] = ".json.new";

/* An archive's name without what says how it is packed. */
static size_t stem_length(const char *name)
{
        static const char *const endings[] = {".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2",
                ".tar.xz", ".txz", ".tar.zst", ".tzst", ".zip", ".json"};
        const size_t len = strlen(name);

        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
                const size_t n = strlen(endings[i]);

                if (len > n && strcasecmp(name + len - n, endings[i]) == 0)
                        return len - n;
        }
        return len;
}

static int add(struct batch_rows *b, const char *entry, const char *base, bool is_folder,
        int folder, struct error *err)
{
        struct batch_row *more;

        if (b->count == MOST_ROWS)
                return error_set(err, CODE_USAGE, "more than %d submissions", MOST_ROWS);
        more = realloc(b->all, (b->count + 1) * sizeof *more);
        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        b->all = more;
        more += b->count;
        *more = (struct batch_row){
                .name = strndup(base, is_folder ? strlen(base) : stem_length(base)),
                .entry = strdup(entry),
                .folder = folder,
        };
        b->count++;
        if (!more->name || !more->entry)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (strlen(more->name) + strlen(longest_ending) > NAME_MAX)
                return error_set(err, CODE_USAGE, "%s: too long a name for its result", entry);
        return 0;
}

static int compare(const void *left, const void *right)
{
        const struct batch_row *a = left, *b = right;

        return strcmp(a->entry, b->entry);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int add_folder(
        struct batch_rows *b, int folder, const struct stat *results, struct error *err)
{
        const unsigned first = b->count;
        int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
        DIR *dir = copy < 0 ? NULL : fdopendir(copy);

        if (!dir) {
                fd_close(copy);
                return error_errno(err, CODE_USAGE, errno, "cannot be listed");
        }
        errno = 0;
        for (struct dirent *e; r == 0 && (e = readdir(dir)); errno = 0) {
                struct stat st;

                if (e->d_name[0] == '.' || fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (!is_same(&st, results))
                        r = add(b, e->d_name, e->d_name, S_ISDIR(st.st_mode), folder, err);
        }
        if (r == 0 && errno != 0)
                r = error_errno(err, CODE_INFRA_IO, errno, "cannot be listed");
        closedir(dir);
        if (b->count > first)
                qsort(b->all + first, b->count - first, sizeof *b->all, compare);
        return r;
}

static int add_path(
        struct batch_rows *b, const char *path, const struct stat *results, struct error *err)
{
        const char *slash = strrchr(path, '/');
        struct stat st;
        int folder, *more;

        if (stat(path, &st) < 0)
                return error_errno(err, CODE_SUBMISSION_MISSING, errno, "%s", path);
        if (!S_ISDIR(st.st_mode))
                return add(b, path, slash ? slash + 1 : path, false, -EBADF, err);
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0)
                return error_errno(err, CODE_USAGE, errno, "%s", path);
        more = realloc(b->folders, (b->folder_count + 1) * sizeof *more);
        if (!more) {
                fd_close(folder);
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        b->folders = more;
        more[b->folder_count++] = folder;
        return add_folder(b, folder, results, err) < 0 ? error_add(err, "%s", path) : 0;
}

int batch_named_compare(const void *left, const void *right)
{
        const struct batch_named *a = left, *b = right;

        return strcmp(a->name, b->name);
}

struct batch_named *batch_rows_by_name(const struct batch_rows *b, struct error *err)
{
        struct batch_named *order = calloc(b->count + 1, sizeof *order);

        if (!order) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return NULL;
        }
        for (unsigned i = 0; i < b->count; i++)
                order[i] = (struct batch_named){b->all[i].name, &b->all[i]};
        qsort(order, b->count, sizeof *order, batch_named_compare);
        return order;
}

static int check_unique(const struct batch_rows *b, struct error *err)
{
        struct batch_named *order = batch_rows_by_name(b, err);
        int r = 0;

        if (!order)
                return -1;
        for (unsigned i = 1; r == 0 && i < b->count; i++)
                if (strcmp(order[i - 1].name, order[i].name) == 0)
                        r = error_set(err, CODE_USAGE,
                                "%s and %s: both would have the result %s.json; rename one",
                                order[i - 1].row->entry, order[i].row->entry, order[i].name);
        free(order);
        return r;
}

int batch_rows_find(
        struct batch_rows *b, char *const *paths, unsigned count, int results, struct error *err)
{
        struct stat st;

        if (fstat(results, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "the directory of results");
        for (unsigned i = 0; i < count; i++)
                if (add_path(b, paths[i], &st, err) < 0)
                        return -1;
        if (b->count == 0)
                return error_set(err, CODE_USAGE, "%s: holds no submission", paths[0]);
        return check_unique(b, err);
}

int batch_row_open(struct batch_row *row, struct error *err)
{
        _cleanup_fd_ int fd =
                row->folder < 0
                        ? input_open(row->entry)
                        : openat(row->folder, row->entry,
                                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        struct stat st;

        if (fd < 0 && errno == ELOOP)
                return error_set(err, CODE_SUBMISSION_MISSING,
                        "%s: is a link; name what it points at on the command line", row->entry);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_errno(err, CODE_SUBMISSION_MISSING, errno, "%s", row->entry);
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
                return error_set(err, CODE_SUBMISSION_MISSING, "%s: neither a file nor a directory",
                        row->entry);
        row->record.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        row->record.changed =
                (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
        return take_fd(&fd);
}

void batch_record_free(struct batch_record *r)
{
        char *const texts[] = {
                r->sha256, r->outcome, r->score, r->test_score, r->llm_score, r->reason};

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
        *r = (struct batch_record){0};
}

void batch_rows_free(struct batch_rows *b)
{
        for (unsigned i = 0; i < b->count; i++) {
                batch_record_free(&b->all[i].record);
                free(b->all[i].name);
                free(b->all[i].entry);
        }
        for (unsigned i = 0; i < b->folder_count; i++)
                fd_close(b->folders[i]);
        free(b->all);
        free(b->folders);
        *b = (struct batch_rows){0};
}
