/* The task of a match; see match.h. */
#include "match.h"

#include "watcher.h"

int match_task_digest(const char *path, char ret[DIGEST_SIZE], struct error *err)
{
        struct watcher watcher = WATCHER_INIT;
        struct task task = TASK_INIT;
        struct watched found = {0};
        int r = task_open(&task, path, err);

        if (r == 0)
                r = watcher_start(&watcher, &task, err);
        if (r == 0)
                r = watcher_ask(&watcher, &found, err);
        if (r == 0 && *found.changed)
                r = error_set(err, CODE_TASK_CHANGED, "%s: changed meanwhile", found.changed);
        if (r == 0 && !*found.sha256)
                r = error_set(
                        err, CODE_TASK_UNSAFE, "there is no digest of the task: %s", found.unread);
        watcher_close(&watcher);
        task_free(&task);
        if (r == 0)
                memcpy(ret, found.sha256, DIGEST_SIZE);
        return r;
}
