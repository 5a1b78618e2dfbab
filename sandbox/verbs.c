/* What a runner may ask of the supervisor: a verb for each message. It may have been taken over by
 * what it reads, so what it asks is held against what it said before it read anything. */
#include "supervisor.h"

#include "clock.h"
#include "fd.h"
#include "undertaker.h"

#include <signal.h>
#include <sys/stat.h>

/* One that was made before, if it still lives, else a new one. */
static struct cell *take_prepared(struct supervisor *s, struct error *err)
{
        while (s->now.prepared_count > 0) {
                struct cell *c = s->now.prepared[--s->now.prepared_count];

                if (cell_waits(c))
                        return c;
                cell_free(c);
        }
        return cell_prepare(&s->machine, err);
}

/* That it cannot be made now will show when it is asked for. */
static void prepare_cell(struct supervisor *s, struct frame *f, struct error *err)
{
        struct error unused;
        struct cell *c;

        if (f->payload.len > 0 || f->fd_count > 0) {
                error_set(err, CODE_INTERNAL_FRAME, "a request to prepare is malformed");
                return;
        }
        if (s->now.prepared_count == SUPERVISOR_MAX_PREPARED)
                return;
        c = cell_prepare(&s->machine, &unused);
        if (c)
                s->now.prepared[s->now.prepared_count++] = c;
}

struct cell *supervisor_make_cell(struct supervisor *s, struct cell_request *request,
        const struct buffer *payload, struct error *err)
{
        uint64_t requested_at = clock_us();
        struct cell *c = take_prepared(s, err);

        if (!c) {
                request_free(request);
                return NULL;
        }
        c->setup.requested_at = requested_at;
        return cell_start(c, request, payload, err);
}

static void trust_tree(struct supervisor *s, struct frame *f, struct error *err)
{
        if (s->now.sealed || f->payload.len > 0 || f->fd_count != 1 ||
                s->now.tree_count == SUPERVISOR_MAX_TREES) {
                error_set(err, CODE_INTERNAL_FRAME, "a tree comes too late or is malformed");
                return;
        }
        s->now.trees[s->now.tree_count++] = take_fd(&f->fds[0]);
}

static void allow_flags(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint8_t flags = get_u8(&r);

        if (s->now.sealed || !reader_done(&r) || flags & ~CELL_NETWORK || f->fd_count > 0) {
                error_set(
                        err, CODE_INTERNAL_FRAME, "what cells may comes too late or is malformed");
                return;
        }
        s->now.allowed = flags;
}

static void name_owner(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint32_t owner = get_u32(&r);

        if (!reader_done(&r) || f->fd_count > 0 || s->now.sealed) {
                error_set(err, CODE_INTERNAL_FRAME, "an owner comes too late or is malformed");
                return;
        }
        s->now.owner = owner;
}

bool supervisor_trusts(const struct supervisor *s, int tree)
{
        struct stat asked, named;

        for (unsigned i = 0; fstat(tree, &asked) == 0 && i < s->now.tree_count; i++)
                if (fstat(s->now.trees[i], &named) == 0 && named.st_dev == asked.st_dev &&
                        named.st_ino == asked.st_ino)
                        return true;
        return false;
}

/* A task may be readable for root alone: what the runner compares or copies of it, it reads so. */
static void show_tree(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        const uint32_t id = get_u32(&r);
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_fd_ int shown = -EBADF;
        struct error cannot;

        if (!reader_done(&r) || f->fd_count != 1 || s->now.owner == 0 ||
                !supervisor_trusts(s, f->fds[0])) {
                error_set(err, CODE_INTERNAL_FRAME, "a request to show a tree is malformed");
                return;
        }
        shown = mounts_give(f->fds[0], s->now.owner);
        put_u32(&payload, id);
        if (shown >= 0)
                answer(CELL_SHOWN, &payload, &shown, 1);
        else {
                error_errno(&cannot, CODE_INFRA_CELL, errno, "cannot show a directory");
                answer_failed(id, &cannot);
        }
}

/* A runner may have been taken over by what it reads: it must not get more through cells than it
 * had before, nor what only people who debug may have. */
static bool may_ask(const struct supervisor *s, const struct cell_request *q)
{
        if (q->flags & CELL_TRACE_DENIED || q->profile == PROFILE_DEBUG ||
                q->flags & CELL_NETWORK & ~s->now.allowed)
                return false;
        for (unsigned i = 0; i < q->mount_count; i++) {
                const struct request_mount *m = &q->mounts[i];
                struct stat st;

                /* A single file cannot have an overlay: it would be the host's own. */
                if (m->kind == PLACE_BIND || fstat(m->tree, &st) < 0 || !S_ISDIR(st.st_mode) ||
                        (m->kind == PLACE_OWNED && !supervisor_trusts(s, m->tree)) ||
                        ((m->kind == PLACE_COPY || m->kind == PLACE_OVER) && s->machine.root &&
                                st.st_uid != IDS_UNPACK && !supervisor_trusts(s, m->tree)))
                        return false;
        }
        for (unsigned i = 0; i < q->layer_count; i++) {
                struct stat st;

                if (fstat(q->layers[i], &st) < 0 || !S_ISDIR(st.st_mode) ||
                        (s->machine.root && st.st_uid - IDS_IMAGES >= IDS_BLOCK_SIZE))
                        return false;
        }
        return true;
}

static void limit_total(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint64_t total = get_u64(&r);

        if (!reader_done(&r) || f->fd_count > 0 || total == 0 || s->admission.total > 0 ||
                s->admission.running > 0) {
                error_set(err, CODE_INTERNAL_FRAME, "a total comes too late or is malformed");
                return;
        }
        s->admission.total = total;
}

/* It was admitted already. A failure is the request's, not ours. */
static void begin_cell(
        struct supervisor *s, struct cell_request *request, const struct buffer *payload)
{
        const struct limits limits = request->limits;
        const uint32_t id = request->id;
        struct cell **place = s->now.cells;
        struct error err;

        if (++s->made == 2 && s->undertaker) /* for one it is not worth a process */
                undertaker_start();
        while (*place) /* there is one: it was admitted */
                place++;
        *place = supervisor_make_cell(s, request, payload, &err);
        if (*place)
                return;
        admission_give_back(&s->admission, &limits);
        answer_failed(id, &err);
}

static void start_cell(struct supervisor *s, struct frame *f, struct error *err)
{
        struct cell_request request;
        struct error cannot;

        if (request_decode(f, &request, err) < 0)
                return;
        if (!may_ask(s, &request)) {
                request_free(&request);
                error_set(
                        err, CODE_INTERNAL_FRAME, "a request asks for more than a graded cell has");
                return;
        }
        if (admission_take(&s->admission, &request)) {
                begin_cell(s, &request, &f->payload);
        } else if (admission_wait(&s->admission, &request, &f->payload, &cannot) < 0) {
                answer_failed(request.id, &cannot);
                request_free(&request);
        }
}

void supervisor_end_cell(struct supervisor *s, struct cell **place)
{
        const struct limits limits = (*place)->request.limits;

        answer_done(*place);
        *place = cell_free(*place);
        admission_give_back(&s->admission, &limits);
}

void supervisor_begin_waiting(struct supervisor *s)
{
        struct waiting *next;

        while ((next = admission_next(&s->admission))) {
                begin_cell(s, &next->request, &next->payload);
                request_forget(&next->request); /* it is the cell's */
                waiting_free(next);
        }
}

/* One that died meanwhile says so by itself. */
static void command_cell(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        const uint32_t id = get_u32(&r);
        const uint64_t wall = get_u64(&r), cpu = get_u64(&r);
        _cleanup_buffer_ struct buffer command = BUFFER_INIT;

        if (r.bad || f->fd_count != CELL_STDIO || wall == 0 ||
                wall > limit_info(LIMIT_WALL)->most || cpu == 0 ||
                cpu > limit_info(LIMIT_CPU)->most) {
                error_set(err, CODE_INTERNAL_FRAME, "a request for a command is malformed");
                return;
        }
        buffer_add(&command, r.at, r.left);
        for (unsigned i = 0; i < SUPERVISOR_MAX_CELLS; i++) {
                struct cell *c = s->now.cells[i];
                struct error broken;

                if (c && c->request.id == id && c->paused && buffer_ok(&command) &&
                        cell_command(c, wall, cpu, &command, f->fds, &broken) < 0)
                        cell_stop(c, CODE_INFRA_CELL);
        }
}

static void start_program(struct supervisor *s, struct frame *f,
        int (*start)(struct supervisor *, struct frame *, struct error *), struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint32_t id = get_u32(&r);

        if (start(s, f, err) == 0 || err->code == CODE_INTERNAL_FRAME)
                return;
        answer_failed(id, err);
        err->code = CODE_NONE;
}

static void start_helper(struct supervisor *s, struct frame *f, struct error *err)
{
        start_program(s, f, helper_start, err);
}

static void start_judge(struct supervisor *s, struct frame *f, struct error *err)
{
        start_program(s, f, judge_start, err);
}

/* Kill a cell or helper. One that ended meanwhile is no error: its end is on the way. */
static void stop_one(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint32_t id = get_u32(&r);
        unsigned reason = get_u16(&r);
        struct error stopped;

        if (!reader_done(&r) || reason == CODE_NONE || reason >= CODE_COUNT) {
                error_set(err, CODE_INTERNAL_FRAME, "a request to kill is malformed");
                return;
        }
        if (admission_withdraw(&s->admission, id)) {
                error_set(&stopped, (enum code)reason, "it had not started yet");
                answer_failed(id, &stopped);
        }
        for (unsigned i = 0; i < SUPERVISOR_MAX_CELLS; i++)
                if (s->now.cells[i] && s->now.cells[i]->request.id == id)
                        cell_stop(s->now.cells[i], (enum code)reason);
        for (unsigned i = 0; i < SUPERVISOR_MAX_HELPERS; i++)
                if (s->now.helpers[i].pid > 0 && s->now.helpers[i].id == id)
                        kill(s->now.helpers[i].pid, SIGKILL);
}

/* One request of the runner. False when it said something we do not know, or nothing any more. */
bool supervisor_hear(struct supervisor *s)
{
        static void (*const verbs[])(struct supervisor *, struct frame *, struct error *) = {
                [CELL_START] = start_cell,
                [CELL_TREE] = trust_tree,
                [CELL_TOTAL] = limit_total,
                [CELL_ALLOW] = allow_flags,
                [CELL_OWNER] = name_owner,
                [CELL_PREPARE] = prepare_cell,
                [CELL_COMMAND] = command_cell,
                [CELL_SHOW] = show_tree,
                [CELL_KILL] = stop_one,
                [JUDGE_OPERATOR] = judge_configure,
                [JUDGE_START] = start_judge,
                [HELPER_START] = start_helper,
        };
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error err = {0};

        f.patience_us = SUPERVISOR_PATIENCE_S * 1000000;
        if (frame_receive(SUPERVISOR_SOCKET, &f, CELL_MAX_REQUEST, FRAME_MAX_FDS, &err) <= 0)
                return false;
        if (f.type >= sizeof verbs / sizeof *verbs || !verbs[f.type])
                return false;
        s->now.sealed |= f.type != CELL_TREE && f.type != CELL_ALLOW && f.type != CELL_OWNER &&
                         f.type != JUDGE_OPERATOR;
        verbs[f.type](s, &f, &err);
        return err.code == CODE_NONE;
}
