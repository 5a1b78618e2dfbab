/* Names of images, and finding what a reference means; see store.h. */
#include "image/store.h"

#include "fd.h"
#include "image/record.h"
#include "image/reference.h"
#include "workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { SHORTEST_ID = 8 };

void image_store_lock_names(const struct image_store *s)
{
        while (flock(s->names, LOCK_EX) < 0 && errno == EINTR)
                continue;
}

void image_store_unlock_names(const struct image_store *s)
{
        flock(s->names, LOCK_UN);
}

/* As a file name: `/` and `%` and a leading dot as %XX. */
static int encode(const char *name, char ret[3 * IMAGE_STORE_NAME_MAX + 1], struct error *err)
{
        size_t at = 0, len = strlen(name);

        if (len == 0 || len > IMAGE_STORE_NAME_MAX)
                return error_set(err, CODE_USAGE, "%.100s: not a name for an image", name);
        for (const char *c = name; *c; c++)
                if (*c == '/' || *c == '%' || (*c == '.' && c == name))
                        at += (size_t)snprintf(ret + at, 4, "%%%02X", (unsigned char)*c);
                else
                        ret[at++] = *c;
        ret[at] = '\0';
        if (at > NAME_MAX)
                return error_set(err, CODE_USAGE, "%.100s…: too long for an image", name);
        return 0;
}

static bool decode(const char *file, char ret[IMAGE_STORE_NAME_MAX + 1])
{
        size_t at = 0;

        for (; *file && at < IMAGE_STORE_NAME_MAX; file++) {
                unsigned code = (unsigned char)*file;

                if (*file == '%') {
                        if (strspn(file + 1, "0123456789ABCDEF") < 2 ||
                                sscanf(file + 1, "%2X", &code) != 1 || code == 0)
                                return false;
                        file += 2;
                }
                ret[at++] = (char)code;
        }
        ret[at] = '\0';
        return *file == '\0';
}

/* The digits of what reads like an id, or NULL. */
static const char *id_digits(const char *reference)
{
        static const char prefix[] = "sha256:";
        size_t digits = strspn(reference, "0123456789abcdef");

        if (strncmp(reference, prefix, strlen(prefix)) == 0)
                return reference + strlen(prefix);
        return digits >= SHORTEST_ID && reference[digits] == '\0' ? reference : NULL;
}

static bool has_control(const char *name)
{
        for (; *name; name++)
                if ((unsigned char)*name < ' ' || *name == 0x7f)
                        return true;
        return false;
}

int image_store_check_name(const char *name, struct error *err)
{
        char file[3 * IMAGE_STORE_NAME_MAX + 1];

        if (id_digits(name) || strcmp(name, "host") == 0)
                return error_set(err, CODE_IMAGE_INVALID,
                        "%.100s: a name that reads like another image's", name);
        if (has_control(name))
                return error_set(
                        err, CODE_IMAGE_INVALID, "%.100s: a name with control characters", name);
        return encode(name, file, err);
}

int image_store_put_name(struct image_store *s, const char *name, const char *id, struct error *err)
{
        char file[3 * IMAGE_STORE_NAME_MAX + 1], new[ULID_SIZE];

        if (encode(name, file, err) < 0 || ulid_new(new, err) < 0)
                return -1;
        if (symlinkat(id, s->incoming, new) == 0 &&
                renameat(s->incoming, new, s->names, file) == 0 && fsync(s->names) == 0)
                return 0;
        image_store_failed(name, err);
        unlinkat(s->incoming, new, 0);
        return -1;
}

static bool read_name(const struct image_store *s, const char *file, char ret_id[DIGEST_SIZE])
{
        ssize_t len = readlinkat(s->names, file, ret_id, DIGEST_SIZE);

        if (len != DIGEST_SIZE - 1)
                return false;
        ret_id[len] = '\0';
        return is_digest(ret_id);
}

int image_store_remove_name(struct image_store *s, const char *name, struct error *err)
{
        char file[3 * IMAGE_STORE_NAME_MAX + 1];

        if (encode(name, file, err) < 0)
                return -1;
        if (unlinkat(s->names, file, 0) < 0)
                return errno == ENOENT ? 0 : image_store_failed(name, err);
        return fsync(s->names) < 0 ? image_store_failed(name, err) : 1;
}

/* --- looking -------------------------------------------------------------------------------- */

/* 1: one image has an id that begins so; 0: none, or several. */
static int find_by_digits(const struct image_store *s, const char *digits, char ret_id[DIGEST_SIZE])
{
        int fd = openat(s->images, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = 0;
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        size_t len = strlen(digits);

        if (!dir) {
                fd_close(fd);
                return 0;
        }
        for (struct dirent *entry; (entry = readdir(dir));)
                if (strncmp(entry->d_name, digits, len) == 0 && is_digest(entry->d_name)) {
                        memcpy(ret_id, entry->d_name, DIGEST_SIZE);
                        found++;
                }
        closedir(dir);
        return found == 1;
}

/* Names as people shorten them: docker.io/library/debian:latest is debian. */
static bool find_by_name(const struct image_store *s, const char *reference,
        char ret_id[DIGEST_SIZE], char ret_name[IMAGE_STORE_NAME_MAX + 1])
{
        static const char *const hosts[] = {"", "docker.io/", "docker.io/library/", "localhost/"};
        const char *slash = strrchr(reference, '/');
        const bool tagged = strchr(slash ? slash : reference, ':') != NULL;

        for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
                for (int with_tag = 0; with_tag < (tagged ? 1 : 2); with_tag++) {
                        char file[3 * IMAGE_STORE_NAME_MAX + 1];
                        int len = snprintf(ret_name, IMAGE_STORE_NAME_MAX + 1, "%s%s%s", hosts[i],
                                reference, with_tag ? ":latest" : "");

                        if (len <= IMAGE_STORE_NAME_MAX && encode(ret_name, file, NULL) == 0 &&
                                read_name(s, file, ret_id))
                                return true;
                }
        return false;
}

struct pinned {
        const struct image_store *store;
        const char *digest;
        char *ret_id;
        bool found;
};

static int see_record(void *to, const char *id, struct error *err)
{
        struct pinned *p = to;
        _cleanup_buffer_ struct buffer record = BUFFER_INIT;
        struct image image = {0};

        (void)err; /* a record that is damaged is not the one */
        if (image_store_get_record(p->store->images, id, &record, NULL) == 0 &&
                record_read(&image, &record, NULL) == 0 &&
                strcmp(image.ref_digest, p->digest) == 0) {
                memcpy(p->ret_id, id, DIGEST_SIZE);
                p->found = true;
        }
        image_free(&image);
        return 0;
}

static bool find_by_digest(
        const struct image_store *s, const char *digest, char ret_id[DIGEST_SIZE])
{
        struct pinned p = {.store = s, .digest = digest, .ret_id = ret_id};

        return digest && image_store_each(s->images, see_record, &p, NULL) == 0 && p.found;
}

int image_store_find(const struct image_store *s, const char *reference, char ret_id[DIGEST_SIZE],
        char ret_name[IMAGE_STORE_NAME_MAX + 1], struct error *err)
{
        const char *digits = id_digits(reference);
        char name[IMAGE_STORE_NAME_MAX + 1];

        if (!ret_name)
                ret_name = name;
        /* Names come from files: none may stand for the id of another image. */
        if (!digits && find_by_name(s, reference, ret_id, ret_name))
                return 0;
        *ret_name = '\0';
        if (find_by_digest(s, reference_digest(reference), ret_id))
                return 0;
        if (digits && strlen(digits) >= SHORTEST_ID && strlen(digits) < DIGEST_SIZE &&
                find_by_digits(s, digits, ret_id))
                return 0;
        return error_set(
                err, CODE_IMAGE_MISSING, "there is no image %.200s on this machine", reference);
}

static int compare_names(const void *left, const void *right)
{
        return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The files of names, sorted; NULL when memory or the directory fails. */
static char **list_names(const struct image_store *s, size_t *ret_count)
{
        int fd = openat(s->names, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        char **names = dir ? calloc(1, sizeof *names) : NULL;
        size_t count = 0;

        if (!dir)
                fd_close(fd);
        for (struct dirent *entry; names && (entry = readdir(dir));) {
                char **more;

                if (entry->d_name[0] == '.')
                        continue;
                more = realloc(names, (count + 1) * sizeof *names);
                if (!more)
                        break;
                names = more;
                names[count] = strdup(entry->d_name);
                if (!names[count])
                        break;
                count++;
        }
        if (names && count > 0)
                qsort(names, count, sizeof *names, compare_names);
        if (dir)
                closedir(dir);
        *ret_count = count;
        return names;
}

int image_store_each_name(const struct image_store *s,
        int (*see)(void *to, const char *name, const char *id), void *to, struct error *err)
{
        char name[IMAGE_STORE_NAME_MAX + 1], id[DIGEST_SIZE];
        size_t count;
        char **files = list_names(s, &count);
        int r = 0;

        if (!files)
                return image_store_failed("cannot be listed", err);
        for (size_t i = 0; i < count; i++) {
                if (r == 0 && decode(files[i], name) && read_name(s, files[i], id))
                        r = see(to, name, id);
                free(files[i]);
        }
        free(files);
        return r;
}
