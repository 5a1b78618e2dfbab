/* metadata.yaml of a Codabench program: the words of its command, or what is wrong with it. */
#include "evaluators/metadata.h"
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

#define INVALID(text) "error task.invalid: " text "\n"
#define NOT_TEXT      "write `command` as one text on its line"
#define FLAT          "is not `key: value`, and nothing else is read"

static const struct {
        const char *file, *want;
} rows[] = {
        {"command: python3 $program/score.py $input $output\n",
                "WORD 'python3'\nWORD '/app/program/score.py'\nWORD '/app/input'\n"
                "WORD '/app/output'\n"},
        {"description: a: b\r\ncommand: sh run\r\nimage: x\r\n", "WORD 'sh'\nWORD 'run'\n"},
        {"---\n# a comment\n\ncommand : run", "WORD 'run'\n"},
        {"command:\trun\ta  b \t", "WORD 'run'\nWORD 'a'\nWORD 'b'\n"},
        {"\"command\": \"run --all\"", "WORD 'run'\nWORD '--all'\n"},
        {"command: 'run a'", "WORD 'run'\nWORD 'a'\n"},
        {"command: run 'a b' \"c d\"", "WORD 'run'\nWORD 'a b'\nWORD 'c d'\n"},
        {"command: 'run' 'a b'", "WORD 'run'\nWORD 'a b'\n"},
        {"command: run a\\ b \"\\\"\" '\\' ''", "WORD 'run'\nWORD 'a b'\nWORD '\"'\nWORD '\\'\n"
                                                "WORD ''\n"},
        {"command: run $input/ref$output $hidden $predictions $tmp",
                "WORD 'run'\nWORD '/app/input/ref/app/output'\nWORD '/app/input/ref'\n"
                "WORD '/app/input/res'\nWORD '/app/output'\n"},
        /* No shell reads it. */
        {"command: run $HOME `id` a;b > c", "WORD 'run'\nWORD '$HOME'\nWORD '`id`'\nWORD 'a;b'\n"
                                            "WORD '>'\nWORD 'c'\n"},
        {"command: sh run  # then it scores", "WORD 'sh'\nWORD 'run'\n"},
        {"command: sh run#1", "WORD 'sh'\nWORD 'run#1'\n"},
        {"\xef\xbb\xbf"
         "command: run",
                "WORD 'run'\n"},
        {"", INVALID("names no `command`")},
        {"description: x\n", INVALID("names no `command`")},
        {"command:", INVALID("line 1: `command` is empty")},
        {"command: ''", INVALID("line 1: `command` is empty")},
        {"command: run 'a", "WORD 'run'\n" INVALID("line 1: a quote in `command` is not closed")},
        {"command: a\n\ncommand: b", "WORD 'a'\n" INVALID("line 3: `command` is there twice")},
        {"command:run", INVALID("line 1: " FLAT)},
        {"command: |\n  run", INVALID("line 1: " NOT_TEXT)},
        {"command: >-\n  run", INVALID("line 1: " NOT_TEXT)},
        {"command: [run, a]", INVALID("line 1: " NOT_TEXT)},
        {"command: \"[\" a ] # x", "WORD '['\nWORD 'a'\nWORD ']'\n"},
        {"command: \"run # not this\" # but this", "WORD 'run'\nWORD '#'\nWORD 'not'\nWORD "
                                                   "'this'\n"},
        {"command: # nothing", INVALID("line 1: `command` is empty")},
        {"a:\n  b: c\ncommand: run", INVALID("line 2: " FLAT)},
        {"- command: run", INVALID("line 1: " FLAT)},
        {"just text", INVALID("line 1: " FLAT)},
        {"command: \xff", INVALID("is no UTF-8 text")},
};

Test(score_metadata, command)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char *got = score_text(metadata_answer, rows[i].file);

                cr_expect_str_eq(got, rows[i].want, "%s\nwant:\n%s\ngot:\n%s", rows[i].file,
                        rows[i].want, got);
                free(got);
        }
}

Test(score_metadata, length_is_limited)
{
        enum { WORDS = 5000 };
        char text[2 * WORDS + 16] = "command:";
        char *got;

        memset(text + 8, 'a', WORDS);
        text[8] = ' ';
        text[8 + WORDS] = '\0';
        got = score_text(metadata_answer, text);
        cr_expect_str_eq(got, INVALID("line 1: is too long"), "got:\n%s", got);
        free(got);
}
