/* Names in layers; see whiteout.h. Any byte is fine in them, since programs inside of images find
 * their files by bytes; what is refused would leave the layer's directory, or fits nowhere. */
#include "images/whiteout.h"

static const char mark[] = ".wh.", note[] = ".wh..wh.", content[] = ".wh..wh..opq";

static bool begins(const char *name, size_t len, const char *with)
{
        return len >= strlen(with) && memcmp(name, with, strlen(with)) == 0;
}

static bool is(const char *name, size_t len, const char *what)
{
        return len == strlen(what) && memcmp(name, what, len) == 0;
}

static int refuse(const char *raw, const char *why, struct error *err)
{
        return error_set(err, CODE_IMAGE_LAYER_INVALID, "%.300s: %s", raw, why);
}

/* A marked name is longer than the one it hides, which must fit. */
static bool is_long(const char *name, size_t len)
{
        return len > NAME_MAX_COMPONENT + (begins(name, len, mark) ? strlen(mark) : 0);
}

int whiteout_normalise(const char *raw, struct path *ret, struct error *err)
{
        unsigned depth = 0;
        size_t used = 0;

        for (const char *at = raw + strspn(raw, "/"); *at;) {
                size_t len = strcspn(at, "/");

                if (is(at, len, ".."))
                        return refuse(raw, "a path with `..`", err);
                if (is_long(at, len))
                        return refuse(raw, "a name longer than 255 bytes", err);
                if (!is(at, len, ".")) {
                        if (used + len + (used > 0) > UNPACK_MAX_PATH)
                                return refuse(raw, "longer than 4095 bytes", err);
                        if (++depth > WHITEOUT_MAX_DEPTH)
                                return refuse(raw, "more than 1000 folders deep", err);
                        if (used > 0)
                                ret->text[used++] = '/';
                        memcpy(ret->text + used, at, len);
                        used += len;
                }
                at += len + strspn(at + len, "/");
        }
        ret->text[used] = '\0';
        return 0;
}

/* The last component of `p`, which is all but a note. */
static int read_last(
        const char *raw, struct path *p, char *name, enum whiteout *ret_mark, struct error *err)
{
        size_t len = strlen(name);

        if (is(name, len, content)) {
                name[name > p->text ? -1 : 0] = '\0';
                *ret_mark = WHITEOUT_CONTENT;
                return 0;
        }
        if (!begins(name, len, mark))
                return 0;
        memmove(name, name + strlen(mark), len + 1 - strlen(mark));
        if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return refuse(raw, "a mark that hides nothing", err);
        *ret_mark = WHITEOUT_NAME;
        return 0;
}

int whiteout_read(
        const char *raw, struct path *ret_path, enum whiteout *ret_mark, struct error *err)
{
        *ret_mark = WHITEOUT_NONE;
        if (whiteout_normalise(raw, ret_path, err) < 0)
                return -1;
        for (char *at = ret_path->text;;) {
                size_t len = strcspn(at, "/");
                bool last = at[len] == '\0';

                if (begins(at, len, note) && !(last && is(at, len, content))) {
                        *ret_mark = WHITEOUT_FOREIGN;
                        return 0;
                }
                if (last)
                        return read_last(raw, ret_path, at, ret_mark, err);
                if (begins(at, len, mark))
                        return refuse(raw, "something inside a mark", err);
                at += len + 1;
        }
}
