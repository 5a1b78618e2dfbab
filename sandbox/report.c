/* How `assay exec` tells how its command ended. */
#include "supervisor.h"

#include "fd.h"

enum {
        STATUS_TIME_LIMIT = 124,
        STATUS_FAILED = 125,
        STATUS_NOT_EXECUTABLE = 126,
        STATUS_NOT_FOUND = 127,
        STATUS_SIGNAL = 128,
        STATUS_OTHER_LIMIT = 137,
};

int report_exit_status(const struct cell *c)
{
        if (c->failed.code != CODE_NONE)
                return STATUS_FAILED;
        if (c->stopped == CODE_INTERRUPTED)
                return END_INTERRUPTED;
        if (c->stopped == CODE_LIMIT_WALL || c->stopped == CODE_LIMIT_CPU)
                return STATUS_TIME_LIMIT;
        if (c->stopped != CODE_NONE)
                return STATUS_OTHER_LIMIT;
        if (c->end == CELL_EXEC_FAILED)
                return c->status == ENOENT || c->status == ENOTDIR ? STATUS_NOT_FOUND
                                                                   : STATUS_NOT_EXECUTABLE;
        return (int)c->status + (c->end == CELL_SIGNALED ? STATUS_SIGNAL : 0);
}

static void add_number_or_null(struct buffer *b, const char *key, bool known, uint64_t value)
{
        if (known)
                buffer_add_format(b, "\"%s\": %llu, ", key, (unsigned long long)value);
        else
                buffer_add_format(b, "\"%s\": null, ", key);
}

/* When each step was done, counted from the request; what was not needed, or was ready before, is
 * left out. */
static void add_timing(struct buffer *b, const struct setup *s)
{
        const char *comma = "";

        buffer_add_text(b, "\"done_us\": {");
        for (unsigned i = 0; i < SETUP_COUNT; i++) {
                if (s->done_at[i] < s->requested_at)
                        continue;
                buffer_add_format(b, "%s\"%s\": %llu", comma, setup_step_name((enum setup_step)i),
                        (unsigned long long)(s->done_at[i] - s->requested_at));
                comma = ", ";
        }
        buffer_add_text(b, "}, ");
        add_number_or_null(b, "setup_us", s->done_at[SETUP_EXEC] > s->requested_at,
                s->done_at[SETUP_EXEC] - s->requested_at);
}

int report_write(const struct cell *c, bool timing, int fd, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        bool whole = c->ended && c->stopped == CODE_NONE;

        buffer_add_text(&b, "{");
        add_number_or_null(&b, "exit", whole && c->end == CELL_EXITED, c->status);
        add_number_or_null(&b, "signal", whole && c->end == CELL_SIGNALED, c->status);
        if (c->stopped != CODE_NONE)
                buffer_add_format(&b, "\"limit\": \"%s\", ", code_info(c->stopped)->name);
        else
                buffer_add_text(&b, "\"limit\": null, ");
        if (timing)
                add_timing(&b, &c->setup);
        add_number_or_null(&b, "cpu_ms", true, c->usage.cpu_us / 1000);
        add_number_or_null(&b, "wall_ms", true, c->usage.wall_us / 1000);
        if (c->usage.memory_peak > 0)
                buffer_add_format(
                        &b, "\"memory_peak\": %llu}\n", (unsigned long long)c->usage.memory_peak);
        else
                buffer_add_text(&b, "\"memory_peak\": null}\n");
        if (!buffer_ok(&b))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (fd_write_all(fd, b.data, b.len) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
        return 0;
}
