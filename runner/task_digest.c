/* Hashing a task; see task_digest.h. */
#include "task_digest.h"

#include "beneath.h"
#include "fd.h"
#include "images/folder.h"
#include "input.h"

#include <poll.h>

static void add_line(struct sha256_ctx *all, const char digest[DIGEST_SIZE], const char *name)
{
        char line[DIGEST_SIZE + 64];
        const int len = snprintf(line, sizeof line, "%s  %s\n", digest, name);

        sha256_update(all, (size_t)len, (const unsigned char *)line);
}

static int add_file(struct sha256_ctx *all, int directory, const char *name, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(directory, name, O_RDONLY | O_NONBLOCK, 0);
        char digest[DIGEST_SIZE];
        uint64_t bytes;

        if (fd < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "%s", name);
        if (input_digest(fd, &bytes, digest, err) < 0)
                return error_add(err, "%s", name);
        add_line(all, digest, name);
        return 0;
}

static int still_asked(int asker, struct error *err)
{
        struct pollfd gone = {.fd = asker};

        return poll(&gone, 1, 0) > 0
                       ? error_set(err, CODE_INFRA_IO, "nobody waits for the digest any more")
                       : 0;
}

static int read_all(struct folder *f, int asker, struct error *err)
{
        struct entry entry;
        const void *data;
        uint64_t offset;
        size_t len;
        int r;

        while ((r = folder_next(f, &entry, err)) > 0)
                do {
                        r = still_asked(asker, err);
                        if (r == 0 && entry.type == ENTRY_FILE)
                                r = folder_data(f, &data, &len, &offset, err);
                        if (r < 0)
                                return -1;
                } while (r > 0);
        return r;
}

static int add_tree(
        struct sha256_ctx *all, int directory, const char *name, int asker, struct error *err)
{
        _cleanup_fd_ int root = beneath_open(directory, name, O_PATH | O_DIRECTORY, 0);
        char digest[DIGEST_SIZE];
        struct folder *f;
        int r;

        if (root < 0)
                return errno == ENOENT ? 0 : error_errno(err, CODE_INFRA_IO, errno, "%s", name);
        f = malloc(sizeof *f);
        if (!f)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = folder_open(f, root, UINT64_MAX, err);
        if (r == 0)
                r = read_all(f, asker, err);
        if (r == 0) {
                folder_digest(f, digest);
                add_line(all, digest, name);
        }
        folder_close(f);
        free(f);
        return r < 0 ? error_add(err, "%s", name) : 0;
}

int task_digest(const struct task *t, int asker, char ret[DIGEST_SIZE], struct error *err)
{
        struct sha256_ctx all;

        if (t->state.bytes > (uint64_t)TASK_MAX_HASHED_GIB << 30)
                return error_set(
                        err, CODE_INFRA_IO, "its files have more than %d GiB", TASK_MAX_HASHED_GIB);
        sha256_init(&all);
        if (add_file(&all, t->directory, "task.json", err) < 0)
                return -1;
        for (size_t i = 0; task_parts[i]; i++)
                if (add_tree(&all, t->directory, task_parts[i], asker, err) < 0)
                        return -1;
        digest_text(&all, ret);
        return 0;
}
