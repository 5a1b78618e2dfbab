/* Beside an evaluation, a process that keeps the caller's rights, which the evaluation gives up:
 * it hashes the task meanwhile, and tells at the end whether that changed since it was opened. */
#ifndef ASSAY_WATCHER_H
#define ASSAY_WATCHER_H

#include "task.h"

struct watcher {
        int socket; /* -EBADF: there is none */
        pid_t pid;  /* 0: it is not our child, and the socket not ours */
};

enum watcher_message {
        WATCHER_ASK = 1000, /* nothing in it */
        WATCHER_FOUND,      /* text digest, text what changed, text why there is no digest */
};

#define WATCHER_INIT                                                                               \
        {                                                                                          \
                .socket = -EBADF                                                                   \
        }

/* What it found. */
struct watched {
        char sha256[DIGEST_SIZE];    /* of the task; "": it cannot be read as a whole */
        char changed[TASK_MAX_PATH]; /* what is not as it was; "": all is */
        char unread[512];            /* why there is no digest */
};

/* Needs the caller's rights. */
int watcher_start(struct watcher *w, const struct task *t, struct error *err);
/* Somebody else does, over a socket that stays theirs, and answers a WATCHER_ASK once. */
void watcher_adopt(struct watcher *w, int socket);
/* At the end, once. Signals end the waiting (interrupt.h). */
int watcher_ask(struct watcher *w, struct watched *ret, struct error *err);
/* Whatever it does, it ends soon afterwards, and so it does when this process ends. A signal at the
 * death of its parent would not reach it: it has root, and the parent may have given that up. */
void watcher_close(struct watcher *w);

/* The answer of who watches. */
int watcher_tell(int socket, const struct watched *found, struct error *err);

#endif
