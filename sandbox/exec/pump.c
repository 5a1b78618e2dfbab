/* Bytes between the suite and a command; see pump.h. Nothing here may wait: what the command reads
 * can depend on what the suite got before.
 *
 * Output is spliced. Input is copied: pages of the suite's files are never in a pipe that the
 * command holds. */
#include "sandbox/exec/pump.h"

#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

int pump_init(struct pump *p, const int pipes[PUMP_FLOWS], uint64_t output, struct error *err)
{
        *p = (struct pump){.left = output};
        for (int i = 0; i < PUMP_FLOWS; i++) {
                struct flow *f = &p->flows[i];

                f->from = i == PUMP_IN ? STDIN_FILENO : pipes[i];
                f->to = i == PUMP_IN ? pipes[i] : i;
                fcntl(pipes[i], F_SETFL, fcntl(pipes[i], F_GETFL) | O_NONBLOCK);
        }
        p->flows[PUMP_IN].chunk = malloc(PUMP_CHUNK);
        return p->flows[PUMP_IN].chunk ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static void end(struct flow *f)
{
        f->from = fd_close(f->from);
        f->to = fd_close(f->to);
        f->held = 0;
        f->ready = false;
}

/* First its source, and when there is something, its target. */
void pump_watch(const struct pump *p, struct pollfd *fds)
{
        for (int i = 0; i < PUMP_FLOWS; i++) {
                const struct flow *f = &p->flows[i];
                const bool writing = f->ready || f->held > 0;

                fds[i] = (struct pollfd){
                        .fd = writing ? f->to : f->from, .events = writing ? POLLOUT : POLLIN};
        }
}

/* At most what the kernel takes into a pipe that it says can be written to. */
static void write_held(struct flow *f)
{
        ssize_t n = write(f->to, f->chunk + f->at, f->held < PIPE_BUF ? f->held : PIPE_BUF);

        if (n > 0) {
                f->at += (size_t)n;
                f->held -= (size_t)n;
        } else if (n < 0 && errno != EAGAIN && errno != EINTR)
                end(f);
}

static void read_more(struct flow *f, size_t most)
{
        ssize_t n = read(f->from, f->chunk, most);

        f->ready = false;
        f->at = 0;
        if (n > 0)
                f->held = (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                end(f);
}

/* Terminals, and files that are appended to, cannot be spliced to: from then on it is copied. */
static size_t splice_some(struct flow *f, size_t most)
{
        ssize_t n = splice(f->from, NULL, f->to, NULL, most, SPLICE_F_NONBLOCK);

        f->ready = false;
        if (n < 0 && errno == EINVAL) {
                f->chunk = malloc(PUMP_CHUNK);
                f->ready = f->chunk;
                if (!f->chunk)
                        end(f);
        } else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
                end(f);
        return n > 0 ? (size_t)n : 0;
}

static void step_input(struct flow *f, short seen)
{
        if (f->held > 0 && seen & POLLERR)
                end(f); /* the command does not read any more */
        else if (f->held > 0)
                write_held(f);
        else
                read_more(f, PUMP_CHUNK);
}

static void step_output(struct pump *p, struct flow *f, short seen)
{
        size_t most = p->left < PUMP_CHUNK ? (size_t)p->left : PUMP_CHUNK, before = f->held;

        if (!f->ready && f->held == 0) {
                f->ready = (seen & POLLIN) != 0;
                if (!f->ready)
                        end(f);
                else if (p->left == 0)
                        p->too_much = true;
        } else if (seen & POLLERR)
                end(f); /* nobody reads it any more: the command will hear of it */
        else if (f->held > 0)
                write_held(f);
        else if (f->chunk) {
                read_more(f, most);
                p->left -= f->held - before;
        } else
                p->left -= splice_some(f, most);
}

void pump_step(struct pump *p, const struct pollfd *fds)
{
        if (fds[PUMP_IN].revents)
                step_input(&p->flows[PUMP_IN], fds[PUMP_IN].revents);
        for (int i = PUMP_OUT; i < PUMP_FLOWS && !p->too_much; i++)
                if (fds[i].revents)
                        step_output(p, &p->flows[i], fds[i].revents);
        for (int i = PUMP_OUT; i < PUMP_FLOWS && p->too_much; i++)
                end(&p->flows[i]);
}

bool pump_is_busy(const struct pump *p)
{
        for (int i = PUMP_OUT; i < PUMP_FLOWS; i++)
                if (p->flows[i].ready || p->flows[i].held > 0)
                        return true;
        return false;
}

bool pump_is_over(const struct pump *p)
{
        return p->flows[PUMP_OUT].from < 0 && p->flows[PUMP_ERR].from < 0;
}
