/* Counting images; see census.h. */
#include "image/census.h"

#include "image/record.h"

struct census_layer {
        char diff_id[DIGEST_SIZE];
        uint64_t bytes;
        unsigned images;
        bool in_use;
};

static struct census_layer *find(const struct census *c, const char *diff_id)
{
        for (size_t i = 0; i < c->count; i++)
                if (strcmp(c->layers[i].diff_id, diff_id) == 0)
                        return &c->layers[i];
        return NULL;
}

static int count_layer(
        struct census *c, const struct image_store *s, const char *diff_id, struct error *err)
{
        struct census_layer *more, *known = find(c, diff_id);

        if (known) {
                known->images++;
                return 0;
        }
        more = realloc(c->layers, (c->count + 1) * sizeof *more);
        if (!more)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        c->layers = more;
        more += c->count++;
        memcpy(more->diff_id, diff_id, DIGEST_SIZE);
        more->images = 1;
        more->bytes = image_store_layer_bytes(s, diff_id);
        more->in_use = image_store_layer_in_use(s, diff_id);
        return 0;
}

struct counting {
        struct census *census;
        const struct image_store *store;
};

static int count_image(void *to, const char *id, struct error *err)
{
        const struct counting *c = to;
        struct image image;
        int r = record_open(&image, c->store->images, id, err);

        for (unsigned n = 0; r == 0 && n < image.stack_count; n++)
                r = count_layer(c->census, c->store, image.stack[n], err);
        image_free(&image);
        return r;
}

int census_take(struct census *c, const struct image_store *s, struct error *err)
{
        struct counting counting = {c, s};

        *c = (struct census)CENSUS_INIT;
        return image_store_each(s->images, count_image, &counting, err);
}

void census_free(struct census *c)
{
        free(c->layers);
        *c = (struct census)CENSUS_INIT;
}

int census_of(const struct census *c, const struct image_store *s, const char *id,
        struct census_image *ret, struct error *err)
{
        struct image image;
        int r = record_open(&image, s->images, id, err);

        *ret = (struct census_image){.loaded = image_store_image_time(s, id)};
        for (unsigned n = 0; r == 0 && n < image.stack_count; n++) {
                const struct census_layer *l = find(c, image.stack[n]);

                if (!l) /* it came meanwhile */
                        continue;
                ret->bytes += l->bytes;
                ret->shared += l->images > 1 ? l->bytes : 0;
                ret->in_use |= l->in_use;
        }
        image_free(&image);
        return r;
}
