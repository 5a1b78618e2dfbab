/* A submission; see submission.h. The archive's bytes are hashed here and parsed elsewhere. */
#include "submission.h"

#include "beneath.h"
#include "fd.h"
#include "images/messages.h"
#include "text.h"

#define OPENSSL_SUPPRESS_DEPRECATED /* SHA256_… is the part of libcrypto that needs no start-up */
#include <openssl/sha.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { CHUNK = 1 << 18, UNPACK_WAIT_SECONDS = 90 };

const char *submission_section(unsigned i)
{
        static const char *const sections[] = UNPACK_SECTIONS;

        return i < SUBMISSION_SECTIONS ? sections[i] : "";
}

void submission_free(struct submission *s)
{
        fd_close(s->archive);
        fd_close(s->root);
        for (unsigned i = 0; i < s->warning_count; i++) {
                free(s->warnings[i].field);
                free(s->warnings[i].message);
        }
        *s = (struct submission)SUBMISSION_INIT;
}

int submission_open(struct submission *s, const char *path, struct error *err)
{
        struct stat st;

        if (strcmp(path, "-") == 0)
                s->archive = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        else
                s->archive = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (s->archive < 0 || fstat(s->archive, &st) < 0)
                return error_errno(err, CODE_SUBMISSION_MISSING, errno, "%s", path);
        if (S_ISDIR(st.st_mode))
                return error_set(err, CODE_SUBMISSION_MISSING, "%s: is a directory", path);
        return 0;
}

/* Pipes and the like cannot be read twice: keep what comes in memory. */
static int copy_to_memory(struct submission *s, uint64_t max, struct error *err)
{
        _cleanup_fd_ int copy = memfd_create("submission", MFD_CLOEXEC);
        char chunk[65536];
        uint64_t total = 0;

        if (copy < 0)
                return error_errno(err, CODE_INFRA_MEMORY, errno, "cannot keep the submission");
        for (;;) {
                ssize_t n = read(s->archive, chunk, sizeof chunk);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "cannot read the submission");
                if (n == 0)
                        break;
                total += (uint64_t)n;
                if (total > max) /* the caller says so, with the numbers */
                        break;
                if (fd_write_all(copy, chunk, (size_t)n) < 0)
                        return error_errno(
                                err, CODE_INFRA_MEMORY, errno, "cannot keep the submission");
        }
        fd_close(s->archive);
        s->archive = take_fd(&copy);
        s->bytes = total;
        return 0;
}

static int hash(struct submission *s, struct error *err)
{
        unsigned char digest[SHA256_DIGEST_LENGTH];
        unsigned char *chunk = malloc(CHUNK);
        SHA256_CTX context;
        uint64_t at = 0;
        ssize_t n = -1;

        if (!chunk)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        SHA256_Init(&context);
        while ((n = pread(s->archive, chunk, CHUNK, (off_t)at)) > 0) {
                SHA256_Update(&context, chunk, (size_t)n);
                at += (uint64_t)n;
        }
        free(chunk);
        if (n < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the submission");
        if (at != s->bytes)
                return error_set(err, CODE_INFRA_IO, "the submission changed while it was read");
        SHA256_Final(digest, &context);
        for (size_t i = 0; i < sizeof digest; i++)
                snprintf(s->sha256 + 2 * i, 3, "%02x", digest[i]);
        return 0;
}

int submission_receive(struct submission *s, const struct task *t, struct error *err)
{
        struct stat st;

        if (fstat(s->archive, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot measure the submission");
        s->bytes = (uint64_t)st.st_size;
        if ((!S_ISREG(st.st_mode) || lseek(s->archive, 0, SEEK_SET) < 0) &&
                copy_to_memory(s, t->max_archive, err) < 0)
                return -1;
        if (fstat(s->archive, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot measure the submission");
        s->changed = st.st_ctim;
        if (s->bytes > t->max_archive)
                return error_set(err, CODE_ARCHIVE_TOO_LARGE,
                        "the archive has more than the %llu bytes that the task allows",
                        (unsigned long long)t->max_archive);
        return hash(s, err);
}

static void add_warning(struct submission *s, struct reader *r)
{
        struct warning w = {scorer_text(r, UNPACK_MAX_PATH), scorer_text(r, SCORE_MAX_TEXT)};

        if (r->bad || s->warning_count == SUBMISSION_MAX_WARNINGS) {
                free(w.field);
                free(w.message);
                r->bad = true;
                return;
        }
        s->warnings[s->warning_count++] = w;
}

static int send_request(int socket, const struct task *t, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;

        put_u64(&payload, t->max_entries);
        put_u64(&payload, t->max_unpacked);
        put_u8(&payload, t->strip_common_root);
        put_u8(&payload, t->links_drop);
        put_u32(&payload, t->required_count);
        for (unsigned i = 0; i < t->required_count; i++) {
                put_text(&payload, t->required[i].path);
                put_u64(&payload, t->required[i].max_size);
        }
        return frame_send(socket, UNPACK_REQUEST, &payload, NULL, 0, err);
}

static int take_done(
        struct submission *s, struct reader *r, const struct workspace *w, struct error *err)
{
        char root[256];

        s->entries = get_u64(r);
        s->unpacked_bytes = get_u64(r);
        s->sections = get_u32(r);
        get_u8(r);
        get_text(r, root, sizeof root);
        if (!reader_done(r) || strchr(root, '/'))
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent a malformed answer");
        s->root = beneath_open(w->tree, *root ? root : ".", O_PATH | O_DIRECTORY, 0);
        if (s->root < 0)
                return error_errno(err, CODE_INTERNAL_FRAME, errno, "the unpacker left no tree");
        return 1;
}

/* It may say that the submission is bad or that we are, nothing else. */
static int take_error(struct reader *r, struct error *err)
{
        enum error_class class;

        get_error(r, err);
        class = code_info(err->code)->class;
        if (!reader_done(r) ||
                (class != CLASS_SUBMISSION && class != CLASS_INFRA && class != CLASS_INTERNAL))
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent a malformed answer");
        return -1;
}

/* One frame of the answer: 0 more to come, 1 done, -1 an error. */
static int take_answer(
        struct submission *s, int socket, const struct workspace *w, struct error *err)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;
        int got = frame_receive(socket, &f, UNPACK_MAX_REQUEST, 0, err);

        if (got < 0)
                return -1;
        if (got == 0)
                return error_set(err, CODE_INTERNAL_HELPER, "the unpacker ended without an answer");
        r = reader_of(f.payload.data, f.payload.len);
        switch (f.type) {
        case UNPACK_DONE:
                return take_done(s, &r, w, err);
        case UNPACK_WARNING:
                add_warning(s, &r);
                break;
        case UNPACK_ERROR:
                return take_error(&r, err);
        default:
                r.bad = true;
        }
        if (!reader_done(&r))
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent a malformed answer");
        return 0;
}

/* The recorded hash is that of the graded bytes: nobody wrote to the archive meanwhile. */
static int check_unchanged(const struct submission *s, struct error *err)
{
        struct stat st;

        if (fstat(s->archive, &st) < 0 || (uint64_t)st.st_size != s->bytes ||
                st.st_ctim.tv_sec != s->changed.tv_sec || st.st_ctim.tv_nsec != s->changed.tv_nsec)
                return error_set(
                        err, CODE_INFRA_IO, "the submission changed while it was unpacked");
        return 0;
}

int submission_unpack(struct submission *s, const struct task *t, const struct workspace *w,
        struct channel *c, struct error *err)
{
        const struct timeval patience = {.tv_sec = UNPACK_WAIT_SECONDS};
        struct error ended = {0};
        int pair[2], r;
        uint32_t id;

        if (fd_socketpair(pair, err) < 0)
                return -1;
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        id = channel_start_helper(
                c, HELPER_UNPACK, HELPER_PLAIN, (int[]){s->archive, pair[1], w->tree}, 3, err);
        fd_close(pair[1]);
        r = id == 0 ? -1 : 0;
        /* One that could not even lock itself in says why and hears nothing: listen all the same. */
        if (r == 0)
                send_request(pair[0], t, NULL);
        while (r == 0)
                r = take_answer(s, pair[0], w, err);
        fd_close(pair[0]);
        if (id == 0)
                return -1;
        if (channel_helper_done(c, id, CODE_ARCHIVE_TIMEOUT, &ended) < 0 &&
                (r >= 0 || err->code == CODE_INTERNAL_HELPER || err->code == CODE_INTERNAL_FRAME)) {
                *err = ended;
                return error_add(err, "unpacking the submission");
        }
        return r < 0 ? -1 : check_unchanged(s, err);
}
