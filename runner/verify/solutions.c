/* Solutions as submissions; see solutions.h. An archive, not the directory, is what is graded: so
 * expect.json stays out of it. */
#include "verify/solutions.h"

#include "beneath.h"
#include "fd.h"
#include "images/tar_write.h"
#include "names.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SOLUTIONS = 1000, MOST_DEPTH = 64, MOST_BYTES = 1 << 30 };

static const char expectation[] = "expect.json";

/* --- finding -------------------------------------------------------------------------------- */

int solutions_make_up(struct solutions *s, const char *name, struct error *err)
{
        struct solution *more = realloc(s->all, (s->count + 1) * sizeof *more);

        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        s->all = more;
        more[s->count] = (struct solution){.name = strdup(name), .made_up = true};
        if (!more[s->count].name)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        s->count++;
        return 0;
}

int solutions_find(struct solutions *s, const char *task, struct error *err)
{
        _cleanup_fd_ int directory = open(task, O_PATH | O_DIRECTORY | O_CLOEXEC);
        char **names;
        int r = 0;

        s->directory = directory < 0
                               ? -1
                               : beneath_open(directory, "solutions", O_RDONLY | O_DIRECTORY, 0);
        if (s->directory < 0)
                return error_errno(err, CODE_TASK_EXPECT, errno, "%s/solutions", task);
        names = names_in(s->directory, CODE_TASK_UNSAFE, err);
        if (!names)
                return error_add(err, "%s/solutions", task);
        for (char **name = names; r == 0 && *name; name++) {
                struct stat st;

                if (fstatat(s->directory, *name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                        !S_ISDIR(st.st_mode))
                        continue;
                r = s->count < MOST_SOLUTIONS
                            ? solutions_make_up(s, *name, err)
                            : error_set(err, CODE_TASK_EXPECT, "%s/solutions: more than %d", task,
                                      MOST_SOLUTIONS);
                if (r == 0)
                        s->all[s->count - 1].made_up = false;
        }
        names_free(names);
        if (r == 0 && s->count == 0)
                return error_set(err, CODE_TASK_EXPECT, "%s/solutions: holds no solution", task);
        return r;
}

/* --- packing -------------------------------------------------------------------------------- */

struct packing {
        struct tar_writer tar;
        uint64_t bytes;
        char path[PATH_MAX]; /* of the directory at hand, with a slash at its end, or empty */
};

static int pack_directory(struct packing *p, int directory, unsigned depth, struct error *err);

/* Its content, of which there must be as much as `st` says. */
static int pack_content(
        struct packing *p, int file, const struct stat *st, const char *path, struct error *err)
{
        uint64_t size = (uint64_t)st->st_size, left = size;
        char chunk[65536];

        p->bytes += size;
        if (p->bytes > MOST_BYTES)
                return error_set(err, CODE_TASK_UNSAFE, "more than %d bytes", MOST_BYTES);
        if (tar_write_file_of(&p->tar, path, size, st, err) < 0)
                return -1;
        while (left > 0) {
                ssize_t n = read(file, chunk, left < sizeof chunk ? left : sizeof chunk);

                if (n <= 0)
                        return error_errno(err, CODE_INFRA_IO, n < 0 ? errno : EIO, "%s", path);
                if (tar_write_bytes(&p->tar, chunk, (size_t)n, err) < 0)
                        return -1;
                left -= (uint64_t)n;
        }
        return tar_write_padding(&p->tar, size, err);
}

static int pack_file(struct packing *p, int directory, const char *name, const struct stat *st,
        struct error *err)
{
        _cleanup_fd_ int file = beneath_open(directory, name, O_RDONLY | O_NONBLOCK, 0);
        struct stat opened;

        if (file < 0 || fstat(file, &opened) < 0 || !S_ISREG(opened.st_mode))
                return error_errno(err, CODE_TASK_UNSAFE, errno, "%s", p->path);
        opened.st_mode = st->st_mode;
        opened.st_uid = opened.st_gid = 0;
        opened.st_mtim.tv_sec = 0;
        return pack_content(p, file, &opened, p->path, err);
}

static int pack_link(struct packing *p, int directory, const char *name, const struct stat *st,
        struct error *err)
{
        char target[PATH_MAX];
        ssize_t len = readlinkat(directory, name, target, sizeof target - 1);

        if (len <= 0)
                return error_errno(err, CODE_TASK_UNSAFE, errno, "%s", p->path);
        target[len] = '\0';
        return tar_write_link(&p->tar, p->path, target, st, err);
}

static int pack_folder(struct packing *p, int directory, const char *name, unsigned depth,
        const struct stat *st, struct error *err)
{
        _cleanup_fd_ int below = beneath_open(directory, name, O_RDONLY | O_DIRECTORY, 0);
        const size_t len = strlen(p->path);

        if (below < 0 || depth == MOST_DEPTH || len + 2 >= sizeof p->path)
                return error_errno(
                        err, CODE_TASK_UNSAFE, below < 0 ? errno : ENAMETOOLONG, "%s", p->path);
        snprintf(p->path + len, sizeof p->path - len, "/");
        if (tar_write_entry(&p->tar, p->path, st, err) < 0)
                return -1;
        return pack_directory(p, below, depth + 1, err);
}

static int pack_entry(
        struct packing *p, int directory, const char *name, unsigned depth, struct error *err)
{
        struct stat st;

        if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return error_errno(err, CODE_TASK_UNSAFE, errno, "%s", p->path);
        /* The same archive on every machine. */
        st.st_mode = (st.st_mode & S_IFMT) | (st.st_mode & 0111 ? 0755 : 0644);
        st.st_uid = st.st_gid = 0;
        st.st_mtim.tv_sec = 0;
        switch (st.st_mode & S_IFMT) {
        case S_IFREG:
                return pack_file(p, directory, name, &st, err);
        case S_IFLNK:
                return pack_link(p, directory, name, &st, err);
        case S_IFDIR:
                return pack_folder(p, directory, name, depth, &st, err);
        default:
                return error_set(err, CODE_TASK_UNSAFE, "%s: a device, pipe or socket", p->path);
        }
}

static int pack_directory(struct packing *p, int directory, unsigned depth, struct error *err)
{
        const size_t len = strlen(p->path);
        char **names = names_in(directory, CODE_TASK_UNSAFE, err);
        int r = names ? 0 : -1;

        for (char **name = names; r == 0 && *name; name++) {
                if (depth == 0 && strcmp(*name, expectation) == 0)
                        continue;
                if ((size_t)snprintf(p->path + len, sizeof p->path - len, "%s", *name) >=
                        sizeof p->path - len)
                        r = error_set(err, CODE_TASK_UNSAFE, "%s: too long a path", p->path);
                else
                        r = pack_entry(p, directory, *name, depth, err);
                p->path[len] = '\0';
        }
        names_free(names);
        return r;
}

static struct packing *begin_archive(struct error *err)
{
        struct packing *p = calloc(1, sizeof *p);

        if (!p) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return NULL;
        }
        p->tar.pending = (struct buffer)BUFFER_INIT;
        p->tar.fd = memfd_create("solution", MFD_CLOEXEC);
        if (p->tar.fd >= 0)
                return p;
        error_errno(err, CODE_INFRA_MEMORY, errno, "an archive");
        free(p);
        return NULL;
}

/* Its descriptor, or -1 when it could not be written (`r`). */
static int end_archive(struct packing *p, int r, struct error *err)
{
        int fd = p->tar.fd;

        if (r == 0)
                r = tar_write_end(&p->tar, err);
        buffer_free(&p->tar.pending);
        free(p);
        if (r == 0)
                return fd;
        fd_close(fd);
        return -1;
}

int solution_pack_empty(char *const *names, struct error *err)
{
        static const char *const usual[] = {"empty", NULL};
        const char *const *name = *names ? (const char *const *)names : usual;
        struct packing *p = begin_archive(err);
        int r = 0;

        if (!p)
                return -1;
        for (; r == 0 && *name; name++)
                r = tar_write_file(&p->tar, *name, 0, err);
        return end_archive(p, r, err);
}

static int pack(int directory, struct error *err)
{
        struct packing *p = begin_archive(err);

        return p ? end_archive(p, pack_directory(p, directory, 0, err), err) : -1;
}

int solution_open(const struct solutions *s, const struct solution *solution, int *ret_archive,
        int *ret_expect, struct error *err)
{
        _cleanup_fd_ int directory =
                beneath_open(s->directory, solution->name, O_RDONLY | O_DIRECTORY, 0);
        struct stat st;

        if (directory < 0)
                return error_errno(err, CODE_TASK_UNSAFE, errno, "solutions/%s", solution->name);
        *ret_expect = beneath_open(directory, expectation, O_RDONLY | O_NONBLOCK, 0);
        if (*ret_expect < 0)
                return error_errno(err, CODE_TASK_EXPECT, errno, "solutions/%s/%s", solution->name,
                        expectation);
        if (fstat(*ret_expect, &st) == 0 && S_ISREG(st.st_mode))
                *ret_archive = pack(directory, err);
        else
                error_set(err, CODE_TASK_EXPECT, "%s: not a regular file", expectation);
        if (*ret_archive >= 0)
                return 0;
        *ret_expect = fd_close(*ret_expect);
        return error_add(err, "solutions/%s", solution->name);
}

void solutions_free(struct solutions *s)
{
        for (unsigned i = 0; i < s->count; i++) {
                for (unsigned n = 0; n < SOLUTION_MAX_ROUNDS; n++)
                        aside_result_free(&s->all[i].results[n]);
                texts_free(s->all[i].differs);
                free(s->all[i].name);
        }
        free(s->all);
        fd_close(s->directory);
        *s = (struct solutions)SOLUTIONS_INIT;
}
