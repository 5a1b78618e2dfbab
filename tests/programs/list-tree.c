/* Lists a tree so that two listings are equal when the trees are: a line for each path, sorted,
 * with
 *
 *   path kind mode owner size time target group digest attributes
 *
 * Left out is what a cell has of its own, and set-id bits, which Assay drops; of / and /etc, where
 * a cell has files of its own, only the kind is told. Of files that are the same one, each names
 * the first; what may not be read is said to be unreadable, or is missing.
 *
 *   list-tree [-o] ROOT         -o: without owners, also those that umoci keeps in an attribute */
#include <fcntl.h>
#include <ftw.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

struct item {
        char *path;
        struct stat st;
};

static struct item *items;
static size_t count, room;
static bool with_owners = true;

static const char *const own[] = {
        "./dev", "./proc", "./tmp", "./etc/hosts", "./etc/hostname", "./etc/resolv.conf"};
static const char *const shared[] = {".", "./etc"}; /* with what is the cell's own in them */

static bool is_one_of(const char *path, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(path, names[i]) == 0)
                        return true;
        return false;
}

static int take(const char *path, const struct stat *st, int kind, struct FTW *at)
{
        (void)at;
        if (is_one_of(path, own, sizeof own / sizeof *own))
                return FTW_SKIP_SUBTREE;
        if (count == room) {
                room = room ? 2 * room : 1024;
                items = realloc(items, room * sizeof *items);
                if (!items)
                        exit(3);
        }
        items[count].path = strdup(path);
        if (!items[count].path)
                exit(3);
        items[count++].st = kind == FTW_NS ? (struct stat){0} : *st;
        return FTW_CONTINUE;
}

static int by_path(const void *a, const void *b)
{
        return strcmp(((const struct item *)a)->path, ((const struct item *)b)->path);
}

static int by_inode(const void *a, const void *b)
{
        const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;

        if (x->st.st_ino != y->st.st_ino)
                return x->st.st_ino < y->st.st_ino ? -1 : 1;
        if (x->st.st_dev != y->st.st_dev)
                return x->st.st_dev < y->st.st_dev ? -1 : 1;
        return strcmp(x->path, y->path);
}

static void put_text(const char *text)
{
        for (; *text; text++)
                if (*text > ' ' && *text < 127 && *text != '\\')
                        putchar(*text);
                else
                        printf("\\%03o", (unsigned char)*text);
}

static void put_bytes(const uint8_t *bytes, size_t len)
{
        for (size_t i = 0; i < len; i++)
                printf("%02x", bytes[i]);
}

static void put_digest(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        uint8_t block[64 << 10], digest[SHA256_DIGEST_SIZE];
        struct sha256_ctx ctx;
        ssize_t len;

        if (fd < 0) {
                printf(" unreadable");
                return;
        }
        sha256_init(&ctx);
        while ((len = read(fd, block, sizeof block)) > 0)
                sha256_update(&ctx, (size_t)len, block);
        close(fd);
        sha256_digest(&ctx, sizeof digest, digest);
        putchar(' ');
        put_bytes(digest, len < 0 ? 0 : sizeof digest);
}

static bool is_listed(const char *attribute)
{
        return strncmp(attribute, "user.", 5) == 0 &&
               (with_owners || strcmp(attribute, "user.rootlesscontainers") != 0);
}

static int by_text(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_attributes(const char *path)
{
        static char names[64 << 10];
        static uint8_t value[64 << 10];
        char *sorted[256];
        size_t n = 0;
        ssize_t len = llistxattr(path, names, sizeof names);

        for (char *name = names; len > 0 && name < names + len; name += strlen(name) + 1)
                if (is_listed(name) && n < sizeof sorted / sizeof *sorted)
                        sorted[n++] = name;
        qsort(sorted, n, sizeof *sorted, by_text);
        for (size_t i = 0; i < n; i++) {
                putchar(' ');
                put_text(sorted[i]);
                putchar('=');
                len = lgetxattr(path, sorted[i], value, sizeof value);
                put_bytes(value, len < 0 ? 0 : (size_t)len);
        }
}

static char kind_of(mode_t mode)
{
        static const char kinds[] = "?pc?d?b?f?l?s???";

        return kinds[(mode & S_IFMT) >> 12];
}

static void put_numbers(const struct stat *st)
{
        printf(" %04o", (unsigned)st->st_mode & 01777U);
        if (with_owners)
                printf(" %u:%u", st->st_uid, st->st_gid);
        if (S_ISREG(st->st_mode) || S_ISLNK(st->st_mode))
                printf(" %lld", (long long)st->st_size);
        printf(" %lld.%09ld", (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

static void put_details(const struct item *item, const char *first)
{
        const struct stat *st = &item->st;
        char target[4097] = "";

        put_numbers(st);
        if (S_ISLNK(st->st_mode) && readlink(item->path, target, sizeof target - 1) > 0) {
                printf(" -> ");
                put_text(target);
        }
        if (strcmp(first, item->path) != 0) {
                printf(" == ");
                put_text(first);
        } else if (S_ISREG(st->st_mode)) {
                put_digest(item->path);
        }
        if (!S_ISLNK(st->st_mode))
                put_attributes(item->path);
}

/* For each item, in the order of paths, the first path that is the same file. */
static const char **first_paths(void)
{
        struct item **sorted = malloc(count * sizeof *sorted);
        const char **first = malloc(count * sizeof *first);
        const struct item *group = NULL;

        if (!sorted || !first)
                exit(3);
        for (size_t i = 0; i < count; i++)
                sorted[i] = &items[i];
        qsort(sorted, count, sizeof *sorted, by_inode);
        for (size_t i = 0; i < count; i++) {
                if (!group || S_ISDIR(group->st.st_mode) ||
                        group->st.st_ino != sorted[i]->st.st_ino ||
                        group->st.st_dev != sorted[i]->st.st_dev)
                        group = sorted[i];
                first[sorted[i] - items] = group->path;
        }
        free(sorted);
        return first;
}

int main(int argc, char **argv)
{
        const char **first;

        with_owners = argc != 3;
        if (argc < 2 || chdir(argv[argc - 1]) < 0 ||
                nftw(".", take, 64, FTW_PHYS | FTW_ACTIONRETVAL) < 0 || count == 0) {
                perror("list-tree");
                return 2;
        }
        qsort(items, count, sizeof *items, by_path);
        first = first_paths();
        for (size_t i = 0; i < count; i++) {
                put_text(items[i].path);
                printf(" %c", kind_of(items[i].st.st_mode));
                if (!is_one_of(items[i].path, shared, sizeof shared / sizeof *shared))
                        put_details(&items[i], first[i]);
                putchar('\n');
        }
        return fflush(stdout) == 0 ? 0 : 3;
}
