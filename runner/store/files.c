/* Archives and snapshots of tasks in the store, by their digests; see queue.h. */
#include "store/queue.h"

#include <sys/stat.h>
#include <unistd.h>

static int changed(struct error *err)
{
        return error_set(err, CODE_INFRA_IO, "the file to store changed while it was read");
}

/* Each piece of a file, in order. */
typedef int (*take_piece)(
        void *to, uint64_t position, const void *bytes, size_t len, struct error *err);

static int read_all(const struct queue_file *f, void *to, take_piece take, struct error *err)
{
        unsigned char *piece = malloc(STORE_MAX_PIECE);
        uint64_t at = 0, position = 0;
        int r = piece ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");

        while (r == 0 && at < f->size) {
                size_t have = 0;
                ssize_t n = 1;

                while (n > 0 && have < STORE_MAX_PIECE) {
                        n = pread(f->fd, piece + have, STORE_MAX_PIECE - have, (off_t)(at + have));
                        have += n > 0 ? (size_t)n : 0;
                }
                if (n < 0)
                        r = error_errno(err, CODE_INFRA_IO, errno, "the file to store");
                else if (have == 0)
                        break;
                if (r == 0)
                        r = take(to, position++, piece, have, err);
                at += have;
        }
        free(piece);
        return r == 0 && at != f->size ? changed(err) : r;
}

static int hash_piece(void *to, uint64_t position, const void *bytes, size_t len, struct error *err)
{
        (void)position;
        (void)err;
        sha256_update(to, len, bytes);
        return 0;
}

int files_digest(struct queue_file *f, struct error *err)
{
        struct sha256_ctx all;
        struct stat st;

        if (fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode))
                return error_set(err, CODE_INFRA_IO, "what is to be stored is not a file");
        f->size = (uint64_t)st.st_size;
        sha256_init(&all);
        if (read_all(f, &all, hash_piece, err) < 0)
                return -1;
        digest_text(&all, f->sha256);
        snprintf(f->name, sizeof f->name, "%s", f->sha256);
        return 0;
}

/* --- into the store ------------------------------------------------------------------------- */

struct putting {
        struct store *store;
        struct value name;
        struct sha256_ctx content;
};

static int put_piece(void *to, uint64_t position, const void *bytes, size_t len, struct error *err)
{
        struct putting *p = to;
        const struct value row[] = {
                p->name, value_number((int64_t)position), value_bytes(bytes, len)};

        sha256_update(&p->content, len, bytes);
        return store_do(p->store,
                "INSERT INTO file_parts (sha256, position, bytes) VALUES ($1, $2, $3)", row, 3,
                err);
}

static int has(struct store *s, const char *sha256, struct error *err)
{
        const struct value name = value_text(sha256);
        int64_t there;
        int r = store_ask_number(
                s, "SELECT size FROM files WHERE sha256 = $1", &name, 1, &there, err);

        return r < 0 ? -1 : r > 0;
}

int files_put(struct store *s, const struct queue_file *f, struct error *err)
{
        struct putting p = {.store = s, .name = value_text(f->name)};
        char now[STORE_TIME_SIZE], content[DIGEST_SIZE];
        int there;

        if (s->engine->lock(s->database, f->name, err) < 0)
                return -1;
        there = has(s, f->name, err);
        if (there != 0)
                return there < 0 ? -1 : 0;
        store_now(now);
        const struct value row[] = {p.name, value_number((int64_t)f->size), value_text(now)};

        sha256_init(&p.content);
        if (store_do(s, "INSERT INTO files (sha256, size, stored_at) VALUES ($1, $2, $3)", row, 3,
                    err) < 0 ||
                read_all(f, &p, put_piece, err) < 0)
                return -1;
        digest_text(&p.content, content);
        return strcmp(content, f->sha256) == 0 ? 0 : changed(err);
}

/* --- out of it ------------------------------------------------------------------------------ */

struct fetching {
        int fd;
        uint64_t size;
};

static int write_piece(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct fetching *f = to;

        (void)count;
        for (size_t at = 0; at < row[0].len;) {
                const ssize_t n =
                        pwrite(f->fd, row[0].text + at, row[0].len - at, (off_t)(f->size + at));

                if (n <= 0)
                        return error_errno(err, CODE_INFRA_STATE, errno, "a file of the store");
                at += (size_t)n;
        }
        f->size += row[0].len;
        return 0;
}

static int fetch(struct store *s, int socket, const char *sha256, int fd, struct error *err)
{
        const struct buffer nothing = BUFFER_INIT;
        const struct value name = value_text(sha256);
        struct fetching f = {.fd = fd};
        int64_t size;
        int r = store_ask_number(
                s, "SELECT size FROM files WHERE sha256 = $1", &name, 1, &size, err);

        if (r < 0)
                return -1;
        if (r == 0)
                return error_set(err, CODE_JOB_FILE, "the store has no file %s", sha256);
        if (s->engine->run(s->database,
                    "SELECT bytes FROM file_parts WHERE sha256 = $1 ORDER BY position", &name, 1,
                    write_piece, &f, err) < 0)
                return -1;
        if (f.size != (uint64_t)size)
                return error_set(err, CODE_JOB_FILE, "of file %s the store has %llu bytes of %lld",
                        sha256, (unsigned long long)f.size, (long long)size);
        return frame_send(socket, STORE_DONE, &nothing, NULL, 0, err);
}

int files_answer(struct store *s, int socket, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        char sha256[DIGEST_SIZE];
        int there;

        get_text(&r, sha256, sizeof sha256);
        if (!reader_done(&r) || f->fd_count != (f->type == STORE_FETCH))
                return store_malformed(err);
        if (f->type == STORE_FETCH)
                return fetch(s, socket, sha256, f->fds[0], err);
        there = has(s, sha256, err);
        if (there < 0)
                return -1;
        put_u8(&out, (uint8_t)there);
        return frame_send(socket, STORE_ANSWER, &out, NULL, 0, err);
}
