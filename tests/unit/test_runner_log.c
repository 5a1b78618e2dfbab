/* What is kept of a cell's output, and the writing of JSON: runner/log, runner/report/json. */
#include "log.h"
#include "report/json.h"

#include <criterion/criterion.h>

static void check_log(
        const char *what, const char *head, const char *tail, unsigned dropped, size_t step)
{
        struct log l;
        struct error err;
        unsigned char kept[16];
        size_t len = strlen(what);

        cr_assert_eq(log_init(&l, 4, 4, &err), 0);
        for (size_t at = 0; at < len; at += step)
                log_add(&l, what + at, len - at < step ? len - at : step);
        cr_expect(l.head_len == strlen(head) && memcmp(l.head, head, l.head_len) == 0,
                "%s by %zu: head %.*s", what, step, (int)l.head_len, (const char *)l.head);
        cr_expect(log_tail(&l, kept) == strlen(tail) && memcmp(kept, tail, strlen(tail)) == 0,
                "%s by %zu: tail is not %s", what, step, tail);
        cr_expect_eq(log_dropped(&l), dropped);
        cr_expect_eq(l.total, len);
        log_free(&l);
}

Test(log, head_and_tail_are_kept_and_the_middle_is_counted)
{
        for (size_t step = 1; step < 20; step++) {
                check_log("", "", "", 0, step);
                check_log("abc", "abc", "", 0, step);
                check_log("abcdefgh", "abcd", "efgh", 0, step);
                check_log("abcdefghi", "abcd", "fghi", 1, step);
                check_log("abcdefghijklmnopqrst", "abcd", "qrst", 12, step);
        }
}

Test(log, nothing_kept_is_counted_all_the_same)
{
        struct log l;
        struct error err;

        cr_assert_eq(log_init(&l, 0, 0, &err), 0);
        log_add(&l, "abc", 3);
        cr_expect_eq(l.total, 3);
        cr_expect_eq(log_dropped(&l), 3);
        log_free(&l);
}

Test(json, any_bytes_in_valid_text_out)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};

        json_open_object(&w, NULL);
        json_bytes(&w, "a", "\"\\\n\x01\x7f\xff\0é", 9);
        json_open_array(&w, "b");
        json_close(&w);
        json_decimal(&w, "c", "84.00");
        json_decimal(&w, "d", "");
        json_close(&w);
        cr_expect_str_eq(buffer_text(&out),
                "{\n"
                "  \"a\": \"\\\"\\\\\\n\\u0001\\u007f\xef\xbf\xbd\\u0000é\",\n"
                "  \"b\": [],\n"
                "  \"c\": 84.00,\n"
                "  \"d\": null\n"
                "}");
}
