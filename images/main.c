/* assay-unpack: submission archives and layers of images to trees, and trees to nothing; what image
 * files say. Started by assay for each evaluation, or image; reads bytes of outsiders, so it locks
 * itself in first (see filter_table.h) and has no privilege. Descriptors and messages are in
 * messages.h. */
#include "confine.h"
#include "fd.h"
#include "filter_images.h"
#include "filter_images_layer.h"
#include "frame.h"
#include "images/image.h"
#include "images/layer.h"
#include "images/messages.h"
#include "images/remove.h"
#include "images/unpack.h"

#include <linux/capability.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

enum { ARCHIVE_FD = 0, SOCKET_FD = 1, TREE_FD = 3 };

/* What it was started for. A layer has more in it than a submission, and is larger. */
struct mode {
        const struct sock_filter *filter;
        size_t filter_length;
        uint64_t also_below;
        uint64_t rights;
        uint64_t cpu_seconds;
        mode_t umask;
        bool layers;
};

static const struct mode for_submissions = {
        .filter = filter_images,
        .filter_length = sizeof filter_images / sizeof *filter_images,
        .cpu_seconds = 60,
        .umask = 022,
};

static const struct mode for_layers = {
        .filter = filter_images_layer,
        .filter_length = sizeof filter_images_layer / sizeof *filter_images_layer,
        .also_below = LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                      LANDLOCK_ACCESS_FS_REFER,
        .rights = 1ULL << CAP_CHOWN | 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER,
        .cpu_seconds = 1200,
        .layers = true,
};

static int no_order(const void *left, const void *right)
{
        (void)left;
        (void)right;
        return 0;
}

/* Everything that libc would look up in this machine's files must be looked up before. */
static void prepare(const struct mode *m)
{
        int enough[1024] = {0};

        json_seed();
        setenv("TZ", "UTC0", 1); /* libarchive turns the times of zip entries */
        tzset();
        qsort(enough, sizeof enough / sizeof *enough, sizeof *enough,
                no_order); /* asks for memory */
        umask(m->umask);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error, not the end */
}

static bool input_is_directory(void)
{
        struct stat st;

        return fstat(ARCHIVE_FD, &st) == 0 && S_ISDIR(st.st_mode);
}

static int lock_in(const struct mode *m, struct error *err)
{
        const struct confinement c = {
                .name = "assay-unpack",
                .keep_fds = TREE_FD + 1,
                .tree = TREE_FD,
                .also_below = m->also_below,
                .readable = input_is_directory() ? ARCHIVE_FD : -EBADF,
                .rights = m->rights,
                .cpu_seconds = m->cpu_seconds,
                .memory = 256 << 20,
                .file_size = 64ULL << 30, /* what a task allows is counted by ourselves */
                .open_files = 16,
                .filter = m->filter,
                .filter_length = m->filter_length,
        };

        return confine_self(&c, err);
}

static void request_free(struct request *q)
{
        for (uint32_t i = 0; i < q->required_count; i++)
                free(q->required[i].path);
        free(q->required);
        for (uint32_t i = 0; i < q->pattern_count; i++)
                free(q->patterns[i].glob);
        free(q->patterns);
        *q = (struct request){0};
}

static int request_read(struct request *q, const struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint32_t count;
        bool good;

        q->max_entries = get_u64(&r);
        q->max_unpacked = get_u64(&r);
        q->strip_common_root = get_u8(&r);
        q->links_drop = get_u8(&r) && !q->in_place;
        count = get_u32(&r);
        if (count > UNPACK_MAX_REQUIRED)
                r.bad = true;
        if (!r.bad && count > 0)
                q->required = calloc(count, sizeof *q->required);
        for (; q->required && q->required_count < count; q->required_count++) {
                struct required *file = &q->required[q->required_count];

                file->path = get_new_text(&r, UNPACK_MAX_PATH);
                file->max_size = get_u64(&r);
        }
        good = q->required_count == count;
        count = get_u32(&r);
        if (count > UNPACK_MAX_REQUIRED)
                r.bad = true;
        if (!r.bad && count > 0)
                q->patterns = calloc(count, sizeof *q->patterns);
        for (; q->patterns && q->pattern_count < count; q->pattern_count++) {
                struct pattern *p = &q->patterns[q->pattern_count];

                p->glob = get_new_text(&r, UNPACK_MAX_PATH);
                p->min_files = get_u64(&r);
        }
        if (!reader_done(&r) || !good || q->pattern_count != count)
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        return 0;
}

static int serve_unpack(
        const struct frame *f, struct report *report, struct outcome *ret, struct error *err)
{
        struct request q = {.in_place = f->type == UNPACK_CHECK};
        int r = request_read(&q, f, err);

        if (r == 0)
                r = unpack(ARCHIVE_FD, TREE_FD, &q, report, ret, err);
        request_free(&q);
        return r;
}

static int layer_request_read(struct layer_request *q, const struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        q->offset = get_u64(&r);
        q->length = get_u64(&r);
        q->member = get_new_text(&r, UNPACK_MAX_PATH);
        q->max_entries = get_u64(&r);
        q->max_unpacked = get_u64(&r);
        return reader_done(&r) ? 0
                               : error_set(err, CODE_INTERNAL_FRAME,
                                         "a request for a layer is not as agreed");
}

static int serve_layer(const struct frame *f, struct error *err)
{
        struct report report = {.fd = SOCKET_FD};
        struct layer_outcome done = {0};
        struct layer_request q = {0};
        struct error why = {0};
        int r = layer_request_read(&q, f, &why);

        if (r == 0)
                r = layer_unpack(ARCHIVE_FD, TREE_FD, &q, &report, &done, &why);
        free(q.member);
        return r == 0 ? report_layer_done(&report, &done, err) : report_error(&report, &why, err);
}

static int serve_image(
        const struct frame *f, struct report *report, uint32_t *ret_images, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        struct image_request q;

        get_text(&r, q.architecture, sizeof q.architecture);
        get_text(&r, q.wanted, sizeof q.wanted);
        if (!reader_done(&r))
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        return image_read(ARCHIVE_FD, &q, report, ret_images, err);
}

/* Answer one request; -1 when not even the answer could be sent. */
static int serve(const struct mode *m, const struct frame *f, struct error *err)
{
        struct report report = {.fd = SOCKET_FD};
        struct outcome done = {0};
        struct error why = {0};
        uint32_t images = 0;
        int r;

        if (m->layers && f->type == UNPACK_LAYER)
                return serve_layer(f, err);
        if (!m->layers && (f->type == UNPACK_REQUEST || f->type == UNPACK_CHECK))
                r = serve_unpack(f, &report, &done, &why);
        else if (f->type == UNPACK_REMOVE && f->payload.len == 0)
                r = remove_below(TREE_FD, &done.entries, &why);
        else if (m->layers && f->type == UNPACK_IMAGE)
                r = serve_image(f, &report, &images, &why);
        else
                r = error_set(&why, CODE_INTERNAL_FRAME, "not a request: type %u", f->type);
        if (r < 0)
                return report_error(&report, &why, err);
        return f->type == UNPACK_IMAGE ? report_images_done(&report, images, err)
                                       : report_done(&report, &done, err);
}

int main(int argc, char **argv)
{
        const struct mode *mode =
                argc == 2 && strcmp(argv[1], "layer") == 0 ? &for_layers : &for_submissions;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error err = {0};
        int r;

        prepare(mode);
        if (lock_in(mode, &err) < 0) {
                fprintf(stderr, "assay-unpack: %s\n", err.text);
                return 1;
        }
        if (takeover_hook)
                takeover_hook();
        while ((r = frame_receive(SOCKET_FD, &f, UNPACK_MAX_REQUEST, 0, &err)) > 0)
                if (serve(mode, &f, &err) < 0)
                        return 1;
        return r == 0 ? 0 : 1;
}
