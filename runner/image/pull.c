/* Pulling; see pull.h. skopeo is asked twice: for the document that the reference means now, whose
 * digest is noted, then for the image by that digest, so that a tag which is moved meanwhile
 * changes nothing. What came is read by the unpacker, like any other file with an image. */
#include "image/pull.h"

#include "beside.h"
#include "fd.h"
#include "image/program.h"
#include "image/reference.h"

#include <fcntl.h>
#include <unistd.h>

enum { DOCUMENT_MAX = 4 << 20, COMPLAINT_MAX = 400 };

struct pull {
        struct reference reference;
        const struct pull_options *options;
        const struct load_listener *listener;
        char skopeo[PATH_MAX];
};

/* What skopeo says where it is not the registry or the way to it that fails. */
static const struct {
        const char *part;
        enum code code;
} complaints[] = {
        {"manifest unknown", CODE_IMAGE_NOT_FOUND},
        {"name unknown", CODE_IMAGE_NOT_FOUND},
        {"no image found in", CODE_IMAGE_NOT_FOUND}, /* an index: for this machine */
        {"Digest did not match", CODE_IMAGE_DIGEST},
};

static enum code code_of(const char *said)
{
        for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
                if (strstr(said, complaints[i].part))
                        return complaints[i].code;
        return CODE_IMAGE_PULL_FAILED;
}

/* The lines as one, without the time and level that stand before each. */
static void join_lines(const char *line, struct buffer *out)
{
        for (size_t len; *line; line += len + (line[len] == '\n')) {
                static const char time[] = "time=", message[] = " msg=";
                const char *from = line;

                len = strcspn(line, "\n");
                if (strncmp(line, time, strlen(time)) == 0) {
                        const char *at = strstr(line, message);

                        if (at && at < line + len)
                                from = at + strlen(message);
                }
                if (out->len > 0)
                        buffer_add_char(out, ' ');
                buffer_add(out, from, (size_t)(line + len - from));
        }
}

static int refuse(const struct pull *p, int status, const char *said, struct error *err)
{
        _cleanup_buffer_ struct buffer line = BUFFER_INIT;

        join_lines(said, &line);
        if (line.len == 0)
                buffer_add_format(&line, "it ended with status %d", status);
        error_set(err, code_of(said), "%s",
                buffer_text(&line) + (line.len > COMPLAINT_MAX ? line.len - COMPLAINT_MAX : 0));
        return error_add(err, "%s: skopeo", p->reference.text);
}

static int run(
        const struct pull *p, const char *const *argv, struct buffer *output, struct error *err)
{
        _cleanup_buffer_ struct buffer said = BUFFER_INIT;
        const struct program program = {
                .path = p->skopeo,
                .argv = argv,
                .output = output,
                .output_max = DOCUMENT_MAX,
                .quiet = p->options->quiet,
        };
        int status = program_run(&program, &said, err);

        if (status < 0)
                return error_add(err, "%s", p->reference.text);
        return status == 0 ? 0 : refuse(p, status, buffer_text(&said), err);
}

/* The raw manifest or index, and its digest. */
static int ask(
        const struct pull *p, struct buffer *ret, char ret_digest[DIGEST_SIZE], struct error *err)
{
        const char *verify = p->options->tls_verify;
        char from[sizeof "docker://" + IMAGE_STORE_NAME_MAX], tls[32];
        const char *argv[] = {"skopeo", "inspect", "--raw", from, verify ? tls : NULL, NULL};
        struct sha256_ctx context;

        snprintf(from, sizeof from, "docker://%s", p->reference.text);
        snprintf(tls, sizeof tls, "--tls-verify=%s", verify ? verify : "");
        if (run(p, argv, ret, err) < 0)
                return -1;
        sha256_init(&context);
        sha256_update(&context, ret->len, ret->data);
        digest_text(&context, ret_digest);
        if (*p->reference.digest && strcmp(p->reference.digest, ret_digest) != 0)
                return error_set(err, CODE_IMAGE_DIGEST,
                        "%s: the registry gave what has the digest %s", p->reference.text,
                        ret_digest);
        return 0;
}

static void warn_of_tag(const struct pull *p, const char *digest)
{
        char text[sizeof "@sha256:" + 2 * IMAGE_STORE_NAME_MAX + DIGEST_SIZE + 100];

        if (*p->reference.digest != '\0')
                return;
        snprintf(text, sizeof text,
                "%s can be moved to another image; to pin this one: %s@sha256:%s",
                p->reference.text, p->reference.name, digest);
        p->listener->warn(p->listener->to, text);
}

static int copy(const struct pull *p, const char *digest, int dir, struct error *err)
{
        const char *verify = p->options->tls_verify;
        char from[sizeof "docker://@sha256:" + IMAGE_STORE_NAME_MAX + DIGEST_SIZE], tls[32];
        char place[64], to[sizeof "dir:" + PATH_MAX] = "dir:";
        const char *argv[] = {"skopeo", "copy", from, to, verify ? tls : NULL, NULL};
        const size_t used = strlen(to);
        ssize_t len;

        snprintf(from, sizeof from, "docker://%s@sha256:%s", p->reference.name, digest);
        snprintf(tls, sizeof tls, "--src-tls-verify=%s", verify ? verify : "");
        snprintf(place, sizeof place, "/proc/self/fd/%d", dir);
        len = readlink(place, to + used, sizeof to - used - 1);
        if (len < 0)
                return error_errno(err, CODE_INFRA_STATE, errno, "the place of a pull");
        to[used + (size_t)len] = '\0';
        return run(p, argv, NULL, err);
}

/* For the unpacker, which compares it with what was copied. */
static int keep_document(int dir, const struct buffer *document, struct error *err)
{
        _cleanup_fd_ int fd = openat(
                dir, "reference.json", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

        return fd >= 0 && fd_write_all(fd, document->data, document->len) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_STATE, errno, "reference.json of a pull");
}

static int fetch(void *to, int dir, struct error *err)
{
        const struct pull *p = to;
        _cleanup_buffer_ struct buffer document = BUFFER_INIT;
        char digest[DIGEST_SIZE];

        if (ask(p, &document, digest, err) < 0)
                return -1;
        warn_of_tag(p, digest);
        return copy(p, digest, dir, err) < 0 ? -1 : keep_document(dir, &document, err);
}

int image_pull(const char *reference, const struct pull_options *o,
        const struct load_listener *listener, struct error *err)
{
        struct pull p = {.options = o, .listener = listener};
        const struct load_options options = {
                .name = o->name,
                .fetch = fetch,
                .fetch_to = &p,
                .fetched = p.reference.text,
        };

        if (reference_parse(&p.reference, reference, err) < 0)
                return -1;
        if (o->tls_verify && strcmp(o->tls_verify, "true") != 0 &&
                strcmp(o->tls_verify, "false") != 0)
                return error_set(err, CODE_USAGE, "--tls-verify: must be true or false, not %.50s",
                        o->tls_verify);
        if (!program_find("skopeo", p.skopeo))
                return error_set(
                        err, CODE_IMAGE_PULL_FAILED, "skopeo, which pulls images, is not in PATH");
        return load_images(NULL, &options, listener, err);
}

/* --- beside an evaluation ------------------------------------------------------------------- */

static void ignore_loaded(void *to, const char *id, const char *const *names)
{
        (void)to;
        (void)id;
        (void)names;
}

static void print_warning(void *to, const char *text)
{
        (void)to;
        fprintf(stderr, "assay: warning: %s\n", text);
}

enum { PULLED = 1 };

static int pull_beside(void *name, struct buffer *unused, struct error *err)
{
        static const struct pull_options options = {.quiet = true};
        static const struct load_listener listener = {ignore_loaded, print_warning, NULL};

        (void)unused;
        return image_pull(name, &options, &listener, err) < 0 ? -1 : PULLED;
}

static bool is_there(const char *name, struct error *err)
{
        struct image_store store = IMAGE_STORE_INIT;
        char id[DIGEST_SIZE];
        bool found = image_store_open(&store, err) == 0 &&
                     image_store_find(&store, name, id, NULL, err) == 0;

        image_store_close(&store);
        return found;
}

int image_pull_missing(char *const *names, struct error *err)
{
        for (; *names; names++) {
                _cleanup_frame_ struct frame done = FRAME_INIT;
                struct error missing = {0};

                if (!is_there(*names, &missing) && beside_ask(pull_beside, *names, &done, err) < 0)
                        return -1;
        }
        return 0;
}
