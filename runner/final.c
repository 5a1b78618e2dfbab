/* What a waiting result becomes; see final.h. */
#include "final.h"

enum { MOST_PARTS = 1000 }; /* criteria of a result */

/* --- what the scorer says ------------------------------------------------------------------- */

static void part_free(struct final_part *p)
{
        free(p->name);
        free(p->weight);
        free(p->score);
        free(p->reasoning);
}

void final_free(struct final *f)
{
        char *const texts[] = {
                f->outcome, f->score, f->test_score, f->llm_score, f->exact, f->summary};

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                free(texts[i]);
        for (unsigned i = 0; i < f->part_count; i++)
                part_free(&f->parts[i]);
        free(f->parts);
        buffer_free(&f->result);
        buffer_free(&f->data);
        *f = (struct final){0};
        f->result = f->data = (struct buffer)BUFFER_INIT;
}

static char *take_decimal(struct reader *r, bool may_be_empty)
{
        char *text = scorer_text(r, SCORE_MAX_NAME);

        if (text && !scorer_is_decimal(text) && !(may_be_empty && *text == '\0'))
                r->bad = true;
        return text;
}

static void take_score(struct final *f, struct reader *r)
{
        r->bad |= f->score != NULL;
        if (r->bad)
                return;
        f->passed = get_u8(r);
        f->outcome = scorer_text(r, SCORE_MAX_NAME);
        f->score = take_decimal(r, false);
        f->scale = get_u32(r);
        f->test_score = take_decimal(r, true);
        f->llm_score = take_decimal(r, true);
        f->exact = scorer_text(r, SCORE_MAX_EXACT);
        f->summary = scorer_text(r, SCORE_MAX_TEXT);
        r->bad |= !f->exact || !scorer_is_exact(f->exact);
}

static int take_part(struct final *f, struct reader *r, struct error *err)
{
        struct final_part *p;

        if (f->part_count >= MOST_PARTS)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent too many rows");
        p = reallocarray(f->parts, f->part_count + 1, sizeof *p);
        if (!p)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the result");
        f->parts = p;
        p += f->part_count++;
        *p = (struct final_part){.name = scorer_text(r, SCORE_MAX_TEXT)};
        p->source = get_u8(r);
        p->weight = take_decimal(r, false);
        p->score = take_decimal(r, true);
        p->reasoning = scorer_text(r, SCORE_MAX_TEXT);
        r->bad |= p->source >= FINAL_SOURCES;
        return 0;
}

static void take_piece(struct buffer *to, struct reader *r)
{
        size_t len;
        const unsigned char *bytes = get_bytes(r, FINAL_MAX_PIECE, &len);

        if (!r->bad)
                buffer_add(to, bytes, len);
}

int final_take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct final *f = to;

        switch (type) {
        case FINAL_SCORE:
                take_score(f, r);
                return 0;
        case FINAL_PART:
                return take_part(f, r, err);
        case FINAL_PIECE:
                take_piece(&f->result, r);
                return 0;
        case FINAL_DATA:
                take_piece(&f->data, r);
                return 0;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        }
}

int final_check(const struct final *f, bool with_data, struct error *err)
{
        if (!buffer_ok(&f->result) || !buffer_ok(&f->data))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the result");
        return f->score && f->result.len > 0 && (f->data.len > 0) == with_data
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME, "the scorer gave no result");
}

/* --- in a store ----------------------------------------------------------------------------- */

static int read_pieces(struct store_channel *c, enum store_message what, const char *id,
        struct buffer *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        int r;

        put_text(&payload, id);
        if (store_channel_ask(c, what, &payload, err) < 0)
                return -1;
        while ((r = store_channel_next(c, &f, err)) > 0) {
                struct reader piece = reader_of(f.payload.data, f.payload.len);
                size_t len;
                const unsigned char *bytes = get_bytes(&piece, STORE_MAX_PIECE, &len);

                if (f.type != STORE_PIECE || !reader_done(&piece))
                        return store_channel_malformed(err);
                buffer_add(ret, bytes, len);
        }
        return r == 0 && !buffer_ok(ret)
                       ? error_set(err, CODE_INFRA_MEMORY, "out of memory for the result")
                       : r;
}

int final_find(const char *url, const char *id, struct buffer *ret_result, struct buffer *ret_data,
        struct error *err)
{
        struct store_channel c = STORE_CHANNEL_INIT;
        const struct store_order order = {.url = url};
        int r;

        r = store_channel_open(&c, &order, err) < 0 ||
                            read_pieces(&c, STORE_SHOW, id, ret_result, err) < 0 ||
                            read_pieces(&c, STORE_PASS_DATA, id, ret_data, err) < 0
                    ? -1
                    : 0;
        store_channel_close(&c);
        return r;
}

static int put_parts(struct store_channel *c, const struct final *f, struct error *err)
{
        static const char *const sources[FINAL_SOURCES] = {
                [FINAL_BY_TEST] = "test", [FINAL_BY_LLM] = "llm"};

        for (unsigned i = 0; i < f->part_count; i++) {
                const struct final_part *p = &f->parts[i];
                const struct store_text texts[] = {
                        {DIMENSION_NAME, p->name},
                        {DIMENSION_SOURCE, sources[p->source]},
                        {DIMENSION_WEIGHT, p->weight},
                        {DIMENSION_SCORE, p->score},
                        {DIMENSION_REASONING, p->reasoning},
                };

                if (store_channel_texts(
                            c, TABLE_DIMENSIONS, texts, sizeof texts / sizeof *texts, err) < 0 ||
                        store_channel_row(c, TABLE_DIMENSIONS, err) < 0)
                        return -1;
        }
        return 0;
}

/* What else is in its row is kept by the store. */
static int put_result(struct store_channel *c, const struct final *f, struct error *err)
{
        _cleanup_buffer_ struct buffer result = BUFFER_INIT, data = BUFFER_INIT;

        buffer_add(&result, f->result.data, f->result.len);
        buffer_add(&data, f->data.data, f->data.len);
        const struct store_text texts[] = {
                {STORED_STATUS, "graded"},
                {STORED_OUTCOME, f->outcome},
                {STORED_FINAL, f->score},
                {STORED_FINAL_EXACT, f->exact},
                {STORED_LLM, f->llm_score},
                {STORED_LLM_REASONING, f->summary},
                {STORED_PASS_DATA, buffer_text(&data)},
                {STORED_JSON, buffer_text(&result)},
        };

        if (!buffer_ok(&result) || !buffer_ok(&data))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the result");
        return store_channel_texts(c, TABLE_RESULTS, texts, sizeof texts / sizeof *texts, err) <
                                       0 ||
                               store_channel_row(c, TABLE_RESULTS, err) < 0
                       ? -1
                       : 0;
}

int final_append(struct store_channel *c, const struct final *f, struct error *err)
{
        unsigned attempt;

        if (store_channel_begin(c, "", "", &attempt, err) == 0 && put_parts(c, f, err) == 0 &&
                put_result(c, f, err) == 0 && store_channel_commit(c, err) == 0)
                return 0;
        return err->code == CODE_RESULT_FINAL ? -1 : error_add(err, "the result was not stored");
}
