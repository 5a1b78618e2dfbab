/* Views of images; see view.h. */
#include "image/view.h"

#include "environment.h"
#include "fd.h"
#include "images/messages.h"
#include "privilege.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char version[] = "assay.view/1";

static void add_text(struct sha256_ctx *c, const char *text)
{
        sha256_update(c, strlen(text) + 1, (const unsigned char *)text);
}

void view_key(const struct view *v, const char *id, char ret[DIGEST_SIZE])
{
        struct sha256_ctx c;
        char layers[16];

        snprintf(layers, sizeof layers, "%u", v->layers);
        sha256_init(&c);
        add_text(&c, version);
        add_text(&c, id);
        add_text(&c, layers);
        for (const char *const *own = v->own; *own; own++)
                add_text(&c, *own);
        add_text(&c, "");
        for (unsigned n = 0; n < v->hide_count; n++)
                add_text(&c, v->hide[n]);
        add_text(&c, "");
        for (char *const *word = v->command; word && *word; word++)
                add_text(&c, *word);
        digest_text(&c, ret);
}

/* --- making --------------------------------------------------------------------------------- */

static uint32_t count_texts(char *const *list)
{
        uint32_t count = 0;

        while (list && list[count])
                count++;
        return count;
}

static void put_texts(struct buffer *out, char *const *list)
{
        for (; list && *list; list++)
                put_text(out, *list);
}

static int put_search_path(struct buffer *out, const struct image *i, struct error *err)
{
        static const char name[] = "PATH=";
        const char **env = environment_make((const char *const *)i->env, NULL, 0, err);
        const char *path = "";

        for (const char **at = env; at && *at; at++)
                if (strncmp(*at, name, sizeof name - 1) == 0)
                        path = *at + sizeof name - 1;
        put_text(out, path);
        free(env);
        return env ? 0 : -1;
}

static int put_hiding(
        struct buffer *out, const struct view *v, const struct image *i, struct error *err)
{
        uint32_t own = 0;

        while (v->own[own])
                own++;
        put_u32(out, own + v->hide_count);
        for (uint32_t n = 0; n < own; n++) {
                put_u8(out, UNPACK_HIDE_ITSELF);
                put_text(out, v->own[n]);
        }
        for (uint32_t n = 0; n < v->hide_count; n++) {
                put_u8(out, UNPACK_HIDE_NAMED);
                put_text(out, v->hide[n]);
        }
        put_u32(out, count_texts(i->entrypoint) + count_texts(i->cmd) + count_texts(v->command));
        put_texts(out, i->entrypoint);
        put_texts(out, i->cmd);
        put_texts(out, v->command);
        put_text(out, i->workdir);
        return put_search_path(out, i, err);
}

/* The lowest layers may need other masks among them than all do. */
static int take_lowest(struct loading *l, unsigned layers, struct image *i, struct error *err)
{
        const unsigned all = i->layer_count;
        int r;

        if (layers == 0 || layers == all)
                return 0;
        if (layers > all)
                return error_set(err, CODE_USAGE, "it has %u layers, not %u", all, layers);
        i->stack_count = 0;
        i->layer_count = layers;
        r = stack_push_layers(l, i, err);
        i->layer_count = all;
        return r;
}

static int make_stack(struct loading *l, const struct view *v, struct image *i, struct error *err)
{
        _cleanup_buffer_ struct buffer hiding = BUFFER_INIT;

        if (take_lowest(l, v->layers, i, err) < 0 || put_hiding(&hiding, v, i, err) < 0)
                return -1;
        return buffer_ok(&hiding) ? stack_push_mask(l, i, &hiding, err)
                                  : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

static int make(struct loading *l, const struct view *v, const char *id, const char *key,
        struct image *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer record = BUFFER_INIT, new = BUFFER_INIT;

        return image_store_get_record(l->store.images, id, &record, err) < 0 ||
                               record_read(ret, &record, err) < 0 ||
                               make_stack(l, v, ret, err) < 0 ||
                               record_restack(&new, ret, &record, err) < 0
                       ? -1
                       : image_store_put_record(&l->store, l->store.views, key, &new, err);
}

int view_make(
        struct loading *l, const struct view *v, bool anew, struct image *ret, struct error *err)
{
        char id[DIGEST_SIZE], key[DIGEST_SIZE];

        *ret = (struct image){0};
        image_store_be_among_others(&l->store);
        if (image_store_find(&l->store, v->image, id, NULL, err) < 0)
                return -1;
        view_key(v, id, key);
        if (!anew && record_open(ret, l->store.views, key, NULL) == 0 &&
                stack_is_there(&l->store, ret))
                return 0;
        image_free(ret);
        return make(l, v, id, key, ret, err) < 0 ? error_add(err, "image %.200s", v->image) : 0;
}

static void ignore_warning(void *to, const char *text)
{
        (void)to;
        (void)text;
}

int view_make_in(struct channel *c, int store, const struct view *v, struct error *err)
{
        const struct load_listener listener = {.warn = ignore_warning};
        struct loading *l = calloc(1, sizeof *l);
        struct image image = {0};
        int r;

        if (!l)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        l->listener = &listener;
        l->channel = c;
        l->store = (struct image_store)IMAGE_STORE_INIT;
        r = image_store_open_in(&l->store, store, err);
        if (r == 0)
                r = view_make(l, v, false, &image, err);
        image_free(&image);
        image_store_close(&l->store);
        free(l);
        return r;
}

/* --- aside ---------------------------------------------------------------------------------- */

static void say_warning(void *to, const char *text)
{
        (void)to;
        fprintf(stderr, "assay: warning: %s\n", text);
}

/* The supervisor that was started for this, and what it started, ends with us. What gives up root
 * loses the signal, and asks for it anew. */
static int die_with(pid_t parent, struct error *err)
{
        return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent
                       ? 0
                       : error_set(err, CODE_INTERRUPTED, "its caller has ended");
}

static int make_alone(const struct view *v, pid_t parent, struct error *err)
{
        const struct load_listener listener = {.warn = say_warning};
        struct loading *l = calloc(1, sizeof *l);
        struct image image = {0};
        int r;

        if (!l)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        l->listener = &listener;
        r = die_with(parent, err);
        if (r == 0)
                r = loading_open(l, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = die_with(parent, err);
        if (r == 0)
                r = view_make(l, v, false, &image, err);
        image_free(&image);
        loading_close(l);
        free(l);
        return r;
}

enum { MADE = 1, NOT_MADE };

static int send_outcome(int fd, const struct error *why)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;

        if (why->code == CODE_NONE)
                return frame_send(fd, MADE, &b, NULL, 0, NULL);
        put_error(&b, why);
        return frame_send(fd, NOT_MADE, &b, NULL, 0, NULL);
}

static int receive_outcome(int fd, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        if (frame_receive(fd, &f, UNPACK_MAX_REQUEST, 0, err) <= 0)
                return error_set(err, CODE_INTERNAL_HELPER, "a view of the image was not made");
        if (f.type == MADE)
                return 0;
        r = reader_of(f.payload.data, f.payload.len);
        get_error(&r, err);
        return -1;
}

int view_make_aside(const struct view *v, struct error *err)
{
        struct error why = {0};
        const pid_t parent = getpid();
        int pair[2], r;
        pid_t pid;

        if (fd_socketpair(pair, err) < 0)
                return -1;
        pid = fork();
        if (pid == 0) {
                make_alone(v, parent, &why);
                _exit(send_outcome(pair[1], &why) < 0);
        }
        fd_close(pair[1]);
        r = pid < 0 ? error_errno(err, CODE_INFRA_MEMORY, errno, "a view of the image")
                    : receive_outcome(pair[0], err);
        fd_close(pair[0]);
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        return r;
}
