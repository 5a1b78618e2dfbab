/* Documents of a file with container images; see image_reading.h. */
#include "images/image_reading.h"

#include "images/digest.h"

#include <unistd.h>

#define ANY_SIZE UINT64_MAX

enum {
        MAX_DOCUMENTS = 64 << 20, /* all of a file together */
        MAX_HELD = 300,           /* bytes of a message */
};

static int read_place(const struct place *p, struct buffer *out, struct error *err)
{
        while (out->len < p->length) {
                size_t left = (size_t)p->length - out->len;
                unsigned char *to = buffer_reserve(out, left);
                ssize_t n;

                if (!to)
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                n = pread(p->fd, to, left, (off_t)(p->offset + out->len));
                if (n < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot be read");
                if (n == 0)
                        return error_set(err, CODE_IMAGE_INVALID, "changed while it was read");
                buffer_advance(out, (size_t)n);
        }
        return 0;
}

int image_read_place(struct image_reading *r, const struct place *p, uint64_t max,
        struct buffer *out, struct error *err)
{
        if (p->length > max)
                return error_set(err, CODE_IMAGE_INVALID, "a document of more than %llu MiB",
                        (unsigned long long)max >> 20);
        r->documents += p->length;
        if (r->documents > MAX_DOCUMENTS)
                return error_set(
                        err, CODE_IMAGE_INVALID, "with it the documents have more than 64 MiB");
        return read_place(p, out, err);
}

static int read_member(struct image_reading *r, const char *member, uint64_t size, uint64_t max,
        struct buffer *out, struct error *err)
{
        _cleanup_place_ struct place p = PLACE_INIT;
        int found = bundle_find(&r->bundle, member, &p, err);

        if (found < 0)
                return -1;
        if (found == 0)
                return error_set(err, CODE_IMAGE_INVALID,
                        "%.300s: is named, but missing in the file", member);
        if (size != ANY_SIZE && p.length != size)
                return error_set(err, CODE_IMAGE_DIGEST, "%.300s: has %llu bytes instead of %llu",
                        member, (unsigned long long)p.length, (unsigned long long)size);
        return image_read_place(r, &p, max, out, err) < 0 ? error_add(err, "%.300s", member) : 0;
}

int image_read_document(struct image_reading *r, const char *member, uint64_t max,
        struct buffer *out, struct error *err)
{
        return read_member(r, member, ANY_SIZE, max, out, err);
}

void image_hash(const struct buffer *b, char ret[65])
{
        struct sha256_ctx context;

        sha256_init(&context);
        sha256_update(&context, b->len, b->data);
        digest_text(&context, ret);
}

int image_check_digest(
        const struct buffer *b, const char *digest, const char *member, struct error *err)
{
        char is[65];

        image_hash(b, is);
        if (strcmp(is, digest) == 0)
                return 0;
        return error_set(
                err, CODE_IMAGE_DIGEST, "%.300s: its content has the digest %s", member, is);
}

struct member_name image_blob_name(const struct image_reading *r, const char *digest)
{
        struct member_name name;

        snprintf(name.text, sizeof name.text, "%s%s", r->folder, digest);
        return name;
}

int image_read_blob(struct image_reading *r, const struct image_descriptor *d, uint64_t max,
        struct buffer *out, struct error *err)
{
        const struct member_name name = image_blob_name(r, d->digest);

        return read_member(r, name.text, d->size, max, out, err) < 0
                       ? -1
                       : image_check_digest(out, d->digest, name.text, err);
}

/* --- what was asked for --------------------------------------------------------------------- */

void image_hold(struct image_reading *r, const char *const *names, uint32_t count, const char *os,
        const char *architecture)
{
        if (r->held.len > MAX_HELD)
                return;
        buffer_add_format(&r->held, "%s%.200s", r->held.len > 0 ? ", " : "",
                count > 0 ? names[0] : "an image without a name");
        if (*architecture != '\0')
                buffer_add_format(&r->held, " for %.20s/%.20s", os, architecture);
}

bool image_is_wanted(const struct image_reading *r, const char *const *names, uint32_t count)
{
        for (uint32_t i = 0; i < count; i++)
                if (strcmp(names[i], r->request->wanted) == 0)
                        return true;
        return *r->request->wanted == '\0';
}

bool image_is_for(const struct image_reading *r, const char *os, const char *architecture)
{
        return strcmp(os, "linux") == 0 && strcmp(architecture, r->request->architecture) == 0;
}
