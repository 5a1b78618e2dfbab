/* Texts and their distance; see likeness.h. The distance is Myers' bit-parallel way through the
 * table, in the form of Hyyrö for texts of any length: a column of 64 rows is one word, and what
 * leaves a block of rows at its last one enters the block below. */
#include "likeness.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* --- normal form ---------------------------------------------------------------------------- */

static bool is_space(uint32_t c)
{
        return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
               (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
               c == 0x205f || c == 0x3000;
}

/* Code points that come one after the other; a text of some bytes has at most twice as many, folded
 * or taken apart. */
struct points {
        int32_t *list;
        size_t count, room;
};

static bool points_make(struct points *p, size_t bytes)
{
        *p = (struct points){.room = 2 * bytes + 16};
        p->list = malloc(p->room * sizeof *p->list);
        return p->list;
}

static void points_add(struct points *p, int32_t c, utf8proc_option_t what, int *boundary)
{
        const size_t left = p->room - p->count;
        utf8proc_ssize_t n = utf8proc_decompose_char(
                c, p->list + p->count, (utf8proc_ssize_t)left, what, boundary);

        if (n > 0 && (size_t)n <= left)
                p->count += (size_t)n;
}

static void fold(const char *text, size_t len, struct points *ret)
{
        for (size_t at = 0; at < len;) {
                utf8proc_int32_t c;
                utf8proc_ssize_t n = utf8proc_iterate(
                        (const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &c);
                int boundary = 0;

                if (n <= 0)
                        return;
                at += (size_t)n;
                points_add(ret, c, UTF8PROC_CASEFOLD, &boundary);
        }
}

static unsigned class_of(int32_t c)
{
        return (unsigned)utf8proc_get_property(c)->combining_class;
}

/* Marks behind a letter stand in the order of their classes; those of one class stay as they are.
 * By counting: a hostile text may have a million of them behind one letter. */
static void order_run(int32_t *run, int32_t *spare, size_t len)
{
        size_t starts[257] = {0};

        for (size_t i = 0; i < len; i++)
                starts[class_of(run[i]) + 1]++;
        for (unsigned class = 0; class < 256; class ++)
                starts[class + 1] += starts[class];
        for (size_t i = 0; i < len; i++)
                spare[starts[class_of(run[i])]++] = run[i];
        memcpy(run, spare, len * sizeof *run);
}

static void order_marks(struct points *p, int32_t *spare)
{
        for (size_t i = 0, len; i < p->count; i += len + 1) {
                for (len = 0; i + len < p->count && class_of(p->list[i + len]) > 0; len++)
                        continue;
                if (len > 1)
                        order_run(p->list + i, spare, len);
        }
}

/* Taken apart, marks ordered, put together again. */
static bool compose(const struct points *from, struct points *to, int32_t *spare)
{
        utf8proc_ssize_t n;
        int boundary = 0;

        for (size_t i = 0; i < from->count; i++)
                points_add(to, from->list[i], UTF8PROC_DECOMPOSE | UTF8PROC_STABLE, &boundary);
        order_marks(to, spare);
        n = utf8proc_normalize_utf32(
                to->list, (utf8proc_ssize_t)to->count, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
        if (n < 0)
                return false;
        to->count = (size_t)n;
        return true;
}

static size_t collapse(const struct points *from, uint32_t *to)
{
        size_t n = 0;

        for (size_t i = 0; i < from->count; i++) {
                const uint32_t c = (uint32_t)from->list[i];

                if (!is_space(c))
                        to[n++] = c;
                else if (n > 0 && to[n - 1] != ' ')
                        to[n++] = ' ';
        }
        return n - (n > 0 && to[n - 1] == ' ');
}

int likeness_normalise(const char *text, size_t len, struct likeness_text *ret)
{
        struct points folded, composed = {0};
        int r = -1;

        *ret = (struct likeness_text){0};
        if (len > LIKENESS_MOST_BYTES)
                return 1;
        if (points_make(&folded, len) && points_make(&composed, len)) {
                fold(text, len, &folded);
                /* What was folded is not needed when it has been taken apart. */
                if (compose(&folded, &composed, folded.list)) {
                        ret->points = (uint32_t *)folded.list;
                        ret->count = collapse(&composed, ret->points);
                        r = ret->count > LIKENESS_MOST;
                        folded.list = NULL;
                }
        }
        free(folded.list);
        free(composed.list);
        return r;
}

void likeness_free(struct likeness_text *t)
{
        free(t->points);
        *t = (struct likeness_text){0};
}

/* --- distance ------------------------------------------------------------------------------- */

enum { WORD = 64 };

struct table {
        const uint32_t *down, *along; /* small numbers for the code points of the two texts */
        size_t rows, columns;
        uint64_t *rows_with; /* for each of those numbers, the rows of this block that have it */
        signed char *enters; /* for each column, what comes from the block above: -1, 0, 1 */
};

/* The rows from `first`, at most 64; what it adds to the distance is the sum of its last row. */
static size_t run_block(const struct table *t, size_t first, size_t distance)
{
        const size_t rows = t->rows - first < WORD ? t->rows - first : WORD;
        const uint64_t last = 1ULL << (rows - 1);
        uint64_t plus = ~0ULL, minus = 0;

        for (size_t i = 0; i < rows; i++)
                t->rows_with[t->down[first + i]] |= 1ULL << i;
        distance += rows;
        for (size_t j = 0; j < t->columns; j++) {
                const int enters = t->enters[j];
                uint64_t equal = t->rows_with[t->along[j]];
                const uint64_t vertical = equal | minus;
                uint64_t zero, up, down;

                equal |= enters < 0;
                zero = (((equal & plus) + plus) ^ plus) | equal;
                up = minus | ~(zero | plus);
                down = plus & zero;
                t->enters[j] = (signed char)(!!(up & last) - !!(down & last));
                up = up << 1 | (enters > 0);
                down = down << 1 | (enters < 0);
                plus = down | ~(vertical | up);
                minus = up & vertical;
        }
        for (size_t i = 0; i < rows; i++)
                t->rows_with[t->down[first + i]] = 0;
        return distance;
}

static int compare_points(const void *left, const void *right)
{
        const uint32_t *l = left, *r = right;

        return (*l > *r) - (*l < *r);
}

/* Replace code points by their place among those of both texts; how many there are, or 0: no
 * memory. */
static size_t number_points(const struct likeness_text *a, const struct likeness_text *b,
        uint32_t *down, uint32_t *along)
{
        uint32_t *sorted = malloc((a->count + b->count) * sizeof *sorted);
        size_t count = 0;

        if (!sorted)
                return 0;
        memcpy(sorted, a->points, a->count * sizeof *sorted);
        memcpy(sorted + a->count, b->points, b->count * sizeof *sorted);
        qsort(sorted, a->count + b->count, sizeof *sorted, compare_points);
        for (size_t i = 0; i < a->count + b->count; i++)
                if (count == 0 || sorted[i] != sorted[count - 1])
                        sorted[count++] = sorted[i];
        for (size_t i = 0; i < a->count + b->count; i++) {
                const uint32_t *point = i < a->count ? &a->points[i] : &b->points[i - a->count];
                const uint32_t *place =
                        bsearch(point, sorted, count, sizeof *sorted, compare_points);

                *(i < a->count ? &down[i] : &along[i - a->count]) = (uint32_t)(place - sorted);
        }
        free(sorted);
        return count;
}

size_t likeness_distance(const struct likeness_text *a, const struct likeness_text *b)
{
        const size_t sum = a->count + b->count;
        uint32_t *numbers;
        struct table t = {.rows = a->count, .columns = b->count};
        size_t distance = SIZE_MAX, points;

        if (a->count == 0 || b->count == 0)
                return sum;
        numbers = malloc(sum * sizeof *numbers);
        points = numbers ? number_points(a, b, numbers, numbers + a->count) : 0;
        t.down = numbers;
        t.along = numbers ? numbers + a->count : NULL;
        t.rows_with = points > 0 ? calloc(points, sizeof *t.rows_with) : NULL;
        t.enters = malloc(b->count);
        if (t.rows_with && t.enters) {
                /* The row above the first grows by one with each column. */
                memset(t.enters, 1, b->count);
                distance = 0;
                for (size_t first = 0; first < a->count; first += WORD)
                        distance = run_block(&t, first, distance);
                for (size_t j = 0; j < b->count; j++)
                        distance = (size_t)((ptrdiff_t)distance + t.enters[j]);
        }
        free(t.enters);
        free(t.rows_with);
        free(numbers);
        return distance;
}
