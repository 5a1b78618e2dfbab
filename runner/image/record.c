/* Records of images; see record.h. */
#include "image/record.h"

#include "image/store.h"

enum {
        MOST_TEXT = 128 << 10,
        MOST_TEXTS = 4096,
        SUM_SIZE = 4 + DIGEST_SIZE - 1, /* as put_text() writes it */
};

static const char version[] = "assay.image/4";

static char **get_list(struct reader *r)
{
        uint32_t count = get_u32(r);
        char **list = count <= MOST_TEXTS && !r->bad ? calloc(count + 1, sizeof *list) : NULL;

        if (!list)
                r->bad = true;
        for (uint32_t i = 0; list && i < count && !r->bad; i++)
                list[i] = get_new_text(r, MOST_TEXT);
        return list;
}

static void get_digest(struct reader *r, char ret[DIGEST_SIZE], bool needed)
{
        get_text(r, ret, DIGEST_SIZE);
        if (!is_digest(ret) && (needed || *ret != '\0'))
                r->bad = true;
}

static void get_layers(struct image *i, struct reader *r)
{
        uint32_t count = get_u32(r);

        if (!r->bad && count <= UNPACK_MAX_LAYERS)
                i->layers = calloc(count + 1, sizeof *i->layers);
        if (!i->layers)
                r->bad = true;
        for (; !r->bad && i->layer_count < count; i->layer_count++) {
                struct image_layer *l = &i->layers[i->layer_count];

                l->member = get_new_text(r, UNPACK_MAX_PATH);
                l->offset = get_u64(r);
                l->length = get_u64(r);
                get_digest(r, l->digest, false);
                get_digest(r, l->diff_id, true);
                get_u8(r); /* how it was compressed */
        }
}

int image_decode(struct image *ret, struct reader *r)
{
        *ret = (struct image){0};
        ret->names = get_list(r);
        get_digest(r, ret->ref_digest, false);
        get_digest(r, ret->id, true);
        ret->architecture = get_new_text(r, MOST_TEXT);
        ret->created = get_new_text(r, MOST_TEXT);
        ret->entrypoint = get_list(r);
        ret->cmd = get_list(r);
        ret->env = get_list(r);
        ret->workdir = get_new_text(r, MOST_TEXT);
        ret->user = get_new_text(r, MOST_TEXT);
        get_layers(ret, r);
        return r->bad ? -1 : 0;
}

int image_add_name(struct image *i, const char *name, struct error *err)
{
        size_t count = 0;
        char **more, *copy = strdup(name);

        while (i->names[count])
                count++;
        more = copy ? realloc(i->names, (count + 2) * sizeof *more) : NULL;
        if (!more) {
                free(copy);
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        }
        more[count] = copy;
        more[count + 1] = NULL;
        i->names = more;
        return 0;
}

static void free_list(char **list)
{
        for (char **text = list; text && *text; text++)
                free(*text);
        free(list);
}

void image_free(struct image *i)
{
        free_list(i->names);
        free_list(i->entrypoint);
        free_list(i->cmd);
        free_list(i->env);
        free(i->architecture);
        free(i->created);
        free(i->workdir);
        free(i->user);
        for (unsigned n = 0; i->layers && n <= i->layer_count && i->layers[n].member; n++)
                free(i->layers[n].member);
        free(i->layers);
        *i = (struct image){0};
}

/* What a record ends with: the digest of all before. */
static void sum(const unsigned char *bytes, size_t len, char ret[DIGEST_SIZE])
{
        struct sha256_ctx context;

        sha256_init(&context);
        sha256_update(&context, len, bytes);
        digest_text(&context, ret);
}

void record_write(struct buffer *out, const struct image *i, const struct buffer *said)
{
        char digest[DIGEST_SIZE];

        put_text(out, version);
        put_u32(out, i->uid);
        put_u32(out, i->gid);
        put_text(out, i->home);
        put_u32(out, i->stack_count);
        for (unsigned n = 0; n < i->stack_count; n++)
                put_text(out, i->stack[n]);
        buffer_add(out, said->data, said->len);
        sum(out->data, out->len, digest);
        put_text(out, digest);
}

static void get_derived(struct reader *r, struct image *ret)
{
        uint32_t count;

        *ret = (struct image){0};
        ret->uid = get_u32(r);
        ret->gid = get_u32(r);
        get_text(r, ret->home, sizeof ret->home);
        count = get_u32(r);
        r->bad |= count > CELL_MAX_LAYERS;
        for (; !r->bad && ret->stack_count < count; ret->stack_count++)
                get_digest(r, ret->stack[ret->stack_count], true);
}

static bool sum_is_right(const struct buffer *record)
{
        char is[DIGEST_SIZE];

        if (record->len < SUM_SIZE)
                return false;
        sum(record->data, record->len - SUM_SIZE, is);
        return memcmp(record->data + record->len - strlen(is), is, strlen(is)) == 0;
}

/* All of it but the documents, which `ret_rest` is left with. */
static int read_known(
        struct image *ret, const struct buffer *record, struct reader *ret_rest, struct error *err)
{
        struct reader r = reader_of(record->data, record->len);
        struct image derived;
        char is[sizeof version];

        *ret = (struct image){0};
        get_text(&r, is, sizeof is);
        if (r.bad || strcmp(is, version) != 0)
                return error_set(err, CODE_INFRA_STATE,
                        "the image store: a record is of another version; load the image again");
        get_derived(&r, &derived);
        if (!sum_is_right(record) || r.bad || image_decode(ret, &r) < 0 || r.left < SUM_SIZE)
                return error_set(err, CODE_INFRA_STATE, "the image store: a record is damaged");
        memcpy(ret->stack, derived.stack, sizeof ret->stack);
        ret->stack_count = derived.stack_count;
        ret->uid = derived.uid;
        ret->gid = derived.gid;
        memcpy(ret->home, derived.home, sizeof ret->home);
        *ret_rest = reader_of(r.at, r.left - SUM_SIZE);
        return 0;
}

int record_read(struct image *ret, const struct buffer *record, struct error *err)
{
        struct reader documents;

        return read_known(ret, record, &documents, err);
}

int record_restack(
        struct buffer *out, const struct image *i, const struct buffer *record, struct error *err)
{
        struct reader r = reader_of(record->data, record->len);
        _cleanup_buffer_ struct buffer said = BUFFER_INIT;
        struct image before;
        char is[sizeof version];

        get_text(&r, is, sizeof is);
        get_derived(&r, &before);
        if (r.bad || r.left < SUM_SIZE)
                return error_set(err, CODE_INFRA_STATE, "the image store: a record is damaged");
        buffer_add(&said, r.at, r.left - SUM_SIZE);
        record_write(out, i, &said);
        return buffer_ok(&said) && buffer_ok(out)
                       ? 0
                       : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int record_open(struct image *ret, int part, const char *name, struct error *err)
{
        _cleanup_buffer_ struct buffer record = BUFFER_INIT;

        *ret = (struct image){0};
        return image_store_get_record(part, name, &record, err) < 0
                       ? -1
                       : record_read(ret, &record, err);
}

int record_document(const struct buffer *record, enum unpack_blob kind, struct buffer *ret,
        char ret_digest[DIGEST_SIZE])
{
        struct reader r = {0};
        struct image image;
        int found = 0;

        if (read_known(&image, record, &r, NULL) < 0)
                r.bad = true;
        image_free(&image);
        while (!r.bad && r.left > 0) { /* a long one comes in pieces */
                const enum unpack_blob is = get_u8(&r);
                char digest[DIGEST_SIZE];
                const unsigned char *piece;
                size_t len;

                get_text(&r, digest, sizeof digest);
                get_u64(&r);
                piece = get_bytes(&r, UNPACK_MAX_PIECE, &len);
                if (r.bad || is != kind)
                        continue;
                buffer_add(ret, piece, len);
                memcpy(ret_digest, digest, DIGEST_SIZE);
                found = 1;
        }
        return buffer_ok(ret) ? found : -1;
}
