/* The turns of a worker; see worker.h. */
#include "worker.h"

#include "clock.h"
#include "fd.h"
#include "interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { HEALTH_MS = 5000 };

/* --- signals -------------------------------------------------------------------------------- */

/* They are held back already; here they are read, since the second means more than the first. */
static int open_signals(struct worker *w, struct error *err)
{
        sigset_t set;

        interrupt_hold();
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGHUP);
        w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return w->signals >= 0 ? 0
                               : error_errno(err, CODE_INFRA_MEMORY, errno, "cannot hear signals");
}

/* SIGTERM lets end what is at work; the second, and the keyboard's, do not wait. */
static void take_signals(struct worker *w)
{
        struct signalfd_siginfo s;

        while (read(w->signals, &s, sizeof s) == sizeof s) {
                w->stopping |= w->draining || s.ssi_signo != SIGTERM;
                w->draining = true;
        }
        if (!w->stopping)
                return;
        for (unsigned i = 0; i < w->options->jobs; i++)
                worker_tell(&w->works[i]);
}

/* --- turns ---------------------------------------------------------------------------------- */

static struct work *find_free(struct worker *w)
{
        for (unsigned i = 0; i < w->options->jobs; i++)
                if (w->works[i].aside.socket < 0)
                        return &w->works[i];
        return NULL;
}

static bool may_claim(const struct worker *w)
{
        return !w->draining && w->running < w->options->jobs && clock_us() >= w->rest_us;
}

static int claim_more(struct worker *w, struct error *err)
{
        struct work *free;

        while (may_claim(w) && (free = find_free(w)) &&
                (w->queue.woken || clock_us() >= w->look_us)) {
                const int r = worker_claim(w, free, err);

                if (r < 0)
                        return -1;
                if (r == 0)
                        break;
                w->look_us = 0;
                health_write(w);
        }
        return 0;
}

/* Nothing waits, nothing runs, here or elsewhere. */
static int is_empty(struct worker *w, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        uint64_t left = 0;
        struct reader r;

        if (queue_ask(&w->queue, STORE_QUEUE, &nothing, NULL, 0, &f, err) < 0)
                return -1;
        r = reader_of(f.payload.data, f.payload.len);
        for (unsigned i = 0; i < 3; i++)
                left += get_u64(&r);
        return left == 0;
}

/* When a job is told to end, or is not waited for any longer. */
static uint64_t patience_until(const struct worker *w, const struct work *k)
{
        return k->told_us ? k->told_us + (uint64_t)w->options->lease_ms * 1000
                          : k->started_us + w->options->limit_us;
}

/* An evaluation that was taken over may say nothing for ever, and not end when it is told to. */
static int end_late(struct worker *w, struct error *err)
{
        for (unsigned i = 0; i < w->options->jobs; i++) {
                struct work *k = &w->works[i];

                if (k->aside.socket < 0 || clock_us() < patience_until(w, k))
                        continue;
                if (!k->told_us) {
                        k->late = true;
                        worker_tell(k);
                        continue;
                }
                aside_kill(&k->aside);
                if (worker_end(w, k, err) < 0)
                        return -1;
                w->look_us = 0;
        }
        return 0;
}

static int milliseconds_left(const struct worker *w)
{
        const uint64_t now = clock_us();
        uint64_t until = now + HEALTH_MS * 1000ULL;

        for (unsigned i = 0; i < w->options->jobs; i++) {
                const struct work *k = &w->works[i];

                if (k->aside.socket >= 0 && patience_until(w, k) < until)
                        until = patience_until(w, k);
        }

        if (w->running > 0 && w->renew_us < until)
                until = w->renew_us;
        if (may_claim(w) && w->look_us < until)
                until = w->look_us;
        if (w->rest_us > now && w->rest_us < until)
                until = w->rest_us;
        return until <= now ? 0 : (int)((until - now) / 1000 + 1);
}

static int take_ended(struct worker *w, const struct pollfd *fds, struct error *err)
{
        for (unsigned i = 0; i < w->options->jobs; i++) {
                struct work *k = &w->works[i];

                if (k->aside.socket < 0 || !fds[i].revents)
                        continue;
                aside_take(&k->aside);
                if (k->aside.asks && !k->aside.ended)
                        worker_answer(k);
                if (!k->aside.ended)
                        continue;
                if (worker_end(w, k, err) < 0)
                        return -1;
                w->look_us = 0;
                health_write(w);
        }
        return 0;
}

/* 1, or 0: it is over. */
static int turn(struct worker *w, struct pollfd *fds, struct error *err)
{
        enum { SIGNALS, QUEUE, HEALTH, WARM, WORKS };

        if (claim_more(w, err) < 0 || worker_warm(w, err) < 0)
                return -1;
        if (w->running == 0 && w->draining)
                return 0;
        if (w->running == 0 && w->options->until_empty && !w->queue.woken) {
                const int empty = is_empty(w, err);

                if (empty != 0)
                        return empty < 0 ? -1 : 0;
        }
        fds[SIGNALS] = (struct pollfd){.fd = w->signals, .events = POLLIN};
        fds[QUEUE] = (struct pollfd){.fd = w->queue.store.socket, .events = POLLIN};
        fds[HEALTH] = (struct pollfd){.fd = health_socket(w), .events = POLLIN};
        fds[WARM] = (struct pollfd){.fd = w->warming.pidfd, .events = POLLIN};
        for (unsigned i = 0; i < w->options->jobs; i++)
                fds[WORKS + i] = (struct pollfd){.fd = w->works[i].aside.socket, .events = POLLIN};
        if (poll(fds, WORKS + w->options->jobs,
                    may_claim(w) && w->queue.woken ? 0 : milliseconds_left(w)) < 0 &&
                errno != EINTR)
                return error_errno(err, CODE_INFRA_MEMORY, errno, "the worker");
        if (fds[SIGNALS].revents)
                take_signals(w);
        if (fds[HEALTH].revents)
                health_answer(w);
        if (fds[WARM].revents)
                worker_warmed(w);
        if ((fds[QUEUE].revents && queue_listen(&w->queue, err) < 0) ||
                take_ended(w, fds + WORKS, err) < 0 || end_late(w, err) < 0 ||
                (clock_us() >= w->renew_us && worker_renew(w, err) < 0))
                return -1;
        health_write(w);
        return 1;
}

/* --- all of it ------------------------------------------------------------------------------ */

static int run(struct worker *w, struct error *err)
{
        struct pollfd *fds = calloc(w->options->jobs + 4, sizeof *fds);
        int r = 1;

        if (!fds)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        w->renew_us = clock_us();
        while (r > 0)
                r = turn(w, fds, err);
        free(fds);
        return r;
}

/* What is still at work when it fails is nobody's: told all at once, then waited for. */
static void stop_all(struct worker *w)
{
        for (unsigned i = 0; w->works && i < w->options->jobs; i++)
                if (w->works[i].aside.pid > 0)
                        kill(w->works[i].aside.pid, SIGTERM);
        for (unsigned i = 0; w->works && i < w->options->jobs; i++) {
                aside_free(&w->works[i].aside);
                keeper_end(&w->works[i].keeper);
                fd_close(w->works[i].archive);
        }
}

int worker_run(const struct worker_options *o, struct error *err)
{
        struct worker w = {
                .options = o, .queue = QUEUE_INIT, .signals = -EBADF, .warming.pidfd = -EBADF};
        char host[200] = "";
        int r;

        gethostname(host, sizeof host - 1);
        snprintf(w.name, sizeof w.name, "%s:%d", host, getpid());
        w.works = calloc(o->jobs, sizeof *w.works);
        if (!w.works)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (unsigned i = 0; i < o->jobs; i++) {
                w.works[i].aside = (struct aside){.socket = -EBADF, .said = BUFFER_INIT};
                w.works[i].keeper = (struct keeper)KEEPER_INIT;
                w.works[i].archive = -EBADF;
        }
        r = open_signals(&w, err) < 0 || queue_open(&w.queue, o->store, err) < 0 ||
                            health_open(&w, err) < 0
                    ? -1
                    : run(&w, err);
        stop_all(&w);
        worker_warm_end(&w);
        health_write(&w);
        health_close(&w);
        queue_close(&w.queue);
        fd_close(w.signals);
        free(w.works);
        known_tasks_free(&w.tasks);
        return r;
}
