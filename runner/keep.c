/* Keeping an evaluation; see keep.h. */
#include "keep.h"

#include "evaluators/contract.h"
#include "fd.h"
#include "judge.h"
#include "report/report.h"
#include "state.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int keep_open(struct evaluation *e, struct error *err)
{
        e->kept = state_open("kept", err);
        return e->kept < 0 ? -1 : 0;
}

static int put(int dir, const char *name, const void *bytes, size_t len, struct error *err)
{
        _cleanup_fd_ int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        return fd < 0 || fd_write_all(fd, bytes, len) < 0
                       ? error_errno(err, CODE_INFRA_STATE, errno, "cannot keep %s", name)
                       : 0;
}

/* Head and tail, as they were kept, with a line between them where something is missing. */
static int put_log(int dir, const char *name, const struct log *l, struct error *err)
{
        _cleanup_buffer_ struct buffer text = BUFFER_INIT;
        unsigned char *room;

        if (!l->head)
                return 0;
        buffer_add(&text, l->head, l->head_len);
        if (log_dropped(l) > 0)
                buffer_add_format(&text, "\n[%llu bytes are missing here]\n",
                        (unsigned long long)log_dropped(l));
        room = buffer_reserve(&text, l->tail_size + 1);
        if (!room || !buffer_ok(&text))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        text.len += log_tail(l, room);
        return put(dir, name, text.data, text.len, err);
}

static int put_logs(const struct evaluation *e, int dir, struct error *err)
{
        return put_log(dir, "suite.stdout", &e->output[0], err) < 0 ||
                               put_log(dir, "suite.stderr", &e->output[1], err) < 0 ||
                               put_log(dir, "build.stdout", &e->build.output[0], err) < 0 ||
                               put_log(dir, "build.stderr", &e->build.output[1], err) < 0
                       ? -1
                       : 0;
}

static const char *result_name(const struct evaluation *e, unsigned which)
{
        if (which == e->suite_cell.partial)
                return "tests.jsonl";
        return which == 0 ? strrchr(e->task.result_path, '/') + 1 : "reward.txt";
}

static int put_results(const struct evaluation *e, int dir, struct error *err)
{
        _cleanup_fd_ int results = -EBADF;

        for (unsigned i = 0; i < CELL_MAX_RESULTS; i++) {
                _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
                const int fd = e->outcome.results[i].fd;

                if (fd < 0)
                        continue;
                if (results < 0 && mkdirat(dir, "results", 0700) == 0)
                        results = openat(dir, "results", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (lseek(fd, 0, SEEK_SET) < 0 ||
                        fd_read_all(fd, &bytes, SCORE_MAX_RESULT, CODE_INFRA_STATE, err) < 0 ||
                        put(results, result_name(e, i), bytes.data, bytes.len, err) < 0)
                        return -1;
        }
        return 0;
}

/* The result is complete, whoever the report was for. */
static int put_documents(struct evaluation *e, int dir, struct error *err)
{
        _cleanup_buffer_ struct buffer result = BUFFER_INIT, request = BUFFER_INIT;
        const bool judged = e->task.mode == MODE_LLM || e->task.mode == MODE_HYBRID;
        const struct evaluation_options *given = e->options;
        struct evaluation_options complete = *given;
        int r;

        complete.for_submitter = false;
        e->options = &complete;
        r = report_json(e, &result);
        e->options = given;
        if (r < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (put(dir, "result.json", result.data, result.len, err) < 0)
                return -1;
        if (!judged || e->submission.root < 0)
                return 0;
        return judge_request(e, &request, err) < 0
                       ? -1
                       : put(dir, "judge-request.json", request.data, request.len, err);
}

static int name_trees(const struct evaluation *e, struct error *err)
{
        const int dir = e->workspace.lock;

        if (renameat(dir, "tree", dir, "submission") < 0 ||
                (unlinkat(dir, "built", AT_REMOVEDIR) < 0 && errno != ENOTEMPTY))
                return error_errno(err, CODE_INFRA_STATE, errno, "cannot keep the submission");
        return 0;
}

static void say_where(const struct evaluation *e)
{
        char link[64], path[PATH_MAX];
        ssize_t len;

        snprintf(link, sizeof link, "/proc/self/fd/%d", e->kept);
        len = readlink(link, path, sizeof path - 1);
        if (len > 0)
                fprintf(stderr, "assay: kept in %.*s/%s\n", (int)len, path, e->workspace.id);
}

int keep_evaluation(struct evaluation *e, struct error *err)
{
        const int dir = e->workspace.lock;

        if (put_documents(e, dir, err) < 0 || put_logs(e, dir, err) < 0 ||
                put_results(e, dir, err) < 0)
                return -1;
        if (renameat(e->workspace.work, e->workspace.id, e->kept, e->workspace.id) < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "cannot keep the evaluation");
        e->workspace.work = fd_close(e->workspace.work); /* there is nothing to be removed */
        if (name_trees(e, err) < 0)
                return -1;
        say_where(e);
        return 0;
}
