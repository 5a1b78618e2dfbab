/* Tasks of a worker; see known_task.h. */
#include "known_task.h"

#include "beside.h"
#include "fd.h"
#include "privilege.h"
#include "state.h"
#include "task_digest.h"

#include <fcntl.h>

enum { DOCUMENT = 1, DOCUMENT_SECONDS = 5 };

static int changed(const char *sha256, struct error *err)
{
        return error_set(err, CODE_TASK_CHANGED,
                "the worker's tasks/%s in the state directory was changed, remove it", sha256);
}

/* In a process of its own, which gives up its rights before it hears the scorer, and has nothing of
 * the worker's. */
static int ask_document(void *to, struct buffer *ret, struct error *err)
{
        struct channel channel = CHANNEL_INIT;
        struct task t = TASK_INIT;
        int r = task_open(&t, to, err) < 0 || channel_open(&channel, err) < 0 ||
                                privilege_drop(err) < 0 || task_document(&t, &channel, ret, err) < 0
                        ? -1
                        : DOCUMENT;

        channel_close(&channel);
        task_free(&t);
        return r;
}

/* Where that fails, each evaluation asks, and says why. */
static void learn_document(struct known_task *k, const char *path)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error ignored;

        if (beside_ask_alone(
                    ask_document, (void *)(uintptr_t)path, DOCUMENT_SECONDS, &f, &ignored) < 0)
                return;
        buffer_free(&k->document);
        k->document = f.payload;
        f.payload = (struct buffer)BUFFER_INIT;
}

static int learn(struct known_task *k, const char *sha256, const char *path, struct error *err)
{
        struct task t = TASK_INIT;
        struct watched found;
        char digest[DIGEST_SIZE];
        int r = task_open(&t, path, err);

        if (r == 0)
                r = task_digest(&t, -EBADF, digest, err);
        if (r == 0 && strcmp(digest, sha256) != 0)
                r = changed(sha256, err);
        if (r == 0) {
                learn_document(k, path);
                known_task_look(sha256, &t.state, &found);
                r = *found.changed ? changed(sha256, err) : 0;
        }
        k->state = t.state;
        task_free(&t);
        return r;
}

static struct known_task *find(struct known_tasks *k, const char *sha256)
{
        for (unsigned i = 0; i < KNOWN_TASKS; i++)
                if (strcmp(k->all[i].sha256, sha256) == 0)
                        return &k->all[i];
        return NULL;
}

static void forget(struct known_task *k)
{
        buffer_free(&k->document);
        *k = (struct known_task){.document = BUFFER_INIT};
}

int known_task_find(struct known_tasks *k, const char *sha256, snapshot_fetch fetch, void *to,
        char ret_path[PATH_MAX], struct known_task **ret, struct error *err)
{
        struct known_task *t = find(k, sha256);
        struct watched found;

        if (snapshot_find(sha256, fetch, to, ret_path, err) < 0)
                return -1;
        if (t) {
                known_task_look(sha256, &t->state, &found);
                if (!*found.changed) {
                        *ret = t;
                        return 0;
                }
        } else {
                t = &k->all[k->next++ % KNOWN_TASKS];
        }
        forget(t); /* it may have been removed, and unpacked again */
        if (learn(t, sha256, ret_path, err) < 0) {
                forget(t);
                return -1;
        }
        memcpy(t->sha256, sha256, DIGEST_SIZE);
        *ret = t;
        return 0;
}

void known_task_pulled(struct known_tasks *k, const char *sha256)
{
        struct known_task *t = find(k, sha256);

        if (t)
                t->pulled = true;
}

void known_task_look(const char *sha256, const struct task_state *was, struct watched *ret)
{
        _cleanup_fd_ int directory = -EBADF;
        struct task_state now;
        struct error err = {0};
        char path[PATH_MAX];

        *ret = (struct watched){.changed = ""};
        memcpy(ret->sha256, sha256, DIGEST_SIZE);
        if (state_file("tasks", sha256, path, &err) == 0) {
                directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (directory < 0)
                        error_errno(&err, CODE_TASK_MISSING, errno, "%s", path);
        }
        if (err.code != CODE_NONE || task_look(directory, &now, &err) < 0)
                snprintf(ret->changed, sizeof ret->changed, "%.1000s", err.text);
        else if (strcmp(now.digest, was->digest) != 0)
                snprintf(ret->changed, sizeof ret->changed, "%s", now.newest);
}

void known_tasks_free(struct known_tasks *k)
{
        for (unsigned i = 0; i < KNOWN_TASKS; i++)
                forget(&k->all[i]);
}
