/* Images for cells; see cell.h. */
#include "image/cell.h"

#include "fd.h"
#include "image/store.h"

static const char *number(const char *text, uint32_t *ret)
{
        char *end;
        unsigned long value = strtoul(text, &end, 10);

        if (end == text || *text < '0' || *text > '9' || value >= IDS_NETWORK)
                return NULL;
        *ret = (uint32_t)value;
        return end;
}

/* USER as numbers: UID, UID:GID, or root. */
static int take_user(struct image_cell *i, struct error *err)
{
        const char *user = i->image.user, *end;

        if (*user == '\0' || strcmp(user, "root") == 0 || strcmp(user, "root:root") == 0)
                return 0;
        end = number(user, &i->uid);
        if (end && *end == ':')
                end = number(end + 1, &i->gid);
        if (end && *end == '\0')
                return 0;
        return error_set(err, CODE_IMAGE_UNSUPPORTED,
                "its USER `%.100s` is not of the form UID[:GID] with numbers below %d", user,
                IDS_NETWORK);
}

static int take_workdir(struct image_cell *i, struct error *err)
{
        i->workdir = *i->image.workdir ? i->image.workdir : "/";
        if (*i->workdir == '/' && strlen(i->workdir) < CELL_MAX_PLACE)
                return 0;
        return error_set(err, CODE_IMAGE_UNSUPPORTED,
                "its WORKDIR `%.100s` is not an absolute path below %d bytes", i->workdir,
                CELL_MAX_PLACE);
}

/* Builders repeat a layer that changes nothing; an overlay takes no directory twice. The highest
 * one decides what is seen. */
static bool comes_again(const struct image *i, unsigned n)
{
        for (unsigned above = n + 1; above < i->layer_count; above++)
                if (strcmp(i->layers[above].diff_id, i->layers[n].diff_id) == 0)
                        return true;
        return false;
}

static int open_layers(struct image_cell *i, const struct store *s, struct error *err)
{
        if (i->image.layer_count > CELL_MAX_LAYERS)
                return error_set(err, CODE_IMAGE_UNSUPPORTED, "it has too many layers");
        for (unsigned n = 0; n < i->image.layer_count; n++) {
                int fd = -EBADF;

                if (comes_again(&i->image, n))
                        continue;
                fd = store_open_layer(s, i->image.layers[n].diff_id, err);
                if (fd < 0)
                        return -1;
                i->layers[i->layer_count++] = fd;
        }
        return 0;
}

static int open_from(struct image_cell *i, const struct store *s, const char *reference,
        bool with_user, struct error *err)
{
        _cleanup_buffer_ struct buffer record = BUFFER_INIT;
        char id[DIGEST_SIZE];

        if (store_find(s, reference, id, NULL, err) < 0 ||
                store_get_image(s, id, &record, err) < 0 ||
                record_read(&i->image, &record, err) < 0)
                return -1;
        if ((with_user && take_user(i, err) < 0) || take_workdir(i, err) < 0 ||
                open_layers(i, s, err) < 0)
                return error_add(err, "image %.200s", reference);
        return 0;
}

int image_open(struct image_cell *ret, const char *reference, bool with_user, struct error *err)
{
        struct store s = STORE_INIT;
        int r;

        *ret = (struct image_cell){0};
        r = store_open(&s, err);
        if (r == 0)
                r = open_from(ret, &s, reference, with_user, err);
        store_close(&s);
        return r;
}

void image_close(struct image_cell *i)
{
        while (i->layer_count > 0)
                fd_close(i->layers[--i->layer_count]);
        image_free(&i->image);
}
