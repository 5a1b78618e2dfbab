/* Judging and converting names of entries; the rules are the table below. Pure: used by
 * assay-unpack on bytes of outsiders. */
#include "images/name.h"

#include "text.h"

#include <utf8proc.h>

static bool component_is(const char *at, size_t len, const char *what)
{
        return strlen(what) == len && memcmp(at, what, len) == 0;
}

/* The component at `*at`, which moves behind it and its slashes; false at the end. */
static bool next_component(const char **at, const char **ret_start, size_t *ret_len)
{
        *ret_start = *at + strspn(*at, "/");
        *ret_len = strcspn(*ret_start, "/");
        *at = *ret_start + *ret_len;
        return *ret_len > 0;
}

static bool is_empty(const char *path)
{
        return *path == '\0';
}

static bool is_absolute(const char *path)
{
        return *path == '/';
}

static bool has_backslash(const char *path)
{
        return strchr(path, '\\') != NULL;
}

static bool has_drive(const char *path)
{
        char letter = (char)(path[0] | 0x20);

        return letter >= 'a' && letter <= 'z' && path[1] == ':';
}

static bool climbs(const char *path)
{
        const char *name;
        size_t len;

        while (next_component(&path, &name, &len))
                if (component_is(name, len, ".."))
                        return true;
        return false;
}

static bool is_not_utf8(const char *path)
{
        return !text_utf8_valid(path, strlen(path));
}

static bool has_control(const char *path)
{
        const unsigned char *p = (const unsigned char *)path;

        while (*p) {
                uint32_t code = 0;
                size_t n = text_utf8_next(p, strlen((const char *)p), &code);

                if (text_is_control(code))
                        return true;
                p += n;
        }
        return false;
}

static bool has_long_component(const char *path)
{
        const char *name;
        size_t len;

        while (next_component(&path, &name, &len))
                if (len > NAME_MAX_COMPONENT)
                        return true;
        return false;
}

static bool is_long(const char *path)
{
        return strlen(path) > UNPACK_MAX_PATH;
}

static bool is_deep(const char *path)
{
        const char *name;
        size_t len, components = 0;

        while (next_component(&path, &name, &len))
                components += !component_is(name, len, ".");
        return components > NAME_MAX_DEPTH;
}

/* Judged in this order; later rules may rely on earlier ones. */
static const struct rule {
        bool (*broken_by)(const char *path);
        enum code code;
        const char *why;
} rules[] = {
        {is_empty, CODE_ARCHIVE_UNSAFE_PATH, "an entry without a name"},
        {is_absolute, CODE_ARCHIVE_UNSAFE_PATH, "an absolute path"},
        {has_backslash, CODE_ARCHIVE_UNSAFE_PATH, "a path with a backslash"},
        {has_drive, CODE_ARCHIVE_UNSAFE_PATH, "a path with a drive name"},
        {climbs, CODE_ARCHIVE_UNSAFE_PATH, "a path with `..`"},
        {is_long, CODE_ARCHIVE_BAD_NAME, "longer than 4095 bytes"},
        {is_not_utf8, CODE_ARCHIVE_BAD_NAME, "not valid UTF-8"},
        {has_control, CODE_ARCHIVE_BAD_NAME, "has control characters"},
        {has_long_component, CODE_ARCHIVE_BAD_NAME, "a name longer than 255 bytes"},
        {is_deep, CODE_ARCHIVE_BAD_NAME, "more than 100 folders deep"},
};

int name_normalise(const char *raw, struct path *ret, struct error *err)
{
        const char *at = raw, *name;
        size_t len, used = 0;

        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
                if (rules[i].broken_by(raw))
                        return error_set(err, rules[i].code, "%.100s: %s", raw, rules[i].why);
        while (next_component(&at, &name, &len)) {
                if (component_is(name, len, "."))
                        continue;
                if (used > 0)
                        ret->text[used++] = '/';
                memcpy(ret->text + used, name, len);
                used += len;
        }
        ret->text[used] = '\0';
        return 0;
}

unsigned name_depth(const char *path)
{
        unsigned depth = 0;

        for (; *path; path++)
                depth += *path == '/';
        return depth;
}

bool name_is_junk(const char *path)
{
        static const char *const files[] = {".DS_Store", "Thumbs.db"};
        const char *slash = strrchr(path, '/');
        const char *last = slash ? slash + 1 : path;

        if (component_is(path, strcspn(path, "/"), "__MACOSX"))
                return true;
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
                if (strcmp(last, files[i]) == 0)
                        return true;
        return false;
}

static void fold_ascii(const char *component, size_t len, struct buffer *out)
{
        unsigned char *to = buffer_reserve(out, len);

        if (!to)
                return;
        for (size_t i = 0; i < len; i++) {
                char c = component[i];
                to[i] = (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        }
        buffer_advance(out, len);
}

static bool is_ascii(const char *s, size_t len)
{
        for (size_t i = 0; i < len; i++)
                if ((unsigned char)s[i] >= 0x80)
                        return false;
        return true;
}

void name_fold(const char *component, size_t len, struct buffer *out)
{
        utf8proc_uint8_t *folded = NULL;
        utf8proc_ssize_t n;

        if (is_ascii(component, len)) {
                fold_ascii(component, len, out);
                return;
        }
        n = utf8proc_map((const utf8proc_uint8_t *)component, (utf8proc_ssize_t)len, &folded,
                UTF8PROC_STABLE | UTF8PROC_CASEFOLD | UTF8PROC_COMPOSE);
        if (n < 0)
                out->failed = true; /* valid UTF-8 fails for want of memory only */
        else
                buffer_add(out, folded, (size_t)n);
        free(folded);
}

void name_from_cp437(const char *bytes, struct buffer *out)
{
        static const uint16_t upper_half[128] = {0x00c7, 0x00fc, 0x00e9, 0x00e2, 0x00e4, 0x00e0,
                0x00e5, 0x00e7, 0x00ea, 0x00eb, 0x00e8, 0x00ef, 0x00ee, 0x00ec, 0x00c4, 0x00c5,
                0x00c9, 0x00e6, 0x00c6, 0x00f4, 0x00f6, 0x00f2, 0x00fb, 0x00f9, 0x00ff, 0x00d6,
                0x00dc, 0x00a2, 0x00a3, 0x00a5, 0x20a7, 0x0192, 0x00e1, 0x00ed, 0x00f3, 0x00fa,
                0x00f1, 0x00d1, 0x00aa, 0x00ba, 0x00bf, 0x2310, 0x00ac, 0x00bd, 0x00bc, 0x00a1,
                0x00ab, 0x00bb, 0x2591, 0x2592, 0x2593, 0x2502, 0x2524, 0x2561, 0x2562, 0x2556,
                0x2555, 0x2563, 0x2551, 0x2557, 0x255d, 0x255c, 0x255b, 0x2510, 0x2514, 0x2534,
                0x252c, 0x251c, 0x2500, 0x253c, 0x255e, 0x255f, 0x255a, 0x2554, 0x2569, 0x2566,
                0x2560, 0x2550, 0x256c, 0x2567, 0x2568, 0x2564, 0x2565, 0x2559, 0x2558, 0x2552,
                0x2553, 0x256b, 0x256a, 0x2518, 0x250c, 0x2588, 0x2584, 0x258c, 0x2590, 0x2580,
                0x03b1, 0x00df, 0x0393, 0x03c0, 0x03a3, 0x03c3, 0x00b5, 0x03c4, 0x03a6, 0x0398,
                0x03a9, 0x03b4, 0x221e, 0x03c6, 0x03b5, 0x2229, 0x2261, 0x00b1, 0x2265, 0x2264,
                0x2320, 0x2321, 0x00f7, 0x2248, 0x00b0, 0x2219, 0x00b7, 0x221a, 0x207f, 0x00b2,
                0x25a0, 0x00a0};
        utf8proc_uint8_t utf8[4];

        for (; *bytes; bytes++) {
                unsigned char c = (unsigned char)*bytes;
                utf8proc_int32_t code = c < 0x80 ? c : upper_half[c - 0x80];

                buffer_add(out, utf8, (size_t)utf8proc_encode_char(code, utf8));
        }
}

int name_climb(const char *target)
{
        const char *name;
        size_t len;
        int climbed = 0;
        bool down = false;

        if (is_empty(target) || is_absolute(target))
                return -1;
        while (next_component(&target, &name, &len)) {
                bool up = component_is(name, len, "..");

                if (up && down)
                        return -1;
                climbed += up;
                down |= !up && !component_is(name, len, ".");
        }
        return climbed;
}
