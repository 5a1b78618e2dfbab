/* Images for cells; see cell.h. */
#include "image/cell.h"

#include "fd.h"

static int take_user(struct image_cell *i, struct error *err)
{
        i->uid = i->image.uid;
        i->gid = i->image.gid;
        if (i->uid != IMAGE_NO_USER)
                return 0;
        return error_set(err, CODE_IMAGE_UNSUPPORTED,
                "its USER `%.100s` is nobody it knows; name another with --user", i->image.user);
}

static int take_environment(struct image_cell *i, bool with_user, struct error *err)
{
        char *const *theirs = i->image.env;
        unsigned count = 0, filled = 0;

        while (theirs[count])
                count++;
        i->env = calloc(count + 2, sizeof *i->env);
        if (!i->env)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (with_user && *i->image.home) {
                snprintf(i->home, sizeof i->home, "HOME=%s", i->image.home);
                i->env[filled++] = i->home;
        }
        memcpy(i->env + filled, theirs, count * sizeof *theirs);
        return 0;
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

static int open_layers(struct image_cell *i, const struct image_store *s, struct error *err)
{
        for (unsigned n = 0; n < i->image.stack_count; n++) {
                int fd = image_store_open_layer(s, i->image.stack[n], err);

                if (fd < 0)
                        return -1;
                i->layers[i->layer_count++] = fd;
        }
        return 0;
}

static int open_record(struct image_cell *i, const struct image_store *s, const char *reference,
        const struct view *view, struct error *err)
{
        char id[DIGEST_SIZE], key[DIGEST_SIZE];

        if (image_store_find(s, reference, id, NULL, err) < 0)
                return -1;
        if (!view)
                return record_open(&i->image, s->images, id, err);
        view_key(view, id, key);
        return record_open(&i->image, s->views, key, err);
}

static int open_from(struct image_cell *i, const struct image_store *s, const char *reference,
        const struct view *view, bool with_user, struct error *err)
{
        if (open_record(i, s, reference, view, err) < 0)
                return -1;
        if ((with_user && take_user(i, err) < 0) || take_workdir(i, err) < 0 ||
                take_environment(i, with_user, err) < 0 || open_layers(i, s, err) < 0)
                return error_add(err, "image %.200s", reference);
        return 0;
}

int image_open_in(struct image_cell *ret, int store, const char *reference, const struct view *view,
        bool with_user, struct error *err)
{
        struct image_store s = IMAGE_STORE_INIT;
        int r;

        *ret = (struct image_cell){0};
        r = image_store_open_in(&s, store, err);
        if (r == 0)
                r = open_from(ret, &s, reference, view, with_user, err);
        image_store_close(&s);
        return r;
}

int image_open(struct image_cell *ret, const char *reference, const struct view *view,
        bool with_user, struct error *err)
{
        _cleanup_fd_ int root = -EBADF;

        *ret = (struct image_cell){0};
        root = image_store_open_root(err);
        return root < 0 ? -1 : image_open_in(ret, root, reference, view, with_user, err);
}

void image_close(struct image_cell *i)
{
        while (i->layer_count > 0)
                fd_close(i->layers[--i->layer_count]);
        free(i->env);
        image_free(&i->image);
}
