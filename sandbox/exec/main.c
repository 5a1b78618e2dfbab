/* assay-exec: in the cell of a suite, run a command of the submission in a cell of its own.
 *
 *      assay-exec [OPTIONS] -- CMD…
 *
 * It calls the broker, which is `assay`, by a socket that the cell has, is given the ends of three
 * pipes, moves bytes between them and its own standard input, output and error, and passes the
 * command's status on. No descriptor of the suite goes the other way. It is put into cells of any
 * image: static, small, and without need of any file but that socket. */
#include "sandbox/exec/messages.h"
#include "sandbox/exec/pump.h"

#include "ended.h"
#include "fd.h"
#include "frame.h"
#include "limit.h"
#include "sandbox/messages.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LIMITS = 4 };

/* In the order of CALL_START. */
static const struct {
        const char *option;
        enum limit limit;
} limit_options[LIMITS] = {
        {"--timeout", LIMIT_WALL},
        {"--cpu", LIMIT_CPU},
        {"--memory", LIMIT_MEMORY},
        {"--output", LIMIT_OUTPUT},
};

struct call {
        uint64_t limits[LIMITS]; /* 0: the task's */
        const char *session, *report;
        char **command;
        int socket, report_fd;
};

static const char help[] =
        "usage: assay-exec [OPTIONS] -- CMD…\n\n"
        "Runs a command of the submission in a cell of its own, in the submission's directory.\n\n"
        "  --timeout T      at most so long, such as 2s\n"
        "  --cpu T          at most so much processor time\n"
        "  --memory SIZE    at most so much memory, such as 256MiB\n"
        "  --output SIZE    at most so much output\n"
        "  --session NAME   with the files and processes of earlier calls of this name\n"
        "  --report FILE    how it ended and what it used, as JSON\n\n"
        "exit status: the command's; 124 time limit, 125 Assay failed, 126 not executable,\n"
        "127 not found, 128+n signal, 137 another limit\n";

/* --- the command line ----------------------------------------------------------------------- */

static int take_limit(struct call *c, const char *option, const char *value, struct error *err)
{
        for (int i = 0; i < LIMITS; i++)
                if (strcmp(limit_options[i].option, option) == 0)
                        return limit_parse(limit_options[i].limit, value, &c->limits[i], err) < 0
                                       ? error_add(err, "%s %s", option, value)
                                       : 0;
        return error_set(err, CODE_USAGE, "%s: no such option", option);
}

static int take_option(struct call *c, const char *option, const char *value, struct error *err)
{
        if (!value)
                return error_set(err, CODE_USAGE, "%s: needs a value", option);
        if (strcmp(option, "--session") == 0 && (!*value || strlen(value) > CALL_MAX_SESSION))
                return error_set(
                        err, CODE_USAGE, "--session: a name of 1 to %d bytes", CALL_MAX_SESSION);
        if (strcmp(option, "--session") == 0)
                c->session = value;
        else if (strcmp(option, "--report") == 0)
                c->report = value;
        else
                return take_limit(c, option, value, err);
        return 0;
}

/* --name VALUE or --name=VALUE, until -- or the first word that is no option. */
static int take_arguments(struct call *c, char **argv, struct error *err)
{
        for (; *argv && strncmp(*argv, "--", 2) == 0 && (*argv)[2]; argv++) {
                char *equals = strchr(*argv, '=');

                if (equals)
                        *equals++ = '\0';
                if (take_option(c, argv[0], equals ? equals : argv[1], err) < 0)
                        return -1;
                argv += !equals;
        }
        c->command = argv + (*argv && strcmp(*argv, "--") == 0);
        return *c->command ? 0 : error_set(err, CODE_USAGE, "there is no command");
}

/* --- the broker ----------------------------------------------------------------------------- */

static int call_broker(struct call *c, struct error *err)
{
        const struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = CALLS_SOCKET};
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;
        uint32_t count = 0;

        c->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (c->socket < 0 || connect(c->socket, (const struct sockaddr *)&at, sizeof at) < 0)
                return error_errno(err, CODE_INFRA_IO, errno,
                        "no broker: the task must say \"broker\": true, and this must run in the "
                        "suite's cell");
        for (int i = 0; i < LIMITS; i++)
                put_u64(&request, c->limits[i]);
        put_text(&request, c->session);
        while (c->command[count])
                count++;
        put_u32(&request, count);
        for (uint32_t i = 0; i < count; i++)
                put_text(&request, c->command[i]);
        if (!buffer_ok(&request) || request.len > CALL_MAX_REQUEST)
                return error_set(
                        err, CODE_USAGE, "the command has more than %d bytes", CALL_MAX_REQUEST);
        return frame_send(c->socket, CALL_START, &request, NULL, 0, err);
}

static int broker_lost(struct error *err)
{
        return error_set(err, CODE_INFRA_IO, "the broker ended the call");
}

/* The next answer; one that says that the call failed is an error. */
static int hear(struct call *c, struct frame *f, enum call_message wanted, struct error *err)
{
        struct reader r;
        int got = frame_receive(c->socket, f, CALL_MAX_REQUEST, PUMP_FLOWS, err);

        if (got <= 0)
                return got < 0 ? -1 : broker_lost(err);
        if (f->type == wanted)
                return 0;
        r = reader_of(f->payload.data, f->payload.len);
        if (f->type != CALL_FAILED)
                return broker_lost(err);
        get_error(&r, err);
        return -1;
}

static int begin(struct call *c, struct pump *p, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        int pipes[PUMP_FLOWS];
        struct reader r;
        uint64_t output;

        if (call_broker(c, err) < 0 || hear(c, &f, CALL_STARTED, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        output = get_u64(&r);
        if (!reader_done(&r) || f.fd_count != PUMP_FLOWS)
                return broker_lost(err);
        for (int i = 0; i < PUMP_FLOWS; i++)
                pipes[i] = take_fd(&f.fds[i]);
        return pump_init(p, pipes, output, err);
}

static int take_end(struct call *c, struct ended *ret, bool *ret_alive, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        if (hear(c, &f, CALL_DONE, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        ret->end = (enum cell_end)get_u8(&r);
        ret->status = get_u32(&r);
        ret->stopped = (enum code)get_u16(&r);
        ret->cpu_us = get_u64(&r);
        ret->wall_us = get_u64(&r);
        ret->memory_peak = get_u64(&r);
        *ret_alive = get_u8(&r);
        return reader_done(&r) ? 0 : broker_lost(err);
}

/* Until the command has ended and all that it printed is passed on. */
static int follow(struct call *c, struct pump *p, struct ended *ret, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        bool ended = false, told = false, alive = false;

        while (!ended || !pump_is_over(p)) {
                struct pollfd fds[PUMP_FLOWS + 1];
                int ready;

                pump_watch(p, fds);
                fds[PUMP_FLOWS] = (struct pollfd){.fd = ended ? -1 : c->socket, .events = POLLIN};
                if (ended)
                        fds[PUMP_IN].fd = -1; /* nobody is there to read it */
                /* Of a session, what its command had printed is in the pipes; nobody waits for what
                 * its other processes print. */
                ready = poll(fds, PUMP_FLOWS + 1, alive && !pump_is_busy(p) ? 0 : -1);
                if (ready < 0 && errno != EINTR)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot wait");
                if (ready == 0)
                        return 0;
                pump_step(p, fds);
                if (p->too_much && !told && !ended)
                        told = frame_send(c->socket, CALL_STOP, &nothing, NULL, 0, err) == 0;
                if (fds[PUMP_FLOWS].revents && take_end(c, ret, &alive, err) < 0)
                        return -1;
                ended |= fds[PUMP_FLOWS].revents != 0;
        }
        return 0;
}

static int write_report(const struct call *c, const struct ended *e, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        if (c->report_fd < 0)
                return 0;
        ended_report(e, "", &out);
        return buffer_ok(&out) && fd_write_all(c->report_fd, out.data, out.len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "--report %s", c->report);
}

static int run(struct call *c, struct ended *ret, struct error *err)
{
        struct pump pump;

        if (c->report) {
                c->report_fd = open(c->report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
                if (c->report_fd < 0)
                        return error_errno(err, CODE_USAGE, errno, "--report %s", c->report);
        }
        return begin(c, &pump, err) < 0 || follow(c, &pump, ret, err) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
        struct call call = {.session = "", .socket = -EBADF, .report_fd = -EBADF};
        struct ended ended = {.failed = true};
        struct error err = {0};
        int r = fd_fill_stdio(&err);

        signal(SIGPIPE, SIG_IGN);
        if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fd_write_all(STDOUT_FILENO, help, sizeof help - 1) < 0;
        if (r == 0)
                r = take_arguments(&call, argv + 1, &err);
        if (r == 0)
                r = run(&call, &ended, &err);
        ended.failed = r < 0;
        /* A call that failed has a report too. */
        if (write_report(&call, &ended, r < 0 ? NULL : &err) < 0 && r == 0)
                r = -1;
        if (r == 0)
                return ended_exit_status(&ended);
        fprintf(stderr, "assay-exec: %s: %s\n", code_info(err.code)->name, err.text);
        return ENDED_FAILED;
}
