/* Comparing results; see differ.h. */
#include "differ.h"

#include "answer.h"
#include "reading.h"
#include "request.h"
#include "value.h"

#include "glob.h"
#include "text.h"

enum { MOST_PATH = 2048, MOST_SHOWN = 200 };

/* What tells of one run, of one machine, or of times. A part that is here is not looked into. */
static const char *const apart[] = {
        "/id",
        "/attempt",
        "/revision",
        "/supersedes",
        "/runner/version",
        "/phases",
        "/usage",
        "/logs",
        "/remedy",
        "/limits/*/enforced_by",
        "/isolation/namespaces",
        "/isolation/seccomp",
        "/isolation/landlock",
        "/isolation/ids",
        "/isolation/cgroup",
        "/tests/*/duration_ms",
        "/judge",
        "/build_check",
};

struct comparing {
        struct buffer *out;
        uint32_t differences;
        char path[MOST_PATH]; /* a JSON Pointer, but for ~ */
};

static bool is_apart(const char *path)
{
        for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
                if (glob_match(apart[i], path))
                        return true;
        return false;
}

static void put_shown(struct buffer *out, const struct json_value *v)
{
        size_t len;
        const char *raw;

        if (!v) {
                put_text(out, "absent");
        } else if (json_is_object(v->node) || json_is_array(v->node)) {
                put_text(out, json_is_object(v->node) ? "an object" : "an array");
        } else {
                raw = json_raw(*v, &len);
                put_bytes(out, raw, text_cut(raw, len, MOST_SHOWN));
        }
}

static void differ(
        struct comparing *c, const struct json_value *first, const struct json_value *second)
{
        size_t at;

        if (c->differences++ >= SCORE_MAX_DIFFERENCES)
                return;
        at = answer_begin(c->out, RESULT_DIFFERS);
        put_text(c->out, c->path);
        put_shown(c->out, first);
        put_shown(c->out, second);
        answer_end(c->out, at);
}

static void compare(
        struct comparing *c, const struct json_value *first, const struct json_value *second);

/* What stands under a key, or at a place of an array; either may be missing in one. */
static void compare_below(struct comparing *c, const char *key, size_t index,
        const struct json_value *first, const struct json_value *second)
{
        const size_t len = strlen(c->path);

        if (key)
                snprintf(c->path + len, sizeof c->path - len, "/%s", key);
        else
                snprintf(c->path + len, sizeof c->path - len, "/%zu", index);
        if (!is_apart(c->path))
                compare(c, first, second);
        c->path[len] = '\0';
}

static bool find(struct json_value object, const char *key, struct json_value *ret)
{
        for (struct json_walk w = json_walk(object); json_next(&w, ret);)
                if (strcmp(w.key, key) == 0)
                        return true;
        return false;
}

static void compare_objects(struct comparing *c, struct json_value first, struct json_value second)
{
        struct json_value a, b;

        for (struct json_walk w = json_walk(first); json_next(&w, &a);)
                compare_below(c, w.key, 0, &a, find(second, w.key, &b) ? &b : NULL);
        for (struct json_walk w = json_walk(second); json_next(&w, &b);)
                if (!json_object_get(first.node, w.key))
                        compare_below(c, w.key, 0, NULL, &b);
}

static void compare_arrays(struct comparing *c, struct json_value first, struct json_value second)
{
        struct json_walk v = json_walk(first), w = json_walk(second);
        bool more = true;

        for (size_t i = 0; more; i++) {
                struct json_value a, b;
                const bool has_a = json_next(&v, &a), has_b = json_next(&w, &b);

                more = has_a || has_b;
                if (more)
                        compare_below(c, NULL, i, has_a ? &a : NULL, has_b ? &b : NULL);
        }
}

static void compare(
        struct comparing *c, const struct json_value *first, const struct json_value *second)
{
        const bool both = first && second;

        if (both && json_is_object(first->node) && json_is_object(second->node))
                compare_objects(c, *first, *second);
        else if (both && json_is_array(first->node) && json_is_array(second->node))
                compare_arrays(c, *first, *second);
        else if (!both || !value_equal(*first, *second))
                differ(c, first, second);
}

static int answer(const struct request *q, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json first = JSON_INIT, second = JSON_INIT;
        struct comparing c = {.out = out};
        struct json_value a, b;
        size_t at;

        if (!q->documents[DOCUMENT_RECORD].given || !q->documents[DOCUMENT_RESULT].given)
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        if (reading_open(&first, &q->documents[DOCUMENT_RECORD].bytes, CODE_RESULT_INVALID, err) <
                        0 ||
                reading_open(&second, &q->documents[DOCUMENT_RESULT].bytes, CODE_RESULT_INVALID,
                        err) < 0)
                return -1;
        a = json_root(&first);
        b = json_root(&second);
        compare(&c, &a, &b);
        at = answer_begin(out, RESULTS_COMPARED);
        put_u32(out, c.differences);
        answer_end(out, at);
        return 0;
}

int differ_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return request_answer(in, out, REQUEST_DIFFER, answer, err);
}
