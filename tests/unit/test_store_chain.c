/* The chain of results: what its macs are over. The expected ones come from Python's hmac. */
#include "store/chain.h"

#include <criterion/criterion.h>

static const struct chain_key key = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
        19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}};

static void dimension(struct value row[DIMENSION_COLUMNS], const char *name, const char *score)
{
        memset(row, 0, DIMENSION_COLUMNS * sizeof *row);
        row[DIMENSION_RESULT] = value_text("R");
        row[DIMENSION_POSITION] = value_number(1);
        row[DIMENSION_NAME] = value_text(name);
        if (score)
                row[DIMENSION_SCORE] = value_text(score);
}

static void mac_of(const struct value *row, const char *before, char ret[DIGEST_SIZE])
{
        struct buffer b = BUFFER_INIT;

        chain_add_row(&b, TABLE_DIMENSIONS, row);
        chain_mac(&key, before, &b, ret);
        buffer_free(&b);
}

Test(chain, a_row_has_the_mac_that_another_program_computes)
{
        struct value row[DIMENSION_COLUMNS];
        char mac[DIGEST_SIZE];

        dimension(row, "speed", "80.50");
        mac_of(row, "", mac);
        cr_assert_str_eq(mac, "cf4075513aaa4d27f13d79ef55bfd80c8025a34d2ed81146648d1374830e2580");
        mac_of(row, "00ff", mac);
        cr_assert_str_eq(mac, "b0cf65abb3f2eb4811a5c7311c52d5b6235e75ebc64703047f3b5caa51b8b563");
}

Test(chain, no_two_rows_are_encoded_alike)
{
        static const struct {
                const char *name, *score;
        } rows[] = {{"a", "1"}, {"a1", NULL}, {"a", NULL}, {"a", ""}, {"", "a1"}, {"a", "01"}};
        enum { COUNT = sizeof rows / sizeof *rows };
        char macs[COUNT][DIGEST_SIZE];

        for (int i = 0; i < COUNT; i++) {
                struct value row[DIMENSION_COLUMNS];

                dimension(row, rows[i].name, rows[i].score);
                mac_of(row, "", macs[i]);
                for (int k = 0; k < i; k++)
                        cr_expect_str_neq(macs[i], macs[k], "rows %d and %d", k, i);
        }
}

Test(chain, a_text_that_is_longer_than_a_frame_counts_to_its_last_byte)
{
        const size_t len = STORE_MAX_TEXT;
        char *text = malloc(len);
        struct value row[DIMENSION_COLUMNS];
        struct buffer b = BUFFER_INIT;

        cr_assert_not_null(text);
        memset(text, 'x', len);
        dimension(row, "speed", NULL);
        row[DIMENSION_REASONING] = (struct value){VALUE_TEXT, 0, text, len};
        text[len - 1] = 'y';
        chain_add_row(&b, TABLE_DIMENSIONS, row);
        cr_assert(buffer_ok(&b));
        cr_assert_gt(b.len, len);
        cr_assert_not_null(memchr(b.data, 'y', b.len));
        buffer_free(&b);
        free(text);
}

Test(chain, a_result_row_is_encoded_without_its_own_mac)
{
        struct value row[STORED_COLUMNS] = {[STORED_ID] = value_text("R")};
        struct buffer without = BUFFER_INIT, with = BUFFER_INIT;

        chain_add_row(&without, TABLE_RESULTS, row);
        row[STORED_MAC] = value_text("00");
        chain_add_row(&with, TABLE_RESULTS, row);
        cr_assert_eq(without.len, with.len);
        cr_assert_eq(memcmp(without.data, with.data, with.len), 0);
        buffer_free(&without);
        buffer_free(&with);
}

Test(chain, a_head_counts_and_depends_on_the_order)
{
        struct chain_head one, other;
        char text[STORE_HEAD_SIZE], again[STORE_HEAD_SIZE];

        chain_head_begin(&one, &key);
        chain_head_begin(&other, &key);
        chain_head_add(&one, "a");
        chain_head_add(&other, "b");
        chain_head_text(&one, text);
        cr_assert_eq(strncmp(text, "1:", 2), 0);
        chain_head_add(&one, "b");
        chain_head_add(&other, "a");
        chain_head_text(&one, text);
        chain_head_text(&other, again);
        cr_assert_eq(strncmp(text, "2:", 2), 0);
        cr_assert_str_neq(text, again);
        chain_head_text(&one, again);
        cr_assert_str_eq(text, again);
}
