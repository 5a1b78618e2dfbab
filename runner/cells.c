/* Cells that run; see cells.h. What they print is bytes of outsiders, and never looked at. */
#include "cells.h"

#include "fd.h"
#include "interrupt.h"

#include <fcntl.h>
#include <unistd.h>

/* --- pipes ---------------------------------------------------------------------------------- */

static void end_watch(struct running *r, struct watch *w)
{
        loop_remove(&r->cells->loop, w);
        w->fd = fd_close(w->fd);
}

/* Take what is there: how much, or 0 at the end of the pipe, or -1 with errno. */
static ssize_t take_some(struct running *r, int which)
{
        char chunk[65536];
        ssize_t n = read(r->output[which].fd, chunk, sizeof chunk);

        if (n > 0)
                log_add(r->logs[which], chunk, (size_t)n);
        return n;
}

static int take_output(struct running *r, int which, struct error *err)
{
        ssize_t n = take_some(r, which);

        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
                end_watch(r, &r->output[which]);
        return (r->logs[0] ? r->logs[0]->total : 0) + r->logs[1]->total > r->most
                       ? cells_stop(r, CODE_LIMIT_OUTPUT, err)
                       : 0;
}

static int take_standard_output(void *to, short seen, struct error *err)
{
        (void)seen;
        return take_output(to, 0, err);
}

static int take_standard_error(void *to, short seen, struct error *err)
{
        (void)seen;
        return take_output(to, 1, err);
}

/* What it does not read is its own business. */
static int give_input(void *to, short seen, struct error *err)
{
        struct running *r = to;
        ssize_t n = seen & POLLERR ? -1 : write(r->input.fd, r->feed, r->feed_left);

        (void)err;
        if (n > 0) {
                r->feed += n;
                r->feed_left -= (size_t)n;
        }
        if (r->feed_left == 0 || (n < 0 && (seen & POLLERR || (errno != EAGAIN && errno != EINTR))))
                end_watch(r, &r->input);
        return 0;
}

static int watch_pipe(struct running *r, struct watch *w, int ours, bool writing,
        int (*ready)(void *to, short seen, struct error *err), struct error *err)
{
        *w = (struct watch){ours, writing ? POLLOUT : POLLIN, ready, r};
        fcntl(ours, F_SETFL, O_NONBLOCK | (writing ? O_WRONLY : 0));
        if (loop_add(&r->cells->loop, w, err) == 0)
                return 0;
        w->fd = fd_close(w->fd);
        return -1;
}

/* Its input is a pipe, also when it is empty: two cells could talk through the locks of
 * /dev/null. */
static int make_input(struct running *r, struct cell_order *order, struct error *err)
{
        int ends[2];

        if (fd_pipe(ends, err) < 0)
                return -1;
        order->stdio[0] = ends[0];
        if (r->feed_left > 0)
                return watch_pipe(r, &r->input, ends[1], true, give_input, err);
        fd_close(ends[1]);
        return 0;
}

/* The cell's ends are in `order`, to be closed when it has them. */
static int make_pipes(struct running *r, struct cell_order *order,
        const struct running_pipes *pipes, struct error *err)
{
        static int (*const take[2])(void *, short, struct error *) = {
                take_standard_output, take_standard_error};
        int ends[2];

        r->feed = pipes->feed;
        r->feed_left = pipes->feed_size;
        r->most = pipes->most;
        if (!pipes->wired && make_input(r, order, err) < 0)
                return -1;
        for (int i = pipes->wired; i < 2; i++) {
                r->logs[i] = pipes->logs[i];
                if (fd_pipe(ends, err) < 0)
                        return -1;
                order->stdio[1 + i] = ends[1];
                if (watch_pipe(r, &r->output[i], ends[0], false, take[i], err) < 0)
                        return -1;
        }
        return 0;
}

static void end_pipes(struct running *r)
{
        end_watch(r, &r->input);
        for (int i = 0; i < 2; i++)
                end_watch(r, &r->output[i]);
}

/* --- what the supervisor says --------------------------------------------------------------- */

static void forget(struct cells *c, struct running *r)
{
        for (struct running **at = &c->first; *at; at = &(*at)->next)
                if (*at == r) {
                        *at = r->next;
                        return;
                }
}

/* Every writer is gone: what is left in the pipes is all there will be. */
static int take_end(struct cells *c, struct running *r, const struct channel_event *e)
{
        r->stopped = true;
        for (int i = 0; i < 2; i++)
                while (r->output[i].fd >= 0 && take_some(r, i) > 0)
                        continue;
        end_pipes(r);
        r->outcome = e->outcome;
        r->ended = true;
        forget(c, r);
        if (r->on_end)
                r->on_end(r->to, r);
        return 0;
}

static int take_event(struct cells *c, struct channel_event *e, struct error *err)
{
        struct running *r = c->first;

        while (r && r->id != e->id)
                r = r->next;
        if (r && (e->type == CELL_DONE || e->type == CELL_FAILED))
                return take_end(c, r, e);
        if (r && e->type == CELL_SOCKET && r->on_socket) {
                r->on_socket(r->to, e->socket);
                return 0;
        }
        if (r && e->type == CELL_PAUSED && r->on_pause) {
                r->on_pause(r->to, &e->outcome);
                return 0;
        }
        cell_outcome_free(&e->outcome);
        fd_close(e->socket);
        return error_set(err, CODE_INTERNAL_FRAME, "the supervisor told of a cell that nobody has");
}

static int hear(void *to, short seen, struct error *err)
{
        struct cells *c = to;
        struct channel_event event;

        (void)seen;
        return channel_next(c->channel, &event, err) < 0 ? -1 : take_event(c, &event, err);
}

/* --- all ------------------------------------------------------------------------------------ */

int cells_open(struct cells *c, struct channel *channel, struct error *err)
{
        c->channel = channel;
        c->said = (struct watch){channel->socket, POLLIN, hear, c};
        return loop_add(&c->loop, &c->said, err);
}

int cells_start(struct cells *c, struct running *r, struct cell_order *order,
        const struct running_pipes *pipes, struct error *err)
{
        const int own = pipes && !pipes->wired ? 0 : CELL_STDIO - 1; /* the first that we make */

        r->cells = c;
        r->input.fd = r->output[0].fd = r->output[1].fd = -EBADF;
        r->outcome = (struct cell_outcome)CELL_OUTCOME_INIT;
        for (int i = own; pipes && i < CELL_STDIO; i++)
                order->stdio[i] = -EBADF;
        if (!pipes || make_pipes(r, order, pipes, err) == 0)
                r->id = channel_start_cell(c->channel, order, err);
        for (int i = own; pipes && i < CELL_STDIO; i++)
                order->stdio[i] = fd_close(order->stdio[i]);
        if (r->id == 0) {
                end_pipes(r);
                return -1;
        }
        r->next = c->first;
        c->first = r;
        return 0;
}

int cells_stop(struct running *r, enum code reason, struct error *err)
{
        if (r->stopped)
                return 0;
        r->stopped = true;
        return channel_kill(r->cells->channel, r->id, reason, err);
}

static int stop_all(struct cells *c, struct error *err)
{
        for (struct running *r = c->first; r; r = r->next)
                if (cells_stop(r, CODE_INTERRUPTED, err) < 0)
                        return -1;
        return 0;
}

int cells_turn(struct cells *c, struct error *err)
{
        if (interrupt_came() && stop_all(c, err) < 0)
                return -1;
        if (channel_has_early(c->channel))
                return hear(c, POLLIN, err);
        return loop_turn(&c->loop, -1, err);
}

int cells_wait(struct cells *c, const struct running *r, struct error *err)
{
        while (!r->ended)
                if (cells_turn(c, err) < 0)
                        return -1;
        return 0;
}

void cells_close(struct cells *c)
{
        struct error ignored;

        if (!c->channel)
                return;
        if (stop_all(c, &ignored) == 0)
                while (c->first && cells_turn(c, &ignored) == 0)
                        continue;
        /* A supervisor that is lost tells of no end, and its cells are gone with it. */
        for (; c->first; c->first = c->first->next) {
                end_pipes(c->first);
                c->first->ended = true;
        }
}
