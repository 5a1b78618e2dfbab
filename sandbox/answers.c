/* What the supervisor says to its runner; layouts in messages.h. */
#include "supervisor.h"

#include "fd.h"

#include <sys/socket.h>

/* When the runner is gone, or does not listen, there is nothing left to supervise: what it would
 * say next is its end. */
void answer(uint16_t type, const struct buffer *payload, const int *fds, unsigned count)
{
        if (frame_send(SUPERVISOR_SOCKET, type, payload, fds, count, NULL) < 0)
                shutdown(SUPERVISOR_SOCKET, SHUT_RDWR);
}

void answer_failed(uint32_t id, const struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u32(&payload, id);
        put_error(&payload, err);
        answer(CELL_FAILED, &payload, NULL, 0);
}

void answer_ready(const struct machine *m)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u8(&payload, m->root);
        put_u8(&payload, (uint8_t)m->ids);
        put_u8(&payload, (uint8_t)m->groups.version);
        put_u8(&payload, m->landlock);
        put_u64(&payload, m->weak);
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                put_u8(&payload, m->enforcers[i]);
        answer(SUPERVISOR_READY, &payload, NULL, 0);
}

/* The result files that are there; and the tree, if it was to be kept. Returns how many descriptors
 * there are now. */
static unsigned put_results(const struct cell *c, struct buffer *payload, int *fds)
{
        unsigned count = 0;

        put_u32(payload, c->request.result_count);
        for (unsigned i = 0; i < c->request.result_count; i++) {
                uint64_t size;
                enum result_state state = cell_result(c, i, &fds[count], &size);

                put_u8(payload, (uint8_t)state);
                put_u64(payload, size);
                count += state == RESULT_FILE;
        }
        put_u8(payload, c->mounts.kept >= 0);
        return count;
}

void answer_done(const struct cell *c)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        int fds[CELL_MAX_RESULTS + 1];
        unsigned results;

        if (c->failed.code != CODE_NONE) {
                answer_failed(c->request.id, &c->failed);
                return;
        }
        put_u32(&payload, c->request.id);
        put_u8(&payload, (uint8_t)c->end);
        put_u32(&payload, c->status);
        put_u16(&payload, (uint16_t)c->stopped);
        put_u64(&payload, c->usage.cpu_us);
        put_u64(&payload, c->usage.wall_us);
        put_u64(&payload, c->usage.memory_peak);
        put_u64(&payload, c->usage.pids_peak);
        put_u64(&payload, c->usage.oom_kills);
        for (unsigned i = 0; i < SETUP_COUNT; i++) {
                uint64_t done = c->setup.done_at[i], from = c->setup.requested_at;

                put_u32(&payload, done > from ? (uint32_t)(done - from) : 0);
        }
        results = put_results(c, &payload, fds);
        fds[results] = c->mounts.kept;
        answer(CELL_DONE, &payload, fds, results + (c->mounts.kept >= 0));
        while (results > 0)
                fd_close(fds[--results]);
}

void answer_socket(struct cell *c)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u32(&payload, c->request.id);
        answer(CELL_SOCKET, &payload, &c->calls, 1);
        c->calls = fd_close(c->calls);
}

void answer_paused(struct cell *c)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        c->tell_pause = false;
        put_u32(&payload, c->request.id);
        put_u8(&payload, (uint8_t)c->end);
        put_u32(&payload, c->status);
        put_u64(&payload, c->usage.cpu_us - c->cpu_before);
        put_u64(&payload, c->usage.wall_us);
        put_u64(&payload, c->usage.memory_peak);
        answer(CELL_PAUSED, &payload, NULL, 0);
}

void answer_helper_end(struct helper_process *h)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        uint32_t id = h->id;

        put_u32(&payload, id);
        put_u32(&payload, helper_end(h));
        answer(HELPER_DONE, &payload, NULL, 0);
}
