/* Tries; see chat.h. */
#include "evaluators/judge/chat.h"

#include "evaluators/judge/body.h"

#include <sys/random.h>
#include <time.h>

enum { MOST_PAUSE_MS = 60000 };

enum outcome {
        GOOD,
        AGAIN,    /* after a pause */
        HOPELESS, /* the same would come again */
        REFORMED, /* at once, without what the server refused */
};

/* What a status means, and what to do about it; the first row that holds it counts. */
static const struct status {
        long from, to;
        enum outcome outcome;
        const char *remedy;
} statuses[] = {
        {200, 200, GOOD, ""},
        {300, 399, HOPELESS,
                "redirects are not followed: set ASSAY_JUDGE_URL to where the server is"},
        {401, 401, HOPELESS, "check ASSAY_JUDGE_KEY_FILE or ASSAY_JUDGE_KEY"},
        {403, 403, HOPELESS, "check what the key in ASSAY_JUDGE_KEY_FILE or ASSAY_JUDGE_KEY may"},
        {404, 404, HOPELESS,
                "check ASSAY_JUDGE_URL, which ends before /chat/completions, and "
                "ASSAY_JUDGE_MODEL"},
        {408, 409, AGAIN, "try again later"},
        {413, 413, HOPELESS, "lower --max-input"},
        {425, 425, AGAIN, "try again later"},
        {429, 429, AGAIN, "try again later, or ask for a higher rate"},
        {400, 499, HOPELESS,
                "check ASSAY_JUDGE_MODEL, --temperature and --seed; lower --max-input if it was "
                "too long"},
        {500, 599, AGAIN, "try again later; the server's log tells more"},
        {0, 999, HOPELESS, "check ASSAY_JUDGE_URL: no chat API answers so"},
};

static const struct status *status_row(long status)
{
        size_t i = 0;

        while (i < COUNT(statuses) - 1 && (status < statuses[i].from || status > statuses[i].to))
                i++;
        return &statuses[i];
}

/* Servers that do not know a schema say so by 400, some by 422. */
static bool refuses_schema(const struct chat *c, long status)
{
        return !c->plain && (status == 400 || status == 422);
}

static enum outcome say_status(const struct chat *c, const struct http_answer *a, struct error *err)
{
        const struct status *row = status_row(a->status);
        const char *key = c->options->key;
        char said[160];

        reply_complaint(&a->body, said, sizeof said);
        /* Some quote the key that they refuse. */
        if (key && strstr(said, key))
                said[0] = '\0';
        error_set(err, CODE_JUDGE_INVALID, "%s: HTTP status %ld%s%s (%s)", c->http.address,
                a->status, said[0] ? ": " : "", said, row->remedy);
        return row->outcome;
}

static enum outcome say_invalid(const struct chat *c, const char *what, struct error *err)
{
        char why[sizeof err->text];

        if (what)
                error_set(err, CODE_JUDGE_INVALID, "%s", what);
        snprintf(why, sizeof why, "%s", err->text);
        error_set(err, CODE_JUDGE_INVALID, "%s: %.260s (try again, or another ASSAY_JUDGE_MODEL)",
                c->http.address, why);
        return AGAIN;
}

static enum outcome take_answer(
        struct chat *c, struct http_answer *a, struct reply *ret, struct error *err)
{
        if (status_row(a->status)->outcome != GOOD) {
                if (!refuses_schema(c, a->status))
                        return say_status(c, a, err);
                c->plain = true;
                return REFORMED;
        }
        if (!a->json)
                return say_invalid(c, "the answer is not of the type application/json", err);
        ret->body = a->body;
        a->body = (struct buffer)BUFFER_INIT;
        if (reply_read(ret, c->request, &c->tokens, err) == 0)
                return GOOD;
        reply_free(ret);
        return err->code == CODE_JUDGE_INVALID ? say_invalid(c, NULL, err) : HOPELESS;
}

static void note_digest(struct chat *c, const struct buffer *body)
{
        struct sha256_ctx sha;

        sha256_init(&sha);
        sha256_update(&sha, body->len, body->data);
        digest_text(&sha, c->digest);
}

static enum outcome try_once(struct chat *c, unsigned run, struct reply *ret,
        uint64_t *ret_retry_after, struct error *err)
{
        const struct judge_options *o = c->options;
        const struct body parts = {.model = o->model,
                .temperature = o->temperature,
                .seeded = o->seed_given,
                .seed = o->seed + run,
                .schema = !c->plain};
        _cleanup_buffer_ struct buffer body = BUFFER_INIT;
        struct http_answer answer = {.body = BUFFER_INIT};
        enum outcome outcome;
        bool again = false;

        body_write(&body, &parts, c->prompt, c->request);
        if (!buffer_ok(&body)) {
                error_set(err, CODE_INFRA_MEMORY, "out of memory");
                return HOPELESS;
        }
        if (run == 0)
                note_digest(c, &body);
        c->requests++;
        if (http_post(&c->http, &body, &answer, &again, err) < 0)
                outcome = again ? AGAIN : HOPELESS;
        else
                outcome = take_answer(c, &answer, ret, err);
        *ret_retry_after = answer.retry_after;
        buffer_free(&answer.body);
        return outcome;
}

uint64_t chat_pause_ms(uint64_t first_ms, unsigned failures, uint64_t retry_after, uint32_t random)
{
        uint64_t pause = first_ms < MOST_PAUSE_MS ? first_ms : MOST_PAUSE_MS;
        uint64_t asked = retry_after < MOST_PAUSE_MS / 1000 ? retry_after * 1000 : MOST_PAUSE_MS;

        for (unsigned i = 1; i < failures && pause < MOST_PAUSE_MS; i++)
                pause *= 4;
        pause += (pause / 2 * random) >> 32;
        if (pause < asked)
                pause = asked;
        return pause < MOST_PAUSE_MS ? pause : MOST_PAUSE_MS;
}

static void rest(uint64_t ms)
{
        struct timespec left = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

        while (nanosleep(&left, &left) < 0)
                ;
}

int chat_ask(struct chat *c, unsigned run, struct reply *ret, struct error *err)
{
        for (unsigned failures = 0;;) {
                uint64_t retry_after = 0;
                enum outcome outcome = try_once(c, run, ret, &retry_after, err);
                uint32_t random = 0;

                if (outcome == GOOD)
                        return 0;
                if (outcome == HOPELESS)
                        return -1;
                if (outcome == REFORMED)
                        continue;
                if (++failures == c->options->tries)
                        return failures == 1
                                       ? -1
                                       : error_add(err, "%u tries failed, the last", failures);
                (void)!getrandom(&random, sizeof random, 0);
                rest(chat_pause_ms(c->options->pause_ms, failures, retry_after, random));
        }
}
