/* Chains of results; see chain.h. */
#include "store/chain.h"

#include "frame.h"

static void put_value(struct buffer *b, const struct value *v)
{
        put_u8(b, (uint8_t)v->kind);
        if (v->kind == VALUE_NUMBER) {
                put_u64(b, (uint64_t)v->number);
        } else {
                /* As put_bytes, but a text may be longer than a frame. */
                put_u32(b, (uint32_t)v->len);
                buffer_add(b, v->text, v->len);
        }
}

void chain_add_row(struct buffer *b, enum store_table t, const struct value *row)
{
        const struct table *table = &store_tables[t];
        const bool has_mac = strcmp(table->columns[table->count - 1].name, "mac") == 0;
        const unsigned count = table->count - has_mac;

        put_text(b, table->name);
        for (unsigned i = 0; i < count; i++)
                if (row[i].kind != VALUE_NULL) {
                        put_text(b, table->columns[i].name);
                        put_value(b, &row[i]);
                }
        put_text(b, "");
}

static void hmac_text(struct hmac_sha256_ctx *c, char ret[DIGEST_SIZE])
{
        unsigned char bytes[SHA256_DIGEST_SIZE];

        hmac_sha256_digest(c, sizeof bytes, bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
                snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

/* Each purpose ends with a NUL, which none contains. */
static void begin(struct hmac_sha256_ctx *c, const struct chain_key *key, const char *purpose)
{
        hmac_sha256_set_key(c, sizeof key->bytes, key->bytes);
        hmac_sha256_update(c, strlen(purpose) + 1, (const unsigned char *)purpose);
}

void chain_mac(const struct chain_key *key, const char *before, const struct buffer *rows,
        char ret[DIGEST_SIZE])
{
        struct hmac_sha256_ctx c;

        begin(&c, key, "assay.store.result/1");
        hmac_sha256_update(&c, strlen(before) + 1, (const unsigned char *)before);
        hmac_sha256_update(&c, rows->len, rows->data);
        hmac_text(&c, ret);
}

void chain_mac_text(
        const struct chain_key *key, const char *purpose, const char *text, char ret[DIGEST_SIZE])
{
        struct hmac_sha256_ctx c;

        begin(&c, key, purpose);
        hmac_sha256_update(&c, strlen(text), (const unsigned char *)text);
        hmac_text(&c, ret);
}

void chain_digest(const struct buffer *rows, char ret[DIGEST_SIZE])
{
        struct sha256_ctx c;

        sha256_init(&c);
        sha256_update(&c, rows->len, rows->data);
        digest_text(&c, ret);
}

void chain_head_begin(struct chain_head *h, const struct chain_key *key)
{
        *h = (struct chain_head){.count = 0};
        begin(&h->hmac, key, "assay.store.head/1");
}

void chain_head_add(struct chain_head *h, const char *mac)
{
        hmac_sha256_update(&h->hmac, strlen(mac) + 1, (const unsigned char *)mac);
        h->count++;
}

void chain_head_text(const struct chain_head *h, char ret[STORE_HEAD_SIZE])
{
        struct hmac_sha256_ctx until_now = h->hmac;
        char digits[DIGEST_SIZE];

        hmac_text(&until_now, digits);
        snprintf(ret, STORE_HEAD_SIZE, "%llu:%s", (unsigned long long)h->count, digits);
}
