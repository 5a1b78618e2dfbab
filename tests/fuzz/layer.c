/* Fuzzing the unpacking of layers into a directory. The first byte tells what the rest is: `z`, the
 * blob; `r`, a tar archive that gets right sums; `t`, texts with a NUL between them, each an entry
 * (tests/programs/tar_text.h). */
#include "images/layer.h"
#include "images/remove.h"
#include "tests/fuzz/shared.h"

#include <ftw.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

enum { MAX_ENTRIES = 500, MAX_BYTES = 1 << 20, MOST_TEXT = 4096, MOST_DIGITS = 4 };

static int above = -EBADF, root = -EBADF;
static struct stat before[2]; /* the directory that holds the layer's, and the file beside that */

static void look_outside(struct stat ret[2])
{
        must(fstat(above, &ret[0]) == 0 &&
                fstatat(above, "canary", &ret[1], AT_SYMLINK_NOFOLLOW) == 0);
}

static void make_place(void)
{
        umask(0);
        above = fuzz_directory();
        must(mkdirat(above, "root", 0755) == 0);
        fuzz_write(above, "canary", "whole", 5);
        root = openat(above, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        must(root >= 0);
        look_outside(before);
}

static void check_outside(void)
{
        struct stat after[2];

        look_outside(after);
        for (size_t i = 0; i < 2; i++)
                must(after[i].st_mode == before[i].st_mode && after[i].st_uid == before[i].st_uid &&
                        after[i].st_nlink == before[i].st_nlink &&
                        after[i].st_size == before[i].st_size &&
                        after[i].st_mtim.tv_sec == before[i].st_mtim.tv_sec &&
                        after[i].st_mtim.tv_nsec == before[i].st_mtim.tv_nsec &&
                        after[i].st_ctim.tv_nsec == before[i].st_ctim.tv_nsec);
}

static int check_item(const char *path, const struct stat *st, int kind, struct FTW *at)
{
        char names[4096];
        ssize_t len;

        if (kind == FTW_NS)
                return 0;
        must(S_ISDIR(st->st_mode) || S_ISREG(st->st_mode) || S_ISLNK(st->st_mode) ||
                S_ISFIFO(st->st_mode) || (S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0)));
        must((st->st_mode & (S_ISUID | S_ISGID)) == 0);
        len = llistxattr(path + at->base, names, sizeof names);
        for (ssize_t i = 0; i < len; i += (ssize_t)strlen(names + i) + 1)
                must(strncmp(names + i, "user.", 5) == 0 &&
                        strncmp(names + i, "user.overlay.", 13) != 0);
        return 0;
}

static void check_inside(void)
{
        char path[64];

        snprintf(path, sizeof path, "/proc/self/fd/%d/.", root);
        nftw(path, check_item, 16, FTW_PHYS | FTW_CHDIR);
}

static void unpack(int blob)
{
        const struct layer_request q = {.length = UINT64_MAX,
                .member = (char[]){""},
                .max_entries = MAX_ENTRIES,
                .max_unpacked = MAX_BYTES};
        _cleanup_fd_ int nobody = open("/dev/null", O_WRONLY | O_CLOEXEC);
        struct report report = {.fd = nobody};
        struct layer_outcome done = {0};
        struct error err = {0};
        uint64_t removed;

        if (layer_unpack(blob, root, &q, &report, &done, &err) == 0)
                must(done.entries <= MAX_ENTRIES && done.bytes <= MAX_BYTES &&
                        strlen(done.diff_id) == 64);
        else
                must(strncmp(code_info(err.code)->name, "image.", 6) == 0); /* not our fault */
        check_inside();
        must(remove_below(root, &removed, &err) == 0 && removed <= MAX_ENTRIES);
        must(fchmod(root, 0755) == 0);
        check_outside();
}

/* Files of zeros and names are as long as the text says. */
static bool is_small(const char *text)
{
        if (*text != 'Z' && !strchr(text, '{'))
                return true;
        for (text += strcspn(text, "0123456789"); *text; text += strcspn(text, "0123456789")) {
                size_t digits = strspn(text, "0123456789");

                if (digits > MOST_DIGITS)
                        return false;
                text += digits;
        }
        return true;
}

static void put_texts(const uint8_t *data, size_t len)
{
        char text[MOST_TEXT];

        while (len > 0) {
                fuzz_text(&data, &len, text, sizeof text);
                if (is_small(text))
                        put_tar_text(text);
        }
        put_zeros(1024);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        _cleanup_fd_ int blob = -EBADF;

        if (above < 0)
                make_place();
        if (len == 0)
                return 0;
        if (data[0] == 't')
                blob = fuzz_output(put_texts, data + 1, len - 1);
        else if (data[0] == 'r')
                blob = fuzz_tar_file(data + 1, len - 1);
        else
                blob = fuzz_file(data + 1, len - 1);
        unpack(blob);
        return 0;
}
