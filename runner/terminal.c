/* Bytes between our standard descriptors and a cell; see terminal.h. */
#include "terminal.h"

#include "fd.h"
#include "interrupt.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* --- one direction -------------------------------------------------------------------------- */

static void pump_end(struct pump *p)
{
        loop_remove(p->loop, &p->from);
        loop_remove(p->loop, &p->to);
        if (p->own_in)
                fd_close(p->in);
        if (p->own_out)
                fd_close(p->out);
        p->in = p->out = p->from.fd = p->to.fd = -EBADF;
}

/* Wait for what is next: something to carry, or room for it. */
static void pump_turn(struct pump *p)
{
        p->from.fd = p->len == 0 ? p->in : -EBADF;
        p->to.fd = p->len > 0 ? p->out : -EBADF;
}

static int pump_read(void *to, short seen, struct error *err)
{
        struct pump *p = to;
        ssize_t n = read(p->in, p->bytes, sizeof p->bytes);

        (void)seen;
        (void)err;
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
                pump_end(p);
                return 0;
        }
        p->at = 0;
        p->len = n > 0 ? (size_t)n : 0;
        pump_turn(p);
        return 0;
}

static int pump_write(void *to, short seen, struct error *err)
{
        struct pump *p = to;
        /* So much fits when there is room at all: who blocks hears no signal. */
        const size_t most = p->own_out || p->len < PIPE_BUF ? p->len : PIPE_BUF;
        ssize_t n = write(p->out, p->bytes + p->at, most);

        (void)seen;
        (void)err;
        if (n < 0 && errno != EINTR && errno != EAGAIN) {
                pump_end(p);
                return 0;
        }
        p->at += n > 0 ? (size_t)n : 0;
        p->len -= n > 0 ? (size_t)n : 0;
        pump_turn(p);
        return 0;
}

/* What is of others stays as it is: theirs may be somebody else's too. */
static int pump_begin(
        struct terminal *t, struct loop *loop, int in, int out, int ours[2], struct error *err)
{
        struct pump *p = &t->pumps[t->pump_count];

        p->loop = loop;
        p->in = in;
        p->out = out;
        p->own_in = ours[0];
        p->own_out = ours[1];
        p->len = 0;
        p->from = (struct watch){in, POLLIN, pump_read, p};
        p->to = (struct watch){-EBADF, POLLOUT, pump_write, p};
        if (ours[0])
                fcntl(in, F_SETFL, O_NONBLOCK);
        if (ours[1])
                fcntl(out, F_SETFL, O_NONBLOCK | O_WRONLY);
        if (loop_add(loop, &p->from, err) < 0 || loop_add(loop, &p->to, err) < 0)
                return -1;
        t->pump_count++;
        return 0;
}

/* The cell has ended: what is still to be read of it is all there will be. After a signal nobody
 * waits until that is taken. */
static void pump_drain(struct pump *p)
{
        while (p->out >= 0) {
                struct pollfd room = {.fd = p->out, .events = POLLOUT};

                if (p->len > 0) {
                        if (!interrupt_came())
                                interrupt_poll(&room, 1, -1);
                        if (interrupt_came())
                                return;
                        pump_write(p, 0, NULL);
                } else if (pump_read(p, 0, NULL), p->len == 0)
                        return;
        }
}

/* --- with a terminal ------------------------------------------------------------------------ */

void terminal_resize(const struct terminal *t)
{
        struct winsize size;

        if (t->master >= 0 && ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0)
                ioctl(t->master, TIOCSWINSZ, &size);
}

static int open_pair(struct terminal *t, int *ret_slave, struct error *err)
{
        t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        if (t->master >= 0 && grantpt(t->master) == 0 && unlockpt(t->master) == 0)
                *ret_slave = ioctl(t->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
        return *ret_slave >= 0 ? 0 : error_errno(err, CODE_INFRA_IO, errno, "a terminal");
}

static int open_terminal(struct terminal *t, struct loop *loop, int stdio[3], struct error *err)
{
        struct termios raw = t->saved;
        int slave = -1, second;

        if (open_pair(t, &slave, err) < 0)
                return -1;
        terminal_resize(t);
        second = fcntl(t->master, F_DUPFD_CLOEXEC, 3);
        for (int i = 0; i < 3; i++)
                stdio[i] = i == 0 ? slave : fcntl(slave, F_DUPFD_CLOEXEC, 3);
        if (second < 0 || stdio[1] < 0 || stdio[2] < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "a terminal");
        if (pump_begin(t, loop, STDIN_FILENO, second, (int[]){0, 1}, err) < 0 ||
                pump_begin(t, loop, t->master, STDOUT_FILENO, (int[]){0, 0}, err) < 0)
                return -1;
        cfmakeraw(&raw);
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
        return 0;
}

/* --- without -------------------------------------------------------------------------------- */

static int open_pipes(struct terminal *t, struct loop *loop, int stdio[3], struct error *err)
{
        for (int i = 0; i < 3; i++) {
                int ends[2];

                if (fd_pipe(ends, err) < 0)
                        return -1;
                stdio[i] = ends[i == 0 ? 0 : 1];
                if ((i == 0 ? pump_begin(t, loop, STDIN_FILENO, ends[1], (int[]){0, 1}, err)
                            : pump_begin(t, loop, ends[0], i, (int[]){1, 0}, err)) < 0)
                        return -1;
        }
        return 0;
}

int terminal_open(struct terminal *t, struct loop *loop, int stdio[3], struct error *err)
{
        t->master = -EBADF;
        t->pump_count = 0;
        for (int i = 0; i < 3; i++)
                stdio[i] = -EBADF;
        return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
                               tcgetattr(STDIN_FILENO, &t->saved) == 0
                       ? open_terminal(t, loop, stdio, err)
                       : open_pipes(t, loop, stdio, err);
}

void terminal_close(struct terminal *t)
{
        for (unsigned i = 0; i < t->pump_count; i++) {
                if (i > 0)
                        pump_drain(&t->pumps[i]);
                pump_end(&t->pumps[i]);
        }
        if (t->master >= 0)
                tcsetattr(STDIN_FILENO, TCSADRAIN, &t->saved);
        t->master = fd_close(t->master);
        t->pump_count = 0;
}
