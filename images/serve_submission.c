/* Requests about submissions; see serve.h. */
#include "images/serve.h"

#include "images/remove.h"
#include "images/search.h"
#include "images/unpack.h"

#include <stdlib.h>

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
        q->links_drop = get_u8(&r) && !q->built;
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
        struct request q = {.built = f->type == UNPACK_BUILT};
        int r = request_read(&q, f, err);

        if (r == 0)
                r = unpack(SERVE_INPUT, SERVE_TREE, &q, report, ret, err);
        request_free(&q);
        return r;
}

static int serve_files(const struct frame *f, struct report *report, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint64_t max_entries = get_u64(&r);

        return reader_done(&r) ? search_files(SERVE_INPUT, max_entries, report, err)
                               : error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
}

int serve_submission(const struct frame *f, struct error *err)
{
        struct report report = {.fd = SERVE_SOCKET};
        struct outcome done = {0};
        struct error why = {0};
        int r;

        if (f->type == UNPACK_REQUEST || f->type == UNPACK_BUILT)
                r = serve_unpack(f, &report, &done, &why);
        else if (f->type == UNPACK_FILES)
                r = serve_files(f, &report, &why);
        else if (f->type == UNPACK_REMOVE && f->payload.len == 0)
                r = remove_below(SERVE_TREE, &done.entries, &why);
        else
                r = error_set(&why, CODE_INTERNAL_FRAME, "not a request: type %u", f->type);
        return r < 0 ? report_error(&report, &why, err) : report_done(&report, &done, err);
}
