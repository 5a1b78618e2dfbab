/* The layers of an image as a cell has them, one on the other; see loading.h. A directory that
 * replaces one of lower layers gets a further layer below its own, a mask, which hides what they
 * have in it: overlays have a mark for that, but only for who is root. */
#include "image/loading.h"

#include "fd.h"
#include "images/messages.h"
#include "interrupt.h"

#include <fcntl.h>
#include <unistd.h>

static const uint64_t layer_bytes_max = 64ULL << 30;

/* --- one layer ------------------------------------------------------------------------------ */

static int take_skeleton(struct layer_answer *a, struct reader *r, struct error *err)
{
        bool anew = get_u8(r);
        size_t len;
        const unsigned char *bytes = get_bytes(r, UNPACK_MAX_PIECE, &len);

        if (a->skeleton < 0)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent a skeleton");
        if ((anew && (ftruncate(a->skeleton, 0) < 0 || lseek(a->skeleton, 0, SEEK_SET) < 0)) ||
                (bytes && fd_write_all(a->skeleton, bytes, len) < 0))
                return error_errno(err, CODE_INFRA_STATE, errno, "the image store: a new layer");
        return 0;
}

int layer_answer_take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct layer_answer *a = to;
        char path[UNPACK_MAX_PATH + 1];

        switch (type) {
        case UNPACK_OPAQUE:
                get_text(r, path, sizeof path);
                buffer_add(&a->opaque, path, strlen(path) + 1);
                return a->opaque.len <= IMAGE_STORE_MAX_FILE
                               ? 0
                               : error_set(err, CODE_IMAGE_TOO_LARGE,
                                         "it replaces too many directories");
        case UNPACK_SKELETON:
                return take_skeleton(a, r, err);
        case UNPACK_WARNING:
                loading_warn(a->loading, r);
                return 0;
        case UNPACK_LAYER_DONE:
                get_text(r, a->digest, sizeof a->digest);
                get_text(r, a->diff_id, sizeof a->diff_id);
                get_u64(r);
                a->bytes = get_u64(r);
                return 1;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        }
}

/* A layer on its way into the store. */
struct job {
        const struct image_layer *layer; /* NULL: this place is free */
        struct layer_answer answer;
        struct image_store_layer new;
        struct helper_asked asked;
        int lock;
};

static int ask_for_layer(struct loading *l, struct job *j, int input, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct helper_question q;

        put_u64(&payload, j->layer->offset);
        put_u64(&payload, j->layer->length);
        put_text(&payload, j->layer->member);
        put_u64(&payload, LAYER_MAX_ENTRIES);
        put_u64(&payload, layer_bytes_max);
        loading_question(
                &q, input, j->new.tree, UNPACK_LAYER, &payload, layer_answer_take, &j->answer);
        return helper_begin(l->channel, &q, &j->asked, err);
}

/* Nothing of it stays but what has its final name. */
static void end_job(struct loading *l, struct job *j)
{
        if (j->new.place >= 0)
                loading_remove_layer(l, &j->new); /* a failed one, or one that was there */
        image_store_unlock_layer(&l->store, j->layer->diff_id, &j->lock);
        buffer_free(&j->answer.opaque);
        j->answer.skeleton = fd_close(j->answer.skeleton);
        j->layer = NULL;
}

static int begin_job(struct loading *l, struct job *j, int input, const struct image_layer *layer,
        int lock, struct error *err)
{
        *j = (struct job){.layer = layer,
                .answer = {.loading = l, .opaque = BUFFER_INIT, .skeleton = -EBADF},
                .lock = lock};
        if (image_store_begin_layer(&l->store, &j->new, err) == 0 &&
                (j->answer.skeleton = image_store_make_skeleton(&j->new, err)) >= 0 &&
                ask_for_layer(l, j, input, err) == 0)
                return 0;
        end_job(l, j);
        return -1;
}

static int check_layer(const struct job *j, struct error *err)
{
        const struct image_layer *want = j->layer;
        const struct layer_answer *got = &j->answer;

        if ((*want->digest && strcmp(want->digest, got->digest) != 0) ||
                (*want->diff_id && strcmp(want->diff_id, got->diff_id) != 0))
                return error_set(err, CODE_IMAGE_DIGEST,
                        "a layer is not the one that the image names: %.12s is %.12s",
                        want->diff_id, got->diff_id);
        return is_digest(got->diff_id)
                       ? 0
                       : error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent no digest");
}

static int finish_job(struct loading *l, struct job *j, struct error *err)
{
        int r = helper_finish(l->channel, &j->asked, err);

        if (r == 0)
                r = check_layer(j, err);
        if (r == 0)
                r = image_store_keep_layer(&l->store, &j->new, j->answer.diff_id, j->answer.bytes,
                        &j->answer.opaque, err);
        end_job(l, j);
        return r < 0 ? -1 : 0;
}

/* --- all of an image ------------------------------------------------------------------------ */

enum { MOST_JOBS = 4, RETRY_MS = 20, SILENCE_MS = 3600 * 1000 };

struct jobs {
        struct loading *loading;
        const struct image *image;
        struct job job[MOST_JOBS];
        unsigned most, running;
        struct image_layer *layers; /* of the image, as the unpacker is asked for them */
};

static struct job *free_job(struct jobs *j)
{
        struct job *job = j->job;

        while (job->layer)
                job++;
        return job;
}

/* Wait for the first that has something to say; when all are silent, for any. */
static int finish_one(struct jobs *j, struct error *err)
{
        struct pollfd fds[MOST_JOBS];
        bool silent;

        for (unsigned i = 0; i < j->most; i++)
                fds[i] = (struct pollfd){
                        .fd = j->job[i].layer ? j->job[i].asked.socket : -1, .events = POLLIN};
        silent = interrupt_poll(fds, j->most, SILENCE_MS) == 0;
        for (unsigned i = 0; i < j->most; i++)
                if (j->job[i].layer && (fds[i].revents || silent || interrupt_came())) {
                        unsigned n = (unsigned)(j->job[i].layer - j->layers);

                        j->running--;
                        return finish_job(j->loading, &j->job[i], err) < 0
                                       ? error_add(err, "layer %u of %u", n + 1,
                                                 j->image->layer_count)
                                       : 0;
                }
        return 0;
}

/* Begin each that nobody makes, as far as there is room. `ret_left`: those that have to wait. */
static int begin_some(struct jobs *j, unsigned *ret_left, struct error *err)
{
        struct loading *l = j->loading;

        *ret_left = 0;
        for (unsigned n = 0; n < j->image->layer_count; n++) {
                const struct image_layer *layer = &j->layers[n];
                int lock;

                if (image_store_has_layer(&l->store, layer->diff_id))
                        continue;
                (*ret_left)++;
                if (j->running == j->most)
                        return 0;
                lock = image_store_lock_layer(&l->store, layer->diff_id);
                if (lock < 0 && errno == EWOULDBLOCK)
                        continue; /* another load does it, or we do */
                if (lock < 0)
                        return error_errno(err, CODE_INFRA_STATE, errno, "the image store");
                if (begin_job(l, free_job(j), l->input, layer, lock, err) < 0)
                        return error_add(err, "layer %u of %u", n + 1, j->image->layer_count);
                j->running++;
        }
        return 0;
}

static int run_jobs(struct jobs *j, struct error *err)
{
        unsigned left;

        do {
                if (begin_some(j, &left, err) < 0)
                        return -1;
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
                if (j->running > 0) {
                        if (finish_one(j, err) < 0)
                                return -1;
                } else if (left > 0)
                        interrupt_poll(NULL, 0, RETRY_MS);
        } while (left > 0 || j->running > 0);
        return 0;
}

/* Layers are at least as large unpacked as they are in the file. */
static int check_room(const struct jobs *j, struct error *err)
{
        struct image_store *s = &j->loading->store;
        uint64_t wanted = 0, free = 0;

        for (unsigned n = 0; n < j->image->layer_count; n++)
                if (!image_store_has_layer(s, j->layers[n].diff_id) &&
                        j->layers[n].length != UINT64_MAX)
                        wanted += j->layers[n].length;
        if (wanted == 0 || image_store_free_bytes(s, &free) < 0 || wanted <= free)
                return 0;
        return error_set(err, CODE_INFRA_STATE,
                "the image store: the disk is full: %llu MiB are needed at least, %llu are free",
                (unsigned long long)(wanted >> 20), (unsigned long long)(free >> 20));
}

/* As many at once as there are processors for. */
static unsigned most_jobs(void)
{
        long processors = sysconf(_SC_NPROCESSORS_ONLN);

        return processors < 1 ? 1 : processors > MOST_JOBS ? MOST_JOBS : (unsigned)processors;
}

static int load_layers(struct loading *l, const struct image *i, struct error *err)
{
        struct jobs j = {.loading = l, .image = i, .most = most_jobs()};
        int r;

        j.layers = calloc(i->layer_count, sizeof *j.layers);
        if (!j.layers)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (unsigned n = 0; n < i->layer_count; n++) {
                j.layers[n] = i->layers[n];
                if (!l->is_directory)
                        j.layers[n].member = (char[]){""};
        }
        r = check_room(&j, err);
        if (r == 0)
                r = run_jobs(&j, err);
        for (unsigned n = 0; n < j.most; n++)
                if (j.job[n].layer) {
                        helper_give_up(l->channel, &j.job[n].asked);
                        end_job(l, &j.job[n]);
                }
        free(j.layers);
        return r;
}

/* --- masks ---------------------------------------------------------------------------------- */

void stack_put(struct buffer *payload, const struct image *i)
{
        put_u32(payload, i->stack_count);
        for (unsigned n = 0; n < i->stack_count; n++)
                put_text(payload, i->stack[n]);
}

static void put_opaque(struct buffer *hiding, const struct buffer *opaque)
{
        const char *paths = buffer_text(opaque), *end = paths + opaque->len;
        uint32_t count = 0;

        for (const char *path = paths; path < end; path += strlen(path) + 1)
                count++;
        put_u32(hiding, count);
        for (const char *path = paths; path < end; path += strlen(path) + 1) {
                put_u8(hiding, UNPACK_HIDE_CONTENT);
                put_text(hiding, path);
        }
        put_u32(hiding, 0); /* no command */
        put_text(hiding, "");
        put_text(hiding, "");
}

struct mask {
        const struct loading *loading;
        uint64_t hidden;
};

static int take_hidden(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct mask *m = to;

        if (type == UNPACK_WARNING) {
                loading_warn(m->loading, r);
                return 0;
        }
        if (type != UNPACK_DONE)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        m->hidden = get_u64(r);
        *r = reader_of(NULL, 0);
        return 1;
}

static int push(struct image *i, const char *diff_id, struct error *err)
{
        if (i->stack_count == CELL_MAX_LAYERS)
                return error_set(err, CODE_IMAGE_UNSUPPORTED, "it needs more than %d layers",
                        CELL_MAX_LAYERS);
        for (unsigned n = 0; n < i->stack_count; n++)
                if (strcmp(i->stack[n], diff_id) == 0)
                        return error_set(err, CODE_IMAGE_UNSUPPORTED,
                                "layer %.12s would be needed twice", diff_id);
        memcpy(i->stack[i->stack_count++], diff_id, DIGEST_SIZE);
        return 0;
}

/* As the unpacker wrote it into `tree`. */
static int load_mask(struct loading *l, struct image *i, int tree, struct error *err)
{
        const struct image_layer whole = {.member = (char[]){""}, .length = UINT64_MAX};
        struct job job;
        _cleanup_fd_ int file =
                openat(tree, UNPACK_MASK_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (file < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "the image store: a mask");
        if (begin_job(l, &job, file, &whole, -EBADF, err) < 0 || finish_job(l, &job, err) < 0)
                return -1;
        return push(i, job.answer.diff_id, err);
}

int stack_push_mask(
        struct loading *l, struct image *i, const struct buffer *hiding, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct mask mask = {.loading = l};
        struct image_store_layer work;
        int r;

        stack_put(&payload, i);
        buffer_add(&payload, hiding->data, hiding->len);
        if (payload.len > UNPACK_MAX_REQUEST)
                return error_set(err, CODE_IMAGE_UNSUPPORTED, "there is too much to hide");
        r = image_store_begin_layer(&l->store, &work, err);
        if (r == 0)
                r = loading_ask(l, l->store.layers, work.tree, UNPACK_MASK, &payload, take_hidden,
                        &mask, err);
        if (r == 0 && mask.hidden > 0)
                r = load_mask(l, i, work.tree, err);
        loading_remove_layer(l, &work);
        return r;
}

/* What must lie below layer `diff_id` for the sake of its opaque directories. */
static int push_mask(struct loading *l, struct image *i, const char *diff_id, struct error *err)
{
        _cleanup_buffer_ struct buffer opaque = BUFFER_INIT, hiding = BUFFER_INIT;
        int r = image_store_get_opaque(&l->store, diff_id, &opaque, err);

        if (r < 0 || opaque.len == 0 || i->stack_count == 0)
                return r;
        put_opaque(&hiding, &opaque);
        return stack_push_mask(l, i, &hiding, err) < 0 ? error_add(err, "layer %.12s", diff_id) : 0;
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

int stack_push_layers(struct loading *l, struct image *i, struct error *err)
{
        for (unsigned n = 0; n < i->layer_count; n++)
                if (!comes_again(i, n) && (push_mask(l, i, i->layers[n].diff_id, err) < 0 ||
                                                  push(i, i->layers[n].diff_id, err) < 0))
                        return -1;
        return 0;
}

/* --- USER ----------------------------------------------------------------------------------- */

static int take_user(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct image *i = to;

        if (type != UNPACK_USER_FOUND)
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        i->uid = get_u32(r);
        i->gid = get_u32(r);
        get_text(r, i->home, sizeof i->home);
        return 1;
}

/* An image whose USER means nobody can be loaded, and run as somebody else. */
static int find_user(struct loading *l, struct image *i, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct image_store_layer unused;
        int r;

        stack_put(&payload, i);
        put_text(&payload, i->user);
        r = image_store_begin_layer(&l->store, &unused, err);
        if (r == 0)
                r = loading_ask(
                        l, l->store.layers, unused.tree, UNPACK_USER, &payload, take_user, i, err);
        image_store_abandon_layer(&l->store, &unused);
        if (r == 0 || err->code != CODE_IMAGE_UNSUPPORTED)
                return r;
        i->uid = i->gid = IMAGE_NO_USER;
        l->listener->warn(l->listener->to, err->text);
        return 0;
}

/* -------------------------------------------------------------------------------------------- */

bool stack_is_there(const struct image_store *s, const struct image *i)
{
        for (unsigned n = 0; n < i->stack_count; n++)
                if (!image_store_has_layer(s, i->stack[n]))
                        return false;
        return true;
}

/* It was loaded before: what was found out then holds. */
static bool is_there(struct loading *l, struct image *i)
{
        struct image before;
        bool there = record_open(&before, l->store.images, i->id, NULL) == 0 &&
                     stack_is_there(&l->store, &before);

        if (there) {
                memcpy(i->stack, before.stack, sizeof i->stack);
                i->stack_count = before.stack_count;
                i->uid = before.uid;
                i->gid = before.gid;
                memcpy(i->home, before.home, sizeof i->home);
        }
        image_free(&before);
        return there;
}

int stack_make(struct loading *l, struct image *i, struct error *err)
{
        if (i->layer_count == 0 || i->layer_count > CELL_MAX_LAYERS)
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "an image with %u layers: there must be 1 to %d", i->layer_count,
                        CELL_MAX_LAYERS);
        if (is_there(l, i))
                return 0;
        if (load_layers(l, i, err) < 0 || stack_push_layers(l, i, err) < 0 ||
                find_user(l, i, err) < 0)
                return -1;
        return 0;
}
