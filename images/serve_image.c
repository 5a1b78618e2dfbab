/* Requests about images and their layers; see serve.h. */
#include "images/serve.h"

#include "beneath.h"
#include "fd.h"
#include "images/decompress.h"
#include "images/image.h"
#include "images/layer.h"
#include "images/mask.h"
#include "images/remove.h"
#include "images/search.h"
#include "images/user.h"
#include "images/verify.h"

#include <stdlib.h>

static int disagree(struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
}

static int serve_layer(struct reader *r, struct report *report, struct error *err)
{
        struct layer_outcome done = {0};
        struct layer_request q;
        int unpacked;

        q.offset = get_u64(r);
        q.length = get_u64(r);
        q.member = get_new_text(r, UNPACK_MAX_PATH);
        q.max_entries = get_u64(r);
        q.max_unpacked = get_u64(r);
        unpacked = reader_done(r) ? layer_unpack(SERVE_INPUT, SERVE_TREE, &q, report, &done, err)
                                  : disagree(err);
        free(q.member);
        return unpacked < 0 ? -1 : report_layer_done(report, &done, err);
}

static int serve_file(struct reader *r, struct report *report, struct error *err)
{
        struct image_request q;
        uint32_t images;

        get_text(r, q.architecture, sizeof q.architecture);
        get_text(r, q.wanted, sizeof q.wanted);
        if (!reader_done(r))
                return disagree(err);
        return image_read(SERVE_INPUT, &q, report, &images, err) < 0
                       ? -1
                       : report_images_done(report, images, err);
}

static int serve_remove(struct reader *r, struct report *report, struct error *err)
{
        struct outcome done = {0};

        if (!reader_done(r))
                return disagree(err);
        return remove_below(SERVE_TREE, &done.entries, err) < 0 ? -1
                                                                : report_done(report, &done, err);
}

static int make_file(const char *name, struct error *err)
{
        int fd = beneath_open(SERVE_TREE, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);

        return fd >= 0 ? fd : error_errno(err, CODE_INFRA_IO, errno, "%s: cannot be written", name);
}

static int expand(uint64_t most, struct outcome *ret, struct error *err)
{
        _cleanup_fd_ int file = make_file(UNPACK_EXPANDED_FILE, err);
        struct decompressor *d = file < 0 ? NULL : decompress_open(SERVE_INPUT, err);
        const unsigned char *piece;
        ssize_t n = d ? 1 : -1;

        while (n > 0 && (n = decompress_next(d, &piece, err)) > 0) {
                ret->bytes += (uint64_t)n;
                if (ret->bytes > most)
                        n = error_set(err, CODE_IMAGE_TOO_LARGE, "it is too large, decompressed");
                else if (fd_write_all(file, piece, (size_t)n) < 0)
                        n = error_errno(err, CODE_INFRA_IO, errno, "cannot be written");
        }
        decompress_close(d);
        if (n < 0 && code_info(err->code)->class == CLASS_SUBMISSION)
                err->code = CODE_IMAGE_DAMAGED;
        return n < 0 ? -1 : 0;
}

static int serve_expand(struct reader *r, struct report *report, struct error *err)
{
        struct outcome done = {0};
        uint64_t most = get_u64(r);

        if (!reader_done(r))
                return disagree(err);
        return expand(most, &done, err) < 0 ? -1 : report_done(report, &done, err);
}

/* --- layers of the store as one tree -------------------------------------------------------- */

/* To be closed in any case. */
static int open_merged(struct reader *r, struct merged *ret, struct error *err)
{
        char *names[UNPACK_MAX_STACK];
        uint32_t count = get_u32(r), got = 0;
        int opened;

        for (; got < count && got < UNPACK_MAX_STACK && !r->bad; got++)
                names[got] = get_new_text(r, DIGEST_SIZE);
        ret->count = 0;
        opened = r->bad || got < count ? disagree(err)
                                       : merged_open(ret, SERVE_INPUT, names, count, err);
        while (got > 0)
                free(names[--got]);
        return opened;
}

static int write_mask(struct merged *m, const struct mask_request *q, struct report *report,
        uint64_t *ret_hidden, struct error *err)
{
        _cleanup_fd_ int file = make_file(UNPACK_MASK_FILE, err);

        return file < 0 ? -1 : mask_write(m, q, file, report, ret_hidden, err);
}

/* Each item of a list takes some bytes of the request: room for so many, or NULL. */
static void *make_list(const struct reader *r, uint32_t count, size_t size)
{
        return count <= r->left ? calloc(count + 1UL, size) : NULL;
}

/* To be freed in any case. */
static void get_mask(struct reader *r, struct mask_request *ret)
{
        uint32_t count = get_u32(r);

        *ret = (struct mask_request){.paths = make_list(r, count, sizeof *ret->paths)};
        r->bad |= !ret->paths;
        for (; !r->bad && ret->count < count; ret->count++) {
                struct hiding *h = &ret->paths[ret->count];

                h->kind = get_u8(r);
                r->bad |= h->kind >= UNPACK_HIDE_COUNT;
                h->path = get_new_text(r, UNPACK_MAX_PATH);
        }
        count = get_u32(r);
        ret->command.words = make_list(r, count, sizeof *ret->command.words);
        r->bad |= !ret->command.words;
        for (; !r->bad && ret->command.count < count; ret->command.count++)
                ret->command.words[ret->command.count] = get_new_text(r, UNPACK_MAX_REQUEST);
        ret->command.workdir = get_new_text(r, UNPACK_MAX_REQUEST);
        ret->command.search = get_new_text(r, UNPACK_MAX_REQUEST);
}

static void free_mask(struct mask_request *q)
{
        while (q->count > 0)
                free(q->paths[--q->count].path);
        free(q->paths);
        while (q->command.count > 0)
                free(q->command.words[--q->command.count]);
        free(q->command.words);
        free(q->command.workdir);
        free(q->command.search);
}

static int serve_mask(struct reader *r, struct report *report, struct error *err)
{
        struct outcome done = {0};
        struct mask_request q = {0};
        struct merged m;
        int masked = open_merged(r, &m, err);

        if (masked == 0) {
                get_mask(r, &q);
                masked = reader_done(r) ? write_mask(&m, &q, report, &done.entries, err)
                                        : disagree(err);
        }
        free_mask(&q);
        merged_close(&m);
        return masked < 0 ? -1 : report_done(report, &done, err);
}

static int serve_user(struct reader *r, struct report *report, struct error *err)
{
        struct merged m;
        struct user user = {0};
        int found = open_merged(r, &m, err);
        char *text = found < 0 ? NULL : get_new_text(r, UNPACK_MAX_PATH);

        if (found == 0)
                found = text && reader_done(r) ? user_resolve(&m, text, &user, err) : disagree(err);
        free(text);
        merged_close(&m);
        return found < 0 ? -1 : report_user(report, &user, err);
}

static int serve_search(struct reader *r, struct report *report, struct error *err)
{
        struct outcome done = {0};
        struct merged m;
        int found = open_merged(r, &m, err);
        uint32_t count = found == 0 ? get_u32(r) : 0;
        struct wanted *list = make_list(r, count, sizeof *list);

        for (uint32_t i = 0; list && i < count && !r->bad; i++) {
                list[i].number = i;
                list[i].size = get_u64(r);
                get_text(r, list[i].digest, sizeof list[i].digest);
        }
        if (found == 0)
                found = list && reader_done(r) ? search_tree(&m, list, count, report, err)
                                               : disagree(err);
        free(list);
        merged_close(&m);
        return found < 0 ? -1 : report_done(report, &done, err);
}

/* --- a layer of the store and its tar ------------------------------------------------------- */

static int serve_verify(struct reader *r, struct report *report, struct error *err)
{
        struct layer_outcome done = {0};
        char name[DIGEST_SIZE];
        uint64_t max_entries;

        get_text(r, name, sizeof name);
        max_entries = get_u64(r);
        if (!reader_done(r))
                return disagree(err);
        return layer_verify(SERVE_INPUT, name, SERVE_TREE, max_entries, report, &done, err) < 0
                       ? -1
                       : report_layer_done(report, &done, err);
}

static int serve_tar(struct reader *r, struct report *report, struct error *err)
{
        struct layer_outcome done = {0};
        char name[DIGEST_SIZE];
        _cleanup_fd_ int file = -EBADF;

        get_text(r, name, sizeof name);
        if (!reader_done(r))
                return disagree(err);
        file = make_file(UNPACK_TAR_FILE, err);
        return file < 0 || layer_write_tar(SERVE_INPUT, name, file, &done, err) < 0
                       ? -1
                       : report_layer_done(report, &done, err);
}

/* -------------------------------------------------------------------------------------------- */

static const struct {
        enum unpack_message type;
        int (*serve)(struct reader *r, struct report *report, struct error *err);
} requests[] = {
        {UNPACK_IMAGE, serve_file},
        {UNPACK_LAYER, serve_layer},
        {UNPACK_EXPAND, serve_expand},
        {UNPACK_MASK, serve_mask},
        {UNPACK_USER, serve_user},
        {UNPACK_SEARCH, serve_search},
        {UNPACK_VERIFY, serve_verify},
        {UNPACK_TAR, serve_tar},
        {UNPACK_REMOVE, serve_remove},
};

int serve_image(const struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        struct report report = {.fd = SERVE_SOCKET};
        struct error why = {0};
        int served = -1;
        size_t i = 0;

        while (i < sizeof requests / sizeof *requests && requests[i].type != f->type)
                i++;
        if (i < sizeof requests / sizeof *requests)
                served = requests[i].serve(&r, &report, &why);
        else
                error_set(&why, CODE_INTERNAL_FRAME, "not a request: type %u", f->type);
        return served < 0 ? report_error(&report, &why, err) : 0;
}
