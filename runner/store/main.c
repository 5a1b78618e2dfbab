/* assay-store: holds the connection to a store of results, and the key of its chains.
 *
 * `assay` starts it with the caller's rights, before it looks at anything of a submitter's, and
 * gives up its own: so an `assay` that was taken over can append a result of its own evaluation,
 * and neither read nor change another one, nor make a mac. It speaks frames (messages.h) on one
 * socket, in one of its modes; what a mode does not have ends it. */
#include "store/match.h"
#include "store/queue.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>

enum { MAX_FRAME = STORE_MAX_PIECE + 64 };

struct session {
        enum store_mode mode;
        struct store store;
        bool appends, matches; /* what it is asked for, but for reading */
        struct append *append;
};

static int open_session(struct session *s, struct frame *f, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        struct reader r = reader_of(f->payload.data, f->payload.len);
        char path[STORE_MAX_PATH], key[STORE_MAX_PATH];
        struct append_order order = {.job = NULL};

        get_text(&r, path, sizeof path);
        get_text(&r, key, sizeof key);
        get_text(&r, order.agent, sizeof order.agent);
        get_text(&r, order.result_id, sizeof order.result_id);
        get_text(&r, order.submission_id, sizeof order.submission_id);
        get_text(&r, order.supersedes, sizeof order.supersedes);
        get_text(&r, order.match, sizeof order.match);
        get_text(&r, order.harness, sizeof order.harness);
        if (f->type != STORE_OPEN || !reader_done(&r))
                return store_malformed(err);
        if (store_open(&s->store, path, key, s->mode, err) < 0 ||
                store_lock_in(path, s->store.engine->is_remote, err) < 0)
                return -1;
        if (s->appends) {
                s->append = append_new(&s->store, &order, err);
                if (!s->append)
                        return -1;
        }
        return frame_send(STORE_SOCKET, STORE_READY, &nothing, NULL, 0, err);
}

static int take(struct session *s, unsigned type, struct reader *r, struct error *err)
{
        if (s->append)
                return append_take(s->append, STORE_SOCKET, type, r, err);
        return s->matches ? match_take(&s->store, STORE_SOCKET, type, r, err)
                          : read_take(&s->store, STORE_SOCKET, type, r, err);
}

static int serve(struct session *s, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        int r = frame_receive(STORE_SOCKET, &f, MAX_FRAME, 0, err);

        if (r > 0)
                r = open_session(s, &f, err) < 0 ? -1 : 1;
        if (r > 0 && s->mode == STORE_SERVE)
                return queue_serve(&s->store, STORE_SOCKET, err);
        while (r > 0) {
                struct reader payload;

                r = frame_receive(STORE_SOCKET, &f, MAX_FRAME, 0, err);
                if (r <= 0)
                        break;
                payload = reader_of(f.payload.data, f.payload.len);
                r = take(s, f.type, &payload, err) < 0 ? -1 : 1;
        }
        return r;
}

int main(int argc, char **argv)
{
        struct session s = {.mode = STORE_READ};
        struct error err = {0};
        int r;

        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
        umask(077);
        s.appends = argc == 2 && strcmp(argv[1], "append") == 0;
        s.matches = argc == 2 && strcmp(argv[1], "match") == 0;
        if (s.appends || s.matches)
                s.mode = STORE_APPEND;
        else if (argc == 2 && strcmp(argv[1], "queue") == 0)
                s.mode = STORE_SERVE;
        else if (argc != 2 || strcmp(argv[1], "read") != 0)
                r = error_set(&err, CODE_USAGE, "assay-store is started by assay alone");
        if (err.code == CODE_NONE)
                sqlite3_initialize();
        r = err.code == CODE_NONE ? serve(&s, &err) : -1;
        append_free(s.append);
        store_close(&s.store);
        if (r < 0)
                store_send_failed(STORE_SOCKET, &err);
        return r < 0;
}
