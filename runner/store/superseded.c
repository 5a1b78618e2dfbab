/* Revisions: which result one follows, and what stays of that; see superseded.h. */
#include "store/superseded.h"

static const unsigned kept[] = {STORED_SUBMISSION, STORED_ATTEMPT, STORED_TASK, STORED_ARCHIVE,
        STORED_AGENT_MAC, STORED_RUBRIC, STORED_TASK_SHA256, STORED_EVAL_MODE, STORED_SCALE,
        STORED_TEST};

static int take(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct superseded *s = to;

        for (unsigned i = 0; i < count; i++) {
                struct buffer *text = &s->texts[i];

                if (i == STORED_JSON || i == STORED_PASS_DATA)
                        continue;
                s->values[i] = row[i];
                if (row[i].kind != VALUE_TEXT)
                        continue;
                buffer_add(text, row[i].text, row[i].len);
                if (!buffer_ok(text))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                s->values[i].text = (const char *)text->data;
        }
        return 0;
}

static bool is(const struct value *v, const char *text)
{
        return v->kind == VALUE_TEXT && v->len == strlen(text) &&
               memcmp(v->text, text, v->len) == 0;
}

static bool waits(const struct superseded *s)
{
        return is(&s->values[STORED_STATUS], "pending") ||
               (is(&s->values[STORED_STATUS], "error") && is(&s->values[STORED_CLASS], "judge"));
}

int superseded_find(struct superseded *ret, struct store *s, const char *id, struct error *err)
{
        const struct value name = value_text(id);
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;
        char by[STORE_MAX_NAME];
        int r;

        *ret = (struct superseded){0};
        for (unsigned i = 0; i < STORED_COLUMNS; i++)
                ret->texts[i] = (struct buffer)BUFFER_INIT;
        schema_select(&sql, TABLE_RESULTS);
        buffer_add_text(&sql, " WHERE id = $1");
        if (s->engine->run(s->database, buffer_text(&sql), &name, 1, take, ret, err) < 0)
                return -1;
        if (ret->values[STORED_NUMBER].kind == VALUE_NULL)
                return error_set(err, CODE_USAGE, "%s: the store has no such result", id);
        if (!waits(ret))
                return error_set(err, CODE_RESULT_FINAL,
                        "the result %.64s does not wait for an llm score", id);
        const struct value place[] = {ret->values[STORED_SUBMISSION], ret->values[STORED_ATTEMPT],
                ret->values[STORED_REVISION]};

        r = store_ask_text(s,
                "SELECT id FROM evaluation_results WHERE submission_id = $1 AND attempt = $2"
                " AND revision > $3 ORDER BY revision DESC LIMIT 1",
                place, 3, by, sizeof by, err);
        if (r > 0)
                return error_set(err, CODE_RESULT_FINAL,
                        "the result %.64s is superseded by %.64s already", id, by);
        return r;
}

void superseded_keep(const struct superseded *s, struct value *row)
{
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
                row[kept[i]] = s->values[kept[i]];
}

void superseded_free(struct superseded *s)
{
        for (unsigned i = 0; i < STORED_COLUMNS; i++)
                buffer_free(&s->texts[i]);
}
