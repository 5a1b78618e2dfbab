/* Asking a judge; see judge.h. Its program is the operator's `assay-judge`, or the command that a
 * task names where no operator decides: a laptop, whose owner trusts the task. */
#include "judge.h"

#include "beneath.h"
#include "clock.h"
#include "fd.h"
#include "input.h"
#include "interrupt.h"
#include "quantity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
        TRIES = 3,
        PAUSE_MS = 1000, /* the first; each further one is four times as long */
        PATIENCE_S = 600,
        MOST_KEY = 16 << 10,
        KEPT_ERRORS = 4096,
};

extern char **environ;

/* --- before root is given up ---------------------------------------------------------------- */

static const char *variable(const char *name)
{
        const char *value = getenv(name);

        return value && *value ? value : NULL;
}

static int read_key(struct buffer *key, struct error *err)
{
        const char *path = variable("ASSAY_JUDGE_KEY_FILE"), *text = variable("ASSAY_JUDGE_KEY");
        _cleanup_fd_ int fd = -EBADF;

        if (!path) {
                buffer_add_text(key, text ? text : "");
                return 0;
        }
        fd = input_open(path);
        if (fd < 0)
                return error_errno(err, CODE_USAGE, errno, "ASSAY_JUDGE_KEY_FILE: %s", path);
        return fd_read_all(fd, key, MOST_KEY, CODE_USAGE, err) < 0
                       ? error_add(err, "ASSAY_JUDGE_KEY_FILE")
                       : 0;
}

/* A judge that a task names gets nothing that is meant for the operator's. */
static bool is_wanted(const char *variable, bool command)
{
        static const char *const names[] = {"PATH=", "LANG=", "TZ=", "http_proxy=", "https_proxy=",
                "HTTPS_PROXY=", "no_proxy=", "NO_PROXY=", "SSL_CERT_FILE=", "SSL_CERT_DIR="};
        static const char ours[] = "ASSAY_JUDGE_";

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strncmp(variable, names[i], strlen(names[i])) == 0)
                        return true;
        return !command && strncmp(variable, ours, sizeof ours - 1) == 0;
}

enum { MOST_VARIABLES = 64 };

/* With room for one more. */
static unsigned choose_environment(const char *env[MOST_VARIABLES], bool command)
{
        unsigned count = 0;

        for (char **v = environ; *v && count < MOST_VARIABLES - 2; v++)
                if (is_wanted(*v, command))
                        env[count++] = *v;
        env[count] = NULL;
        return count;
}

static int name_judge(struct channel *c, const struct buffer *key, struct error *err)
{
        _cleanup_fd_ int file = -EBADF;
        const char *env[MOST_VARIABLES];
        const unsigned count = choose_environment(env, false);

        if (key->len > 0) {
                file = memfd_create("key", MFD_CLOEXEC);
                if (file < 0 || fd_write_all(file, key->data, key->len) < 0)
                        return error_errno(err, CODE_INFRA_MEMORY, errno, "the judge's key");
                env[count] = "ASSAY_JUDGE_KEY_FD=3";
                env[count + 1] = NULL;
        }
        return channel_name_judge(c, env, file, err);
}

int judge_open(struct channel *c, const struct policy *p, struct error *err)
{
        _cleanup_buffer_ struct buffer key = BUFFER_INIT;
        int r;

        if (!variable("ASSAY_JUDGE_URL") && !policy_is_there(p))
                return 0;
        r = read_key(&key, err);
        unsetenv("ASSAY_JUDGE_KEY");
        unsetenv("ASSAY_JUDGE_KEY_FILE");
        if (r == 0)
                r = name_judge(c, &key, err);
        if (key.len > 0)
                explicit_bzero(key.data, key.len);
        return r;
}

/* --- which ---------------------------------------------------------------------------------- */

static bool is_operators(const struct evaluation *e)
{
        return e->task.judge_of_operator || !e->task.judge_command[0];
}

/* Not assay-judge, which the supervisor finds by itself. */
static bool is_program(const struct evaluation *e)
{
        const char *first = e->task.judge_command[0];

        return first && !(is_operators(e) && strcmp(first, "assay-judge") == 0);
}

bool judge_is_there(const struct evaluation *e)
{
        return e->task.judge_command[0] ||
               (!policy_is_there(&e->policy) && strcmp(e->task.judge, "default") == 0 &&
                       variable("ASSAY_JUDGE_URL"));
}

enum { MOST_WORDS = 256 };

/* We try again ourselves: assay-judge need not. */
static void choose_words(const struct evaluation *e, const char *words[MOST_WORDS])
{
        char **given = e->task.judge_command;
        unsigned count = 0;

        words[count++] = *given ? *given++ : "assay-judge";
        if (!is_program(e)) {
                words[count++] = "--tries";
                words[count++] = "1";
        }
        while (*given && count < MOST_WORDS - 1)
                words[count++] = *given++;
        words[count] = NULL;
}

/* A name without a slash is looked for where commands are; a relative path is the task's own. */
static int find_program(const struct evaluation *e, struct error *err)
{
        const char *name = e->task.judge_command[0], *path = variable("PATH");
        char candidate[4096];
        int fd = -1;

        if (*name == '/')
                fd = open(name, O_PATH | O_CLOEXEC);
        else if (strchr(name, '/'))
                fd = beneath_open(e->task.directory, name, O_PATH, 0);
        for (const char *at = path; fd < 0 && !strchr(name, '/') && at && *at;) {
                const size_t len = strcspn(at, ":");

                snprintf(candidate, sizeof candidate, "%.*s/%s", (int)len, at, name);
                fd = open(candidate, O_PATH | O_CLOEXEC);
                at += len + (at[len] == ':');
        }
        return fd >= 0 ? fd : error_errno(err, CODE_JUDGE_FAILED, ENOENT, "the judge %s", name);
}

/* --- one try -------------------------------------------------------------------------------- */

struct
try {
        int request, answer; /* files in memory */
        int pipes[2];        /* our ends of its output and error output; -EBADF at their end */
        uint32_t id;
        struct log errors;
        uint64_t bytes;
};

static int start(struct evaluation *e, struct try *t, struct error *err)
{
        const bool given = is_program(e);
        _cleanup_fd_ int program = given ? find_program(e, err) : -EBADF;
        const char *words[MOST_WORDS], *env[MOST_VARIABLES];
        int out[2], errors[2];

        if ((given && program < 0) || fd_pipe(out, err) < 0)
                return -1;
        t->pipes[0] = out[0];
        if (fd_pipe(errors, err) < 0) {
                fd_close(out[1]);
                return -1;
        }
        t->pipes[1] = errors[0];
        choose_environment(env, true);
        choose_words(e, words);
        t->id = channel_start_judge(&e->channel, words, is_operators(e) ? NULL : env,
                (const int[]){t->request, out[1], errors[1]}, program, err);
        fd_close(out[1]);
        fd_close(errors[1]);
        return t->id == 0 ? -1 : 0;
}

static void take(struct try *t, int which)
{
        char chunk[65536];
        ssize_t n = read(t->pipes[which], chunk, sizeof chunk);

        if (n > 0 && which == 1)
                log_add(&t->errors, chunk, (size_t)n);
        else if (n > 0 && (t->bytes += (uint64_t)n) <= SCORE_MAX_VERDICT)
                (void)!fd_write_all(t->answer, chunk, (size_t)n);
        else if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
                t->pipes[which] = fd_close(t->pipes[which]);
}

/* Until it has said all, or has ended: what it left may hold the pipes for ever. */
static int listen_to(struct evaluation *e, struct try *t, struct error *err)
{
        const uint64_t deadline = clock_us() + PATIENCE_S * 1000000ULL;
        bool ended = false;

        while (t->pipes[0] >= 0 || t->pipes[1] >= 0) {
                struct pollfd fds[] = {{.fd = t->pipes[0], .events = POLLIN},
                        {.fd = t->pipes[1], .events = POLLIN},
                        {.fd = e->channel.socket, .events = POLLIN}};
                const uint64_t now = clock_us();
                enum code why = interrupt_came()               ? CODE_INTERRUPTED
                                : now >= deadline              ? CODE_JUDGE_FAILED
                                : t->bytes > SCORE_MAX_VERDICT ? CODE_JUDGE_INVALID
                                                               : CODE_NONE;

                if (why != CODE_NONE) {
                        channel_kill(&e->channel, t->id, why, NULL);
                        channel_judge_done(&e->channel, t->id, NULL);
                        return error_set(err, why,
                                why == CODE_INTERRUPTED    ? "interrupted by a signal"
                                : why == CODE_JUDGE_FAILED ? "the judge did not answer in time"
                                                           : "the judge answered without end");
                }
                if (interrupt_poll(fds, 3, ended ? 0 : (int)((deadline - now) / 1000) + 1) < 0)
                        continue;
                if (ended && ((!fds[0].revents && !fds[1].revents) ||
                                     t->errors.total > SCORE_MAX_VERDICT))
                        return 0;
                ended = fds[2].revents != 0;
                for (int i = 0; i < 2; i++)
                        if (fds[i].revents)
                                take(t, i);
        }
        return 0;
}

static int hear_end(struct evaluation *e, const struct try *t, struct error *err)
{
        int status = channel_judge_done(&e->channel, t->id, err);
        char said[300];

        if (status <= 0)
                return status;
        snprintf(said, sizeof said, "%.*s",
                (int)(t->errors.head_len < sizeof said ? t->errors.head_len : sizeof said - 1),
                (const char *)t->errors.head);
        said[strcspn(said, "\n")] = '\0';
        return error_set(err, CODE_JUDGE_FAILED, "the judge ended with status %d%s%s", status,
                *said ? ": " : "", said);
}

static int try_once(struct evaluation *e, int request,
        int (*take_verdict)(struct evaluation *e, int verdict, struct error *err),
        struct error *err)
{
        struct try t = {.request = request,
                .answer = memfd_create("verdict", MFD_CLOEXEC),
                .pipes = {-EBADF, -EBADF}};
        int r = t.answer < 0 ? error_errno(err, CODE_INFRA_MEMORY, errno, "the verdict") : 0;

        if (r == 0)
                r = log_init(&t.errors, KEPT_ERRORS, 0, err);
        if (r == 0 && lseek(request, 0, SEEK_SET) < 0)
                r = error_errno(err, CODE_INFRA_IO, errno, "the judge's request");
        if (r == 0)
                r = start(e, &t, err);
        if (r == 0)
                r = listen_to(e, &t, err);
        if (r == 0)
                r = hear_end(e, &t, err);
        if (r == 0 && lseek(t.answer, 0, SEEK_SET) < 0)
                r = error_errno(err, CODE_INFRA_IO, errno, "the verdict");
        if (r == 0)
                r = take_verdict(e, t.answer, err);
        fd_close(t.answer);
        fd_close(t.pipes[0]);
        fd_close(t.pipes[1]);
        log_free(&t.errors);
        return r;
}

/* --- all ------------------------------------------------------------------------------------ */

static uint64_t first_pause(void)
{
        const char *text = variable("ASSAY_JUDGE_PAUSE");
        uint64_t us;

        return text && quantity_parse_duration(text, &us) == 0 ? us / 1000 : PAUSE_MS;
}

static int make_request(const struct evaluation *e, struct error *err)
{
        _cleanup_buffer_ struct buffer request = BUFFER_INIT;
        int fd;

        if (judge_request(e, &request, err) < 0)
                return -1;
        fd = memfd_create("request", MFD_CLOEXEC);
        if (fd >= 0 && fd_write_all(fd, request.data, request.len) == 0)
                return fd;
        fd_close(fd);
        return error_errno(err, CODE_INFRA_MEMORY, errno, "the judge's request");
}

int judge_ask(struct evaluation *e,
        int (*read)(struct evaluation *e, int verdict, struct error *err), struct error *err)
{
        _cleanup_fd_ int request = make_request(e, err);
        uint64_t pause = first_pause();

        if (request < 0)
                return -1;
        for (e->judge_tries = 1;; e->judge_tries++, pause *= 4) {
                if (try_once(e, request, read, err) == 0)
                        return 0;
                if (code_info(err->code)->class != CLASS_JUDGE || e->judge_tries == TRIES)
                        return -1;
                interrupt_poll(NULL, 0, (int)pause);
                if (interrupt_came())
                        return error_set(err, CODE_INTERRUPTED, "interrupted by a signal");
        }
}
