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

static bool is_ascii(const char *text, size_t len)
{
        for (size_t i = 0; i < len; i++)
                if ((unsigned char)text[i] >= 0x80)
                        return false;
        return true;
}

static void fold_ascii(const char *text, size_t len, struct points *ret)
{
        for (size_t i = 0; i < len; i++)
                ret->list[i] = text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 'a' - 'A' : text[i];
        ret->count = len;
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
        if (is_ascii(text, len)) { /* whose normal form is itself */
                if (points_make(&folded, len)) {
                        fold_ascii(text, len, &folded);
                        ret->points = (uint32_t *)folded.list;
                        ret->count = collapse(&folded, ret->points);
                        return ret->count > LIKENESS_MOST;
                }
        } else if (points_make(&folded, len) && points_make(&composed, len)) {
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

enum { WORD = 64, ABREAST = 2 };

/* What goes from block to block in a column: the distance grows by one, or falls by one. */
enum { GROWS = 1, FALLS = 2 };

struct table {
        const uint32_t *down, *along; /* small numbers for the code points of the two texts */
        size_t rows, columns;
        uint64_t *rows_with[ABREAST]; /* for each of those numbers, the rows of a block that have it
                                       */
        unsigned char *enters;        /* for each column, what comes from the block above */
};

/* Up to 64 rows of one column: where the distance grows or falls from row to row. */
struct block {
        uint64_t grows, falls;
        unsigned last; /* row */
};

__attribute__((always_inline)) static inline unsigned char step(
        struct block *b, uint64_t equal, unsigned char enters)
{
        const uint64_t vertical = equal | b->falls;
        uint64_t zero, up, down;
        unsigned char leaves;

        equal |= enters >> 1;
        zero = (((equal & b->grows) + b->grows) ^ b->grows) | equal;
        up = b->falls | ~(zero | b->grows);
        down = b->grows & zero;
        leaves = (unsigned char)((up >> b->last & 1) | (down >> b->last & 1) << 1);
        up = up << 1 | (enters & GROWS);
        down = down << 1 | enters >> 1;
        b->grows = down | ~(vertical | up);
        b->falls = up & vertical;
        return leaves;
}

/* The rows from `first` on; how many. */
static size_t begin_block(const struct table *t, unsigned which, size_t first)
{
        const size_t rows = t->rows - first < WORD ? t->rows - first : WORD;

        for (size_t i = 0; i < rows; i++)
                t->rows_with[which][t->down[first + i]] |= 1ULL << i;
        return rows;
}

/* By value: what has an address would be read again after each byte that is written. */
static inline struct block new_block(size_t rows)
{
        return (struct block){.grows = ~0ULL, .last = (unsigned)rows - 1};
}

static void end_block(const struct table *t, unsigned which, size_t first, size_t rows)
{
        for (size_t i = 0; i < rows; i++)
                t->rows_with[which][t->down[first + i]] = 0;
}

static size_t run_block(const struct table *t, size_t first)
{
        const size_t rows = begin_block(t, 0, first);
        struct block b = new_block(rows);

        for (size_t j = 0; j < t->columns; j++)
                t->enters[j] = step(&b, t->rows_with[0][t->along[j]], t->enters[j]);
        end_block(t, 0, first, rows);
        return rows;
}

/* Two blocks, the lower one a column behind: each step waits for the one before it, so that the
 * processor does two in the time of one. */
static size_t run_two_blocks(const struct table *t, size_t first)
{
        const uint64_t *const with[] = {t->rows_with[0], t->rows_with[1]};
        const size_t columns = t->columns;
        const uint32_t *const along = t->along;
        unsigned char *const enters = t->enters, passed;
        const size_t upper = begin_block(t, 0, first);
        const size_t lower = begin_block(t, 1, first + upper);
        struct block a = new_block(upper), b = new_block(lower);

        passed = step(&a, with[0][along[0]], enters[0]);
        for (size_t j = 1; j < columns; j++) {
                const unsigned char next = step(&a, with[0][along[j]], enters[j]);

                enters[j - 1] = step(&b, with[1][along[j - 1]], passed);
                passed = next;
        }
        enters[columns - 1] = step(&b, with[1][along[columns - 1]], passed);
        end_block(t, 0, first, upper);
        end_block(t, 1, first + upper, lower);
        return upper + lower;
}

static size_t run_table(const struct table *t)
{
        size_t distance = t->rows;

        /* The row above the first grows by one with each column. */
        memset(t->enters, GROWS, t->columns);
        for (size_t first = 0; first < t->rows;)
                first += t->rows - first > WORD ? run_two_blocks(t, first) : run_block(t, first);
        for (size_t j = 0; j < t->columns; j++)
                distance = distance + (t->enters[j] & GROWS) - (t->enters[j] >> 1);
        return distance;
}

static int compare_points(const void *left, const void *right)
{
        const uint32_t *l = left, *r = right;

        return (*l > *r) - (*l < *r);
}

enum { LOW = 4096 }; /* most alphabets */

/* Code points below LOW by the order in which they come; how many there are. */
static size_t number_low(
        const uint32_t *points, size_t count, uint32_t numbers[LOW], size_t known, uint32_t *ret)
{
        for (size_t i = 0; i < count; i++) {
                if (numbers[points[i]] == 0)
                        numbers[points[i]] = (uint32_t)++known;
                ret[i] = numbers[points[i]] - 1;
        }
        return known;
}

static bool all_low(const struct likeness_text *t)
{
        for (size_t i = 0; i < t->count; i++)
                if (t->points[i] >= LOW)
                        return false;
        return true;
}

/* Replace code points by their place among those of both texts; how many there are, or 0: no
 * memory. */
static size_t number_points(const struct likeness_text *a, const struct likeness_text *b,
        uint32_t *down, uint32_t *along)
{
        uint32_t *sorted, numbers[LOW] = {0};
        size_t count = 0;

        if (all_low(a) && all_low(b)) {
                count = number_low(a->points, a->count, numbers, 0, down);
                return number_low(b->points, b->count, numbers, count, along);
        }
        sorted = malloc((a->count + b->count) * sizeof *sorted);
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
        numbers = calloc(sum, sizeof *numbers);
        points = numbers ? number_points(a, b, numbers, numbers + a->count) : 0;
        t.down = numbers;
        t.along = numbers ? numbers + a->count : NULL;
        t.rows_with[0] = points > 0 ? calloc(ABREAST * points, sizeof *t.rows_with[0]) : NULL;
        t.rows_with[1] = t.rows_with[0] ? t.rows_with[0] + points : NULL;
        t.enters = malloc(b->count);
        if (t.rows_with[0] && t.enters)
                distance = run_table(&t);
        free(t.enters);
        free(t.rows_with[0]);
        free(numbers);
        return distance;
}
