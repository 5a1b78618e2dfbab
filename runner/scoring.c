/* Requests of the caller's own files; see scoring.h. */
#include "scoring.h"

#include "fd.h"
#include "input.h"
#include "interrupt.h"
#include "privilege.h"
#include "text.h"

#include <sys/stat.h>
#include <unistd.h>

static int open_files(struct scoring *s, struct error *err)
{
        unsigned from_input = 0;
        struct stat st;

        for (unsigned i = 0; i < s->file_count; i++) {
                struct scoring_file *f = &s->files[i];

                f->fd = f->path ? input_open(f->path) : -EBADF;
                if (f->path && f->fd < 0)
                        return error_errno(err, CODE_USAGE, errno, "%s: %s", f->what, f->path);
                if (f->path && fstat(f->fd, &st) == 0 && S_ISDIR(st.st_mode))
                        return error_set(
                                err, CODE_USAGE, "%s: %s: is a directory", f->what, f->path);
                from_input += f->path && strcmp(f->path, "-") == 0;
        }
        return from_input < 2 ? 0
                              : error_set(err, CODE_USAGE,
                                        "-: only one of the files can be standard input");
}

static enum code too_large(const struct scoring_file *f)
{
        return f->too_large != CODE_NONE ? f->too_large : CODE_SCORE_ANSWER;
}

/* Once root is given up: what is a pipe is read to its end. */
static int settle_files(struct scoring *s, struct error *err)
{
        for (unsigned i = 0; i < s->file_count; i++) {
                struct scoring_file *f = &s->files[i];
                uint64_t bytes;

                if (!f->path)
                        continue;
                if (input_settle(&f->fd, f->most, &bytes, err) < 0)
                        return error_add(err, "%s", f->what);
                if (bytes > f->most)
                        return error_set(err, too_large(f), "%s: more than %llu bytes", f->what,
                                (unsigned long long)f->most);
        }
        return 0;
}

int scoring_open(struct scoring *s, struct error *err)
{
        s->channel = (struct channel)CHANNEL_INIT;
        for (unsigned i = 0; i < s->file_count; i++)
                s->files[i].fd = -EBADF;
        interrupt_hold();
        return channel_open(&s->channel, err) < 0 || open_files(s, err) < 0 ||
                               privilege_drop(err) < 0 || settle_files(s, err) < 0
                       ? -1
                       : 0;
}

void scoring_close(struct scoring *s)
{
        channel_close(&s->channel);
        for (unsigned i = 0; i < s->file_count; i++)
                fd_close(s->files[i].fd);
}

static int put_documents(const struct scoring *s, int request, struct error *err)
{
        for (unsigned i = 0; i < s->file_count; i++) {
                const struct scoring_file *f = &s->files[i];

                if (f->bytes && f->bytes->len > f->most)
                        return error_set(err, too_large(f), "%s: more than %llu bytes", f->what,
                                (unsigned long long)f->most);
                if (f->bytes && scorer_put_bytes(request, f->which, f->bytes, err) < 0)
                        return -1;
                if (f->path && (lseek(f->fd, 0, SEEK_SET) < 0 ||
                                       scorer_put_document(request, f->which, f->fd, f->most,
                                               too_large(f), err) < 0))
                        return error_add(err, "%s", f->what);
        }
        return scorer_end_request(request, err);
}

int scoring_ask(struct scoring *s, enum helper_mode mode, unsigned type, struct buffer *options,
        scorer_take take, void *to, struct error *err)
{
        _cleanup_fd_ int request = scorer_request(err);

        return request < 0 || scorer_put(request, type, options, err) < 0 ||
                               put_documents(s, request, err) < 0
                       ? -1
                       : scorer_ask(&s->channel, mode, request, take, to, err);
}

void scoring_print_problem(struct reader *r, const char *path, FILE *to)
{
        unsigned line = get_u32(r), column = get_u32(r);
        char *key = scorer_text(r, SCORE_MAX_TEXT), *message = scorer_text(r, SCORE_MAX_TEXT);
        char safe[1024], shown[1024], text[2048];

        if (!r->bad) {
                text_escape(safe, sizeof safe, path, strlen(path));
                text_escape(shown, sizeof shown, key, strlen(key));
                text_escape(text, sizeof text, message, strlen(message));
                fprintf(to, "%s:%u:%u: %s%s%s\n", safe, line, column, shown, *shown ? ": " : "",
                        text);
        }
        free(key);
        free(message);
}
