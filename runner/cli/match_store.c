/* assay match start, show, list, history and harness: what a store does by itself. */
#include "match.h"

#include "fd.h"
#include "matching.h"
#include "task_facts.h"
#include "text.h"

#include <limits.h>
#include <unistd.h>

/* --- printing ------------------------------------------------------------------------------- */

int match_print(const struct match_options *o, const struct buffer *out, struct error *err)
{
        if (!buffer_ok(out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (!o->common.json && o->common.quiet)
                return 0;
        return fd_write_all(STDOUT_FILENO, out->data, out->len) < 0
                       ? error_errno(err, CODE_INFRA_IO, errno, "cannot write the report")
                       : 0;
}

static int print_match(
        const struct match_options *o, const struct store_values *m, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};

        if (o->common.json) {
                json_open_object(&w, NULL);
                match_json(m, &w);
                json_close(&w);
                buffer_add_char(&out, '\n');
        } else
                match_line(m, &out);
        return match_print(o, &out, err);
}

/* Rows of an answer, as elements of one array or as lines. */
struct listing {
        const struct match_options *o;
        struct buffer out;
        struct json_writer w;
};

static int print_all(struct listing *l, const char *array, enum store_message type,
        const char *text, unsigned columns, match_take_row take, struct error *err)
{
        int r = match_end_overdue(l->o->store, err);

        l->w.out = &l->out;
        if (r == 0 && l->o->common.json) {
                json_open_object(&l->w, NULL);
                json_open_array(&l->w, array);
        }
        if (r == 0)
                r = match_each(l->o->store, type, text, columns, take, l, err);
        if (r == 0 && l->o->common.json) {
                json_close(&l->w);
                json_close(&l->w);
                buffer_add_char(&l->out, '\n');
        }
        if (r == 0)
                r = match_print(l->o, &l->out, err);
        buffer_free(&l->out);
        return r;
}

/* --- start ---------------------------------------------------------------------------------- */

static int check_task(const struct task_facts *f, struct error *err)
{
        if (f->scheme != SCHEME_DIMENSIONS)
                return error_set(err, CODE_TASK_UNSUPPORTED,
                        "a match needs a task of the scheme \"dimensions\": others have no win, "
                        "draw or loss");
        if (f->match_ms == 0)
                return error_set(
                        err, CODE_TASK_UNSUPPORTED, "a match needs a task with scoring.time_limit");
        if (f->match_ms > MATCH_LONGEST_MS)
                return error_set(err, CODE_TASK_UNSUPPORTED,
                        "scoring.time_limit: a match of more than 366 days");
        return 0;
}

static int put_start(
        const struct match_options *o, const char *path, struct buffer *payload, struct error *err)
{
        char id[ULID_SIZE], digest[DIGEST_SIZE], absolute[PATH_MAX];
        struct task_facts facts;
        int r = task_facts_read(&facts, path, o->evaluation.policy, err);

        if (r == 0)
                r = check_task(&facts, err);
        if (r == 0 && !realpath(path, absolute))
                r = error_errno(err, CODE_TASK_MISSING, errno, "%s", path);
        if (r == 0)
                r = match_task_digest(absolute, digest, err);
        if (r == 0)
                r = ulid_new(id, err);
        if (r == 0) {
                put_text(payload, o->agent);
                put_text(payload, facts.name);
                put_text(payload, digest);
                put_text(payload, absolute);
                put_text(payload, o->harness ? o->harness : "");
                put_u8(payload, o->memoryless);
                put_u8(payload, (uint8_t)facts.difficulty);
                put_u64(payload, facts.match_ms);
                put_text(payload, id);
        }
        task_facts_free(&facts);
        return r;
}

int match_start(const struct match_options *o, char **words, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct store_values m = {0};
        int r = put_start(o, words[0], &payload, err);

        if (r == 0)
                r = match_tell(o->store, MATCH_START, &payload, &m, err);
        if (r == 0)
                r = print_match(o, &m, err);
        store_values_free(&m);
        return r;
}

/* --- show, list ----------------------------------------------------------------------------- */

int match_show(const struct match_options *o, char **words, struct error *err)
{
        struct store_values m = {0};
        int r = match_end_overdue(o->store, err);

        if (r == 0)
                r = match_find(o->store, words[0], &m, err);
        if (r == 0)
                r = print_match(o, &m, err);
        store_values_free(&m);
        return r;
}

static int take_match(void *to, const struct store_values *m, struct error *err)
{
        struct listing *l = to;

        (void)err;
        if (l->o->common.json) {
                json_open_object(&l->w, NULL);
                match_json(m, &l->w);
                json_close(&l->w);
        } else
                match_line(m, &l->out);
        return 0;
}

int match_list(const struct match_options *o, char **words, struct error *err)
{
        struct listing l = {.o = o, .out = BUFFER_INIT};

        (void)words;
        return print_all(&l, "matches", MATCH_LIST, o->agent ? o->agent : "", PLAYED_COLUMNS,
                take_match, err);
}

/* --- history -------------------------------------------------------------------------------- */

enum { HISTORY_RESULT = HISTORY_COLUMNS, HISTORY_CHANGE, HISTORY_ALL };

static int take_step(void *to, const struct store_values *v, struct error *err)
{
        static const struct store_column columns[] = {
                {HISTORY_POSITION, "matches", SHOW_AS_IT_IS},
                {HISTORY_MATCH, "match_id", SHOW_AS_IT_IS},
                {HISTORY_RESULT, "result", SHOW_AS_IT_IS},
                {HISTORY_BEFORE, "elo_before", SHOW_AS_IT_IS},
                {HISTORY_AFTER, "elo_after", SHOW_AS_IT_IS},
                {HISTORY_CHANGE, "elo_change", SHOW_AS_IT_IS},
                {HISTORY_STREAK, "streak", SHOW_AS_IT_IS},
                {HISTORY_BEST, "best_streak", SHOW_AS_IT_IS},
                {HISTORY_AT, "at", SHOW_AS_IT_IS},
        };
        struct listing *l = to;
        char texts[3][400];
        static const unsigned shown[] = {HISTORY_AT, HISTORY_MATCH, HISTORY_RESULT};

        (void)err;
        if (l->o->common.json) {
                json_open_object(&l->w, NULL);
                store_values_json(v, columns, sizeof columns / sizeof *columns, &l->w);
                json_close(&l->w);
                return 0;
        }
        for (unsigned i = 0; i < 3; i++) {
                const char *text = v->values[shown[i]].text;

                text_escape(texts[i], sizeof texts[i], text, strlen(text));
        }
        buffer_add_format(&l->out, "%s  %s  %-7s  %lld %+lld = %lld\n", texts[0], texts[1],
                texts[2], (long long)v->values[HISTORY_BEFORE].number,
                (long long)v->values[HISTORY_CHANGE].number,
                (long long)v->values[HISTORY_AFTER].number);
        return 0;
}

int match_history(const struct match_options *o, char **words, struct error *err)
{
        struct listing l = {.o = o, .out = BUFFER_INIT};

        return print_all(&l, "history", MATCH_HISTORY, words[0], HISTORY_ALL, take_step, err);
}

/* --- harness -------------------------------------------------------------------------------- */

int match_harness(const struct match_options *o, char **words, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        char key[DIGEST_SIZE] = "";

        if (o->key && matching_read_digits("--key", o->key, false, key, err) < 0)
                return -1;
        put_text(&payload, words[0]);
        put_text(&payload, key);
        return match_tell(o->store, MATCH_HARNESS, &payload, NULL, err);
}
