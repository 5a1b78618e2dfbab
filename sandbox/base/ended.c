/* How a command in a cell ended; see ended.h. Pure. */
#include "ended.h"

#include <errno.h>

enum {
        STATUS_TIME_LIMIT = 124,
        STATUS_NOT_EXECUTABLE = 126,
        STATUS_NOT_FOUND = 127,
        STATUS_SIGNAL = 128,
        STATUS_OTHER_LIMIT = 137,
};

int ended_exit_status(const struct ended *e)
{
        if (e->failed)
                return ENDED_FAILED;
        if (e->stopped == CODE_INTERRUPTED)
                return END_INTERRUPTED;
        if (e->stopped == CODE_LIMIT_WALL || e->stopped == CODE_LIMIT_CPU)
                return STATUS_TIME_LIMIT;
        if (e->stopped != CODE_NONE)
                return STATUS_OTHER_LIMIT;
        if (e->end == CELL_EXEC_FAILED)
                return e->status == ENOENT || e->status == ENOTDIR ? STATUS_NOT_FOUND
                                                                   : STATUS_NOT_EXECUTABLE;
        return (int)e->status + (e->end == CELL_SIGNALED ? STATUS_SIGNAL : 0);
}

void ended_number(struct buffer *out, const char *key, bool known, uint64_t value)
{
        if (known)
                buffer_add_format(out, "\"%s\": %llu, ", key, (unsigned long long)value);
        else
                buffer_add_format(out, "\"%s\": null, ", key);
}

void ended_report(const struct ended *e, const char *between, struct buffer *out)
{
        const bool whole = !e->failed && e->stopped == CODE_NONE;

        buffer_add_text(out, "{");
        ended_number(out, "exit", whole && e->end == CELL_EXITED, e->status);
        ended_number(out, "signal", whole && e->end == CELL_SIGNALED, e->status);
        if (e->stopped != CODE_NONE)
                buffer_add_format(out, "\"limit\": \"%s\", ", code_info(e->stopped)->name);
        else
                buffer_add_text(out, "\"limit\": null, ");
        buffer_add_text(out, between);
        ended_number(out, "cpu_ms", true, e->cpu_us / 1000);
        ended_number(out, "wall_ms", true, e->wall_us / 1000);
        if (e->memory_peak > 0)
                buffer_add_format(
                        out, "\"memory_peak\": %llu}\n", (unsigned long long)e->memory_peak);
        else
                buffer_add_text(out, "\"memory_peak\": null}\n");
}
