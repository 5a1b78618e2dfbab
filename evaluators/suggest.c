/* "Did you mean": the known name nearest to what somebody wrote. Pure. */
#include "fields.h"

#include <ctype.h>

enum { LONGEST = 40 };

static bool same(char a, char b)
{
        return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Levenshtein's distance, letter case aside; row by row. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
        size_t row[LONGEST + 1];

        for (size_t j = 0; j <= b_len; j++)
                row[j] = j;
        for (size_t i = 1; i <= a_len; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= b_len; j++) {
                        size_t replaced = diagonal + !same(a[i - 1], b[j - 1]);
                        size_t least = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;

                        diagonal = row[j];
                        row[j] = replaced < least ? replaced : least;
                }
        }
        return row[b_len];
}

const char *suggest(const char *word, const char *(*name_at)(const void *names, size_t i),
        const void *names, size_t count)
{
        size_t len = strlen(word), best = len / 3 + 2; /* a third of the letters may be wrong */
        const char *nearest = NULL;

        if (len > LONGEST)
                return NULL;
        for (size_t i = 0; i < count; i++) {
                const char *name = name_at(names, i);
                size_t d, name_len = strlen(name);

                if (name_len > LONGEST)
                        continue;
                d = distance(word, len, name, name_len);
                if (d < best && d < name_len) {
                        best = d;
                        nearest = name;
                }
        }
        return nearest;
}
