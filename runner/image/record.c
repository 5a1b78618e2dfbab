/* Records of images; see record.h. */
#include "image/record.h"

#include "image/store.h"
#include "images/messages.h"

enum { MOST_TEXT = 128 << 10, MOST_TEXTS = 4096 };

static const char version[] = "assay.image/3";

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

void record_write(struct buffer *out, const struct image *i, const struct buffer *said)
{
        put_text(out, version);
        put_u32(out, i->uid);
        put_u32(out, i->gid);
        put_text(out, i->home);
        put_u32(out, i->stack_count);
        for (unsigned n = 0; n < i->stack_count; n++)
                put_text(out, i->stack[n]);
        buffer_add(out, said->data, said->len);
}

static void get_stack(struct reader *r, struct image *ret)
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

int record_read(struct image *ret, const struct buffer *record, struct error *err)
{
        struct reader r = reader_of(record->data, record->len);
        struct image derived;
        char is[sizeof version];

        *ret = (struct image){0};
        get_text(&r, is, sizeof is);
        if (r.bad || strcmp(is, version) != 0)
                return error_set(err, CODE_INFRA_STATE,
                        "the image store: a record is of another version; load the image again");
        get_stack(&r, &derived);
        if (r.bad || image_decode(ret, &r) < 0)
                return error_set(err, CODE_INFRA_STATE, "the image store: a record is damaged");
        memcpy(ret->stack, derived.stack, sizeof ret->stack);
        ret->stack_count = derived.stack_count;
        ret->uid = derived.uid;
        ret->gid = derived.gid;
        memcpy(ret->home, derived.home, sizeof ret->home);
        return 0;
}
