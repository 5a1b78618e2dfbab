/* Frames between our programs; layout and rules are in frame.h. */
#include "frame.h"

#include "clock.h"
#include "fd.h"
#include "text.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HEADER_SIZE = 8 };

static void put_number(struct buffer *b, uint64_t v, size_t size)
{
        unsigned char bytes[8];

        for (size_t i = 0; i < size; i++)
                bytes[i] = (unsigned char)(v >> (8 * i));
        buffer_add(b, bytes, size);
}

static uint64_t number_at(const unsigned char *p, size_t size)
{
        uint64_t v = 0;

        for (size_t i = 0; i < size; i++)
                v |= (uint64_t)p[i] << (8 * i);
        return v;
}

void put_u8(struct buffer *b, uint8_t v)
{
        put_number(b, v, 1);
}

void put_u16(struct buffer *b, uint16_t v)
{
        put_number(b, v, 2);
}

void put_u32(struct buffer *b, uint32_t v)
{
        put_number(b, v, 4);
}

void put_u64(struct buffer *b, uint64_t v)
{
        put_number(b, v, 8);
}

void put_bytes(struct buffer *b, const void *bytes, size_t len)
{
        if (len > FRAME_MAX_PAYLOAD) {
                b->failed = true;
                return;
        }
        put_u32(b, (uint32_t)len);
        buffer_add(b, bytes, len);
}

void put_text(struct buffer *b, const char *text)
{
        put_bytes(b, text, strlen(text));
}

struct reader reader_of(const void *bytes, size_t len)
{
        return (struct reader){.at = bytes, .left = len};
}

static const unsigned char *reader_take(struct reader *r, size_t len)
{
        const unsigned char *p = r->at;

        if (r->bad || len > r->left) {
                r->bad = true;
                return NULL;
        }
        r->at += len;
        r->left -= len;
        return p;
}

static uint64_t get_number(struct reader *r, size_t size)
{
        const unsigned char *p = reader_take(r, size);

        return p ? number_at(p, size) : 0;
}

uint8_t get_u8(struct reader *r)
{
        return (uint8_t)get_number(r, 1);
}

uint16_t get_u16(struct reader *r)
{
        return (uint16_t)get_number(r, 2);
}

uint32_t get_u32(struct reader *r)
{
        return (uint32_t)get_number(r, 4);
}

uint64_t get_u64(struct reader *r)
{
        return get_number(r, 8);
}

const unsigned char *get_bytes(struct reader *r, size_t max, size_t *ret_len)
{
        size_t len = get_u32(r);
        const unsigned char *p;

        if (len > max)
                r->bad = true;
        p = reader_take(r, len);
        *ret_len = p ? len : 0;
        return p;
}

void get_text(struct reader *r, char *out, size_t size)
{
        size_t len;
        const unsigned char *p = get_bytes(r, size - 1, &len);

        if (p && memchr(p, '\0', len)) {
                r->bad = true;
                len = 0;
        }
        if (len > 0)
                memcpy(out, p, len);
        out[len] = '\0';
}

char *get_new_text(struct reader *r, size_t max)
{
        size_t len;
        const unsigned char *p = get_bytes(r, max, &len);
        char *text;

        if (!p || memchr(p, '\0', len) || !(text = malloc(len + 1))) {
                r->bad = true;
                return NULL;
        }
        memcpy(text, p, len);
        text[len] = '\0';
        return text;
}

bool reader_done(const struct reader *r)
{
        return !r->bad && r->left == 0;
}

void frame_free(struct frame *f)
{
        for (unsigned i = 0; i < f->fd_count; i++)
                fd_close(f->fds[i]);
        f->fd_count = 0;
        buffer_free(&f->payload);
}

int frame_send(int fd, uint16_t type, const struct buffer *payload, const int *fds,
        unsigned fd_count, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int) * FRAME_MAX_FDS)];
        } control = {0};
        struct iovec iov;
        struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
        ssize_t n;

        if (!buffer_ok(payload) || payload->len > FRAME_MAX_PAYLOAD || fd_count > FRAME_MAX_FDS)
                return error_set(err, CODE_INTERNAL_FRAME, "a frame to send is too large");
        put_u32(&out, (uint32_t)payload->len);
        put_u16(&out, type);
        put_u16(&out, (uint16_t)fd_count);
        buffer_add(&out, payload->data, payload->len);
        if (!buffer_ok(&out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (fd_count == 0) {
                if (fd_write_all(fd, out.data, out.len) < 0)
                        return error_errno(err, CODE_INTERNAL_FRAME, errno, "cannot send a frame");
                return 0;
        }
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
        memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
        iov = (struct iovec){out.data, out.len};
        do
                n = sendmsg(fd, &message, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0 || fd_write_all(fd, out.data + n, out.len - (size_t)n) < 0)
                return error_errno(err, CODE_INTERNAL_FRAME, errno, "cannot send a frame");
        return 0;
}

static void frame_keep_fds(struct frame *f, struct msghdr *message)
{
        for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
                size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                int got[FRAME_MAX_FDS];

                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                memcpy(got, CMSG_DATA(c), count * sizeof(int));
                for (size_t i = 0; i < count; i++) {
                        if (f->fd_count < FRAME_MAX_FDS)
                                f->fds[f->fd_count++] = got[i];
                        else
                                fd_close(got[i]);
                }
        }
}

/* Like read(), keeping the descriptors that come along when `fd` is a socket. */
static ssize_t frame_read_some(int fd, struct frame *f, void *to, size_t len)
{
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int) * FRAME_MAX_FDS)];
        } control;
        struct iovec iov = {to, len};
        struct msghdr message = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = control.space,
                .msg_controllen = sizeof control.space,
        };
        ssize_t n;

        do
                n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == ENOTSOCK) {
                do
                        n = read(fd, to, len);
                while (n < 0 && errno == EINTR);
                return n;
        }
        if (n >= 0) {
                frame_keep_fds(f, &message);
                if (message.msg_flags & MSG_CTRUNC) {
                        errno = EMSGSIZE;
                        return -1;
                }
        }
        return n;
}

/* 1 when `len` bytes came, 0 when the stream ended before the first, -1 otherwise. */
static int frame_read(
        int fd, struct frame *f, void *to, size_t len, uint64_t until, struct error *err)
{
        size_t have = 0;

        while (have < len) {
                ssize_t n = frame_read_some(fd, f, (char *)to + have, len - have);
                if (n < 0)
                        return error_errno(
                                err, CODE_INTERNAL_FRAME, errno, "cannot receive a frame");
                if (n == 0)
                        return have == 0 ? 0
                                         : error_set(err, CODE_INTERNAL_FRAME,
                                                   "a frame ended before its end");
                have += (size_t)n;
                if (have < len && until > 0 && clock_us() > until)
                        return error_set(err, CODE_INTERNAL_FRAME, "a frame comes too slowly");
        }
        return 1;
}

int frame_receive(int fd, struct frame *f, size_t max, unsigned max_fds, struct error *err)
{
        const uint64_t until = f->patience_us > 0 ? clock_us() + f->patience_us : 0;
        unsigned char header[HEADER_SIZE];
        unsigned char *to;
        size_t len;
        unsigned fds;
        int r;

        frame_free(f);
        r = frame_read(fd, f, header, sizeof header, until, err);
        if (r <= 0)
                return r;
        len = (size_t)number_at(header, 4);
        f->type = (uint16_t)number_at(header + 4, 2);
        fds = (unsigned)number_at(header + 6, 2);
        if (len > max || fds > max_fds)
                return error_set(err, CODE_INTERNAL_FRAME, "a frame is larger than agreed");
        to = buffer_reserve(&f->payload, len);
        if (!to)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        r = len > 0 ? frame_read(fd, f, to, len, until, err) : 1;
        if (r < 0)
                return -1;
        if (r == 0)
                return error_set(err, CODE_INTERNAL_FRAME, "a frame ended before its end");
        buffer_advance(&f->payload, len);
        if (f->fd_count != fds)
                return error_set(err, CODE_INTERNAL_FRAME,
                        "a frame announced %u descriptors and carried %u", fds, f->fd_count);
        return 1;
}

int frame_peek(const struct buffer *in, size_t max, uint16_t *ret_type, struct reader *ret_payload)
{
        size_t len;

        if (in->len < HEADER_SIZE)
                return 0;
        len = (size_t)number_at(in->data, 4);
        if (len > max || number_at(in->data + 6, 2) != 0)
                return -1;
        if (in->len - HEADER_SIZE < len)
                return 0;
        *ret_type = (uint16_t)number_at(in->data + 4, 2);
        *ret_payload = reader_of(in->data + HEADER_SIZE, len);
        return 1;
}

void put_error(struct buffer *b, const struct error *err)
{
        put_u16(b, (uint16_t)err->code);
        put_text(b, err->text);
}

void get_error(struct reader *r, struct error *ret_err)
{
        unsigned code = get_u16(r);
        char text[sizeof ret_err->text];

        get_text(r, text, sizeof text);
        if (r->bad || code == CODE_NONE || code >= CODE_COUNT) {
                r->bad = true;
                return;
        }
        /* Escaped again: the peer may have been taken over. */
        ret_err->code = (enum code)code;
        text_escape(ret_err->text, sizeof ret_err->text, text, strlen(text));
}
