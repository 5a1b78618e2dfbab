/* task.json: what a good one means, and what is said about each mistake. */
#include "evaluators/task.h"
#include "tests/unit/score_text.h"

#include <criterion/criterion.h>

#define BEGIN   "{\"schema\": \"assay.task/1\", \"name\": \"n\""
#define SUITE   ", \"suite\": {\"command\": [\"/tests/run\"]}"
#define RUBRIC  "\"rubric\": [{\"name\": \"a\", \"weight\": 100}]"
#define LLM     ", \"scoring\": {" RUBRIC "}"
#define INSIDE  ", \"scoring\": {\"mode\": \"container\"}" SUITE
#define COMMON  "IDENTITY 'n' '' ''\nIMAGE 'host'\nCONTRACT 0\n"
#define SEEN    "VISIBILITY 1 0 ''\nJUDGE 'default'\n"
#define RESULT  "RESULT 'score.json' '/results/score.json' 0 0 '' '' '' 0\n" SEEN
#define TREE    "SUBMISSION 1000 524288000 209715200 1 0\n"
#define RUN     "SUITE 0 1 0 '/tests/run'\n"
#define SCORED  "SCORING 0 1 0 0 1 '' 0\n"
#define A_TASK  COMMON SCORED RUN RESULT
#define LLM_RUN "CRITERION 'a' '' 100 1\nSUITE 0 1 0\n" RESULT TREE

static const struct {
        const char *file, *want;
} good[] = {
        {BEGIN LLM "}", COMMON "SCORING 0 0 0 0 0 '70' 0\n" LLM_RUN},
        {BEGIN INSIDE "}", A_TASK TREE},
        {BEGIN ", \"title\": \"T\", \"description\": \"line\\nline\", \"image\": \"host\", "
               "\"contract\": \"straw\", \"visibility\": {\"tests\": \"hidden\"}, \"judge\": "
               "\"default\"" INSIDE "}",
                "IDENTITY 'n' 'T' 'line\nline'\nIMAGE 'host'\nCONTRACT 0\n" SCORED RUN
                "RESULT 'score.json' '/results/score.json' 0 0 '' '' '' 0\nVISIBILITY 0 0 "
                "''\nJUDGE 'default'\n" TREE},
        {BEGIN ", \"scoring\": {\"pass\": 62.5, \"llm_missing\": \"zero\", " RUBRIC "}}",
                COMMON "SCORING 0 0 0 0 0 '62.5' 2\n" LLM_RUN},
        {BEGIN ", \"scoring\": {\"mode\": \"container\", \"pass\": 0, " RUBRIC "}" SUITE "}",
                COMMON "SCORING 0 1 0 0 0 '0' 0\nCRITERION 'a' '' 100 0\n" RUN RESULT TREE},
        {BEGIN ", \"scoring\": {\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40.0, "
               "\"pass\": \"suite\", \"rubric\": [{\"name\": \"a\", \"weight\": 60, \"source\": "
               "\"test\"}, {\"name\": \"b\", \"description\": \"d\", \"weight\": 40}]}" SUITE "}",
                COMMON
                "SCORING 0 2 60 40 1 '' 0\nCRITERION 'a' '' 60 0\nCRITERION 'b' 'd' 40 1\n" RUN
                        RESULT TREE},
        /* The test criteria need not weigh what the suite weighs, but it is odd. */
        {BEGIN ", \"scoring\": {\"mode\": \"hybrid\", \"test_weight\": 50, \"llm_weight\": 50, "
               "\"rubric\": [{\"name\": \"a\", \"weight\": 60, \"source\": \"test\"}, {\"name\": "
               "\"b\", \"weight\": 40}]}" SUITE "}",
                COMMON
                "SCORING 0 2 50 50 0 '70' 0\nCRITERION 'a' '' 60 0\nCRITERION 'b' '' 40 1\n" RUN
                        RESULT TREE
                "WARNING 'scoring.rubric' 'the criteria with source \"test\" weigh 60 together, "
                "test_weight is 50'\n"},
        {BEGIN LLM SUITE "}",
                COMMON "SCORING 0 0 0 0 0 '70' 0\nCRITERION 'a' '' 100 1\n" RUN RESULT TREE
                       "WARNING 'suite' 'is not used in llm mode'\n"},
        {BEGIN ", \"scoring\": {\"mode\": \"container\"}, \"suite\": {\"command\": [\"sh\", "
               "\"-c\", "
               "\"x y\"], \"env\": {\"A\": \"\", \"_b1\": \"x=y\"}, \"broker\": false, "
               "\"sees_submission\": false}}",
                COMMON SCORED "SUITE 0 0 0 'sh' '-c' 'x y'\nENV 'A='\nENV '_b1=x=y'\n" RESULT TREE},
        {BEGIN INSIDE ", \"result\": {\"path\": \"/results/a/b.json\", \"on_limit\": \"zero\"}}",
                COMMON SCORED RUN
                "RESULT 'score.json' '/results/a/b.json' 1 0 '' '' '' 0\n" SEEN TREE},
        {BEGIN INSIDE
                ", \"limits\": {\"wall\": \"250ms\", \"cpu\": 1.5, \"cpus\": 0.5, \"memory\": "
                "\"64MiB\", \"disk\": 1048576, \"pids\": 10, \"network\": \"none\", "
                "\"total_memory\": \"2GiB\"}}",
                A_TASK "LIMIT 0 0 250000\nLIMIT 0 1 1500000\nLIMIT 0 2 500\nLIMIT 0 3 67108864\n"
                       "LIMIT 0 4 1048576\nLIMIT 0 6 10\nTOTAL 2147483648\n" TREE},
        {BEGIN INSIDE ", \"limits\": {\"network\": \"outbound\"}}",
                COMMON SCORED "SUITE 0 1 1 '/tests/run'\n" RESULT TREE},
        {BEGIN INSIDE
                ", \"submission\": {\"limits\": {\"wall\": 2}, \"max_entries\": 5, "
                "\"max_unpacked\": \"1kB\", \"max_archive\": 7, \"strip_common_root\": false, "
                "\"links\": \"drop\", \"required_patterns\": [{\"glob\": \"src/**\"}], "
                "\"required_files\": [{\"path\": \"src/main.py\", "
                "\"max_size\": "
                "\"100KiB\"}, {\"path\": \"b\"}]}}",
                A_TASK "LIMIT 1 0 2000000\nSUBMISSION 5 1000 7 0 1\nREQUIRED 'src/main.py' 102400\n"
                       "REQUIRED 'b' 0\nPATTERN 'src/**' 1\n"},
        {BEGIN INSIDE ", \"submission\": {\"image\": \"debian:12\"}}",
                A_TASK TREE "VIEW 'debian:12' 0\n"},
        {BEGIN ", \"image\": \"a\"" INSIDE ",\n\"submission\": {\"image\": {\"from\": \"suite\", "
               "\"layers\": 3, \"hide\": [\"/a b/c\", \"/d\"]}}}",
                "IDENTITY 'n' '' ''\nIMAGE 'a'\nCONTRACT 0\n" SCORED RUN RESULT TREE
                "VIEW '' 3 '/a b/c' '/d'\n"},
};

/* Places have a test of their own. */
static char *meaning(const char *file)
{
        char *text = score_text(task_answer, file), *line = text;

        while (*line) {
                char *next = line + strcspn(line, "\n");

                next += *next == '\n';
                if (strncmp(line, "PLACE ", 6) == 0)
                        memmove(line, next, strlen(next) + 1);
                else
                        line = next;
        }
        return text;
}

Test(score_task, a_good_task_becomes_frames)
{
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                char *got = meaning(good[i].file);

                cr_expect_str_eq(
                        got, good[i].want, "%s:\ngot  %swant %s", good[i].file, got, good[i].want);
                free(got);
        }
}

/* One mistake, one message. The members go behind a task that is good without them. */
static const struct {
        const char *members, *key, *text;
} mistakes[] = {
        {"\"nmae\": 1", "nmae", "is not a key here; did you mean \"name\"?"},
        {"\"Limits\": {}", "Limits", "is not a key here; did you mean \"limits\"?"},
        {"\"zzz\": 1", "zzz", "is not a key here"},
        {"\"title\": 5", "title", "must be a text of at most 511 bytes, not 5"},
        {"\"title\": \"a\\nb\"", "title", "must not hold control characters"},
        {"\"image\": \"debian 12\"", "image",
                "must be \"host\" or the name of an image, such as \"debian:12\""},
        {"\"image\": \"--all\"", "image",
                "must be \"host\" or the name of an image, such as \"debian:12\""},
        {"\"image\": \"\"", "image", "must be a text of 1 to 200 bytes, not the text \"\""},
        {"\"image\": 1", "image", "must be a text of 1 to 200 bytes, not 1"},
        {"\"contract\": \"hay\"", "contract",
                "must be \"straw\" or \"gradescope\" or \"prairielearn\" or \"codabench\" or "
                "\"harbor\" or \"evaluator\", not the text \"hay\""},
        {"\"judge\": {\"command\": []}", "judge.command",
                "must be an array of 1 to 100 texts, not an array"},
        {"\"judge\": 5", "judge",
                "must be the name of a judge, or an object with its command, not 5"},
        {"\"build\": {}", "build.command", "is missing; it must be an array of 1 to 1000 texts"},
        {"\"build\": {\"command\": [\"make\"], \"on_failure\": \"shrug\"}", "build.on_failure",
                "must be \"zero\" or \"reject\", not the text \"shrug\""},
        {"\"tools\": {}", "tools",
                "must be an object of 1 to 100 tools, such as {\"sum\": {\"command\": "
                "[\"/tools/sum\"]}}, not an object"},
        {"\"tools\": {\"a\": {\"command\": [\"a\"]}}", "tools",
                "belongs to \"scheme\": \"composite\", workflows"},
        {"\"visibility\": {\"tests\": \"never\"}", "visibility.tests",
                "must be \"hidden\" or \"visible\" or \"after_due\" or \"after_published\", not "
                "the "
                "text \"never\""},
        {"\"result\": {\"format\": \"xunit\"}", "result.format",
                "must be \"score.json\" or \"gradescope\" or \"prairielearn\" or \"codabench\" or "
                "\"harbor\" or \"ctrf\" or \"junit\" or \"tap\" or \"exit-code\" or "
                "\"stdout-json\", not the text \"xunit\""},
        {"\"result\": {\"format\": \"codabench\"}", "result.key",
                "is missing: which of the scores counts?"},
        {"\"result\": {\"format\": \"codabench\", \"key\": \"a\", \"min\": 2, \"max\": 1}",
                "result.max", "max (1) must be greater than min (2)"},
        {"\"result\": {\"key\": \"a\"}", "result.key",
                "belongs to codabench and harbor, not score.json"},
        {"\"result\": {\"max\": 5}", "result.max",
                "belongs to codabench and gradescope, not score.json"},
        {"\"contract\": \"gradescope\", \"result\": {\"min\": 5}", "result.min",
                "belongs to codabench, not gradescope"},
        {"\"contract\": \"gradescope\", \"result\": {\"max\": 0}", "result.max",
                "max (0) must be greater than min (0)"},
        {"\"result\": {\"format\": \"exit-code\", \"path\": \"/results/x\"}", "result.path",
                "belongs to a format with a file, not exit-code"},
        {"\"contract\": \"gradescope\", \"result\": {\"path\": \"/results/x\"}", "result.path",
                "must be a path below /autograder/results/"},
        {"\"result\": {\"exit\": \"lax\"}", "result.exit",
                "must be \"strict\" or \"result\", not the text \"lax\""},
        {"\"visibility\": {\"tests\": \"after_due\"}", "visibility.due",
                "is missing; \"after_due\" needs to know when"},
        {"\"visibility\": {\"due\": \"tomorrow\"}", "visibility.due",
                "must be a time such as \"2026-12-01T00:00:00Z\""},
        {"\"visibility\": {\"due\": \"2026-12-01T00:00:00\"}", "visibility.due",
                "must end in Z or an offset such as +01:00"},
        {"\"result\": {\"path\": \"/tmp/x\"}", "result.path", "must be a path below /results/"},
        {"\"result\": {\"path\": \"/results/../x\"}", "result.path",
                "must be an absolute path without \"..\", \".\" or an empty part"},
        {"\"result\": {\"path\": \"/results/\"}", "result.path",
                "must be an absolute path without \"..\", \".\" or an empty part"},
        {"\"result\": {\"path\": \"/results/a//b\"}", "result.path",
                "must be an absolute path without \"..\", \".\" or an empty part"},
        {"\"result\": {\"on_limit\": \"partial\"}", "result.planned",
                "is missing; with \"on_limit\": \"partial\" it says how many tests there are"},
        {"\"limits\": []", "limits", "must be an object of limits, not an array"},
        {"\"limits\": {\"wal\": 1}", "limits.wal", "is not a limit; did you mean \"wall\"?"},
        {"\"limits\": {\"wall\": \"10\"}", "limits.wall",
                "wall must be a duration such as \"10s\", not \"10\""},
        {"\"limits\": {\"wall\": -1}", "limits.wall",
                "wall must be a duration such as \"10s\", not \"-1s\""},
        {"\"limits\": {\"wall\": 0}", "limits.wall",
                "wall must be between 1 ms and 86400 s, not \"0s\""},
        {"\"limits\": {\"wall\": true}", "limits.wall",
                "must be a number, or a text such as \"10s\" or \"1GiB\", not true"},
        {"\"limits\": {\"memory\": \"1 GiB\"}", "limits.memory",
                "memory must be a size such as \"256MiB\", not \"1 GiB\""},
        {"\"submission\": {\"limits\": {\"network\": \"outbound\"}}", "submission.limits.network",
                "must be \"none\": a submission cell never has a network"},
        {"\"limits\": {\"network\": \"inbound\"}", "limits.network",
                "must be \"none\" or \"outbound\", not the text \"inbound\""},
        {"\"limits\": {\"total_memory\": \"512MiB\"}", "limits.total_memory",
                "must not be less than the suite's own memory"},
        {"\"submission\": {\"limits\": {\"result\": 1}}", "submission.limits.result",
                "a submission cell writes no result"},
        {"\"submission\": {\"max_entries\": 0}", "submission.max_entries",
                "must be a whole number from 1 to 1000000, not 0"},
        {"\"submission\": {\"max_entries\": 1.5}", "submission.max_entries",
                "must be a whole number from 1 to 1000000, not 1.5"},
        {"\"submission\": {\"max_archive\": \"big\"}", "submission.max_archive",
                "must be a size from 1 B to 1024 GiB such as \"10MiB\", not the text \"big\""},
        {"\"submission\": {\"links\": \"keep\"}", "submission.links",
                "must be \"reject\" or \"drop\", not the text \"keep\""},
        {"\"submission\": {\"image\": {}}", "submission.image.from",
                "is missing; it must be \"suite\""},
        {"\"submission\": {\"image\": 1}", "submission.image",
                "must be the name of an image, or an object such as {\"from\": \"suite\"}, not 1"},
        {"\"submission\": {\"image\": \"-x\"}", "submission.image",
                "must be \"host\" or the name of an image, such as \"debian:12\""},
        {"\"image\": \"a\", \"submission\": {\"image\": {\"from\": \"suite\", \"layers\": 0}}",
                "submission.image.layers", "must be a whole number from 1 to 500, not 0"},
        {"\"image\": \"a\", \"submission\": {\"image\": {\"from\": \"suite\", \"hide\": [\"/\"]}}",
                "submission.image.hide[0]",
                "must be an absolute path without \"..\", \".\" or an empty part"},
        {"\"image\": \"a\", \"submission\": {\"image\": {\"from\": \"suite\", \"hide\": "
         "[\"/a/../b\"]}}",
                "submission.image.hide[0]",
                "must be an absolute path without \"..\", \".\" or an empty part"},
        {"\"submission\": {\"image\": {\"from\": \"suite\", \"hide\": [\"/a\"]}}",
                "submission.image.hide", "belongs to a container image, not \"host\""},
        {"\"submission\": {\"required_patterns\": [{\"glob\": \"/a/*\"}]}",
                "submission.required_patterns[0].glob",
                "must be relative to the submission's root"},
        {"\"submission\": {\"required_patterns\": [{\"glob\": \"*\", \"min_files\": 0}]}",
                "submission.required_patterns[0].min_files",
                "must be a whole number from 1 to 1000000, not 0"},
        {"\"submission\": {\"required_files\": [{}]}", "submission.required_files[0].path",
                "is missing; it must be a text of 1 to 511 bytes"},
        {"\"submission\": {\"required_files\": [{\"path\": \"/etc/passwd\"}]}",
                "submission.required_files[0].path", "must be relative to the submission's root"},
        {"\"submission\": {\"required_files\": [{\"path\": \"a/../b\"}]}",
                "submission.required_files[0].path",
                "must not hold \"..\", \".\" or an empty part"},
        {"\"submission\": {\"required_files\": [{\"path\": \"a\"}, {\"path\": \"a\"}]}",
                "submission.required_files[1].path", "is listed twice"},
};

static void expect_problem(const char *file, const char *key, const char *text)
{
        char *got = score_text(task_answer, file);
        char want[512];
        const char *place;

        snprintf(want, sizeof want, " '%s' '%s'\nerror task.invalid: task.json has 1 problem\n",
                key, text);
        place = strstr(got, " '");
        cr_expect(strncmp(got, "PROBLEM ", 8) == 0 && place && strcmp(place, want) == 0,
                "%s:\ngot  %swant%s", file, got, want);
        free(got);
}

/* Of keys that are there: others may object to them later. */
Test(score_task, places_of_what_an_operator_may_refuse)
{
        char *got = score_text(task_answer,
                BEGIN INSIDE ",\n \"limits\": {\"wall\": 5,\n  \"network\": \"none\"}, \"judge\": "
                             "\"default\",\n "
                             "\"submission\": {\"max_entries\": 3, \"limits\": {\"pids\": 2}}}");

        cr_expect_str_eq(strstr(got, "PLACE"),
                "PLACE 3 23 'judge'\nPLACE 3 3 'limits.network'\nPLACE 4 17 "
                "'submission.max_entries'\nPLACE 2 13 'limits.wall'\nPLACE 4 46 "
                "'submission.limits.pids'\n",
                "got %s", got);
        free(got);
}

Test(score_task, each_mistake_has_one_message)
{
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
                char file[1024];

                snprintf(file, sizeof file, "%s, %s}", BEGIN INSIDE, mistakes[i].members);
                expect_problem(file, mistakes[i].key, mistakes[i].text);
        }
}

static const struct {
        const char *scoring, *key, *text;
} scoring_mistakes[] = {
        {"\"quality\": {}, " RUBRIC, "scoring.quality", "belongs to \"scheme\": \"composite\""},
        {"\"mode\": \"hybird\", " RUBRIC, "scoring.mode",
                "must be \"llm\" or \"container\" or \"hybrid\", not the text \"hybird\""},
        {"\"dimensions\": [], " RUBRIC, "scoring.dimensions",
                "belongs to \"scheme\": \"dimensions\""},
        {"\"pass\": 101, " RUBRIC, "scoring.pass",
                "must be a number from 0 to 100, or \"suite\", not 101"},
        {"\"pass\": \"70\", " RUBRIC, "scoring.pass",
                "must be a number from 0 to 100, or \"suite\", not the text \"70\""},
        {"\"pass\": \"suite\", " RUBRIC, "scoring.pass",
                "cannot be \"suite\" in llm mode, which has no suite"},
        {"\"test_weight\": 60, " RUBRIC, "scoring.test_weight", "belongs to hybrid mode only"},
        {"\"mode\": \"hybrid\", \"test_weight\": 60, " RUBRIC, "scoring.llm_weight",
                "is missing; hybrid mode needs both weights"},
        {"\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 41, " RUBRIC,
                "scoring.test_weight", "and llm_weight must add up to 100, not 101"},
        {"\"mode\": \"hybrid\", \"test_weight\": -1, \"llm_weight\": 40, " RUBRIC,
                "scoring.test_weight", "must be a whole number from 0 to 100, not -1"},
        {"\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40", "scoring.rubric",
                "is missing; llm and hybrid mode need one"},
        {"\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40, \"rubric\": [{\"name\": "
         "\"a\", \"weight\": 100, \"source\": \"test\"}]",
                "scoring.rubric", "needs a criterion with source \"llm\" in hybrid mode"},
        {"\"mode\": \"llm\"", "scoring.rubric", "is missing; llm and hybrid mode need one"},
        {"\"rubric\": []", "scoring.rubric", "must be an array of 1 to 100 objects, not an array"},
        {"\"rubric\": [{\"name\": \"a\", \"weight\": 99}]", "scoring.rubric",
                "has weights that add up to 99, not 100"},
        {"\"rubric\": [{\"name\": \"a\", \"weight\": 0}, {\"name\": \"b\", \"weight\": 100}]",
                "scoring.rubric[0].weight", "must be a whole number from 1 to 100, not 0"},
        {"\"rubric\": [{\"name\": \"a\", \"weight\": \"100\"}]", "scoring.rubric[0].weight",
                "must be a whole number from 1 to 100, not the text \"100\""},
        {"\"rubric\": [{\"name\": \"a\", \"weight\": 50}, {\"name\": \"a\", \"weight\": 50}]",
                "scoring.rubric[1].name", "is the name of scoring.rubric[0] already"},
        {"\"rubric\": [{\"weight\": 100}]", "scoring.rubric[0].name",
                "is missing; it must be a text of 1 to 200 bytes"},
        {"\"rubric\": [{\"name\": \"a\", \"wieght\": 1, \"weight\": 100}]",
                "scoring.rubric[0].wieght", "is not a key here; did you mean \"weight\"?"},
        {"\"rubric\": [{\"name\": \"a\", \"weight\": 100, \"source\": \"test\"}]",
                "scoring.rubric[0].source", "cannot be \"test\" in llm mode, which has no suite"},
        {"\"mode\": \"container\", \"rubric\": [{\"name\": \"a\", \"weight\": 100, \"source\": "
         "\"llm\"}]",
                "scoring.rubric[0].source",
                "cannot be \"llm\" in container mode, which has no judge"},
};

Test(score_task, scoring_must_add_up)
{
        for (size_t i = 0; i < sizeof scoring_mistakes / sizeof *scoring_mistakes; i++) {
                char file[1024];

                snprintf(file, sizeof file, "%s, \"scoring\": {%s}%s}", BEGIN,
                        scoring_mistakes[i].scoring, SUITE);
                expect_problem(file, scoring_mistakes[i].key, scoring_mistakes[i].text);
        }
}

static const struct {
        const char *suite, *key, *text;
} suite_mistakes[] = {
        {"{}", "suite.command", "is missing; image \"host\" has no program of its own"},
        {"{\"command\": []}", "suite.command", "must be an array of 1 to 1000 texts, not an array"},
        {"{\"command\": \"run\"}", "suite.command",
                "must be an array of 1 to 1000 texts, not the text \"run\""},
        {"{\"command\": [\"a\", \"\"]}", "suite.command[1]", "must be a text of 1 to 8192 bytes"},
        {"{\"command\": [1]}", "suite.command[0]", "must be a text of 1 to 8192 bytes"},
        {"{\"command\": [\"a\"], \"env\": {\"1A\": \"\"}}", "suite.env.1A",
                "is no name for a variable: letters, digits and _, no digit first"},
        {"{\"command\": [\"a\"], \"env\": {\"A=B\": \"\"}}", "suite.env.A=B",
                "is no name for a variable: letters, digits and _, no digit first"},
        {"{\"command\": [\"a\"], \"env\": {\"A\": 1}}", "suite.env.A", "must be a text"},
        {"{\"command\": [\"a\"], \"broker\": \"no\"}", "suite.broker",
                "must be true or false, not the text \"no\""},
};

Test(score_task, the_suite_must_be_runnable)
{
        for (size_t i = 0; i < sizeof suite_mistakes / sizeof *suite_mistakes; i++) {
                char file[512];

                snprintf(file, sizeof file,
                        "%s, \"scoring\": {\"mode\": \"container\"}, \"suite\": %s}", BEGIN,
                        suite_mistakes[i].suite);
                expect_problem(file, suite_mistakes[i].key, suite_mistakes[i].text);
        }
}

static const struct {
        const char *head, *key, *text;
} identity_mistakes[] = {
        {"\"name\": \"n\"", "schema", "is missing; it must be \"assay.task/1\""},
        {"\"schema\": \"assay.task/2\", \"name\": \"n\"", "schema",
                "must be \"assay.task/1\", not the text \"assay.task/2\""},
        {"\"schema\": \"assay.task/1\"", "name", "is missing; it must be a text of 1 to 100 bytes"},
        {"\"schema\": \"assay.task/1\", \"name\": \"\"", "name",
                "must be a text of 1 to 100 bytes, not the text \"\""},
        {"\"schema\": \"assay.task/1\", \"name\": \"a/b\"", "name", "must not hold a '/'"},
        {"\"schema\": \"assay.task/1\", \"name\": \"a\\u001bb\"", "name",
                "must not hold control characters"},
};

Test(score_task, a_task_has_a_schema_and_a_name)
{
        for (size_t i = 0; i < sizeof identity_mistakes / sizeof *identity_mistakes; i++) {
                char file[512];

                snprintf(file, sizeof file, "{%s%s}", identity_mistakes[i].head, INSIDE);
                expect_problem(file, identity_mistakes[i].key, identity_mistakes[i].text);
        }
}

Test(score_task, all_problems_come_at_once_in_the_order_of_the_file)
{
        static const char file[] = "{\n"
                                   "  \"schema\": \"assay.task/1\",\n"
                                   "  \"scoring\": {\"mode\": \"hybrid\", \"test_weight\": 60,\n"
                                   "    \"rubric\": [{\"name\": \"a\", \"weight\": 50}]},\n"
                                   "  \"limits\": {\"wall\": \"soon\"}\n"
                                   "}\n";
        char *got = score_text(task_answer, file);

        cr_expect_str_eq(got,
                "PROBLEM 1 1 'name' 'is missing; it must be a text of 1 to 100 bytes'\n"
                "PROBLEM 1 1 'suite.command' 'is missing; image \"host\" has no program of its "
                "own'\n"
                "PROBLEM 3 3 'scoring.llm_weight' 'is missing; hybrid mode needs both weights'\n"
                "PROBLEM 4 5 'scoring.rubric' 'has weights that add up to 50, not 100'\n"
                "PROBLEM 5 14 'limits.wall' 'wall must be a duration such as \"10s\", not "
                "\"soon\"'\n"
                "error task.invalid: task.json has 5 problems\n",
                "got %s", got);
        free(got);
}

Test(score_task, what_is_no_json_is_one_problem_with_its_place)
{
        char *got = score_text(task_answer, "{\"schema\": \"assay.task/1\",\n \"name\" \"n\"}");

        cr_expect_str_eq(got,
                "PROBLEM 2 9 '' 'expected ':' after the key'\n"
                "error task.invalid: task.json is not strict JSON\n",
                "got %s", got);
        free(got);
}

Test(score_task, a_million_problems_are_not_listed)
{
        _cleanup_buffer_ struct buffer file = BUFFER_INIT;
        char *got;
        size_t lines = 0;

        buffer_add_text(&file, "{");
        for (unsigned i = 0; i < 10000; i++)
                buffer_add_format(&file, "\"key%u\": 1,", i);
        buffer_add_text(&file, "\"schema\": 1}");
        got = score_text(task_answer, buffer_text(&file));
        for (const char *p = got; (p = strchr(p, '\n')); p++)
                lines++;
        cr_expect_eq(lines, FINDINGS_MAX + 1, "%zu lines", lines);
        free(got);
}

/* The members of a task with cases instead of a suite; one mistake, one message. */
#define A_CASE "\"name\": \"a\", \"command\": [\"x\"]"

static const struct {
        const char *cases, *key, *text;
} case_mistakes[] = {
        {"5", "cases", "must be an array of cases, or an object with `groups`, not 5"},
        {"[]", "cases", "must be an array of cases, or an object with `groups`, not an array"},
        {"{}", "cases.groups", "is missing; it must be an array of 1 to 1000 objects"},
        {"[{\"name\": \"a\"}]", "cases[0].command",
                "is missing; it must be an array of 1 to 1000 texts"},
        {"[{" A_CASE "}, {" A_CASE "}]", "cases[1].name", "is the name of cases[0] already"},
        {"[{" A_CASE ", \"stdin\": \"\", \"stdin_file\": \"tests/a\"}]", "cases[0].stdin_file",
                "and stdin are two inputs; give one"},
        {"[{" A_CASE ", \"stdin_file\": \"../a\"}]", "cases[0].stdin_file",
                "must be below tests/ or truth/"},
        {"[{" A_CASE ", \"stdin_file\": \"tests/../a\"}]", "cases[0].stdin_file",
                "must not hold \"..\", \".\" or an empty part"},
        {"[{" A_CASE ", \"compare\": \"fuzzy\"}]", "cases[0].compare",
                "must be \"exact\", \"tokens\", or an object with numeric, regex, contains or "
                "checker, "
                "not the text \"fuzzy\""},
        {"[{" A_CASE ", \"compare\": {}}]", "cases[0].compare",
                "must have one of numeric, regex, contains and checker"},
        {"[{" A_CASE ", \"compare\": \"tokens\"}]", "cases[0].compare",
                "needs an stdout to compare with"},
        {"[{" A_CASE ", \"stdout\": \"x\", \"compare\": {\"regex\": \"x\"}}]", "cases[0].compare",
                "has what is wanted already; leave stdout out"},
        {"[{" A_CASE ", \"timeout\": []}]", "cases[0].timeout",
                "must be a number, or a text such as \"10s\" or \"1GiB\", not an array"},
        {"[{" A_CASE ", \"timeout\": \"soon\"}]", "cases[0].timeout",
                "cpu must be a duration such as \"10s\", not \"soon\""},
        {"[{" A_CASE ", \"points\": -1}]", "cases[0].points",
                "must be a number that is not below 0, not -1"},
        {"[{" A_CASE ", \"exit\": 256}]", "cases[0].exit",
                "must be a whole number from 0 to 255, not 256"},
        {"{\"groups\": [{\"name\": \"g\"}]}", "cases.groups[0]", "has neither `each` nor `cases`"},
        {"{\"groups\": [{\"name\": \"g\", \"requires\": [\"h\"], \"cases\": [{" A_CASE "}]}]}",
                "cases.groups[0].requires[0]", "is no group that stands before this one"},
        {"{\"groups\": [{\"name\": \"g\", \"cases\": [{" A_CASE
         "}]}, {\"name\": \"g\", \"cases\": [{" A_CASE "}]}]}",
                "cases.groups[1].name", "is the name of another group already"},
        {"{\"groups\": [{\"name\": \"g\", \"each\": {\"stdin\": \"/s*.in\", \"command\": "
         "[\"x\"]}}]}",
                "cases.groups[0].each.stdin", "must be below tests/ or truth/"},
};

Test(score_task, cases_must_make_sense)
{
        for (size_t i = 0; i < sizeof case_mistakes / sizeof *case_mistakes; i++) {
                char file[1024];

                snprintf(file, sizeof file,
                        "%s, \"scoring\": {\"mode\": \"container\"}, \"cases\": %s}", BEGIN,
                        case_mistakes[i].cases);
                expect_problem(file, case_mistakes[i].key, case_mistakes[i].text);
        }
}

Test(score_task, cases_become_groups_and_cases)
{
        char *got = score_text(task_answer, BEGIN
                ", \"scoring\": {\"mode\": \"container\"}, \"cases\": {\"groups\": [{\"name\": "
                "\"g\", "
                "\"points\": 20, \"aggregate\": \"min\", \"each\": {\"stdin\": \"tests/*.in\", "
                "\"stdout\": \"{stem}.out\", \"command\": [\"./a\"], \"timeout\": \"2s\"}, "
                "\"cases\": "
                "[{\"name\": \"a\", \"command\": [\"x\"], \"stdout\": \"1\", \"compare\": "
                "{\"numeric\": {\"abs\": \"1e-6\"}}, \"points\": 2.5}]}]}}");
        const char *want =
                "GROUP 'g' '20' 1 0 4\n"
                "CASE 1 '' './a' 2 'tests/*.in' 2 '{stem}.out' 0 2000000 0 '' '' '' 0 '1'\n"
                "CASE 0 'a' 'x' 0 '' 1 '1' 0 0 2 '0.000001' '' '' 0 '2.5'\n";

        cr_expect_not_null(strstr(got, want), "got %swant %s", got, want);
        free(got);
}

/* --- workflows ------------------------------------------------------------------------------ */

#define COMPOSITE                                                                                  \
        BEGIN ", \"scoring\": {\"scheme\": \"composite\", \"max_budget\": 0.05, "                  \
              "\"max_latency\": \"10s\""
#define TOOLS                                                                                      \
        ", \"tools\": {\"sum\": {\"command\": [\"/tools/sum\", \"-x\"], \"cost\": 0.01, "          \
        "\"seconds\": 0.5}, \"b\": {\"command\": [\"b\"]}}}"
#define QUALITY                                                                                    \
        ", \"quality\": {\"primitive\": \"exact_match\", \"field\": \"/a\", "                      \
        "\"ground_truth_field\": \"a\"}"
#define TOLD "TOOL 'sum' '/tools/sum' '-x' 10000000 1 500000\nTOOL 'b' 'b' 0 0 0\n"

Test(score_task, what_a_task_says_of_workflows)
{
        static const struct {
                const char *file, *want;
        } rows[] = {
                {COMPOSITE QUALITY "}" TOOLS,
                        COMMON "SCORING 2 4 0 0 0 '0.7' 0\nCOMPOSITE 50000000 10000000 0 0 0\n" TOLD
                               "SUITE 0 1 0\n" RESULT TREE},
                {COMPOSITE ", \"min_steps\": 4, \"max_attempts\": 5, \"pass\": 0.9, \"quality\": "
                           "{\"source\": \"suite\"}}" SUITE TOOLS,
                        COMMON
                        "SCORING 2 4 0 0 0 '0.9' 0\nCOMPOSITE 50000000 10000000 4 5 1\n" TOLD RUN
                                RESULT TREE},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char *got = meaning(rows[i].file);

                cr_expect_str_eq(
                        got, rows[i].want, "%s:\ngot  %swant %s", rows[i].file, got, rows[i].want);
                free(got);
        }
}

Test(score_task, each_mistake_in_what_it_says_of_workflows)
{
        static const struct {
                const char *file, *key, *text;
        } rows[] = {
                {COMPOSITE QUALITY "}}", "tools",
                        "is missing; the scheme composite needs what workflows call"},
                {COMPOSITE "}" TOOLS, "scoring.quality",
                        "is missing; it must be {\"primitive\": …} or {\"source\": \"suite\"}"},
                {COMPOSITE
                        ", \"quality\": {\"source\": \"judge\", \"primitive\": \"coverage_ratio\", "
                        "\"field\": \"a\", \"ground_truth_field\": \"a\"}}" TOOLS,
                        "scoring.quality.source", "must be \"suite\", not the text \"judge\""},
                {COMPOSITE ", \"quality\": {\"primitive\": \"exact_mach\"}}" TOOLS,
                        "scoring.quality.primitive", "is none; did you mean \"exact_match\"?"},
                {COMPOSITE
                        ", \"quality\": {\"primitive\": \"exact_match\", \"field\": \"a\"}}" TOOLS,
                        "scoring.quality.ground_truth_field", "is missing; exact_match needs it"},
                {COMPOSITE ", \"quality\": {}}" TOOLS, "scoring.quality",
                        "needs a primitive or a source"},
                {COMPOSITE ", \"quality\": {\"source\": \"suite\"}}" TOOLS, "suite.command",
                        "is missing; image \"host\" has no program of its own"},
                {COMPOSITE QUALITY ", \"mode\": \"llm\"}" TOOLS, "scoring.mode",
                        "is not a key here"},
                {COMPOSITE QUALITY ", \"rubric\": []}" TOOLS, "scoring.rubric",
                        "is not a key here"},
                {COMPOSITE QUALITY ", \"max_atempts\": 1}" TOOLS, "scoring.max_atempts",
                        "is not a key here; did you mean \"max_attempts\"?"},
                {COMPOSITE QUALITY ", \"max_attempts\": 101}" TOOLS, "scoring.max_attempts",
                        "must be a whole number from 1 to 100, not 101"},
                {COMPOSITE QUALITY ", \"pass\": 70}" TOOLS, "scoring.pass",
                        "must be a number from 0 to 1, not 70"},
                {COMPOSITE QUALITY ", \"tools\": {}}" TOOLS, "scoring.tools",
                        "belongs beside `scoring`, not into it"},
                {BEGIN ", \"scoring\": {\"scheme\": \"composite\", \"max_budget\": 1e-10, "
                       "\"max_latency\": 1" QUALITY "}" TOOLS,
                        "scoring.max_budget",
                        "must be at most 1000000000, with at most 9 decimals"},
                {COMPOSITE QUALITY "}, \"build\": {\"command\": [\"make\"]}" TOOLS, "build",
                        "does not go with the scheme composite"},
                {COMPOSITE QUALITY "}, \"tools\": {\"a\": {\"cost\": 1}}}", "tools.a.command",
                        "is missing; it must be an array of 1 to 1000 texts"},
                {COMPOSITE QUALITY "}, \"tools\": {\"a\": {\"command\": [\"a\"], \"cost\": -1}}}",
                        "tools.a.cost", "must be a number that is not below 0, not -1"},
                {COMPOSITE QUALITY "}, \"tools\": {\"a\": {\"command\": [\"a\"], \"secs\": 1}}}",
                        "tools.a.secs", "is not a key here"},
                {COMPOSITE QUALITY "}, \"tools\": {\"a\": {\"command\": [\"a\"], \"seconds\": "
                                   "1e-7}}}",
                        "tools.a.seconds", "must be at most 86400, with at most 6 decimals"},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                expect_problem(rows[i].file, rows[i].key, rows[i].text);
}
