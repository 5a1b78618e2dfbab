/* Fuzzing what a file with container images says. The first byte tells what the rest is:
 *
 *   r   a tar archive that gets right sums
 *   o, d, p   documents with a NUL between them, as an OCI archive, a docker-archive or a pull:
 * each under its digest but the last (index.json, manifest.json), or of a pull the last two. In a
 *       document @a stands for the digest of the first one, #b for the size of the second, and so
 * on, since chance never finds those. */
#include "frame.h"
#include "images/image.h"
#include "tests/fuzz/shared.h"

enum { MOST_DOCUMENTS = 8, MOST_ANSWER = 64 << 20 };

/* --- making the file ------------------------------------------------------------------------ */

struct document {
        struct buffer text;
        char digest[DIGEST_SIZE];
};

static void put_member(const char *name, const char *text)
{
        put_entry(0, 0644, name, text);
}

static void fill_in(struct document *list, unsigned count, const char *text)
{
        struct document *d = &list[count];
        struct sha256_ctx sum;

        for (; *text; text++) {
                const unsigned which = (unsigned)(text[1] - 'a');

                if ((*text != '@' && *text != '#') || which >= count) {
                        buffer_add_char(&d->text, *text);
                        continue;
                }
                if (*text == '@')
                        buffer_add_text(&d->text, list[which].digest);
                else
                        buffer_add_format(&d->text, "%zu", list[which].text.len);
                text++;
        }
        sha256_init(&sum);
        sha256_update(&sum, d->text.len, d->text.data);
        digest_text(&sum, d->digest);
}

static void put_documents(char form, const struct document *list, unsigned count)
{
        const char *const last[] = {form == 'o' ? "index.json" : "manifest.json", "reference.json"};
        const unsigned names = form == 'p' && count > 1 ? 2 : 1;
        char name[80];

        if (form == 'o')
                put_member("oci-layout", "{\"imageLayoutVersion\": \"1.0.0\"}");
        if (form == 'p')
                put_member("version", "Directory Transport Version: 1.1\n");
        for (unsigned i = 0; i < count; i++) {
                snprintf(name, sizeof name, "%s%s", form == 'o' ? "blobs/sha256/" : "",
                        list[i].digest);
                put_member(i + names < count ? name : last[i + names - count],
                        buffer_text(&list[i].text));
        }
        put_zeros(1024);
}

static void put_image(const uint8_t *data, size_t len)
{
        static char text[64 << 10];
        struct document list[MOST_DOCUMENTS];
        const char form = (char)*data++;
        unsigned count = 0;

        for (len--; len > 0 && count < MOST_DOCUMENTS; count++) {
                list[count].text = (struct buffer)BUFFER_INIT;
                fuzz_text(&data, &len, text, sizeof text);
                fill_in(list, count, text);
        }
        put_documents(form, list, count);
        while (count > 0)
                buffer_free(&list[--count].text);
}

/* --- checking the answer -------------------------------------------------------------------- */

static void skip(struct reader *r, uint32_t count)
{
        size_t len;

        while (count-- > 0 && !r->bad)
                get_bytes(r, FRAME_MAX_PAYLOAD, &len);
}

static void check_layers(struct reader *r, uint64_t file_size)
{
        char digest[DIGEST_SIZE];
        uint64_t offset, length;
        uint32_t count = get_u32(r);

        must(count <= UNPACK_MAX_LAYERS);
        for (; count > 0; count--) {
                skip(r, 1);
                offset = get_u64(r);
                length = get_u64(r);
                must(offset <= file_size && length <= file_size - offset);
                get_text(r, digest, sizeof digest);
                get_text(r, digest, sizeof digest);
                must(strlen(digest) == DIGEST_SIZE - 1);
                must(get_u8(r) <= UNPACK_ZSTD);
        }
        must(reader_done(r));
}

static void check_image(struct reader *r, uint64_t file_size)
{
        skip(r, get_u32(r)); /* names */
        skip(r, 4);
        for (unsigned lists = 0; lists < 3; lists++)
                skip(r, get_u32(r));
        skip(r, 2);
        check_layers(r, file_size);
}

/* How many images were told of. */
static uint32_t check_answer(int fd, uint64_t file_size)
{
        _cleanup_buffer_ struct buffer all = BUFFER_INIT;
        struct reader r;
        uint32_t images = 0;

        must(lseek(fd, 0, SEEK_SET) == 0 &&
                fd_read_all(fd, &all, MOST_ANSWER, CODE_INTERNAL_FRAME, NULL) == 0);
        for (r = reader_of(all.data, all.len); r.left > 0;) {
                const uint32_t len = get_u32(&r);
                const uint16_t type = get_u16(&r);
                struct reader payload;

                must(get_u16(&r) == 0 && !r.bad && len <= r.left);
                payload = reader_of(r.at, len);
                if (type == UNPACK_IMAGE_FOUND) {
                        check_image(&payload, file_size);
                        images++;
                }
                r = reader_of(r.at + len, r.left - len);
        }
        return images;
}

static void read_file(int file)
{
        const struct image_request q = {.architecture = "amd64"};
        _cleanup_fd_ int answer = fuzz_file("", 0);
        struct report report = {.fd = answer};
        struct error err = {0};
        struct stat st;
        uint32_t count;

        must(fstat(file, &st) == 0);
        if (image_read(file, &q, &report, &count, &err) < 0)
                must(strncmp(code_info(err.code)->name, "image.", 6) == 0); /* not our fault */
        else
                must(count > 0 && check_answer(answer, (uint64_t)st.st_size) == count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        _cleanup_fd_ int file = -EBADF;

        if (len == 0)
                return 0;
        file = data[0] == 'r' ? fuzz_tar_file(data + 1, len - 1)
                              : fuzz_output(put_image, data, len);
        read_file(file);
        return 0;
}
