/* Waiting for several things at once; see loop.h. */
#include "loop.h"

#include "interrupt.h"

#include <errno.h>

int loop_add(struct loop *l, struct watch *w, struct error *err)
{
        if (l->count == LOOP_MAX)
                return error_set(err, CODE_INFRA_IO, "too much to wait for at once");
        l->watches[l->count++] = w;
        return 0;
}

void loop_remove(struct loop *l, struct watch *w)
{
        for (unsigned i = 0; i < l->count; i++)
                if (l->watches[i] == w)
                        l->watches[i] = NULL;
}

static void close_gaps(struct loop *l)
{
        unsigned kept = 0;

        for (unsigned i = 0; i < l->count; i++)
                if (l->watches[i])
                        l->watches[kept++] = l->watches[i];
        l->count = kept;
}

int loop_turn(struct loop *l, int milliseconds, struct error *err)
{
        static struct pollfd fds[LOOP_MAX];
        unsigned count;

        close_gaps(l);
        count = l->count;
        for (unsigned i = 0; i < count; i++)
                fds[i] = (struct pollfd){.fd = l->watches[i]->fd, .events = l->watches[i]->events};
        if (interrupt_poll(fds, count, milliseconds) < 0)
                return errno == EINTR
                               ? 0
                               : error_errno(err, CODE_INFRA_IO, errno, "cannot wait for cells");
        for (unsigned i = 0; i < count; i++) {
                struct watch *w = l->watches[i];

                if (w && fds[i].revents && w->ready(w->to, fds[i].revents, err) < 0)
                        return -1;
        }
        return 0;
}
