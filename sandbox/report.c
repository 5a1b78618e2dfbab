/* How `assay exec` tells how its command ended. */
#include "supervisor.h"

#include "ended.h"
#include "fd.h"

static struct ended ended_of(const struct cell *c)
{
        return (struct ended){
                .failed = c->failed.code != CODE_NONE || (!c->ended && c->stopped == CODE_NONE),
                .end = c->end,
                .status = c->status,
                .stopped = c->stopped,
                .cpu_us = c->usage.cpu_us,
                .wall_us = c->usage.wall_us,
                .memory_peak = c->usage.memory_peak,
        };
}

int report_exit_status(const struct cell *c)
{
        const struct ended e = ended_of(c);

        return ended_exit_status(&e);
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
        ended_number(b, "setup_us", s->done_at[SETUP_EXEC] > s->requested_at,
                s->done_at[SETUP_EXEC] - s->requested_at);
}

int report_write(const struct cell *c, bool timing, int fd, struct error *err)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT, steps = BUFFER_INIT;
        const struct ended e = ended_of(c);

        if (timing)
                add_timing(&steps, &c->setup);
        ended_report(&e, buffer_text(&steps), &b);
        if (!buffer_ok(&b) || !buffer_ok(&steps))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (fd_write_all(fd, b.data, b.len) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
        return 0;
}
