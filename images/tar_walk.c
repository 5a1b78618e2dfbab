/* Headers of tar files; see tar_walk.h. */
#include "images/tar_walk.h"

#include "fd.h"

#include <sys/stat.h>
#include <unistd.h>

enum {
        MAX_EXTENSION = 1 << 20,
        HEADERS_EACH = 4, /* a member and its extensions */
};

struct field {
        size_t at, len;
};

static const struct field name_field = {0, 100}, size_field = {124, 12}, sum_field = {148, 8},
                          target_field = {157, 100}, magic_field = {257, 6},
                          prefix_field = {345, 155};
enum { TYPE_AT = 156 };

static int refuse(const struct tar_walk *w, const char *why, struct error *err)
{
        return error_set(err, CODE_IMAGE_INVALID, "byte %llu: %s", (unsigned long long)w->at, why);
}

static int read_at(
        const struct tar_walk *w, uint64_t offset, void *to, size_t len, struct error *err)
{
        ssize_t n = pread(w->fd, to, len, (off_t)offset);

        if (n < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the file");
        return n == (ssize_t)len ? 0 : refuse(w, "the file was cut off here", err);
}

/* --- fields --------------------------------------------------------------------------------- */

/* Octal digits, with spaces before and spaces or NULs behind; nothing is 0. */
static bool octal(const unsigned char *field, size_t len, uint64_t *ret)
{
        size_t i = 0;

        *ret = 0;
        while (i < len && field[i] == ' ')
                i++;
        for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
                *ret = *ret * 8 + (unsigned)(field[i] - '0'); /* 12 digits fit */
        while (i < len && (field[i] == ' ' || field[i] == '\0'))
                i++;
        return i == len;
}

/* Or GNU's form: a set bit, then a number of which the highest byte stands first. */
static bool number(const unsigned char *block, struct field f, uint64_t *ret)
{
        const unsigned char *field = block + f.at;

        if (!(field[0] & 0x80))
                return octal(field, f.len, ret);
        if (field[0] != 0x80) /* negative, or beyond 64 bits */
                return false;
        *ret = 0;
        for (size_t i = 1; i < f.len; i++) {
                if (*ret > INT64_MAX >> 8)
                        return false;
                *ret = *ret << 8 | field[i];
        }
        return true;
}

bool tar_sum_is_right(const unsigned char *block)
{
        uint64_t given, sum = 0;

        for (size_t i = 0; i < TAR_BLOCK; i++)
                sum += i - sum_field.at < sum_field.len ? ' ' : block[i];
        return octal(block + sum_field.at, sum_field.len, &given) && sum == given;
}

static void add_field(struct buffer *to, const unsigned char *block, struct field f)
{
        buffer_add(to, block + f.at, strnlen((const char *)block + f.at, f.len));
}

/* --- extensions ----------------------------------------------------------------------------- */

static int tell_text(struct tar_walk *w, struct buffer *to, const unsigned char *text, size_t len,
        struct error *err)
{
        if (to->len > 0)
                return refuse(w, "the name or target of a member is told twice", err);
        if (len == 0 || len > UNPACK_MAX_PATH || memchr(text, '\0', len))
                return refuse(w, "the name or target of a member is not a path", err);
        buffer_add(to, text, len);
        return 0;
}

static int tell_size(struct tar_walk *w, const unsigned char *text, size_t len, struct error *err)
{
        uint64_t size = 0;

        for (size_t i = 0; i < len; i++) {
                if (text[i] < '0' || text[i] > '9' || size > INT64_MAX / 10 - 1)
                        return refuse(w, "the size of a member is not one", err);
                size = size * 10 + (unsigned)(text[i] - '0');
        }
        if (w->has_size || len == 0)
                return refuse(w, "the size of a member is told twice, or not", err);
        w->size = size;
        w->has_size = true;
        return 0;
}

static bool key_is(const unsigned char *key, size_t len, const char *what)
{
        return strlen(what) == len && memcmp(key, what, len) == 0;
}

static int take_record(struct tar_walk *w, const unsigned char *key, size_t len, struct error *err)
{
        static const char sparse[] = "GNU.sparse.";
        const unsigned char *equals = memchr(key, '=', len), *value;
        size_t key_len, value_len;

        if (!equals)
                return refuse(w, "a pax record without `=`", err);
        key_len = (size_t)(equals - key);
        value = equals + 1;
        value_len = len - key_len - 1;
        if (key_is(key, key_len, "path"))
                return tell_text(w, &w->name, value, value_len, err);
        if (key_is(key, key_len, "linkpath"))
                return tell_text(w, &w->target, value, value_len, err);
        if (key_is(key, key_len, "size"))
                return tell_size(w, value, value_len, err);
        if (key_len >= strlen(sparse) && memcmp(key, sparse, strlen(sparse)) == 0)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "byte %llu: a member with holes (pack without --sparse)",
                        (unsigned long long)w->at);
        return 0;
}

/* Records of the form "LENGTH KEY=VALUE\n", where LENGTH counts all of it. */
static int take_records(struct tar_walk *w, const struct buffer *b, struct error *err)
{
        const unsigned char *p = b->data, *end = b->data + b->len;

        while (p < end) {
                const unsigned char *start = p;
                size_t len = 0;

                for (; p < end && *p >= '0' && *p <= '9' && len <= b->len; p++)
                        len = len * 10 + (unsigned)(*p - '0');
                if (p == end || *p != ' ' || len > (size_t)(end - start) || start + len < p + 2 ||
                        start[len - 1] != '\n')
                        return refuse(w, "a damaged pax record", err);
                p++;
                if (take_record(w, p, (size_t)(start + len - 1 - p), err) < 0)
                        return -1;
                p = start + len;
        }
        return 0;
}

static int take_long(
        struct tar_walk *w, struct buffer *to, const struct buffer *b, struct error *err)
{
        size_t len = b->len;

        while (len > 0 && b->data[len - 1] == '\0')
                len--;
        return tell_text(w, to, b->data, len, err);
}

/* What all members have in common says nothing about any of them, or we do not understand it. */
static int take_global(struct tar_walk *w, const struct buffer *b, struct error *err)
{
        if (take_records(w, b, err) < 0)
                return -1;
        if (w->name.len > 0 || w->target.len > 0 || w->has_size)
                return refuse(w, "a name or size for all members", err);
        return 0;
}

static int take_extension(
        struct tar_walk *w, unsigned char type, uint64_t length, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        unsigned char *to = length <= MAX_EXTENSION ? buffer_reserve(&b, (size_t)length) : NULL;

        if (length > MAX_EXTENSION)
                return refuse(w, "an extended header of more than 1 MiB", err);
        if (!to)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (read_at(w, w->at + TAR_BLOCK, to, (size_t)length, err) < 0)
                return -1;
        buffer_advance(&b, (size_t)length);
        w->extended = type != 'g';
        switch (type) {
        case 'L':
                return take_long(w, &w->name, &b, err);
        case 'K':
                return take_long(w, &w->target, &b, err);
        case 'x':
                return take_records(w, &b, err);
        default:
                return take_global(w, &b, err);
        }
}

/* --- members -------------------------------------------------------------------------------- */

/* The name in the header itself; only POSIX has the prefix. */
static void add_name(struct buffer *to, const unsigned char *block)
{
        if (memcmp(block + magic_field.at, "ustar", magic_field.len) == 0 &&
                block[prefix_field.at] != '\0') {
                add_field(to, block, prefix_field);
                buffer_add_char(to, '/');
        }
        add_field(to, block, name_field);
}

static bool ends_with_slash(const struct buffer *name)
{
        return name->len > 0 && name->data[name->len - 1] == '/';
}

static bool kind_of(unsigned char type, const struct buffer *name, enum tar_kind *ret)
{
        switch (type) {
        case '\0': /* before POSIX, directories had no type */
                *ret = ends_with_slash(name) ? TAR_DIRECTORY : TAR_FILE;
                return true;
        case '0':
        case '7':
                *ret = TAR_FILE;
                return true;
        case '1':
                *ret = TAR_HARDLINK;
                return true;
        case '2':
                *ret = TAR_SYMLINK;
                return true;
        case '5':
                *ret = TAR_DIRECTORY;
                return true;
        default:
                return false;
        }
}

static int take_member(struct tar_walk *w, const unsigned char *block, uint64_t length,
        struct tar_member *ret, struct error *err)
{
        const unsigned char type = block[TYPE_AT];
        struct error why = {0};

        if (w->name.len == 0)
                add_name(&w->name, block);
        if (w->target.len == 0)
                add_field(&w->target, block, target_field);
        if (!buffer_ok(&w->name) || !buffer_ok(&w->target))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (name_normalise(buffer_text(&w->name), &ret->name, &why) < 0)
                return refuse(w, why.text, err);
        if (!kind_of(type, &w->name, &ret->kind))
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "%.200s: a kind of member that images do not need (`%c`)", ret->name.text,
                        type);
        if (ret->kind != TAR_FILE && length > 0)
                return refuse(w, "a link or directory with content of its own", err);
        if (*ret->name.text == '\0' && ret->kind != TAR_DIRECTORY)
                return refuse(w, "a member without a name", err);
        snprintf(ret->target, sizeof ret->target, "%s", buffer_text(&w->target));
        ret->offset = w->at + TAR_BLOCK;
        ret->length = length;
        return 1;
}

static void forget_extensions(struct tar_walk *w)
{
        buffer_clear(&w->name);
        buffer_clear(&w->target);
        w->has_size = w->extended = false;
}

static bool is_extension(unsigned char type)
{
        return type != '\0' && strchr("LKxg", type);
}

static bool is_end_mark(const unsigned char *block)
{
        return block[0] == '\0' && memcmp(block, block + 1, TAR_BLOCK - 1) == 0;
}

/* One header: 2 when it was an extension and the walk goes on. */
static int take_header(struct tar_walk *w, struct tar_member *ret, struct error *err)
{
        unsigned char block[TAR_BLOCK];
        uint64_t length;
        int r;

        if (w->at == w->end)
                return refuse(w, "the file was cut off here: it has no end mark", err);
        if (read_at(w, w->at, block, sizeof block, err) < 0)
                return -1;
        if (is_end_mark(block))
                return w->extended ? refuse(w, "an extended header without its member", err) : 0;
        if (!tar_sum_is_right(block))
                return refuse(w, "not the header of a tar file", err);
        if (!number(block, size_field, &length))
                return refuse(w, "the size of a member is not one", err);
        if (w->has_size && !is_extension(block[TYPE_AT]))
                length = w->size;
        if (length > w->end - w->at - TAR_BLOCK)
                return refuse(w, "the member that begins here was cut off", err);
        r = is_extension(block[TYPE_AT])
                    ? take_extension(w, block[TYPE_AT], length, err) == 0 ? 2 : -1
                    : take_member(w, block, length, ret, err);
        w->at += TAR_BLOCK + (length + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
        return r;
}

int tar_walk_open(struct tar_walk *w, int fd, uint64_t max, struct error *err)
{
        struct stat st;

        *w = (struct tar_walk){
                .fd = fd,
                .max_headers = max * HEADERS_EACH,
                .name = BUFFER_INIT,
                .target = BUFFER_INIT,
        };
        if (fstat(fd, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the file");
        w->end = (uint64_t)st.st_size;
        return 0;
}

void tar_walk_close(struct tar_walk *w)
{
        buffer_free(&w->name);
        buffer_free(&w->target);
}

int tar_walk_next(struct tar_walk *w, struct tar_member *ret, struct error *err)
{
        int r;

        forget_extensions(w);
        do {
                if (w->headers++ == w->max_headers)
                        return refuse(w, "too many members", err);
                if (w->at > w->end) /* padding that is not there */
                        return refuse(w, "the file was cut off here", err);
                r = take_header(w, ret, err);
        } while (r == 2);
        return r;
}
