/* Hashing a task; see task_digest.h. */
#include "task_digest.h"

#include "beneath.h"
#include "fd.h"
#include "images/folder.h"
#include "input.h"
#include "task.h"

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

static int read_all(struct folder *f, struct error *err)
{
        struct entry entry;
        const void *data;
        uint64_t offset;
        size_t len;
        int r;

        while ((r = folder_next(f, &entry, err)) > 0)
                while (entry.type == ENTRY_FILE &&
                        (r = folder_data(f, &data, &len, &offset, err)) != 0)
                        if (r < 0)
                                return -1;
        return r;
}

static int add_tree(struct sha256_ctx *all, int directory, const char *name, struct error *err)
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
                r = read_all(f, err);
        if (r == 0) {
                folder_digest(f, digest);
                add_line(all, digest, name);
        }
        folder_close(f);
        free(f);
        return r < 0 ? error_add(err, "%s", name) : 0;
}

int task_digest(int directory, char ret[DIGEST_SIZE], struct error *err)
{
        struct sha256_ctx all;

        sha256_init(&all);
        if (add_file(&all, directory, "task.json", err) < 0)
                return -1;
        for (size_t i = 0; task_parts[i]; i++)
                if (add_tree(&all, directory, task_parts[i], err) < 0)
                        return -1;
        digest_text(&all, ret);
        return 0;
}
