/* Frames and buffers: sandbox/base/frame, buffer. */
#include "fd.h"
#include "frame.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

Test(buffer, keeps_its_invariants)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        cr_expect_str_eq(buffer_text(&b), "", "an empty buffer is a C string");
        for (int i = 0; i < 1000; i++) {
                buffer_add_format(&b, "%d,", i);
                cr_assert_eq(b.data[b.len], '\0');
                cr_assert_lt(b.len, b.cap);
        }
        cr_expect_eq(b.len, 10 * 2 + 90 * 3 + 900 * 4);
        buffer_clear(&b);
        cr_expect_str_eq(buffer_text(&b), "");
}

Test(buffer, after_a_failure_nothing_changes)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        buffer_add_text(&b, "kept");
        cr_expect_null(buffer_reserve(&b, SIZE_MAX));
        cr_expect_not(buffer_ok(&b));
        buffer_add_text(&b, "lost");
        cr_expect_str_eq(buffer_text(&b), "kept");
}

Test(frame, fields_come_back_as_they_were_put)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct reader r;
        char text[16];
        size_t len;

        put_u8(&b, 200);
        put_u16(&b, 60000);
        put_u32(&b, 4000000000);
        put_u64(&b, UINT64_MAX - 1);
        put_text(&b, "text");
        put_bytes(&b, "\0\1", 2);
        r = reader_of(b.data, b.len);
        cr_expect_eq(get_u8(&r), 200);
        cr_expect_eq(get_u16(&r), 60000);
        cr_expect_eq(get_u32(&r), 4000000000);
        cr_expect_eq(get_u64(&r), UINT64_MAX - 1);
        get_text(&r, text, sizeof text);
        cr_expect_str_eq(text, "text");
        cr_expect_eq(get_bytes(&r, 2, &len)[1], 1);
        cr_expect(reader_done(&r));
}

Test(frame, a_reader_never_passes_its_end)
{
        static const unsigned char bytes[] = {255, 255, 255, 255, 'a'};

        for (size_t len = 0; len <= sizeof bytes; len++) {
                struct reader r = reader_of(bytes, len);
                char text[8];

                get_text(&r, text, sizeof text);
                cr_expect(r.bad, "length %zu", len);
                cr_expect_str_eq(text, "");
                cr_expect_eq(get_u8(&r), 0, "nothing is read after a bad field");
        }
}

Test(frame, texts_with_a_nul_or_too_long_are_bad)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct reader r;
        char text[4];

        put_bytes(&b, "a\0b", 3);
        r = reader_of(b.data, b.len);
        get_text(&r, text, sizeof text);
        cr_expect(r.bad);
        buffer_clear(&b);
        put_text(&b, "four");
        r = reader_of(b.data, b.len);
        get_text(&r, text, sizeof text);
        cr_expect(r.bad);
        r = reader_of(b.data, b.len);
        cr_expect_null(get_new_text(&r, 3));
}

struct wire {
        int ends[2];
        struct frame f;
        struct error err;
};

static void wire_open(struct wire *w)
{
        *w = (struct wire){.f = FRAME_INIT};
        cr_assert_eq(fd_socketpair(w->ends, &w->err), 0);
}

static void wire_close(struct wire *w)
{
        frame_free(&w->f);
        fd_close(w->ends[0]);
        fd_close(w->ends[1]);
}

Test(frame, descriptors_travel_and_are_close_on_exec)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct wire w;

        wire_open(&w);
        put_text(&b, "with two");
        cr_assert_eq(frame_send(w.ends[0], 7, &b, (int[]){0, 1}, 2, &w.err), 0);
        cr_assert_eq(frame_receive(w.ends[1], &w.f, 100, 2, &w.err), 1);
        cr_expect_eq(w.f.type, 7);
        cr_expect_eq(w.f.fd_count, 2);
        cr_expect_eq(fcntl(w.f.fds[0], F_GETFD), FD_CLOEXEC);
        wire_close(&w);
}

Test(frame, more_descriptors_than_agreed_end_the_peer)
{
        const struct buffer nothing = BUFFER_INIT;
        struct wire w;

        wire_open(&w);
        cr_assert_eq(frame_send(w.ends[0], 7, &nothing, (int[]){0, 1}, 2, &w.err), 0);
        cr_expect_eq(frame_receive(w.ends[1], &w.f, 100, 1, &w.err), -1);
        cr_expect_eq(w.err.code, CODE_INTERNAL_FRAME);
        wire_close(&w);
}

Test(frame, what_is_too_long_cut_or_lies_about_descriptors_is_refused)
{
        static const struct {
                const char *what;
                unsigned char bytes[12];
                size_t len;
                int result;
        } rows[] = {
                {"end of stream", {0}, 0, 0},
                {"half a header", {1, 0, 0}, 3, -1},
                {"payload cut", {4, 0, 0, 0, 1, 0, 0, 0, 'a', 'b'}, 10, -1},
                {"no payload at all", {4, 0, 0, 0, 1, 0, 0, 0}, 8, -1},
                {"longer than agreed", {255, 255, 255, 255, 1, 0, 0, 0}, 8, -1},
                {"announces descriptors", {0, 0, 0, 0, 1, 0, 1, 0}, 8, -1},
                {"an empty frame", {0, 0, 0, 0, 1, 0, 0, 0}, 8, 1},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct wire w;

                wire_open(&w);
                cr_assert_eq(fd_write_all(w.ends[0], rows[i].bytes, rows[i].len), 0);
                w.ends[0] = fd_close(w.ends[0]);
                cr_expect_eq(frame_receive(w.ends[1], &w.f, 100, 2, &w.err), rows[i].result, "%s",
                        rows[i].what);
                wire_close(&w);
        }
}

Test(frame, an_error_travels_with_its_code_and_is_escaped_on_arrival)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct error got = {0};
        struct reader r;

        put_u16(&b, CODE_ARCHIVE_BAD_NAME);
        put_text(&b, "raw \033[1m");
        r = reader_of(b.data, b.len);
        get_error(&r, &got);
        cr_expect(reader_done(&r));
        cr_expect_eq(got.code, CODE_ARCHIVE_BAD_NAME);
        cr_expect_str_eq(got.text, "raw \\x1b[1m");
        buffer_clear(&b);
        put_u16(&b, 65535);
        put_text(&b, "an unknown code");
        r = reader_of(b.data, b.len);
        get_error(&r, &got);
        cr_expect(r.bad);
}

Test(frame, a_stream_that_is_gathered_shows_its_first_frame_once_it_is_whole)
{
        static const unsigned char whole[] = {3, 0, 0, 0, 7, 0, 0, 0, 'a', 'b', 'c'};
        static const unsigned char with_descriptor[] = {0, 0, 0, 0, 7, 0, 1, 0};
        struct reader payload;
        uint16_t type = 0;

        for (size_t len = 0; len < sizeof whole; len++) {
                _cleanup_buffer_ struct buffer in = BUFFER_INIT;

                buffer_add(&in, whole, len);
                cr_expect_eq(frame_peek(&in, 3, &type, &payload), 0, "%zu bytes", len);
                cr_expect_eq(frame_peek(&in, 2, &type, &payload), len < 8 ? 0 : -1);
        }
        {
                _cleanup_buffer_ struct buffer in = BUFFER_INIT;

                buffer_add(&in, whole, sizeof whole);
                cr_expect_eq(frame_peek(&in, 3, &type, &payload), 1);
                cr_expect(type == 7 && payload.left == 3 && memcmp(payload.at, "abc", 3) == 0);
                buffer_clear(&in);
                buffer_add(&in, with_descriptor, sizeof with_descriptor);
                cr_expect_eq(frame_peek(&in, 3, &type, &payload), -1);
        }
}
