/* Appending the rows of one evaluation, in one transaction; see messages.h. What assay says is
 * taken for its own evaluation only: the ids and the agent were said before it met anything of a
 * submitter's, the rest is made here. */
#include "store/append.h"

#include "text.h"

#include <unistd.h>

enum { SECONDS_TO_SAY_ALL = 20 };

struct append *append_new(struct store *s, const struct append_order *order, struct error *err)
{
        struct append *a = calloc(1, sizeof *a);

        if (!a) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return NULL;
        }
        a->store = s;
        a->order = *order;
        snprintf(a->agent, sizeof a->agent, "%s", order->agent);
        snprintf(a->result_id, sizeof a->result_id, "%s", order->result_id);
        snprintf(a->submission_id, sizeof a->submission_id, "%s", order->submission_id);
        snprintf(a->supersedes, sizeof a->supersedes, "%s", order->supersedes);
        if (order->job)
                a->job = *order->job;
        return a;
}

static void pending_free(struct pending *p)
{
        for (unsigned i = 0; p && i < STORED_COLUMNS; i++)
                buffer_free(&p->texts[i]);
        free(p);
}

void append_free(struct append *a)
{
        if (!a)
                return;
        if (a->begun && !a->committed)
                a->store->engine->rollback(a->store->database);
        for (unsigned i = 0; i < a->row_count; i++)
                pending_free(a->rows[i]);
        for (unsigned i = 0; i < TABLE_GIVEN; i++)
                pending_free(a->current[i]);
        superseded_free(&a->old);
        free(a);
}

static int begin(struct append *a, int socket, struct reader *r, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        get_text(r, a->task, sizeof a->task);
        get_text(r, a->archive, sizeof a->archive);
        if (!reader_done(r) || !text_utf8_valid(a->task, strlen(a->task)) ||
                strspn(a->archive, "0123456789abcdef") != strlen(a->archive) ||
                (*a->supersedes && (*a->task || *a->archive)))
                return store_malformed(err);
        /* Nobody else writes until this ends: so it may not take for ever. */
        alarm(SECONDS_TO_SAY_ALL);
        a->begun = true;
        while (append_find_place(a, err) < 0)
                if (store_connect_again(a->store, err) < 0)
                        return -1;
        put_u32(&out, (uint32_t)a->attempt);
        return frame_send(socket, STORE_ATTEMPT, &out, NULL, 0, err);
}

/* --- rows ----------------------------------------------------------------------------------- */

static struct pending *current(struct append *a, unsigned table, struct error *err)
{
        /* The rubric of a result that waits is that of the one that it becomes. */
        if (table >= TABLE_GIVEN || (table == TABLE_CRITERIA && *a->supersedes)) {
                store_malformed(err);
                return NULL;
        }
        if (!a->current[table]) {
                struct pending *p = calloc(1, sizeof *p);

                if (!p) {
                        error_set(err, CODE_INFRA_MEMORY, "out of memory");
                        return NULL;
                }
                p->table = table;
                for (unsigned i = 0; i < STORED_COLUMNS; i++)
                        p->texts[i] = (struct buffer)BUFFER_INIT;
                a->current[table] = p;
        }
        return a->current[table];
}

static bool is_given(enum store_table table, unsigned column, enum value_kind kind)
{
        const struct table *t = &store_tables[table];

        return column < t->count && t->columns[column].given && t->columns[column].kind == kind;
}

static int take_value(struct append *a, enum value_kind kind, struct reader *r, struct error *err)
{
        const unsigned table = get_u8(r), column = get_u8(r);
        struct pending *p = current(a, table, err);

        if (!p)
                return -1;
        if (!is_given(table, column, kind))
                return store_malformed(err);
        p->values[column].kind = kind;
        if (kind == VALUE_NUMBER) {
                p->values[column].number = (int64_t)get_u64(r);
        } else {
                size_t len;
                const unsigned char *bytes = get_bytes(r, STORE_MAX_PIECE, &len);

                if (r->bad || p->texts[column].len + len > STORE_MAX_TEXT ||
                        (a->bytes += len) > STORE_MAX_ALL)
                        return store_malformed(err);
                buffer_add(&p->texts[column], bytes, len);
        }
        return reader_done(r) ? 0 : store_malformed(err);
}

/* Its texts are complete, and text. */
static int add_row(struct append *a, struct reader *r, struct error *err)
{
        const unsigned table = get_u8(r);
        struct pending *p =
                reader_done(r) && a->row_count < STORE_MAX_ROWS ? current(a, table, err) : NULL;

        if (!p || (table == TABLE_RESULTS && a->result_rows++ > 0))
                return store_malformed(err);
        for (unsigned i = 0; i < store_tables[table].count; i++) {
                const struct buffer *b = &p->texts[i];

                if (p->values[i].kind != VALUE_TEXT)
                        continue;
                if (!buffer_ok(b))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                if (!text_utf8_valid(b->data, b->len) || memchr(b->data, '\0', b->len))
                        return store_malformed(err);
                p->values[i].text = (const char *)b->data;
                p->values[i].len = b->len;
        }
        a->rows[a->row_count++] = p;
        a->current[table] = NULL;
        return 0;
}

/* --- all of them ---------------------------------------------------------------------------- */

/* What waited becomes graded, and nothing else. */
static bool may_become(const struct append *a, const struct value *row)
{
        char status[32];

        value_copy(&row[STORED_STATUS], status, sizeof status);
        return !*a->supersedes || strcmp(status, "graded") == 0;
}

static int commit(struct append *a, int socket, struct reader *r, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        struct value *row = append_result_row(a);
        int result;

        if (!reader_done(r) || !row || !may_become(a, row))
                return store_malformed(err);
        alarm(0);
        result = append_write(a, row, err);
        while (result < 0 && store_connect_again(a->store, err) == 0) {
                int64_t attempt = a->attempt;

                result = append_is_there(a, err);
                if (result < 0)
                        continue;
                if (result > 0) {
                        result = 0;
                        break;
                }
                result = append_find_place(a, err) < 0 ? -1
                         : a->attempt != attempt
                                 ? error_set(err, CODE_INFRA_STORE,
                                           "the connection was lost, and another result of the "
                                           "submission was stored meanwhile")
                                 : append_write(a, row, err);
        }
        if (result < 0)
                return -1;
        a->committed = true;
        return frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}

/* What the agent had done in a match, as the scorer found it. */
static int take_valid(struct append *a, struct reader *r, struct error *err)
{
        a->entry.valid = get_u8(r);
        return reader_done(r) && *a->order.match ? 0 : store_malformed(err);
}

/* Before the rows of its answer, and after them. */
static int take_match(
        struct append *a, int socket, unsigned type, struct reader *r, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;

        if (type == MATCH_ARRIVED)
                return match_enter_arrived(&a->entry, a->store, &a->order, r, err);
        if (type == MATCH_TRAJECTORY)
                return match_enter_trajectory(&a->entry, a->store, &a->order, r, err);
        if (type == MATCH_ENTER)
                return match_enter(&a->entry, a->store, &a->order, socket, r, err);
        if (type != MATCH_SHOW || !*a->order.match || !reader_done(r) ||
                match_show(a->store, socket, a->order.match, err) < 0)
                return store_malformed(err);
        return frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}

enum append_step append_step(const struct append *a)
{
        return a->committed ? APPEND_ENDED : a->begun ? APPEND_BEGUN : APPEND_WAITS;
}

int append_take(struct append *a, int socket, unsigned type, struct reader *r, struct error *err)
{
        if ((a->committed && type == MATCH_SHOW) ||
                (!a->begun && type >= MATCH_ARRIVED && type <= MATCH_ENTER))
                return take_match(a, socket, type, r, err);
        if (a->committed || a->begun != (type != STORE_BEGIN))
                return store_malformed(err);
        switch (type) {
        case STORE_BEGIN:
                return begin(a, socket, r, err);
        case STORE_TEXT:
                return take_value(a, VALUE_TEXT, r, err);
        case STORE_NUMBER:
                return take_value(a, VALUE_NUMBER, r, err);
        case STORE_ROW:
                return add_row(a, r, err);
        case MATCH_VALID:
                return take_valid(a, r, err);
        case STORE_COMMIT:
                return commit(a, socket, r, err);
        default:
                return store_malformed(err);
        }
}
