/* Patterns of paths; see glob.h. A set of places in the pattern is carried along the path, so that
 * no pattern and no path make it slow. */
#include "glob.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct name {
        const char *at;
        size_t len;
};

static bool is_any_folders(struct name n)
{
        return n.len == 2 && memcmp(n.at, "**", 2) == 0;
}

/* The next part of a path, and what follows it; false at its end. */
static bool next_name(const char **path, struct name *ret)
{
        if (!*path)
                return false;
        ret->at = *path;
        ret->len = strcspn(*path, "/");
        *path = ret->at[ret->len] ? ret->at + ret->len + 1 : NULL;
        return true;
}

/* The last star so far is tried with one character more each time: what is before it stays. */
static bool match_name(struct name pattern, struct name name)
{
        size_t p = 0, n = 0, star = SIZE_MAX, from = 0;

        while (n < name.len) {
                if (p < pattern.len && pattern.at[p] == '*') {
                        star = p++;
                        from = n;
                } else if (p < pattern.len &&
                           (pattern.at[p] == '?' || pattern.at[p] == name.at[n])) {
                        p++;
                        n++;
                } else if (star != SIZE_MAX) {
                        p = star + 1;
                        n = ++from;
                } else
                        return false;
        }
        while (p < pattern.len && pattern.at[p] == '*')
                p++;
        return p == pattern.len;
}

/* Any number of folders may be none. */
static uint64_t skip_folders(const struct name *names, unsigned count, uint64_t places)
{
        for (unsigned i = 0; i < count; i++)
                if (places & 1ULL << i && is_any_folders(names[i]))
                        places |= 1ULL << (i + 1);
        return places;
}

bool glob_match(const char *pattern, const char *path)
{
        struct name names[GLOB_MAX_NAMES], name;
        unsigned count = 0;
        uint64_t places = 1; /* bit i: the names before i are matched */

        while (count < GLOB_MAX_NAMES && next_name(&pattern, &names[count]))
                count++;
        if (pattern)
                return false;
        places = skip_folders(names, count, places);
        while (places && next_name(&path, &name)) {
                uint64_t next = 0;

                for (unsigned i = 0; i < count; i++)
                        if (places & 1ULL << i && is_any_folders(names[i]))
                                next |= 1ULL << i;
                        else if (places & 1ULL << i && match_name(names[i], name))
                                next |= 1ULL << (i + 1);
                places = skip_folders(names, count, next);
        }
        return places & 1ULL << count;
}
