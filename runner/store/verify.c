/* Has anybody changed a store behind our back? Every mac is made again from what the database says
 * now; see chain.h. One view of the database, in the order in which the results came. */
#include "store/match.h"

#include "quantity.h"

struct check {
        struct store *store;
        int socket;
        struct chain_head head;
        char kept[STORE_HEAD_SIZE]; /* the head to compare with, or "" */
        uint64_t kept_count;
        int64_t last; /* number */
        uint64_t problems;
};

static int report(struct check *c, const char *where, const char *what, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;

        c->problems++;
        put_text(&out, where);
        put_text(&out, what);
        return frame_send(c->socket, STORE_PROBLEM, &out, NULL, 0, err);
}

struct encoding {
        struct buffer *to;
        enum store_table table;
        unsigned leave_out; /* a column that was not there yet when it was encoded; or none */
};

static int encode(void *to, const struct value *row, unsigned count, struct error *err)
{
        const struct encoding *e = to;
        struct value copy[STORED_COLUMNS];

        (void)err;
        memcpy(copy, row, count * sizeof *row);
        if (e->leave_out < count)
                copy[e->leave_out].kind = VALUE_NULL;
        chain_add_row(e->to, e->table, copy);
        return 0;
}

/* The rows of a table that belong to `owner`, encoded. */
static int encode_rows(struct check *c, struct encoding *e, const char *owner_column,
        const struct value *owner, struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;

        schema_select(&sql, e->table);
        buffer_add_format(&sql, " WHERE %s = $1 ORDER BY position", owner_column);
        return c->store->engine->run(
                c->store->database, buffer_text(&sql), owner, 1, encode, e, err);
}

/* --- one result ----------------------------------------------------------------------------- */

struct place { /* what there is before a result of its submission */
        char mac[DIGEST_SIZE];
        int64_t attempt;  /* the highest */
        int64_t revision; /* the highest of the result's attempt */
};

static int take_place(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct place *p = to;

        (void)count;
        (void)err;
        value_copy(&row[0], p->mac, sizeof p->mac);
        p->attempt = row[1].number;
        p->revision = row[2].number;
        return 0;
}

static int find_before(
        struct check *c, const struct value *row, struct place *ret, struct error *err)
{
        const struct value values[] = {
                row[STORED_SUBMISSION], row[STORED_NUMBER], row[STORED_ATTEMPT]};

        return c->store->engine->run(c->store->database,
                "SELECT mac, (SELECT max(attempt) FROM evaluation_results"
                "  WHERE submission_id = $1 AND number < $2),"
                " (SELECT max(revision) FROM evaluation_results"
                "  WHERE submission_id = $1 AND number < $2 AND attempt = $3)"
                " FROM evaluation_results"
                " WHERE submission_id = $1 AND number < $2 ORDER BY number DESC LIMIT 1",
                values, 3, take_place, ret, err);
}

/* Is there one missing between the two? */
static bool follows(const struct place *before, const struct value *row)
{
        const int64_t attempt = row[STORED_ATTEMPT].number, revision = row[STORED_REVISION].number;

        return revision == before->revision + 1 && (revision > 1 || attempt == before->attempt + 1);
}

/* Byte for byte: a text may go on behind a NUL. */
static bool is_text(const struct value *v, const char *text)
{
        return v->kind == VALUE_TEXT && v->len == strlen(text) &&
               memcmp(v->text, text, v->len) == 0;
}

static int check_mac(struct check *c, const char *id, const struct value *row, struct error *err)
{
        _cleanup_buffer_ struct buffer rows = BUFFER_INIT;
        struct encoding dimensions = {&rows, TABLE_DIMENSIONS, STORED_COLUMNS};
        struct place before = {.mac = ""};
        char mac[DIGEST_SIZE];

        if (find_before(c, row, &before, err) < 0)
                return -1;
        chain_add_row(&rows, TABLE_RESULTS, row);
        if (encode_rows(c, &dimensions, "result_id", &row[STORED_ID], err) < 0)
                return -1;
        if (!buffer_ok(&rows))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        chain_mac(&c->store->key, before.mac, &rows, mac);
        if (is_text(&row[STORED_MAC], mac))
                return 0;
        return report(c, id,
                follows(&before, row)
                        ? "this result or one of its dimensions was changed, or it was added "
                          "behind our back"
                        : "the result before it, of the same submission, was removed",
                err);
}

static int check_rubric(struct check *c, const char *id, const struct value *row, struct error *err)
{
        _cleanup_buffer_ struct buffer rows = BUFFER_INIT;
        struct encoding criteria = {&rows, TABLE_CRITERIA, CRITERION_RUBRIC};
        char digest[DIGEST_SIZE];

        if (row[STORED_RUBRIC].kind == VALUE_NULL)
                return 0;
        if (encode_rows(c, &criteria, "rubric_sha256", &row[STORED_RUBRIC], err) < 0)
                return -1;
        if (!buffer_ok(&rows))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        chain_digest(&rows, digest);
        return is_text(&row[STORED_RUBRIC], digest)
                       ? 0
                       : report(c, id, "the rubric's criteria were changed", err);
}

struct owner {
        char agent[STORE_MAX_AGENT + 2];
        bool present, erased, whole;
};

static int take_owner(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct owner *o = to;

        (void)count;
        (void)err;
        value_copy(&row[0], o->agent, sizeof o->agent);
        o->whole = is_text(&row[0], o->agent);
        o->erased = row[0].kind == VALUE_NULL;
        o->present = true;
        return 0;
}

/* Whose result it is; an agent that was erased cannot be told any more, and need not. */
static int check_owner(struct check *c, const char *id, const struct value *row, struct error *err)
{
        static const char sql[] = "SELECT agent FROM submissions WHERE id = $1 AND task = $2"
                                  " AND coalesce(archive_sha256, '') = coalesce($3, '')";
        const struct value values[] = {
                row[STORED_SUBMISSION], row[STORED_TASK], row[STORED_ARCHIVE]};
        struct owner o = {.present = false};
        char mac[DIGEST_SIZE];

        if (c->store->engine->run(c->store->database, sql, values, 3, take_owner, &o, err) < 0)
                return -1;
        if (!o.present)
                return report(c, id, "its submission was changed or removed", err);
        chain_mac_text(&c->store->key, "assay.store.agent/1", o.agent, mac);
        return o.erased || (o.whole && is_text(&row[STORED_AGENT_MAC], mac))
                       ? 0
                       : report(c, id, "its submission was given to another agent", err);
}

static int check_number(struct check *c, const struct value *row, struct error *err)
{
        const int64_t number = row[STORED_NUMBER].number;
        char where[64];

        if (number != c->last + 1) {
                snprintf(where, sizeof where, "number %lld", (long long)c->last + 1);
                if (report(c, where,
                            number == c->last + 2 ? "this result was removed"
                                                  : "this result and some after it were removed",
                            err) < 0)
                        return -1;
        }
        c->last = number;
        return 0;
}

static int check_kept(struct check *c, struct error *err)
{
        char head[STORE_HEAD_SIZE];

        if (!*c->kept || c->head.count != c->kept_count)
                return 0;
        chain_head_text(&c->head, head);
        return strcmp(head, c->kept) == 0
                       ? 0
                       : report(c, "head", "the results until then are not those that it was of",
                                 err);
}

static int check_result(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct check *c = to;
        char id[STORE_MAX_NAME], mac[DIGEST_SIZE];

        (void)count;
        value_copy(&row[STORED_ID], id, sizeof id);
        if (check_number(c, row, err) < 0 || check_mac(c, id, row, err) < 0 ||
                check_rubric(c, id, row, err) < 0 || check_owner(c, id, row, err) < 0)
                return -1;
        value_copy(&row[STORED_MAC], mac, sizeof mac);
        chain_head_add(&c->head, mac);
        return check_kept(c, err);
}

/* --- all ------------------------------------------------------------------------------------ */

static int each_result(struct check *c, take_row take, struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;

        schema_select(&sql, TABLE_RESULTS);
        buffer_add_text(&sql, " ORDER BY number");
        return c->store->engine->each(c->store->database, buffer_text(&sql), NULL, 0, take, c, err);
}

static int report_row(void *to, const struct value *row, unsigned count, struct error *err)
{
        char where[STORE_MAX_NAME], what[STORE_MAX_NAME];

        (void)count;
        value_copy(&row[0], where, sizeof where);
        value_copy(&row[1], what, sizeof what);
        return report(to, where, what, err);
}

static int report_schema(void *to, const struct value *row, unsigned count, struct error *err)
{
        char name[128];

        (void)count;
        value_copy(&row[0], name, sizeof name);
        return report(to, name,
                "this table or rule of the database is not as it was made: results can be changed",
                err);
}

static int report_pages(void *to, const struct value *row, unsigned count, struct error *err)
{
        char what[STORE_MAX_NAME];

        (void)count;
        value_copy(&row[0], what, sizeof what);
        return report(to, "the database's file", what, err);
}

/* What no chain covers, since it may change: but not into anything. */
static int check_rest(struct check *c, struct error *err)
{
        static const char *const all[] = {
                "SELECT DISTINCT result_id, 'there are dimensions of a result that is not there'"
                " FROM evaluation_dimensions"
                " WHERE result_id NOT IN (SELECT id FROM evaluation_results)",
                "SELECT DISTINCT rubric_sha256, 'there are criteria that no result was graded by'"
                " FROM rubric_criteria WHERE rubric_sha256 NOT IN"
                "  (SELECT rubric_sha256 FROM evaluation_results WHERE rubric_sha256 IS NOT NULL)",
                "SELECT id, 'the submission has no result' FROM submissions"
                " WHERE id NOT IN (SELECT submission_id FROM evaluation_results)",
                "SELECT s.id, 'the submission''s status or time is not that of its last result'"
                " FROM submissions s JOIN evaluation_results r ON r.submission_id = s.id"
                " WHERE r.number = (SELECT max(number) FROM evaluation_results l"
                "  WHERE l.submission_id = s.id)"
                " AND (s.completed_at IS DISTINCT FROM CASE r.status WHEN 'pending' THEN NULL"
                "  ELSE r.completed_at END"
                " OR s.status <> CASE r.status WHEN 'graded' THEN 'completed'"
                "  WHEN 'pending' THEN 'pending' ELSE 'failed' END"
                " OR s.evaluated <> CASE r.status WHEN 'graded' THEN 1 ELSE 0 END)",
        };

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                if (c->store->engine->run(c->store->database, all[i], NULL, 0, report_row, c, err) <
                        0)
                        return -1;
        return 0;
}

/* A head that is no head is the caller's mistake. */
static int take_head(struct check *c, const char *head, struct error *err)
{
        const char *colon = strchr(head, ':');
        char count[32];

        if (!*head)
                return 0;
        snprintf(count, sizeof count, "%.*s", colon ? (int)(colon - head) : 0, head);
        if (!colon || quantity_parse_count(count, &c->kept_count) < 0 ||
                strspn(colon + 1, "0123456789abcdef") != DIGEST_SIZE - 1 ||
                strlen(colon + 1) != DIGEST_SIZE - 1)
                return error_set(
                        err, CODE_USAGE, "--head %s: not what `assay results head` printed", head);
        snprintf(c->kept, sizeof c->kept, "%s", head);
        return 0;
}

static int check_end(struct check *c, struct error *err)
{
        char what[128];

        if (!*c->kept || c->head.count >= c->kept_count)
                return 0;
        snprintf(what, sizeof what, "it is of %llu results, and there are %llu: some were removed",
                (unsigned long long)c->kept_count, (unsigned long long)c->head.count);
        return report(c, "head", what, err);
}

static int report_match(void *to, const char *where, const char *what, struct error *err)
{
        return report(to, where, what, err);
}

int verify_answer(struct store *s, int socket, const char *head, struct error *err)
{
        struct check c = {.store = s, .socket = socket};
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        int64_t submissions;

        chain_head_begin(&c.head, &s->key);
        if (take_head(&c, head, err) < 0 || check_kept(&c, err) < 0 ||
                s->engine->check_schema(s->database, report_schema, &c, err) < 0 ||
                s->engine->check_pages(s->database, report_pages, &c, err) < 0 ||
                each_result(&c, check_result, err) < 0 || check_end(&c, err) < 0 ||
                check_rest(&c, err) < 0 || match_verify(s, report_match, &c, err) < 0 ||
                store_ask_number(
                        s, "SELECT count(*) FROM submissions", NULL, 0, &submissions, err) < 0)
                return -1;
        put_u64(&out, c.head.count);
        put_u64(&out, (uint64_t)submissions);
        return frame_send(socket, STORE_COUNTS, &out, NULL, 0, err);
}

static int add_mac(void *to, const struct value *row, unsigned count, struct error *err)
{
        char mac[DIGEST_SIZE];

        (void)count;
        (void)err;
        value_copy(&row[0], mac, sizeof mac);
        chain_head_add(to, mac);
        return 0;
}

int verify_head(struct store *s, char ret[STORE_HEAD_SIZE], struct error *err)
{
        struct chain_head head;

        chain_head_begin(&head, &s->key);
        if (s->engine->run(s->database, "SELECT mac FROM evaluation_results ORDER BY number", NULL,
                    0, add_mac, &head, err) < 0)
                return -1;
        chain_head_text(&head, ret);
        return 0;
}
