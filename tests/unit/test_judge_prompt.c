/* The prompt: whole texts, so that the fence can be seen; and the body that carries it. */
#include "evaluators/judge/body.h"
#include "tests/unit/judge_text.h"

#include <criterion/criterion.h>

#define BEFORE                                                                                     \
        "Task: t\n\nRubric:\n- \"A\" (weight 3)\n- \"B c\" (weight 1)\n\n[W] begin of the "        \
        "submission\n"
#define AFTER                                                                                      \
        "[W] end of the submission\n\nThat was the submission. Now judge it, by the rubric "       \
        "alone, and answer with the JSON object.\n"

static const struct {
        const char *more;
        size_t most;
        const char *fenced;
        uint64_t shown, cut;
} rows[] = {
        {"", 100, "[W] SUBMISSION.md\nbuilt\n[W] file \"f\", 4 bytes\nfour\n", 10, 0},
        /* The build check as it was written, the tests' names quoted. */
        {", \"build_check\": {\"ok\":  false}, \"tests\": [{\"name\": \"a\\nb\", \"passed\": "
         "true}]",
                100,
                "[W] SUBMISSION.md\nbuilt\n[W] build check (JSON)\n{\"ok\":  false}\n"
                "[W] tests that everybody may see\npassed \"a\\nb\"\n"
                "[W] file \"f\", 4 bytes\nfour\n",
                27, 0},
        /* Room for a part of the file, of none, of SUBMISSION.md alone. */
        {"", 8,
                "[W] SUBMISSION.md\nbuilt\n"
                "[W] file \"f\", 4 bytes, cut: only the first 2 bytes of 4 are shown\nfo\n",
                8, 2},
        {"", 6, "[W] SUBMISSION.md\nbuilt\n[W] left out for want of room: 1 more files\n", 5, 4},
        {"", 3,
                "[W] SUBMISSION.md, cut: only the first 3 bytes of 5 are shown\nbui\n"
                "[W] left out for want of room: 1 more files\n",
                3, 6},
        {", \"tests\": [{\"name\": \"abc\", \"passed\": false}, {\"name\": \"d\", \"passed\": "
         "true}]",
                9,
                "[W] SUBMISSION.md\nbuilt\n[W] tests that everybody may see\nfailed \"abc\"\n"
                "[W] left out for want of room: 1 more tests\n"
                "[W] left out for want of room: 1 more files\n",
                8, 4},
};

Test(judge_prompt, fences_the_submission)
{
        for (size_t i = 0; i < COUNT(rows); i++) {
                _cleanup_buffer_ struct buffer bytes = BUFFER_INIT, want = BUFFER_INIT;
                _cleanup_judge_request_ struct judge_request q = JUDGE_REQUEST_INIT;
                _cleanup_prompt_ struct prompt p = PROMPT_INIT;

                judge_text_request(&q, &bytes, rows[i].more);
                buffer_add_format(&want, "%s%s%s", BEFORE, rows[i].fenced, AFTER);
                cr_expect(prompt_make(&p, &q, "W", rows[i].most));
                cr_expect_str_eq(buffer_text(&p.question), buffer_text(&want), "%zu: got\n%s", i,
                        buffer_text(&p.question));
                cr_expect_eq(
                        p.shown, rows[i].shown, "%zu: %llu shown", i, (unsigned long long)p.shown);
                cr_expect_eq(p.cut, rows[i].cut, "%zu: %llu cut", i, (unsigned long long)p.cut);
                cr_expect(strstr(buffer_text(&p.rules), "\"[W] begin of the submission\""));
        }
}

/* Wherever it is, and however JSON spelt it. */
Test(judge_prompt, takes_no_word_that_occurs)
{
        static const char *const mores[] = {
                ", \"build_check\": {\"x\": \"-WORD-\"}",
                ", \"tests\": [{\"name\": \"\\u0057ORD\", \"passed\": true}]",
                ", \"submission_md_\": \"\"",
        };

        for (size_t i = 0; i < COUNT(mores); i++) {
                _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
                _cleanup_judge_request_ struct judge_request q = JUDGE_REQUEST_INIT;
                _cleanup_prompt_ struct prompt p = PROMPT_INIT;

                judge_text_request(&q, &bytes, mores[i]);
                cr_expect_eq(prompt_make(&p, &q, "WORD", 100), i == 2, "%s", mores[i]);
                cr_expect_not(prompt_make(&p, &q, "uilt", 100));
                cr_expect_not(prompt_make(&p, &q, "fou", 100));
        }
}

Test(judge_prompt, draws_another_word_each_time)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT;
        _cleanup_judge_request_ struct judge_request q = JUDGE_REQUEST_INIT;
        _cleanup_prompt_ struct prompt one = PROMPT_INIT, two = PROMPT_INIT;
        struct error err = {0};

        judge_text_request(&q, &bytes, "");
        cr_assert_eq(prompt_draw(&one, &q, 100, &err), 0);
        cr_assert_eq(prompt_draw(&two, &q, 100, &err), 0);
        cr_expect_eq(one.question.len, two.question.len);
        cr_expect_str_neq(buffer_text(&one.question), buffer_text(&two.question));
}

Test(judge_prompt, body_asks_for_a_schema_or_not)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT, with = BUFFER_INIT,
                                       without = BUFFER_INIT;
        _cleanup_judge_request_ struct judge_request q = JUDGE_REQUEST_INIT;
        _cleanup_prompt_ struct prompt p = PROMPT_INIT;
        struct body b = {.model = "m\"", .temperature = "0.50", .seeded = true, .seed = 0};
        static const char begin[] =
                "{\"model\":\"m\\\"\",\"messages\":[{\"role\":\"system\",\"content\":\"";

        judge_text_request(&q, &bytes, "");
        cr_assert(prompt_make(&p, &q, "W", 100));
        body_write(&without, &b, &p, &q);
        cr_expect_eq(strncmp(buffer_text(&without), begin, sizeof begin - 1), 0);
        cr_expect(strstr(buffer_text(&without), "\"}],\"temperature\":0.50,\"seed\":0}"));
        b.schema = true;
        body_write(&with, &b, &p, &q);
        cr_expect(strstr(buffer_text(&with),
                "\"seed\":0,\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{"
                "\"name\":"
                "\"verdict\",\"strict\":true,\"schema\":{\"type\":\"object\","
                "\"additionalProperties\":false,\"properties\":{\"criteria\":{"));
        cr_expect(strstr(buffer_text(&with), "\"required\":[\"A\",\"B c\"]}"));
}
