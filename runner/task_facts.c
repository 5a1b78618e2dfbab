/* Facts of a task, read by a process of its own; see task_facts.h. */
#include "task_facts.h"

#include "fd.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum facts_message {
        FACTS = 1,    /* text name, u8 enum task_mode, u8 network, u32 n, n × text required file */
        FACTS_FAILED, /* error */
};

_Noreturn static void child(const char *path, int socket)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        struct task task = TASK_INIT;
        struct error err = {0};

        if (task_read_alone(&task, path, &err) == 0) {
                put_text(&b, task.name);
                put_u8(&b, (uint8_t)task.mode);
                put_u8(&b, task.network);
                put_u32(&b, task.required_count);
                for (unsigned i = 0; i < task.required_count; i++)
                        put_text(&b, task.required[i].path);
                frame_send(socket, FACTS, &b, NULL, 0, NULL);
        } else {
                if (err.code == CODE_TASK_INVALID)
                        task_print_problems(&task, path, stderr);
                put_error(&b, &err);
                frame_send(socket, FACTS_FAILED, &b, NULL, 0, NULL);
        }
        _exit(0);
}

static int take(struct task_facts *f, struct frame *frame, struct error *err)
{
        struct reader r = reader_of(frame->payload.data, frame->payload.len);

        if (frame->type == FACTS_FAILED) {
                get_error(&r, err);
                if (reader_done(&r))
                        return -1;
        }
        if (frame->type == FACTS) {
                f->name = scorer_text(&r, SCORE_MAX_NAME);
                f->mode = get_u8(&r);
                f->network = get_u8(&r);
                f->required = texts_take(&r, SCORE_MAX_MANY);
                if (reader_done(&r) && f->mode < MODE_COUNT)
                        return 0;
        }
        return error_set(err, CODE_INTERNAL_FRAME, "who reads the task sent a malformed answer");
}

int task_facts_read(struct task_facts *ret, const char *path, struct error *err)
{
        _cleanup_frame_ struct frame frame = FRAME_INIT;
        int pair[2], r;
        pid_t pid;

        *ret = (struct task_facts){0};
        if (fd_socketpair(pair, err) < 0)
                return -1;
        pid = fork();
        if (pid == 0) {
                fd_close(pair[0]);
                child(path, pair[1]);
        }
        fd_close(pair[1]);
        if (pid < 0) {
                fd_close(pair[0]);
                return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot start a process");
        }
        r = frame_receive(pair[0], &frame, FRAME_MAX_PAYLOAD, 0, err);
        if (r == 0)
                r = error_set(err, CODE_INTERNAL_HELPER, "who reads the task said nothing");
        else if (r > 0)
                r = take(ret, &frame, err);
        fd_close(pair[0]);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        return r;
}

void task_facts_free(struct task_facts *f)
{
        free(f->name);
        texts_free(f->required);
        *f = (struct task_facts){0};
}
