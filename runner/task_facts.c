/* Facts of a task, read by a process of its own; see task_facts.h. */
#include "task_facts.h"

#include "beside.h"
#include "image/pull.h"

#include <stdlib.h>

/* text name, u8 enum task_mode, u8 enum task_scheme, u64 match_ms, u8 difficulty, u8 network, u8
 * pull, u32 n, n × text required file, u32 n, n × text image */
enum { FACTS = 1 };

struct question {
        const char *path, *policy;
};

static void put_images(const struct task *t, struct buffer *b)
{
        const char *names[2];
        uint32_t count = 0;

        if (task_runs_something(t) && strcmp(t->image, "host") != 0)
                names[count++] = t->image;
        if (task_runs_something(t) && t->submission_image.declared && *t->submission_image.name &&
                strcmp(t->submission_image.name, "host") != 0)
                names[count++] = t->submission_image.name;
        put_u32(b, count);
        for (uint32_t i = 0; i < count; i++)
                put_text(b, names[i]);
}

static int tell(void *to, struct buffer *b, struct error *err)
{
        const struct question *q = to;
        struct task task = TASK_INIT;
        struct policy policy = POLICY_INIT;

        if (policy_read_task(&task, &policy, q->path, q->policy, err) < 0) {
                task_print_problems(&task, q->path, stderr);
                return -1;
        }
        put_text(b, task.name);
        put_u8(b, (uint8_t)task.mode);
        put_u8(b, (uint8_t)task.scheme);
        put_u64(b, task.match_ms);
        put_u8(b, (uint8_t)task.difficulty);
        put_u8(b, task.network);
        put_u8(b, !policy_is_there(&policy) || policy.pull);
        put_u32(b, task.required_count);
        for (unsigned i = 0; i < task.required_count; i++)
                put_text(b, task.required[i].path);
        put_images(&task, b);
        return FACTS;
}

int task_facts_read(struct task_facts *ret, const char *path, const char *policy, struct error *err)
{
        _cleanup_frame_ struct frame frame = FRAME_INIT;
        struct question q = {path, policy};
        struct reader r;

        *ret = (struct task_facts){0};
        if (beside_ask(tell, &q, &frame, err) < 0)
                return -1;
        r = reader_of(frame.payload.data, frame.payload.len);
        ret->name = scorer_text(&r, SCORE_MAX_NAME);
        ret->mode = get_u8(&r);
        ret->scheme = get_u8(&r);
        ret->match_ms = get_u64(&r);
        ret->difficulty = get_u8(&r);
        ret->network = get_u8(&r);
        ret->may_pull = get_u8(&r);
        ret->required = texts_take(&r, SCORE_MAX_MANY);
        if (!r.bad)
                ret->images = texts_take(&r, 2);
        return reader_done(&r) && ret->mode < MODE_COUNT && ret->scheme < SCHEME_COUNT &&
                               ret->difficulty < DIFFICULTY_COUNT
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME,
                                 "who reads the task sent a malformed answer");
}

void task_facts_free(struct task_facts *f)
{
        free(f->name);
        texts_free(f->required);
        texts_free(f->images);
        *f = (struct task_facts){0};
}

int task_pull(const char *path, const char *policy, struct error *err)
{
        struct task_facts facts;
        int r = task_facts_read(&facts, path, policy, err);

        if (r == 0 && facts.may_pull)
                r = image_pull_missing(facts.images, err) < 0 ? -1 : 1;
        task_facts_free(&facts);
        return r;
}
