/* Reading references; see reference.h. Only what a registry's name, path or tag may hold comes
 * through: a reference is put into the command line of another program. */
#include "image/reference.h"

#define DIGITS "0123456789"
#define LOWER  "abcdefghijklmnopqrstuvwxyz" DIGITS
#define ALL    LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum { TAG_MAX = 128 };

static const char digest_mark[] = "@sha256:";

static bool begins_with(const char *text, const char *begin)
{
        return strncmp(text, begin, strlen(begin)) == 0;
}

/* `len` bytes, all of them of `set`, the first a letter or digit. */
static bool is_word(const char *text, size_t len, const char *set)
{
        return len > 0 && strchr(ALL, *text) && strspn(text, set) >= len;
}

static bool is_registry(const char *text, size_t len)
{
        size_t host = strcspn(text, ":/");

        if (host < len && !is_word(text + host + 1, len - host - 1, DIGITS))
                return false;
        return is_word(text, host < len ? host : len, ALL ".-");
}

/* The length of the registry at the beginning, or 0: a first component that cannot be a path. */
static size_t registry_length(const char *name)
{
        size_t len = strcspn(name, "/"), mark = strcspn(name, ".:");

        if (name[len] == '\0')
                return 0;
        return mark < len || (len == strlen("localhost") && begins_with(name, "localhost")) ? len
                                                                                            : 0;
}

static bool is_path(const char *path)
{
        for (size_t len;; path += len + 1) {
                len = strcspn(path, "/");
                if (!is_word(path, len, LOWER "._-"))
                        return false;
                if (path[len] == '\0')
                        return true;
        }
}

/* The name in full. 0, or -1: it is none. */
static int complete(const char *name, char ret[IMAGE_STORE_NAME_MAX + 1])
{
        static const char *const docker[] = {"docker.io/", "index.docker.io/"};
        size_t registry = registry_length(name);
        const char *path = registry > 0 ? name + registry + 1 : name;
        bool is_docker = registry == 0;
        int len;

        for (size_t i = 0; i < sizeof docker / sizeof *docker; i++)
                is_docker |= begins_with(name, docker[i]);
        if (!is_path(path) || (!is_docker && !is_registry(name, registry)))
                return -1;
        if (is_docker)
                len = snprintf(ret, IMAGE_STORE_NAME_MAX + 1, "docker.io/%s%s",
                        strchr(path, '/') ? "" : "library/", path);
        else
                len = snprintf(ret, IMAGE_STORE_NAME_MAX + 1, "%s", name);
        return len <= IMAGE_STORE_NAME_MAX ? 0 : -1;
}

/* Cut the tag off: its beginning, or NULL where there is none. */
static const char *cut_tag(char *name)
{
        char *slash = strrchr(name, '/'), *colon = strchr(slash ? slash : name, ':');

        if (!colon)
                return NULL;
        *colon = '\0';
        return colon + 1;
}

const char *reference_digest(const char *text)
{
        const char *at = strchr(text, '@');

        return at && begins_with(at, digest_mark) && is_digest(at + strlen(digest_mark))
                       ? at + strlen(digest_mark)
                       : NULL;
}

static int no_reference(const char *text, const char *why, struct error *err)
{
        return error_set(err, CODE_USAGE, "%.200s: %s", text, why);
}

int reference_parse(struct reference *ret, const char *text, struct error *err)
{
        static const char transport[] = "docker://";
        const char *plain = begins_with(text, transport) ? text + strlen(transport) : text;
        const char *digest = reference_digest(plain), *tag;
        size_t len = strcspn(plain, "@");
        char name[IMAGE_STORE_NAME_MAX + 1];
        int full;

        *ret = (struct reference){0};
        if (plain[len] != '\0' && !digest)
                return no_reference(
                        text, "behind @ must stand `sha256:` and 64 lower-case digits", err);
        if (len > IMAGE_STORE_NAME_MAX)
                return no_reference(text, "too long for an image", err);
        memcpy(name, plain, len);
        name[len] = '\0';
        tag = cut_tag(name);
        if (tag && (strlen(tag) > TAG_MAX || strspn(tag, ALL "._-") != strlen(tag) ||
                           strspn(tag, ".-") > 0 || *tag == '\0'))
                return no_reference(text, "its tag is none that a registry takes", err);
        if (complete(name, ret->name) < 0)
                return no_reference(text, "not the name of an image in a registry", err);
        if (digest)
                memcpy(ret->digest, digest, DIGEST_SIZE);
        full = snprintf(ret->text, sizeof ret->text, "%s%s%s", ret->name,
                digest ? digest_mark : ":", digest ? digest : (tag ? tag : "latest"));
        return full <= IMAGE_STORE_NAME_MAX ? 0 : no_reference(text, "too long for an image", err);
}
