/* A tar becomes a skeleton and comes back, in whatever pieces it is read. */
#include "images/rebuild.h"
#include "images/skeleton.h"
#include "images/tar_write.h"

#include "fd.h"
#include "frame.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
        const char *path;
        size_t size;
        bool in_tree; /* the skeleton is told of it */
} files[] = {
        {"empty", 0, true},
        {"one", 1, true},
        {"text", 700, false},
        {"block", 512, true},
        {"large", 200000, true},
        {"again", 512, false},
        {"last", 513, true},
};

enum { FILES = sizeof files / sizeof *files, MOST = 200000 };

static unsigned char content[MOST];

struct tar {
        struct buffer bytes;
        uint64_t offsets[FILES]; /* of the contents */
};

static struct tar make_tar(void)
{
        struct tar t = {.bytes = BUFFER_INIT};
        struct tar_writer w = {.fd = memfd_create("tar", MFD_CLOEXEC), .pending = BUFFER_INIT};
        struct error err = {0};

        for (size_t i = 0; i < MOST; i++)
                content[i] = (unsigned char)(i * i >> 3);
        for (size_t n = 0; n < FILES; n++) {
                tar_write_file(&w, files[n].path, files[n].size, &err);
                t.offsets[n] = (uint64_t)lseek(w.fd, 0, SEEK_CUR) + w.pending.len;
                tar_write_bytes(&w, content, files[n].size, &err);
                tar_write_padding(&w, files[n].size, &err);
        }
        cr_assert_eq(tar_write_end(&w, &err), 0, "%s", err.text);
        lseek(w.fd, 0, SEEK_SET);
        cr_assert_eq(fd_read_all(w.fd, &t.bytes, 1 << 20, CODE_INFRA_IO, &err), 0);
        close(w.fd);
        return t;
}

/* As a reader does it that has read up to a piece ahead of where it is. */
static void record(struct skeleton *s, const struct tar *t, size_t piece)
{
        struct error err = {0};
        uint64_t given = 0, passed = 0;

        for (size_t n = 0; n <= FILES; n++) {
                uint64_t to = n < FILES ? t->offsets[n] : t->bytes.len;

                while (given < to) {
                        size_t left = t->bytes.len - given, len = piece < left ? piece : left;

                        cr_assert_eq(skeleton_take(s, t->bytes.data + given, len, passed, &err), 0);
                        given += len;
                        passed = given < to ? given : to;
                }
                passed = to;
                if (n < FILES && files[n].in_tree)
                        cr_assert_eq(skeleton_file(s, files[n].path, to, files[n].size, &err),
                                files[n].size > 0, "%s in pieces of %zu", files[n].path, piece);
        }
        cr_assert_eq(skeleton_finish(s, &err), 0, "%s", err.text);
}

/* What was sent, as a file. */
static int receive(int socket)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        int file = memfd_create("skeleton", MFD_CLOEXEC);
        struct error err = {0};

        while (frame_receive(socket, &f, 1 << 20, 0, &err) > 0) {
                struct reader r = reader_of(f.payload.data, f.payload.len);
                size_t len;
                const unsigned char *bytes;

                cr_assert_eq(f.type, UNPACK_SKELETON);
                get_u8(&r);
                bytes = get_bytes(&r, 1 << 20, &len);
                cr_assert_eq(fd_write_all(file, bytes, len), 0);
        }
        return file;
}

static int make_tree(char path[])
{
        int tree;

        cr_assert_not_null(mkdtemp(path));
        tree = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (size_t n = 0; n < FILES; n++) {
                int fd = files[n].in_tree
                                 ? openat(tree, files[n].path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)
                                 : -EBADF;

                cr_assert(fd < 0 || fd_write_all(fd, content, files[n].size) == 0);
                fd_close(fd);
        }
        return tree;
}

static void remove_tree(int tree, const char *path)
{
        for (size_t n = 0; n < FILES; n++)
                unlinkat(tree, files[n].path, 0);
        close(tree);
        cr_expect_eq(rmdir(path), 0);
}

static void compare(int tree, int skeleton, const struct tar *t, size_t piece)
{
        static struct rebuild r;
        _cleanup_buffer_ struct buffer got = BUFFER_INIT;
        const unsigned char *bytes;
        struct error err = {0};
        ssize_t n;

        cr_assert_eq(rebuild_open(&r, tree, skeleton, &err), 0, "%s", err.text);
        while ((n = rebuild_next(&r, &bytes, &err)) > 0)
                buffer_add(&got, bytes, (size_t)n);
        cr_expect_eq(n, 0, "in pieces of %zu: %s", piece, err.text);
        cr_expect_eq(got.len, t->bytes.len, "in pieces of %zu: %zu bytes", piece, got.len);
        cr_expect(got.len == t->bytes.len && memcmp(got.data, t->bytes.data, got.len) == 0,
                "in pieces of %zu", piece);
        rebuild_close(&r);
}

Test(skeleton, comes_back_in_pieces_of_any_size)
{
        static const size_t pieces[] = {1, 511, 512, 513, 10240, 64 << 10, 1 << 20};
        static struct skeleton s;
        struct tar t = make_tar();
        char path[] = "/tmp/assay-skeleton-XXXXXX";
        int tree = make_tree(path);

        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
                struct error err = {0};
                int pair[2];
                struct report report = {0};

                cr_assert_eq(fd_socketpair(pair, &err), 0);
                report.fd = pair[0];
                cr_assert_eq(skeleton_open(&s, &report, &err), 0);
                record(&s, &t, pieces[i]);
                close(pair[0]);
                cr_expect_lt(
                        s.sent, 5000, "contents are in it: %llu bytes", (unsigned long long)s.sent);
                skeleton_close(&s);
                compare(tree, receive(pair[1]), &t, pieces[i]);
                close(pair[1]);
        }
        remove_tree(tree, path);
        buffer_free(&t.bytes);
}
