/* Rows of a store; see store_values.h. Whoever may change the database writes all of them. */
#include "store_values.h"

#include "scorer.h"

void store_values_free(struct store_values *v)
{
        for (unsigned i = 0; i < v->count; i++)
                free(v->values[i].text);
        *v = (struct store_values){0};
}

static int take(const struct frame *f, unsigned count, struct store_values *ret, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        const uint32_t sent = get_u32(&r);

        r.bad |= sent != count || count > STORE_MAX_VALUES || f->type != STORE_VALUES;
        for (unsigned i = 0; !r.bad && i < count; i++) {
                struct store_value *v = &ret->values[ret->count++];

                v->kind = get_u8(&r);
                if (v->kind == STORE_INTEGER)
                        v->number = (int64_t)get_u64(&r);
                v->text = v->kind == STORE_STRING ? get_new_text(&r, STORE_MAX_NAME) : strdup("");
                r.bad |= v->kind > STORE_STRING || !v->text;
        }
        if (reader_done(&r))
                return 1;
        store_values_free(ret);
        return store_channel_malformed(err);
}

int store_values_next(
        struct store_channel *c, unsigned count, struct store_values *ret, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        const int r = store_channel_next(c, &f, err);

        *ret = (struct store_values){0};
        return r > 0 ? take(&f, count, ret, err) : r;
}

int store_values_only(
        struct store_channel *c, unsigned count, struct store_values *ret, struct error *err)
{
        struct store_values more = {0};
        int r = store_values_next(c, count, ret, err);

        if (r > 0 && (r = store_values_next(c, count, &more, err)) == 0)
                return 0;
        store_values_free(&more);
        store_values_free(ret);
        return r < 0 ? -1 : store_channel_malformed(err);
}

const char *store_value_text(const struct store_values *v, unsigned column, char out[32])
{
        const struct store_value *value = &v->values[column];

        if (value->kind != STORE_INTEGER)
                return value->text;
        snprintf(out, 32, "%lld", (long long)value->number);
        return out;
}

static void add_value(
        const struct store_values *v, const struct store_column *c, struct json_writer *w)
{
        const struct store_value *value = &v->values[c->column];
        char number[32];
        const char *text = store_value_text(v, c->column, number);

        if (value->kind == STORE_NULL)
                json_add_null(w, c->key);
        else if (c->how == SHOW_BOOLEAN)
                json_bool(w, c->key, value->number != 0);
        else if (value->kind == STORE_INTEGER ||
                 (c->how == SHOW_DECIMAL && scorer_is_decimal(text)))
                json_decimal(w, c->key, text);
        else
                json_text(w, c->key, text);
}

void store_values_json(const struct store_values *v, const struct store_column *columns,
        size_t count, struct json_writer *w)
{
        for (size_t i = 0; i < count; i++)
                add_value(v, &columns[i], w);
}
