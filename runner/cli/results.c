/* assay results URL list|show ID|verify|head|init: what a store of results has, and whether it is
 * still what was stored; or make one. */
#include "verbs.h"

#include "fd.h"
#include "report/json.h"
#include "scorer.h"
#include "store_channel.h"
#include "text.h"

#include <unistd.h>

struct results {
        struct common_options common;
        const char *url, *id, *head;
        struct store_channel store;
        struct buffer out;
        struct json_writer json;
        uint64_t problems;
};

/* --- what comes ----------------------------------------------------------------------------- */

enum { ENTRY_TEXTS = 9, ENOUGH_TO_WRITE = 64 << 10 };

/* In the order of STORE_ENTRY. */
static const char *const entry_keys[ENTRY_TEXTS] = {"id", "submission_id", "task", "agent",
        "status", "outcome", "score", "code", "completed_at"};
enum {
        ENTRY_ID = 0,
        ENTRY_TASK = 2,
        ENTRY_AGENT = 3,
        ENTRY_STATUS = 4,
        ENTRY_SCORE = 6,
        ENTRY_CODE = 7,
        ENTRY_COMPLETED = 8
};

struct entry {
        uint64_t number;
        uint32_t attempt, revision;
        char *texts[ENTRY_TEXTS];
};

static void entry_json(struct results *o, const struct entry *e)
{
        struct json_writer *w = &o->json;

        json_open_object(w, NULL);
        json_number(w, "number", e->number);
        for (unsigned i = 0; i < ENTRY_TEXTS; i++)
                if (!*e->texts[i])
                        json_add_null(w, entry_keys[i]);
                else if (i == ENTRY_SCORE && scorer_is_decimal(e->texts[i]))
                        json_decimal(w, entry_keys[i], e->texts[i]);
                else
                        json_text(w, entry_keys[i], e->texts[i]);
        json_number(w, "attempt", e->attempt);
        json_number(w, "revision", e->revision);
        json_close(w);
}

/* A text of somebody's, for a terminal: whoever may change the database writes all of them. */
static void add_padded(struct buffer *out, int width, const char *text)
{
        char escaped[400];

        text_escape(escaped, sizeof escaped, text, strlen(text));
        buffer_add_format(out, "%*s", width, escaped);
}

static void add_escaped(struct buffer *out, const char *text)
{
        add_padded(out, 0, text);
}

static void entry_line(struct results *o, const struct entry *e)
{
        const char *score = e->texts[ENTRY_SCORE];

        add_escaped(&o->out, e->texts[ENTRY_COMPLETED]);
        buffer_add_text(&o->out, "  ");
        add_escaped(&o->out, e->texts[ENTRY_ID]);
        buffer_add_text(&o->out, "  ");
        add_padded(&o->out, -10, e->texts[ENTRY_STATUS]);
        buffer_add_text(&o->out, "  ");
        add_padded(&o->out, 7, *score ? score : "-");
        buffer_add_text(&o->out, "  ");
        add_escaped(&o->out, e->texts[ENTRY_TASK]);
        if (*e->texts[ENTRY_AGENT]) {
                buffer_add_text(&o->out, ", ");
                add_escaped(&o->out, e->texts[ENTRY_AGENT]);
        }
        buffer_add_format(&o->out, ", attempt %u", e->attempt);
        if (e->revision > 1)
                buffer_add_format(&o->out, ", revision %u", e->revision);
        if (*e->texts[ENTRY_CODE]) {
                buffer_add_text(&o->out, ", ");
                add_escaped(&o->out, e->texts[ENTRY_CODE]);
        }
        buffer_add_char(&o->out, '\n');
}

static void take_entry(struct results *o, struct reader *r)
{
        struct entry e = {.number = get_u64(r)};

        for (unsigned i = 0; i < ENTRY_TEXTS; i++)
                e.texts[i] = get_new_text(r, STORE_MAX_NAME);
        e.attempt = get_u32(r);
        e.revision = get_u32(r);
        if (!r->bad && o->common.json)
                entry_json(o, &e);
        else if (!r->bad)
                entry_line(o, &e);
        for (unsigned i = 0; i < ENTRY_TEXTS; i++)
                free(e.texts[i]);
}

static void take_piece(struct results *o, struct reader *r)
{
        size_t len;
        const unsigned char *bytes = get_bytes(r, STORE_MAX_PIECE, &len);

        if (!r->bad)
                buffer_add(&o->out, bytes, len);
}

static void take_problem(struct results *o, struct reader *r)
{
        char *where = get_new_text(r, STORE_MAX_NAME), *what = get_new_text(r, STORE_MAX_NAME);

        o->problems++;
        if (!r->bad && o->common.json) {
                json_open_object(&o->json, NULL);
                json_text(&o->json, "where", where);
                json_text(&o->json, "what", what);
                json_close(&o->json);
        } else if (!r->bad) {
                add_escaped(&o->out, where);
                buffer_add_text(&o->out, ": ");
                add_escaped(&o->out, what);
                buffer_add_char(&o->out, '\n');
        }
        free(where);
        free(what);
}

static void take_counts(struct results *o, struct reader *r)
{
        const uint64_t results = get_u64(r), submissions = get_u64(r);

        if (o->common.json) {
                json_close(&o->json);
                json_number(&o->json, "results", results);
                json_number(&o->json, "submissions", submissions);
                json_bool(&o->json, "intact", o->problems == 0);
        } else if (o->problems > 0) {
                buffer_add_format(&o->out,
                        "changed: %llu found, in %llu results of %llu "
                        "submissions\n",
                        (unsigned long long)o->problems, (unsigned long long)results,
                        (unsigned long long)submissions);
        } else {
                buffer_add_format(&o->out, "intact: %llu results of %llu submissions\n",
                        (unsigned long long)results, (unsigned long long)submissions);
        }
}

/* --- what can be asked ---------------------------------------------------------------------- */

static void put_nothing(const struct results *o, struct buffer *payload)
{
        (void)o;
        (void)payload;
}

static void put_id(const struct results *o, struct buffer *payload)
{
        put_text(payload, o->id);
}

static void put_head(const struct results *o, struct buffer *payload)
{
        put_text(payload, o->head ? o->head : "");
}

static const struct action {
        const char *name;
        bool needs_id;
        enum store_message ask;
        void (*put)(const struct results *o, struct buffer *payload);
        const char *array; /* of the answers as JSON; NULL: they are no rows */
        struct {
                enum store_message type;
                void (*take)(struct results *o, struct reader *r);
        } answers[2];
} actions[] = {
        {"list", false, STORE_LIST, put_nothing, "results", {{STORE_ENTRY, take_entry}}},
        {"show", true, STORE_SHOW, put_id, NULL, {{STORE_PIECE, take_piece}}},
        {"verify", false, STORE_VERIFY, put_head, "problems",
                {{STORE_PROBLEM, take_problem}, {STORE_COUNTS, take_counts}}},
        {"head", false, STORE_HEAD, put_nothing, NULL, {{STORE_PIECE, take_piece}}},
        /* Opened to append, it is made, and nothing is appended. */
        {"init", false, STORE_OPEN, put_nothing, NULL, {{0}}},
};

static int flush(struct results *o, struct error *err)
{
        int r = 0;

        if (!buffer_ok(&o->out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (o->common.json || !o->common.quiet)
                r = fd_write_all(STDOUT_FILENO, o->out.data, o->out.len);
        buffer_clear(&o->out);
        return r == 0 ? 0 : error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
}

static int take(struct results *o, const struct action *a, const struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        for (unsigned i = 0; i < 2; i++)
                if (a->answers[i].take && a->answers[i].type == f->type) {
                        a->answers[i].take(o, &r);
                        return reader_done(&r) ? 0 : store_channel_malformed(err);
                }
        return store_channel_malformed(err);
}

static int ask(struct results *o, const struct action *a, struct error *err)
{
        const bool makes = a->ask == STORE_OPEN;
        const struct store_order order = {.url = o->url, .result_id = makes ? "" : NULL};
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        int r;

        a->put(o, &payload);
        if (store_channel_open(&o->store, &order, err) < 0)
                return -1;
        if (makes)
                return 0;
        if (store_channel_ask(&o->store, a->ask, &payload, err) < 0)
                return -1;
        while ((r = store_channel_next(&o->store, &f, err)) > 0)
                if (take(o, a, &f, err) < 0 || (o->out.len > ENOUGH_TO_WRITE && flush(o, err) < 0))
                        return -1;
        return r;
}

static int run(struct results *o, const struct action *a, struct error *err)
{
        const bool rows = o->common.json && a->array;

        o->json.out = &o->out;
        if (rows) {
                json_open_object(&o->json, NULL);
                json_open_array(&o->json, a->array);
        }
        if (ask(o, a, err) < 0)
                return -1;
        if (a->ask == STORE_LIST && rows)
                json_close(&o->json);
        if (rows)
                json_close(&o->json);
        if (rows || a->ask == STORE_HEAD)
                buffer_add_char(&o->out, '\n');
        if (flush(o, err) < 0)
                return -1;
        return o->problems > 0 ? END_NOT_PASSED : END_PASSED;
}

static const struct action *find(const char *name)
{
        for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
                if (strcmp(actions[i].name, name) == 0)
                        return &actions[i];
        return NULL;
}

int verb_results(int argc, char **argv, struct error *err)
{
        struct results o = {.store = STORE_CHANNEL_INIT, .out = BUFFER_INIT};
        const struct option table[] = {
                {"--head", OPTION_TEXT, &o.head, "HEAD",
                        "with verify: what `head` printed then, to notice what was removed"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);
        const struct action *a;
        int r;

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("results URL list|show ID|verify|head|init",
                        "What a store has (assay run --store): all results in order, one of them "
                        "as "
                        "JSON,\nwhether any was changed or removed, or what one has to keep "
                        "elsewhere to notice\nthat the last ones were removed. `init` makes a "
                        "store, or brings "
                        "its tables up\nto date.\n\n"
                        "exit status: 0, 1 verify found a change, 2 usage, 4 the store cannot be "
                        "read",
                        table, sizeof table / sizeof *table);
        a = rest >= 2 ? find(argv[1]) : NULL;
        if (!a || rest != (a->needs_id ? 3 : 2) || (o.head && a->ask != STORE_VERIFY))
                return error_set(err, CODE_USAGE,
                        "results: needs a store, and list, show ID, verify, head or init");
        o.url = argv[0];
        o.id = a->needs_id ? argv[2] : NULL;
        r = run(&o, a, err);
        store_channel_close(&o.store);
        buffer_free(&o.out);
        return r;
}
