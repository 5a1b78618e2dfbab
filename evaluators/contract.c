/* The contracts; see contract.h, and docs/contracts.md. */
#include "evaluators/contract.h"

#include <stddef.h>

const struct contract contracts[CONTRACT_COUNT] = {
        [CONTRACT_STRAW] =
                {
                        .name = "straw",
                        .submission = {{"/agent_output", PLACE_VIEW}, {"/submission", PLACE_VIEW}},
                        .tests = {"/tests", PLACE_OWNED},
                        .results = "/results",
                        .format = "score.json",
                        .workdir = "/",
                        .own = {"/agent_output", "/submission", "/tests", "/results"},
                },
        [CONTRACT_GRADESCOPE] =
                {
                        .name = "gradescope",
                        .submission = {{"/autograder/submission", PLACE_COPY}},
                        .tests = {"/autograder/source", PLACE_COPY},
                        .results = "/autograder/results",
                        .format = "gradescope",
                        .workdir = "/autograder",
                        .command = {"/autograder/run_autograder"},
                        .program = "run_autograder",
                        .own = {"/autograder"},
                },
        [CONTRACT_PRAIRIELEARN] =
                {
                        .name = "prairielearn",
                        .submission = {{"/grade/student", PLACE_COPY}},
                        .tests = {"/grade/tests", PLACE_COPY},
                        .results = "/grade/results",
                        .format = "prairielearn",
                        .workdir = "/grade",
                        .own = {"/grade"},
                },
        [CONTRACT_CODABENCH] =
                {
                        .name = "codabench",
                        .submission = {{"/app/input/res", PLACE_VIEW}},
                        .tests = {"/app/program", PLACE_OWNED},
                        .truth = {"/app/input/ref", PLACE_OWNED},
                        .results = "/app/output",
                        .format = "codabench",
                        .workdir = "/app/program",
                        .own = {"/app/input", "/app/program", "/app/output"},
                },
        [CONTRACT_HARBOR] =
                {
                        .name = "harbor",
                        .submission = {{"/app", PLACE_OVER}},
                        .tests = {"/tests", PLACE_OWNED},
                        .results = "/logs/verifier",
                        .format = "harbor",
                        .workdir = "/app",
                        .command = {"bash", "/tests/test.sh"},
                        .program = "test.sh",
                        .own = {"/tests", "/logs"},
                },
        [CONTRACT_EVALUATOR] =
                {
                        .name = "evaluator",
                        .submission = {{"/workspace", PLACE_VIEW}},
                        .tests = {"/tests", PLACE_OWNED},
                        .truth = {"/truth", PLACE_OWNED},
                        .results = "/results",
                        .format = "stdout-json",
                        .workdir = "/workspace",
                        .own = {"/workspace", "/tests", "/truth", "/results"},
                },
};
