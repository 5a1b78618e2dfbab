/* CELL_START as the supervisor reads it: sandbox/request. */
#include "fd.h"
#include "sandbox/request.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

/* What can be wrong with a request; the good one is the last row. */
enum fault {
        BAD_PROFILE,
        BAD_FLAGS,
        SUBMISSION_WITH_NETWORK,
        BAD_LIMIT,
        BAD_USER,
        BAD_WORKDIR,
        NO_ARGUMENTS,
        BAD_PLACE,
        BAD_PLACE_KIND,
        BAD_FILE_PLACE,
        BAD_RESULT_DIR,
        RESULT_NOWHERE,
        TOO_MANY_RESULTS,
        TOO_FEW_FDS,
        TOO_MANY_LAYERS,
        TRAILING,
        NO_FAULT,
};

static void fill(struct buffer *b, enum fault fault)
{
        struct limits limits;

        limits_standard(&limits, CELL_SUITE);
        limits_settle(&limits);
        if (fault == BAD_LIMIT)
                limits.value[LIMIT_MEMORY] = 0;
        put_u32(b, 9);
        put_u8(b, fault == BAD_PROFILE               ? PROFILE_COUNT
                  : fault == SUBMISSION_WITH_NETWORK ? PROFILE_SUBMISSION
                                                     : PROFILE_SUITE);
        put_u8(b, fault == BAD_FLAGS ? 0x80 : CELL_NETWORK);
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                put_u64(b, limits.value[i]);
        put_u32(b, fault == BAD_USER ? IDS_NETWORK : 1000);
        put_u32(b, 1000);
        put_text(b, fault == BAD_WORKDIR ? "relative" : "/");
        put_u32(b, fault != NO_ARGUMENTS);
        if (fault != NO_ARGUMENTS)
                put_text(b, "/tests/run");
        put_u32(b, 1);
        put_text(b, "A=b");
        put_u32(b, 1);
        put_u8(b, fault == BAD_PLACE_KIND ? PLACE_KIND_COUNT : PLACE_VIEW);
        put_text(b, fault == BAD_PLACE ? "/a/../b" : "/tests");
        put_u32(b, fault == TOO_MANY_LAYERS ? CELL_MAX_LAYERS + 1 : 1);
        put_u32(b, 1);
        put_text(b, fault == BAD_FILE_PLACE ? "data.json" : "/grade/data.json");
        put_u8(b, 0);
        put_bytes(b, "{}", 2);
        put_text(b, fault == BAD_RESULT_DIR ? "/.." : fault == RESULT_NOWHERE ? "" : "/results");
        put_u32(b, fault == TOO_MANY_RESULTS ? CELL_MAX_RESULTS + 1 : 2);
        put_text(b, "score.json");
        put_text(b, "tests.jsonl");
        if (fault == TRAILING)
                put_u8(b, 0);
}

static int decode(enum fault fault, struct cell_request *ret)
{
        struct frame f = FRAME_INIT;
        struct error err = {0};
        int r;

        fill(&f.payload, fault);
        f.fd_count = fault == TOO_FEW_FDS ? 4 : 5;
        for (unsigned i = 0; i < f.fd_count; i++)
                f.fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
        r = request_decode(&f, ret, &err);
        cr_expect(r == 0 || err.code == CODE_INTERNAL_FRAME);
        frame_free(&f);
        return r;
}

Test(request, a_good_one_is_taken_over)
{
        struct cell_request q;

        cr_assert_eq(decode(NO_FAULT, &q), 0);
        cr_expect_eq(q.id, 9);
        cr_expect_str_eq(q.argv[0], "/tests/run");
        cr_expect_null(q.argv[1]);
        cr_expect_str_eq(q.envp[0], "A=b");
        cr_expect_str_eq(q.mounts[0].place, "/tests");
        cr_expect_geq(q.mounts[0].tree, 0);
        cr_expect_eq(q.file_count, 1);
        cr_expect_str_eq(q.files[0].place, "/grade/data.json");
        cr_expect(q.files[0].size == 2 && memcmp(q.files[0].bytes, "{}", 2) == 0);
        cr_expect_eq(q.result_count, 2);
        cr_expect_str_eq(q.results[1], "tests.jsonl");
        cr_expect_eq(q.layer_count, 1);
        cr_expect_geq(q.layers[0], 0);
        request_free(&q);
}

Test(request, every_fault_is_refused_and_leaks_no_descriptor)
{
        int before = dup(0);

        close(before);
        for (enum fault fault = BAD_PROFILE; fault < NO_FAULT; fault++) {
                struct cell_request q;

                cr_expect_eq(decode(fault, &q), -1, "fault %d", (int)fault);
        }
        cr_expect_eq(dup(0), before, "a descriptor was left open");
}

Test(request, every_truncation_is_refused)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        fill(&b, NO_FAULT);
        for (size_t len = 0; len < b.len; len++) {
                struct frame f = FRAME_INIT;
                struct cell_request q;

                buffer_add(&f.payload, b.data, len);
                f.fd_count = 5;
                for (unsigned i = 0; i < 5; i++)
                        f.fds[i] = -EBADF;
                cr_expect_eq(request_decode(&f, &q, NULL), -1, "length %zu", len);
                frame_free(&f);
        }
}
