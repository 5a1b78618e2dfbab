/* How commands end; see fault.h. */
#include "fault.h"

#include <signal.h>

static void describe_limit(enum code code, const struct limits *limits, char ret[FAULT_SIZE])
{
        static const struct {
                enum code code;
                enum limit limit;
                const char *sentence;
        } rows[] = {
                {CODE_LIMIT_WALL, LIMIT_WALL, "ran longer than"},
                {CODE_LIMIT_CPU, LIMIT_CPU, "used more processor time than"},
                {CODE_LIMIT_MEMORY, LIMIT_MEMORY, "needed more memory than"},
                {CODE_LIMIT_PIDS, LIMIT_PIDS, "wanted more processes and threads than"},
                {CODE_LIMIT_DISK, LIMIT_DISK, "filled its file system of"},
                {CODE_LIMIT_OUTPUT, LIMIT_OUTPUT, "printed more than"},
        };
        char value[32];

        snprintf(ret, FAULT_SIZE, "was stopped (%s)", code_info(code)->name);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (rows[i].code == code) {
                        limit_format(
                                rows[i].limit, limits->value[rows[i].limit], value, sizeof value);
                        snprintf(ret, FAULT_SIZE, "%s: %s %s", code_info(code)->name,
                                rows[i].sentence, value);
                }
}

bool fault_describe(const struct cell_outcome *o, const struct limits *limits, const char *program,
        unsigned wanted, char ret[FAULT_SIZE])
{
        if (o->stopped != CODE_NONE)
                describe_limit(o->stopped, limits, ret);
        else if (o->end == CELL_EXEC_FAILED)
                snprintf(ret, FAULT_SIZE, "%.200s cannot be executed: %s", program,
                        strerror((int)o->status));
        else if (o->end == CELL_SIGNALED)
                snprintf(ret, FAULT_SIZE, "died from signal %u (%s)", (unsigned)o->status,
                        strsignal((int)o->status));
        else if (o->status != wanted)
                snprintf(ret, FAULT_SIZE, "exited with status %u, expected %u", (unsigned)o->status,
                        wanted);
        else
                return false;
        return true;
}
