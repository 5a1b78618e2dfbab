/* assay-judge: a judge that asks a language model. A request on standard input, a verdict on
 * standard output (docs/judge.md); in between an OpenAI-compatible chat API.
 *
 * Whoever runs it gives it the network and a key; it has the rights of its caller. What the
 * submission's author wrote only ever goes into a prompt, what the server answers only into the
 * verdict, and both through the strict reader of JSON. */
#include "evaluators/judge/chat.h"
#include "evaluators/judge/median.h"
#include "evaluators/judge/verdict.h"

#include "fd.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_REQUEST = 64 << 20 };

/* jansson writes beyond a block when one could not grow: it is never told. */
static void *allocate(size_t size)
{
        static const char said[] = "assay-judge: out of memory: the request or the answer needs "
                                   "more than there is (free some memory and try again)\n";
        void *p = malloc(size > 0 ? size : 1);

        if (!p) {
                (void)!write(STDERR_FILENO, said, sizeof said - 1);
                _exit(1);
        }
        return p;
}

/* No dump of memory with the key in it, and no look at it by other programs of the same user. */
static void keep_secret(void)
{
#ifndef ASSAY_UNCONFINED /* the sanitizers' leak check has to look */
        prctl(PR_SET_DUMPABLE, 0);
#endif
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
}

static int fail(const struct error *err)
{
        if (err->code == CODE_USAGE)
                fprintf(stderr, "assay-judge: %s (see `assay-judge --help`)\n", err->text);
        else if (err->code == CODE_JUDGE_INVALID) /* says itself what to do */
                fprintf(stderr, "assay-judge: %s\n", err->text);
        else
                fprintf(stderr, "assay-judge: %s (%s)\n", err->text, code_info(err->code)->remedy);
        return err->code == CODE_USAGE ? 2 : 1;
}

static int read_request(struct judge_request *q, struct buffer *in, struct error *err)
{
        char why[sizeof err->text];

        if (fd_read_all(STDIN_FILENO, in, MOST_REQUEST, CODE_JUDGE_INVALID, err) == 0 &&
                judge_request_read(q, in, err) == 0)
                return 0;
        if (err->code != CODE_JUDGE_INVALID)
                return error_add(err, "the request");
        snprintf(why, sizeof why, "%s", err->text);
        return error_set(err, CODE_JUDGE_INVALID,
                "the request: %.400s (docs/judge.md says what it must be)", why);
}

static int ask(struct chat *c, struct buffer *out, struct error *err)
{
        unsigned count = (unsigned)c->options->runs;
        struct reply runs[MEDIAN_MOST];
        int r = 0;

        for (unsigned i = 0; i < MEDIAN_MOST; i++)
                runs[i] = (struct reply)REPLY_INIT;
        for (unsigned i = 0; i < count && r == 0; i++)
                r = chat_ask(c, i, &runs[i], err);
        if (r == 0)
                judge_verdict_write(out, c, runs, count);
        for (unsigned i = 0; i < count; i++)
                reply_free(&runs[i]);
        if (r == 0 && !buffer_ok(out))
                r = error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return r;
}

static int judge(const struct judge_options *o, struct error *err)
{
        _cleanup_buffer_ struct buffer in = BUFFER_INIT, out = BUFFER_INIT;
        _cleanup_judge_request_ struct judge_request request = JUDGE_REQUEST_INIT;
        _cleanup_prompt_ struct prompt prompt = PROMPT_INIT;
        struct chat chat = {.options = o, .request = &request, .prompt = &prompt};
        int r = http_open(&chat.http, o->url, o->key, o->timeout_ms, err);

        if (r == 0)
                r = read_request(&request, &in, err);
        if (r == 0)
                r = prompt_draw(&prompt, &request, o->max_input, err);
        if (r == 0)
                r = ask(&chat, &out, err);
        http_close(&chat.http);
        if (r == 0 && fd_write_all(STDOUT_FILENO, out.data, out.len) < 0)
                r = error_errno(err, CODE_INFRA_IO, errno, "cannot write the verdict");
        return r;
}

int main(int argc, char **argv)
{
        _cleanup_judge_options_ struct judge_options options = JUDGE_OPTIONS_INIT;
        struct error err = {0};

        keep_secret();
        signal(SIGPIPE, SIG_IGN);
        if (fd_fill_stdio(&err) < 0)
                return fail(&err);
        json_set_alloc_funcs(allocate, free);
        if (judge_options_read(&options, argc, argv, &err) < 0)
                return fail(&err);
        if (options.version)
                puts("assay-judge " ASSAY_VERSION);
        else if (options.help)
                judge_options_help();
        else if (judge(&options, &err) < 0)
                return fail(&err);
        return 0;
}
