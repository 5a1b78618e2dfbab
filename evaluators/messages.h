/* What assay-score writes on its output, and what it reads when it computes.
 *
 *   assay-score task      0: task.json                 1: task frames
 *   assay-score result    0: result request            1: result frames
 *   assay-score verdict   0: verdict JSON              1: verdict frames
 *   assay-score metadata  0: metadata.yaml             1: metadata frames
 *   assay-score blend     0: blend request             1: blend answer
 *   assay-score compare   0: compare request           1: compare answer
 *   assay-score expect    0: request                   1: answer
 *   assay-score policy    0: operator.json             1: policy frames
 *   assay-score stored    0: a result of ours          1: frames of a replay
 *   assay-score workflow  0: request                   1: workflow frames
 *   assay-score score, score-batch, composite, window, rate, finalize, differ    0: request    1:
 * answer
 *
 * Each answer is a sequence of frames that ends with SCORE_END (nothing in it) or SCORE_ERROR
 * (an error, see put_error); the exit status is 0 when it was written as a whole. Both sides use
 * the layouts written beside each type; the runner checks every value again. Numbers of outsiders
 * travel as decimal text without exponents, what was computed also as a reduced fraction (exact).
 *
 * A request of documents is one frame of options, then the documents in pieces, then SCORE_END. */
#ifndef ASSAY_EVALUATORS_MESSAGES_H
#define ASSAY_EVALUATORS_MESSAGES_H

enum score_message {
        SCORE_END = 1, /* the answer is complete */
        SCORE_ERROR,   /* error */

        /* task: first all problems, if any (then SCORE_ERROR); else the fields, each once unless
         * noted, in this order. */
        TASK_PROBLEM,   /* u32 line, u32 column, text key (dotted path), text message; many */
        TASK_IDENTITY,  /* text name, text title, text description */
        TASK_IMAGE,     /* text image */
        TASK_CONTRACT,  /* u8 enum task_contract */
        TASK_SCORING,   /* u8 enum task_scheme, u8 enum task_mode, u8 test_weight, u8 llm_weight,
                           u8 pass_from_suite, text pass (decimal; empty when from the suite),
                           u8 enum task_llm_missing */
        TASK_CRITERION, /* text name, text description, u8 weight, u8 enum criterion_source, u32 n,
                           n × text pattern of its tests; many */
        TASK_COMPOSITE, /* u64 max_budget (billionths), u64 max_latency (microseconds), u32
                           min_steps, u32 max_attempts (0: 1 + retry_count), u8 quality is the
                           suite's score; with the scheme composite */
        TASK_TOOL,  /* text name, u32 n, n × text argument, u64 cost (billionths), u8 its time is
                       declared, u64 microseconds; many, of that scheme */
        TASK_TIME,  /* nothing: a dimension needs the time that was used; if one does */
        TASK_MATCH, /* u64 milliseconds that a match may take (0: not said), u8 enum
                       task_difficulty; with the scheme dimensions */
        TASK_SUITE, /* u8 broker, u8 sees_submission, u8 network (1: outbound), u32 n, n × text
                   argument (n = 0: none) */
        TASK_SUITE_ENV, /* text NAME=VALUE; many */
        TASK_RESULT,    /* text format, text path (empty: the format has no file), u8 enum
                           task_on_limit, u8 enum task_exit, text key, text min, text max (decimals;
                           each may be empty), u32 planned tests (0: not said) */
        TASK_JUDGE,     /* text name of one that the operator has (or empty), u32 n, n × text
                           argument of a command; at most once */
        TASK_BUILD,     /* u8 enum task_build, u32 n, n × text argument; if the task has one */
        TASK_SUBMISSION_ENV, /* text NAME=VALUE; many */
        TASK_VISIBILITY, /* u8 enum task_visibility of tests, u8 of output, text due (or empty) */
        TASK_LIMIT, /* u8 enum cell_kind, u8 enum limit, u64 value; many: those the task sets */
        TASK_TOTAL_MEMORY,     /* u64 bytes for all cells together; if the task sets it */
        TASK_SUBMISSION,       /* u64 max_entries, u64 max_unpacked, u64 max_archive,
                                  u8 strip_common_root, u8 links_drop */
        TASK_SUBMISSION_IMAGE, /* text image (empty: the suite's), u32 layers (the lowest; 0: all),
                                  u32 n, n × text place to hide; if the task declares it */
        TASK_REQUIRED,         /* text path, u64 max_size (0: any); many */
        TASK_PATTERN,          /* text glob, u64 min_files; many */
        TASK_PLACE, /* u32 line, u32 column, text key (dotted path): where those keys are that
                       others than this reader may object to; many, none of a key that the task
                       lacks */

        /* policy: what the operator lets tasks do. A ceiling that is not there is none */
        POLICY_PERMITS,    /* u8 network, u8 host image, u8 pull */
        POLICY_CEILING,    /* u8 enum cell_kind, u8 enum limit, u64 value; many */
        POLICY_SUBMISSION, /* u64 total_memory, u64 max_entries, u64 max_unpacked, u64 max_archive
                              (ceilings; 0: none) */
        POLICY_JUDGE,      /* text name, u32 n, n × text argument; many */

        TASK_GROUP, /* text name, text points (decimal, or empty: those of its cases), u8 enum
                       case_aggregate, u8 stop_on_failure, u8 enum task_visibility (or its count:
                       the task's), u32 n, n × text group that must have passed; many */
        TASK_CASE, /* of the last group: u8 each (1: one for each file that its input matches), text
                      name, u32 n, n × text argument, u8 enum case_given, text input, u8 enum
                      case_given, text output, u8 exit, u64 timeout (microseconds of processor
                      time; 0: the limits), u8 enum comparison, text abs, text rel (decimals or
                      empty), text pattern, u8 enum checker_protocol, u32 n, n × text argument of
                      the checker (none: there is none), u32 n, n × text argument of the interactor,
                      text points (decimal); many */

        /* cases, request: CASES_GROUP, then its CASES_CASEs, and so on, SCORE_END; answered by a
         * RESULT_SCORE and RESULT_BREAKDOWNs */
        CASES_GROUP, /* text name, text points (decimal, or empty), u8 enum case_aggregate */
        CASES_CASE,  /* text points (decimal), text part of them that it earned, 0 to 1 (decimal) */

        REQUEST_PIECE, /* u8 enum score_document, bytes: the next of it */

        /* result, request: what the task says of it. Documents: DOCUMENT_RESULT, _RESULT_TEXT */
        REQUEST_RESULT, /* text format, text key, text min, text max (decimals; each may be empty),
                           u32 exit (of the suite; above 255: a signal) */

        /* result, in this order */
        RESULT_SCORE, /* text score 0–100 (exact; empty: there is none), u8 pass (0, 1, 2 = not
                         said), u8 ungradable, text raw (exact: what it was before it was
                         clamped; or empty) */
        RESULT_DIMENSION, /* text name, text score 0–1000 (decimal); many, of stdout-json */
        RESULT_BREAKDOWN, /* text name, text score (decimal); many */
        RESULT_NOTES,     /* text; at most once */
        RESULT_TEST,      /* text name, u8 passed, text duration_ms (decimal or empty), text error;
                             many */
        RESULT_WARNING,   /* text field, text message; many */

        /* score, and score-batch: a spec of dimensions, an answer, its truth. Documents:
         * DOCUMENT_SPEC, _SUBMISSION, _TRUTH, _TRAJECTORY; in a batch the first three are JSON
         * lines, or one line for all */
        REQUEST_SCORE, /* text time_used, text started, text submitted (decimals, seconds, the last
                          two since 1970; each may be empty), u8 explain */
        /* what an evaluation found, as the document DOCUMENT_SOURCES; without it a spec must not
         * ask for it */
        GIVEN_SUITE,      /* text test_score 0–100 (exact) */
        GIVEN_TEST,       /* text name, u8 passed; many */
        GIVEN_JUDGE,      /* text criterion, text score 0–100 (exact); many */
        GIVEN_SCRIPT,     /* text key, text score 0–1000 (exact); many */
        GIVEN_NO_VERDICT, /* nothing: the judge's dimensions have no score yet, so there is no total
                           */
        /* its answer: TASK_PROBLEMs and SCORE_ERROR when the spec is wrong; else */
        SCORE_TOTAL,       /* u32 total, u8 outcome (0 win, 1 draw, 2 loss), text sum (exact) */
        SCORE_DIMENSION,   /* text name, text label, text description, text colour, text criterion
                              (of the judge; or empty), text score, text weight, text weighted
                              (decimals), text score, text weighted (exact); many. Without a verdict
                              the scores of the judge's are empty */
        SCORE_WARNING,     /* u8 severity (1: an error), text field, text message; many */
        SCORE_VIOLATION,   /* text constraint, text limit, text actual; many */
        SCORE_TRAJECTORY,  /* u8 it is valid, text why it is not (or empty); if there is one */
        SCORE_EXPLANATION, /* text: a step of the computation; many */
        SCORE_LINE_END,    /* batch: the end of the answer to a line */
        SCORE_LINE_ERROR,  /* batch: error, instead of it */

        /* composite: a spec and an execution record (DOCUMENT_SPEC, _RECORD) */
        REQUEST_COMPOSITE, /* u8 explain */
        COMPOSITE_SCORE,   /* text score, success, cost, latency, reliability (decimals), the same
                              five exact, u8 gate (1: cost and latency count), u8 passed; then
                              SCORE_EXPLANATIONs */

        /* workflow, request: the steps of a submission (DOCUMENT_SUBMISSION) */
        REQUEST_WORKFLOW, /* u32 n, n × text name of a tool */
        /* its answer, in an order in which each step comes after those it depends on; then
         * RESULT_WARNINGs */
        WORKFLOW_STEP, /* text id, u32 tool, u32 retry_count, u64 timeout (microseconds; 0: none),
                          u32 n, n × u32 step before it that it depends on, u32 n, n × u32 step
                          before it that its input refers to, bytes input; many, at least one */
        /* request: the input of a step (DOCUMENT_SUBMISSION) with what it refers to put in, of an
         * object of outputs (DOCUMENT_RECORD) */
        REQUEST_INPUT,  /* nothing */
        WORKFLOW_INPUT, /* bytes: the next of it; many */
        /* request: what a tool printed (DOCUMENT_RESULT) */
        REQUEST_OUTPUT, /* nothing */
        WORKFLOW_VALUE, /* bytes: the next of the value, as enum value_token has it; many */
        WORKFLOW_WRONG, /* text why there is no such input or output; instead of it */
        /* request: how good the output of a workflow (DOCUMENT_SUBMISSION) is, by the task
         * (DOCUMENT_SPEC) and its truth (DOCUMENT_TRUTH) */
        REQUEST_QUALITY, /* text seconds used (decimal), text test_score (exact) of the suite, which
                            then decides; else empty */
        WORKFLOW_QUALITY, /* text 0 to 1 (decimal), text why it is 0 or less than it could be, or
                             empty */

        /* window: names with their scores (DOCUMENT_SUBMISSION) */
        REQUEST_WINDOW, /* nothing */
        WINDOW_ROW,     /* text name, u32 scores, text mean, text weight (decimals), text mean, text
                           weight (exact); many */
        WINDOW_REST,    /* text unassigned (decimal), text unassigned (exact) */

        /* rate: a match between two ratings */
        REQUEST_RATE, /* u32 own, u32 opponent, u8 result (0 win, 1 draw, 2 loss), u32 matches, u8
                         verified, u8 benchmark */
        RATING,       /* u32 own rating afterwards */

        /* metadata: the command that a Codabench program's metadata.yaml names */
        METADATA_WORD, /* text; many, at least one */

        /* verdict, in this order; that the criteria are the rubric's is not checked here */
        VERDICT_CRITERION, /* text name, text score, text reasoning; many */
        VERDICT_RECORD,    /* text prompt_sha256, text prompt tokens, text completion tokens, text
                              runs,    text tries (decimals), each may be empty; if there is any of it
                            */
        VERDICT_SUMMARY,   /* text summary, text model (may be empty); once */

        /* stored: what a result (assay.result/1) was made from; then the verdict as above, if it
         * has criteria of one */
        STORED_INPUTS, /* text id, text seed, text time_used, text llm_score (decimals, or empty) */

        /* finalize: a result that waits for its judge (DOCUMENT_RECORD) and the verdict
         * (DOCUMENT_VERDICT); where it is of a store also its eval_pass_data (DOCUMENT_SOURCES) */
        REQUEST_FINALIZE, /* text id of the new result, text llm_score (decimal, or empty: there is
                             a verdict) */
        FINAL_SCORE,      /* u8 passed, text outcome, text score, u32 scale, text test_score, text
                             llm_score (decimals; the last two may be empty), text score (exact),
                             text the judge's summary (or empty) */
        FINAL_PART,       /* text name, u8 enum final_source, text weight, text score (decimals; the
                             second may be empty), text reasoning (or empty): each dimension, or each
                             criterion; many */
        FINAL_PIECE,      /* bytes: the next of the new result; many */
        FINAL_DATA,       /* bytes: the next of its eval_pass_data; many, where it was given */

        /* differ: two results (DOCUMENT_RECORD, DOCUMENT_RESULT) */
        REQUEST_DIFFER,   /* nothing */
        RESULT_DIFFERS,   /* text path, text in the first, text in the second; many, at most
                             SCORE_MAX_DIFFERENCES */
        RESULTS_COMPARED, /* u32 differences, also those that were too many to be told; once */

        /* blend, request: BLEND_MODE, BLEND_TEST in container and hybrid, BLEND_LLM,
         * BLEND_CRITERION or BLEND_NO_VERDICT in llm and hybrid, SCORE_END */
        BLEND_MODE,       /* u8 enum task_mode, u8 test_weight, u8 llm_weight, text pass (decimal;
                             empty: by the suite's boolean) */
        BLEND_TEST,       /* text test_score, u8 suite_pass (0, 1, 2 = not said) */
        BLEND_LLM,        /* text llm_score given as one number */
        BLEND_NO_VERDICT, /* nothing: there will be no score */
        BLEND_TESTS, /* text name of a criterion, u32 tests that passed, u32 tests; many: answered
                        by a BLEND_ROW each, before BLEND_FINAL */
        BLEND_CRITERION, /* text name, u8 weight, text score: llm_score is their weighted mean */

        /* blend, answer */
        BLEND_ROW,   /* text name, text score (2 decimals) */
        BLEND_FINAL, /* text score, text test_score, text llm_score (each may be empty),
                        rounded and shown with 2 decimals, "84.00"; then the same three as
                        exact reduced fractions, "21/25" or "84"; u8 passed */

        /* compare, request: for each case these, then SCORE_END */
        COMPARE_CASE,     /* u8 enum comparison, text abs, text rel (decimals, of COMPARE_NUMERIC;
                             empty: 0), text pattern (of COMPARE_REGEX; of COMPARE_CONTAINS the bytes
                             wanted). What is not of its comparison is empty */
        COMPARE_EXPECTED, /* bytes: the next piece; of COMPARE_EXACT, _TOKENS and _NUMERIC */
        COMPARE_ACTUAL,   /* bytes: the next piece */
        /* compare, answer: one for each case, in order */
        COMPARE_RESULT, /* u8 matches, text reason (empty when it matches; else what differs first,
                           for people, escaped) */

        /* expect, request: expect.json of a solution (DOCUMENT_SPEC), and what came of it */
        REQUEST_EXPECT, /* u8 known (0: nothing yet, all of these are empty), text status, text
                           code, text outcome, text score, text test_score (decimals or empty) */
        /* its answer */
        EXPECT_GIVEN,   /* text llm_score (decimal; empty: it has none); once */
        EXPECT_DIFFERS, /* text: what is not as expected; many, none when all is */
};

enum task_contract {
        CONTRACT_STRAW,
        CONTRACT_GRADESCOPE,
        CONTRACT_PRAIRIELEARN,
        CONTRACT_CODABENCH,
        CONTRACT_HARBOR,
        CONTRACT_EVALUATOR,
        CONTRACT_COUNT,
};
enum task_scheme { SCHEME_BLEND, SCHEME_DIMENSIONS, SCHEME_COMPOSITE, SCHEME_COUNT };
/* Of the scheme dimensions it follows from the sources; MODE_ANSWER: nothing runs, nobody is asked.
 * Composite has the last one: the tools of the task run. */
enum task_mode { MODE_LLM, MODE_CONTAINER, MODE_HYBRID, MODE_ANSWER, MODE_WORKFLOW, MODE_COUNT };
enum task_llm_missing {
        LLM_MISSING_PENDING,
        LLM_MISSING_ERROR,
        LLM_MISSING_ZERO,
        LLM_MISSING_COUNT
};
/* What a match is against (docs/match.md). */
enum task_difficulty {
        DIFFICULTY_NEWCOMER,
        DIFFICULTY_CONTENDER,
        DIFFICULTY_VETERAN,
        DIFFICULTY_LEGENDARY,
        DIFFICULTY_COUNT,
};
enum criterion_source { SOURCE_TEST, SOURCE_LLM, SOURCE_COUNT };
enum final_source { FINAL_BY_TEST, FINAL_BY_LLM, FINAL_OF_DIMENSION, FINAL_SOURCES };
enum task_on_limit { ON_LIMIT_ERROR, ON_LIMIT_ZERO, ON_LIMIT_PARTIAL, ON_LIMIT_COUNT };
/* Does a suite that exits with a status have a result? */
enum task_exit { EXIT_STRICT, EXIT_RESULT, EXIT_COUNT };
enum task_build { BUILD_NONE, BUILD_ZERO, BUILD_REJECT, BUILD_COUNT };
enum task_visibility {
        VISIBILITY_HIDDEN,
        VISIBILITY_VISIBLE,
        VISIBILITY_AFTER_DUE,
        VISIBILITY_AFTER_PUBLISHED,
        VISIBILITY_COUNT,
};

enum case_aggregate { AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_ALL, AGGREGATE_COUNT };
enum case_given { CASE_NOTHING, CASE_TEXT, CASE_FILE, CASE_GIVEN_COUNT };
enum checker_protocol { CHECKER_PLAIN, CHECKER_KATTIS, CHECKER_TESTLIB, CHECKER_COUNT };

enum score_document {
        DOCUMENT_RESULT,      /* the result file; of harbor reward.json */
        DOCUMENT_RESULT_TEXT, /* of harbor reward.txt */
        DOCUMENT_SPEC,
        DOCUMENT_SUBMISSION,
        DOCUMENT_TRUTH,
        DOCUMENT_TRAJECTORY,
        DOCUMENT_SOURCES, /* frames: GIVEN_… of an evaluation */
        DOCUMENT_RECORD,  /* of an execution; or a result of ours */
        DOCUMENT_VERDICT,
        DOCUMENT_COUNT,
};

/* A JSON value as a stream: u8 of these, with what stands behind. Nothing else needs to be trusted
 * to be JSON. */
enum value_token {
        VALUE_OBJECT, /* then, for each member, VALUE_KEY and a value; VALUE_END */
        VALUE_ARRAY,  /* then its items; VALUE_END */
        VALUE_END,
        VALUE_KEY,    /* text */
        VALUE_TEXT,   /* bytes */
        VALUE_NUMBER, /* text, as it was written */
        VALUE_TRUE,
        VALUE_FALSE,
        VALUE_NULL,
};

enum comparison {
        COMPARE_EXACT,
        COMPARE_TOKENS,
        COMPARE_NUMERIC,
        COMPARE_REGEX,
        COMPARE_CONTAINS,
        COMPARISON_COUNT
};

/* The largest inputs and fields; above them the input is refused. */
enum {
        SCORE_MAX_TASK = 1 << 20,    /* bytes of task.json */
        SCORE_MAX_VERDICT = 4 << 20, /* bytes of a verdict */
        SCORE_MAX_RESULT = 16 << 20, /* bytes of a result file; the cell's limit is lower */
        SCORE_MAX_PIECE = 1 << 20,   /* bytes of a document in one frame of a request */
        FINAL_MAX_PIECE = 1 << 19,   /* the same of an answer, whose frames are shorter */
        SCORE_MAX_REQUEST = 64 << 20,
        SCORE_MAX_TEXT = 8192,       /* bytes of any text field */
        SCORE_MAX_NAME = 512,        /* bytes of a name, number or path */
        SCORE_MAX_ENV = 256,         /* variables of a suite */
        SCORE_MAX_WORDS = 1000,      /* of a command in metadata */
        SCORE_MAX_JUDGES = 32,       /* of an operator */
        SCORE_MAX_LAYERS = 500,      /* of an image */
        SCORE_MAX_HIDDEN = 100,      /* places of an image that a submission does not see */
        SCORE_MAX_PLACE = 255,       /* bytes of a path inside a cell */
        SCORE_MAX_MANY = 100000,     /* how often a repeated frame may come */
        SCORE_MAX_EXACT = 160 << 10, /* bytes of a fraction that was computed */
        SCORE_MAX_DIGITS = 30,
        SCORE_MAX_PLAIN = 140, /* bytes of a number without its exponent */
        SCORE_MAX_DEPTH = 64,
        SCORE_MAX_DIFFERENCES = 100,
        SCORE_MAX_WORKFLOW = 4 << 20, /* bytes of a workflow */
        SCORE_MAX_STEPS = 1000,       /* of it */
        SCORE_MAX_INPUT = 512 << 10,  /* bytes of what a step gives its tool */
        SCORE_MAX_TOOLS = 100,
        SCORE_MAX_ATTEMPTS = 100, /* of a step */
};

#endif
