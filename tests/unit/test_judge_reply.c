/* Answers of chat APIs: taken whole or refused; medians of them; pauses before the next. */
#include "evaluators/judge/chat.h"
#include "evaluators/judge/median.h"
#include "tests/unit/judge_text.h"

#include <criterion/criterion.h>

#define ENVELOPE(content, more)                                                                    \
        "{\"choices\": [{\"finish_reason\": \"stop\", \"message\": {\"content\": \"" content       \
        "\"}}]" more "}"
#define A(score)          "\\\"A\\\": {\\\"score\\\": " score ", \\\"reasoning\\\": \\\"r\\\"}"
#define B(score)          "\\\"B c\\\": {\\\"score\\\": " score ", \\\"reasoning\\\": \\\"\\\"}"
#define VERDICT(criteria) "{\\\"criteria\\\": {" criteria "}, \\\"summary\\\": \\\"s\\\"}"

static int read_reply(struct reply *ret, const char *body, struct tokens *tokens, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        _cleanup_judge_request_ struct judge_request q = JUDGE_REQUEST_INIT;

        judge_text_request(&q, &bytes, "");
        *ret = (struct reply)REPLY_INIT;
        buffer_add_text(&ret->body, body);
        return reply_read(ret, &q, tokens, err);
}

static const struct {
        const char *body, *want; /* scores, in the order of the rubric; or the error */
} rows[] = {
        {ENVELOPE(VERDICT(A("1") ", " B("99.90")), ""), "1 99.90"},
        {ENVELOPE(VERDICT(B("0") ", " A("1e2")), ""), "1e2 0"},
        {ENVELOPE("\\ufeff" VERDICT(A("1") ", " B("2")) "\\n", ""), "1 2"},
        {ENVELOPE(VERDICT(A("1")), ""),
                "the model's verdict: line 1, column 2: criteria.B c: is missing; it must be an "
                "object"},
        {ENVELOPE(VERDICT(A("1") ", " B("2") ", " A("3")), ""),
                "the model's verdict: line 1, column 90: this key is already there"},
        {ENVELOPE(VERDICT(A("-0.1") ", " B("2")), ""),
                "the model's verdict: line 1, column 21: criteria.A.score: must be a number from 0 "
                "to 100, not -0.1"},
        {ENVELOPE(VERDICT(A("null") ", " B("2")), ""),
                "the model's verdict: line 1, column 21: criteria.A.score: must be a number from 0 "
                "to 100, not null (leave the key out instead)"},
        {ENVELOPE(VERDICT(A("1") ", \\\"b c\\\": 1, " B("2")), ""),
                "the model's verdict: line 1, column 52: criteria.b c: is not a key here; did you "
                "mean \"B c\"?"},
        {ENVELOPE("{}{}", ""),
                "the model's verdict: line 1, column 3: nothing may follow the document"},
        {"{\"error\": {\"message\": \"x\"}}",
                "the answer: line 1, column 1: choices: is missing; it must be an array of 1 to 1 "
                "objects"},
        {"", "the answer: line 1, column 1: the document is empty"},
};

Test(judge_reply, is_taken_or_refused)
{
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct tokens tokens = {0};
                struct error err = {0};
                struct reply reply;
                char got[512];

                if (read_reply(&reply, rows[i].body, &tokens, &err) < 0)
                        snprintf(got, sizeof got, "%s", err.text);
                else
                        snprintf(got, sizeof got, "%s %s", reply.opinions->of[0].score,
                                reply.opinions->of[1].score);
                cr_expect_str_eq(got, rows[i].want, "%s:\ngot  %s\nwant %s", rows[i].body, got,
                        rows[i].want);
                reply_free(&reply);
        }
}

Test(judge_reply, counts_tokens_of_refused_answers_too)
{
        struct tokens tokens = {0};
        struct error err = {0};
        struct reply reply;

        cr_expect_eq(read_reply(&reply, ENVELOPE("no", ", \"usage\": null"), &tokens, &err), -1);
        reply_free(&reply);
        cr_expect_not(tokens.known);
        for (unsigned i = 0; i < 2; i++) {
                cr_expect_eq(read_reply(&reply,
                                     ENVELOPE("no", ", \"usage\": {\"prompt_tokens\": 7, "
                                                    "\"completion_tokens\": 1.5}"),
                                     &tokens, &err),
                        -1);
                reply_free(&reply);
        }
        cr_expect(tokens.known);
        cr_expect_eq(tokens.prompt, 14);
        cr_expect_eq(tokens.completion, 0);
}

Test(judge_reply, finds_what_a_server_complains_of)
{
        static const char *const complaints[][2] = {
                {"{\"error\": {\"message\": \"no\\u001b[2J model\"}}", "no\\x1b[2J model"},
                {"{\"error\": \"no\"}", "no"},
                {"{\"detail\": \"Not Found\"}", "Not Found"},
                {"{\"detail\": [1]}", ""},
                {"<html>", ""},
                {"", ""},
        };

        for (size_t i = 0; i < COUNT(complaints); i++) {
                _cleanup_buffer_ struct buffer body = BUFFER_INIT;
                char got[100];

                buffer_add_text(&body, complaints[i][0]);
                reply_complaint(&body, got, sizeof got);
                cr_expect_str_eq(got, complaints[i][1], "%s: %s", complaints[i][0], got);
        }
}

static const struct {
        const char *scores[5][2]; /* of A and B, for each run */
        unsigned n, a, b, total;  /* the runs that count */
} medians[] = {
        {{{"1", "2"}}, 1, 0, 0, 0},
        {{{"10", "99"}, {"80", "1"}, {"50.5", "40"}}, 3, 2, 2, 2},
        /* Equal scores: the middle one of the equal ones. */
        {{{"5", "1"}, {"5", "0"}, {"5.0", "1.0"}}, 3, 1, 0, 0},
        /* What a double could not tell apart. */
        {{{"50.00000000000000000002", "0"}, {"50.00000000000000000001", "0"},
                 {"50.00000000000000000003", "0"}},
                3, 0, 1, 0},
        /* A weighs three times: 3a + b is 30, 31, 40, 90, 100. */
        {{{"0", "100"}, {"30", "0"}, {"10", "0"}, {"10", "10"}, {"0", "31"}}, 5, 2, 3, 3},
};

Test(judge_median, is_exact_and_of_one_run)
{
        for (size_t i = 0; i < COUNT(medians); i++) {
                _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
                _cleanup_judge_request_ struct judge_request q = JUDGE_REQUEST_INIT;
                struct reply runs[5];
                unsigned n = medians[i].n;

                judge_text_request(&q, &bytes, "");
                for (unsigned k = 0; k < n; k++) {
                        runs[k].opinions = calloc(
                                1, sizeof *runs[k].opinions + 2 * sizeof *runs[k].opinions->of);
                        for (unsigned c = 0; c < 2; c++)
                                snprintf(runs[k].opinions->of[c].score, NUMBER_TEXT_SIZE, "%s",
                                        medians[i].scores[k][c]);
                }
                cr_expect_eq(median_score(runs, n, 0), medians[i].a, "%zu: A", i);
                cr_expect_eq(median_score(runs, n, 1), medians[i].b, "%zu: B", i);
                cr_expect_eq(median_total(runs, n, &q.rubric), medians[i].total, "%zu: total", i);
                for (unsigned k = 0; k < n; k++)
                        free(runs[k].opinions);
        }
}

Test(judge_chat, pauses_grow_and_end)
{
        static const struct {
                uint64_t first, failures, retry_after, random, want;
        } pauses[] = {
                {1000, 1, 0, 0, 1000},
                {1000, 2, 0, 0, 4000},
                {1000, 3, 0, 0, 16000},
                {1000, 9, 0, UINT32_MAX, 60000},
                {1000, 1, 0, 1U << 31, 1250},
                {1000, 1, 0, UINT32_MAX, 1499},
                {0, 5, 0, UINT32_MAX, 0},
                {0, 1, 7, 0, 7000},
                {1000, 2, 3, 0, 4000},
                {1000, 1, 60, 0, 60000},
                {1000, 1, UINT64_MAX, UINT32_MAX, 60000},
        };

        for (size_t i = 0; i < COUNT(pauses); i++) {
                uint64_t got = chat_pause_ms(pauses[i].first, (unsigned)pauses[i].failures,
                        pauses[i].retry_after, (uint32_t)pauses[i].random);

                cr_expect_eq(got, pauses[i].want, "%zu: %llu", i, (unsigned long long)got);
        }
}
