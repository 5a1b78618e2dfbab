/* The environment of a command in a cell; see environment.h. Pure. */
#include "environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STANDARD_COUNT = 6, PLAIN_COUNT = 3 };

/* The first three also for submissions. */
static const char *const standard[STANDARD_COUNT] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME=/root",
        "LANG=C.UTF-8",
        "TZ=UTC",
        "PYTHONHASHSEED=0",
        "SOURCE_DATE_EPOCH=0",
};

static bool same_name(const char *a, const char *b)
{
        size_t len = strcspn(a, "=");

        return strncmp(a, b, len + 1) == 0;
}

static unsigned add(const char **env, unsigned filled, const char *text)
{
        unsigned at = 0;

        while (at < filled && !same_name(text, env[at]))
                at++;
        env[at] = text;
        return filled + (at == filled);
}

static bool is_standard(const char *text, unsigned standards)
{
        unsigned i = 0;

        while (i < standards && !same_name(text, standard[i]))
                i++;
        return i < standards;
}

static const char **make(const char *const *image, bool plain, const char *const *added,
        unsigned count, struct error *err)
{
        const unsigned standards = plain ? PLAIN_COUNT : STANDARD_COUNT;
        unsigned filled = 0, of_image = 0;
        const char **env;

        while (image && image[of_image])
                of_image++;
        env = calloc(STANDARD_COUNT + of_image + count + 1, sizeof *env);
        if (!env) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return NULL;
        }
        for (unsigned i = 0; i < standards; i++)
                filled = add(env, filled, standard[i]);
        for (unsigned i = 0; i < of_image; i++)
                if (!plain || is_standard(image[i], standards))
                        filled = add(env, filled, image[i]);
        for (unsigned i = 0; i < count; i++)
                filled = add(env, filled, added[i]);
        return env;
}

const char **environment_make(
        const char *const *image, const char *const *added, unsigned count, struct error *err)
{
        return make(image, false, added, count, err);
}

const char **environment_make_plain(
        const char *const *image, const char *const *added, unsigned count, struct error *err)
{
        return make(image, true, added, count, err);
}
