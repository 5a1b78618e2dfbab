/* Times what scoring spends most on, in one process, beside the plain way where there is one:
 *
 *   score fuzzy      two texts of 10,000 characters: ours, and a table filled in plain C, in turns
 *   score sets       set_overlap of a million items
 *   score junit      a JUnit file of 10 MB */
#include "evaluators/formats/formats.h"
#include "evaluators/json.h"
#include "evaluators/likeness.h"
#include "evaluators/value.h"
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHARACTERS = 10000, ROUNDS = 5, ITEMS = 1000000, JUNIT_BYTES = 10 << 20 };

static double now_ms(void)
{
        return (double)clock_us() / 1000;
}

static int compare(const void *left, const void *right)
{
        const double *l = left, *r = right;

        return (*l > *r) - (*l < *r);
}

static double median(double *times, size_t count)
{
        qsort(times, count, sizeof *times, compare);
        return times[count / 2];
}

static uint32_t next(void)
{
        static uint32_t state = 12345;

        state = state * 1664525 + 1013904223;
        return state >> 8;
}

/* Two rows of the table. */
static size_t plain_distance(const struct likeness_text *a, const struct likeness_text *b)
{
        size_t *row = malloc((b->count + 1) * sizeof *row), distance;

        for (size_t j = 0; j <= b->count; j++)
                row[j] = j;
        for (size_t i = 1; i <= a->count; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= b->count; j++) {
                        size_t best = diagonal + (a->points[i - 1] != b->points[j - 1]);

                        diagonal = row[j];
                        if (row[j] + 1 < best)
                                best = row[j] + 1;
                        if (row[j - 1] + 1 < best)
                                best = row[j - 1] + 1;
                        row[j] = best;
                }
        }
        distance = row[b->count];
        free(row);
        return distance;
}

static void fuzzy(void)
{
        char text[2][2 * CHARACTERS + 1];
        double ours[ROUNDS], plain[ROUNDS];
        struct likeness_text t[2];
        size_t distance[2] = {0};

        for (unsigned i = 0; i < 2; i++) {
                for (size_t at = 0; at < CHARACTERS; at++)
                        text[i][at] = (char)('a' + (next() % 10 ? at * 7 % 26 : next() % 26));
                text[i][CHARACTERS] = '\0';
        }
        for (unsigned r = 0; r < ROUNDS; r++) {
                double start = now_ms();

                for (unsigned i = 0; i < 2; i++)
                        likeness_normalise(text[i], CHARACTERS, &t[i]);
                distance[0] = likeness_distance(&t[0], &t[1]);
                ours[r] = now_ms() - start;
                start = now_ms();
                distance[1] = plain_distance(&t[0], &t[1]);
                plain[r] = now_ms() - start;
                likeness_free(&t[0]);
                likeness_free(&t[1]);
        }
        printf("fuzzy_string, two texts of %d characters (distance %zu, plain %zu): %.2f ms, a "
               "plain table %.0f ms: "
               "%.0f times (bar: at least 15)\n",
                CHARACTERS, distance[0], distance[1], median(ours, ROUNDS), median(plain, ROUNDS),
                median(plain, ROUNDS) / median(ours, ROUNDS));
}

static struct buffer make_array(uint32_t shift)
{
        struct buffer b = BUFFER_INIT;

        buffer_add_char(&b, '[');
        for (uint32_t i = 0; i < ITEMS; i++)
                buffer_add_format(&b, "%s%u", i > 0 ? "," : "", i * 7 + shift % 7);
        buffer_add_char(&b, ']');
        return b;
}

static void sets(void)
{
        struct buffer texts[2] = {make_array(0), make_array(0)};
        struct json docs[2] = {JSON_INIT, JSON_INIT};
        struct json_fault fault;
        struct value_set s[2];
        double start = now_ms(), read;
        size_t common;

        for (unsigned i = 0; i < 2; i++)
                if (json_read(&docs[i], texts[i].data, texts[i].len, &fault) < 0) {
                        printf("%s\n", fault.text);
                        exit(1);
                }
        read = now_ms() - start;
        start = now_ms();
        for (unsigned i = 0; i < 2; i++)
                value_set_make(&s[i], json_root(&docs[i]));
        common = value_set_common(&s[0], &s[1]);
        printf("set_overlap of %d items (%zu common): %.0f ms, after reading both in %.0f ms (bar: "
               "1000 together)\n",
                ITEMS, common, now_ms() - start, read);
}

static void junit(void)
{
        struct buffer xml = BUFFER_INIT;
        struct result_request q = {.file = &xml};
        double times[ROUNDS];
        unsigned cases = 0;

        buffer_add_text(&xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        while (xml.len < JUNIT_BYTES) {
                buffer_add_format(&xml,
                        "<testcase classname=\"tests.test_module_%u.TestThing\" "
                        "name=\"test_that_it_does_the_thing_%u\" "
                        "time=\"0.0%u\"",
                        cases % 100, cases, cases % 97);
                buffer_add_text(&xml,
                        cases % 5 ? "/>\n"
                                  : "><failure message=\"assert 1 == 2\">tests/test_module.py:17: "
                                    "AssertionError\nwhere 1 = f()\n</failure></testcase>\n");
                cases++;
        }
        buffer_add_text(&xml, "</testsuites>\n");
        for (unsigned r = 0; r < ROUNDS; r++) {
                double start = now_ms();
                struct error err = {0};
                struct outcome o;

                outcome_init(&o);
                if (junit_read(&q, &o, &err) < 0) {
                        printf("%s\n", err.text);
                        exit(1);
                }
                outcome_free(&o);
                times[r] = now_ms() - start;
        }
        printf("a JUnit file of %.1f MB with %u cases: %.0f ms (bar: 150)\n", (double)xml.len / 1e6,
                cases, median(times, ROUNDS));
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*run)(void);
        } parts[] = {{"fuzzy", fuzzy}, {"sets", sets}, {"junit", junit}};

        json_seed();
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (argc == 1 || strcmp(argv[1], parts[i].name) == 0)
                        parts[i].run();
        return 0;
}
