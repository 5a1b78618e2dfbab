/* Naming denied system calls; see trace.h. Runs in the supervisor of `assay exec`. */
#include "trace.h"

#include "filter_sandbox.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CALLS = sizeof filter_sandbox_calls / sizeof *filter_sandbox_calls };

/* The command shares this output: where it has filled it, the line is lost, not our time. */
static bool can_write(void)
{
        struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};

        return poll(&out, 1, 0) == 1 && out.revents & POLLOUT;
}

static void name_call(struct trace *t, int number, const struct filter_call *call)
{
        unsigned at = number >= 0 && number < TRACE_NUMBERS ? (unsigned)number : TRACE_NUMBERS;
        bool known = call->name != NULL;

        if (t->seen[at / 64] & 1ULL << at % 64 || !can_write())
                return;
        t->seen[at / 64] |= 1ULL << at % 64;
        fprintf(stderr, "assay: denied: %s", known ? call->name : "unknown call");
        if (!known)
                fprintf(stderr, " %d", number);
        fprintf(stderr, " (%s)%s%s\n", call->denied_with == ENOSYS ? "ENOSYS" : "EPERM",
                known && *call->why ? ": " : "", known ? call->why : "");
}

void trace_answer(struct trace *t, int listener)
{
        static const struct filter_call unknown = {NULL, ENOSYS, ""};
        struct seccomp_notif asked = {0};
        struct seccomp_notif_resp answer = {0};
        const struct filter_call *call = &unknown;

        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
                return;
        if (asked.data.nr >= 0 && asked.data.nr < CALLS && filter_sandbox_calls[asked.data.nr].name)
                call = &filter_sandbox_calls[asked.data.nr];
        name_call(t, asked.data.nr, call);
        answer.id = asked.id;
        answer.error = -call->denied_with;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}
