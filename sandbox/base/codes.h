/* Every code an evaluation can end with, a row each:
 * X(NAME, "dotted.name", class, ending, "what to do"). Included by error.h and error.c only.
 * Names are stable: results, scripts and `assay explain` refer to them. */
/* clang-format off */

/* The command line and the task: nothing ran. */
X(USAGE,               "usage",                    CLASS_USAGE, END_USAGE, "see `assay --help`, `assay VERB --help`")
X(TASK_MISSING,        "task.missing",             CLASS_USAGE, END_USAGE, "give the directory that holds task.json")
X(TASK_INVALID,        "task.invalid",             CLASS_USAGE, END_USAGE, "mend task.json at the place named; `assay check TASK` lists every error")
X(TASK_UNSAFE,         "task.unsafe",              CLASS_USAGE, END_USAGE, "keep everything a task uses inside its own directory, readable, without symlinks out of it")
X(TASK_UNSUPPORTED,    "task.unsupported",         CLASS_USAGE, END_USAGE, "use what this version supports, or a newer Assay")
X(TASK_NOT_PERMITTED,  "task.not_permitted",       CLASS_USAGE, END_USAGE, "ask for less, or ask who runs the machine: operator.json says what tasks may have; without one, `assay run` gives a network only with --allow-network")
X(POLICY_INVALID,      "policy.invalid",           CLASS_USAGE, END_USAGE, "mend the operator's policy at the place named (docs/policy.md)")
X(TASK_EXPECT,         "task.expectation",         CLASS_USAGE, END_USAGE, "give each solution in solutions/NAME/ an expect.json, such as {\"score\": {\"min\": 90}} (docs/verify.md)")
X(RESULT_INVALID,      "result.invalid",           CLASS_USAGE, END_USAGE, "give a result as `assay run --json` or `assay batch` wrote it, whole and unchanged")
X(SUBMIT_RATE,         "submit.rate_limit",        CLASS_USAGE, END_REFUSED, "wait as long as it says, and submit again; --rate sets how many a minute an address may")
X(SUBMIT_KEY,          "submit.key_used",          CLASS_USAGE, END_REFUSED, "give each submission an idempotency key of its own, and the same one only to repeat it unchanged")
X(RESULT_FINAL,        "result.final",             CLASS_USAGE, END_REFUSED, "results are never changed; grade the submission again, or finalize a result that waits for its llm score")
X(MATCH_UNKNOWN,       "match.unknown",            CLASS_USAGE, END_REFUSED, "`assay match list --store URL` shows the matches of a store")
X(MATCH_OWNER,         "match.not_owner",          CLASS_USAGE, END_REFUSED, "only the agent that started a match may submit to it; start one of your own")
X(MATCH_EXPIRED,       "match.expired",            CLASS_USAGE, END_REFUSED, "start another match: an answer counts within the time limit alone")
X(MATCH_ENDED,         "match.ended",              CLASS_USAGE, END_REFUSED, "start another match: each takes one answer")
X(MATCH_ANSWERED,      "match.answered",           CLASS_USAGE, END_REFUSED, "each match takes one answer; that one, if it could not be graded, may be handed in again")
X(MATCH_TASK,          "match.task_changed",       CLASS_USAGE, END_REFUSED, "give the task as it was when the match was started, with --task")
X(SUBMISSION_MISSING,  "submission.missing",       CLASS_USAGE, END_USAGE, "give the submission as a tar or zip file that can be read")

/* The submission archive. */
X(ARCHIVE_UNSAFE_PATH, "archive.unsafe_path",      CLASS_SUBMISSION, END_REJECTED, "pack the files with paths relative to their folder, without `..`, `\\` or drive names")
X(ARCHIVE_BAD_NAME,    "archive.bad_name",         CLASS_SUBMISSION, END_REJECTED, "rename the entry: valid UTF-8, no control characters, at most 255 bytes a name")
X(ARCHIVE_LINK_ESCAPE, "archive.link_escape",      CLASS_SUBMISSION, END_REJECTED, "remove the link, or point it at a file inside the submission")
X(ARCHIVE_SPECIAL,     "archive.special_file",     CLASS_SUBMISSION, END_REJECTED, "leave devices, pipes and sockets out of the archive")
X(ARCHIVE_COLLISION,   "archive.name_collision",   CLASS_SUBMISSION, END_REJECTED, "give the entries names that differ by more than letter case or accent form")
X(ARCHIVE_ENTRIES,     "archive.too_many_entries", CLASS_SUBMISSION, END_REJECTED, "leave build output, caches and dependency folders out of the archive")
X(ARCHIVE_TOO_LARGE,   "archive.too_large",        CLASS_SUBMISSION, END_REJECTED, "leave large files out of the archive")
X(ARCHIVE_TRUNCATED,   "archive.truncated",        CLASS_SUBMISSION, END_REJECTED, "pack and upload the archive again; it ends too early")
X(ARCHIVE_DAMAGED,     "archive.damaged",          CLASS_SUBMISSION, END_REJECTED, "pack and upload the archive again; its content contradicts itself")
X(ARCHIVE_UNREADABLE, "archive.unreadable",       CLASS_SUBMISSION, END_REJECTED, "pack the archive again with an ordinary tool; this one broke the unpacker")
X(ARCHIVE_UNSUPPORTED, "archive.unsupported",      CLASS_SUBMISSION, END_REJECTED, "send a tar (plain, gzip, xz, zstd, bzip2) or zip file without encryption")
X(ARCHIVE_WINDOW,      "archive.window_too_large", CLASS_SUBMISSION, END_REJECTED, "compress with an ordinary setting: xz up to -9, zstd without --long")
X(ARCHIVE_EMPTY,       "archive.empty",            CLASS_SUBMISSION, END_REJECTED, "pack at least one file")
X(ARCHIVE_TIMEOUT,     "archive.too_slow",         CLASS_SUBMISSION, END_REJECTED, "pack the archive again with an ordinary tool; unpacking it took too long")
X(ARCHIVE_REQUIRED,    "archive.required_file_missing", CLASS_SUBMISSION, END_REJECTED, "add the file that the task asks for")
X(ARCHIVE_REQUIRED_SIZE, "archive.required_file_too_large", CLASS_SUBMISSION, END_REJECTED, "make the file smaller")
X(SUBMISSION_UNREADABLE, "submission.unreadable",  CLASS_SUBMISSION, END_REJECTED, "make everything in the directory readable, leave out what is on other file systems, and change nothing meanwhile")
X(BUILD_FAILED,        "build.failed",             CLASS_SUBMISSION, END_REJECTED, "mend what the build's output names; it runs in a cell without a network, in the submission's directory")
X(BUILD_OUTPUT,        "build.unsafe_output",      CLASS_SUBMISSION, END_REJECTED, "let the build make only files, folders, and links that stay inside")

/* The image: no fault of the submission, which may try again. */
X(IMAGE_INVALID,       "image.invalid",            CLASS_INFRA, END_ERROR, "save the image again with an ordinary tool, such as `docker save`, `podman save` or `skopeo copy`")
X(IMAGE_NOT_FOUND,     "image.not_found",          CLASS_INFRA, END_ERROR, "name an image that the file or the registry has, for this kind of machine")
X(IMAGE_UNSUPPORTED,   "image.unsupported",        CLASS_INFRA, END_ERROR, "save the image with all its layers as an OCI layout, an OCI archive or a docker-archive")
X(IMAGE_COMPRESSED,    "image.compressed",         CLASS_INFRA, END_ERROR, "decompress the file until it is a tar file; it is compressed more than once")
X(IMAGE_DIGEST,        "image.digest_mismatch",    CLASS_INFRA, END_ERROR, "the file was damaged or changed: save or download it again")
X(IMAGE_LAYER_INVALID, "image.layer_invalid",      CLASS_INFRA, END_ERROR, "rebuild or save the image again; this layer is not what a builder writes")
X(IMAGE_TOO_LARGE,     "image.too_large",          CLASS_INFRA, END_ERROR, "use a smaller image: leave caches and build tools out of it")
X(IMAGE_DAMAGED,       "image.damaged",            CLASS_INFRA, END_ERROR, "save or pull the image again; it was cut off or changed on the way")
X(IMAGE_CORRUPT,       "image.corrupt",            CLASS_INFRA, END_ERROR, "`assay image verify --remove` removes what is damaged; then load the image again, and look for the reason: the disk, or who may write to the state directory")
X(IMAGE_PULL_FAILED,   "image.pull_failed",        CLASS_INFRA, END_ERROR, "apt-get install skopeo where it is missing; else check the name, the network and the credentials (`skopeo login REGISTRY`)")
X(IMAGE_MISSING,       "image.missing",            CLASS_INFRA, END_ERROR, "load it with `assay image load FILE` or `assay image pull REF`; `assay image list` shows what is there")

/* Scoring by itself. */
X(SCORE_SPEC,          "score.spec_invalid",       CLASS_USAGE, END_USAGE, "mend the spec at the place named")
X(SCORE_TRUTH,         "score.truth_invalid",      CLASS_USAGE, END_USAGE, "mend the truth: it must have what the spec compares with")
X(SCORE_TIME,          "score.time_missing",       CLASS_USAGE, END_USAGE, "say how long it took, with --time-used SECONDS")
X(SCORE_ANSWER,        "score.answer_invalid",     CLASS_SUBMISSION, END_REJECTED, "send the answer as one strict JSON document")
X(WORKFLOW_INVALID,    "workflow.invalid",         CLASS_SUBMISSION, END_REJECTED, "mend workflow.json at the place named; `assay describe TASK` names the tools (docs/workflow.md)")
X(WORKFLOW_TOO_SLOW,   "workflow.too_slow",        CLASS_SUBMISSION, END_REJECTED, "let the workflow take fewer attempts; all of them together have limits.wall of the task")

/* The task's suite and its result. */
X(SUITE_UNGRADABLE,    "suite.ungradable",         CLASS_SUITE, END_REJECTED, "the suite says that this submission cannot be graded; its messages tell why")
X(SUITE_NO_RESULT,     "suite.no_result",          CLASS_SUITE, END_ERROR, "let the suite write its result before it exits; the logs show how far it came")
X(SUITE_RESULT_FILE,   "suite.result_not_a_file",  CLASS_SUITE, END_ERROR, "write the result as one regular file, not a link, directory or pipe")
X(SUITE_RESULT_INVALID, "suite.result_invalid",    CLASS_SUITE, END_ERROR, "mend the suite: its result must follow the declared format")
X(TOOL_NOT_FOUND,      "suite.tool_not_found",     CLASS_SUITE, END_ERROR, "check the command of the tool: the program, and the interpreter that its first line names, must be in tools/ or in the image, and executable")
X(CHECKER,             "suite.checker",            CLASS_SUITE, END_ERROR, "mend the checker: it must say right or wrong as its protocol has it (docs/cases.md)")
X(CASE_FILE,           "suite.case_file",          CLASS_SUITE, END_ERROR, "put the file that the case names below tests/ or truth/, readable for who grades")
X(SUITE_EXIT,          "suite.exit",               CLASS_SUITE, END_ERROR, "a suite that worked exits 0, whatever the score; see its logs")
X(SUITE_SIGNAL,        "suite.signal",             CLASS_SUITE, END_ERROR, "the suite crashed; see its logs")
X(SUITE_NOT_FOUND,     "suite.not_found",          CLASS_SUITE, END_ERROR, "check suite.command: the program, and the interpreter that its first line names (without a Windows line end), must be in tests/ or in the image")
X(SUITE_NOT_EXECUTABLE, "suite.not_executable",    CLASS_SUITE, END_ERROR, "make the suite's program executable (chmod +x), and begin a script with its interpreter, such as #!/bin/sh")

/* Limits of a cell. */
X(LIMIT_WALL,          "limit.wall",               CLASS_LIMIT, END_ERROR, "raise limits.wall in task.json if the suite rightly needs longer")
X(LIMIT_CPU,           "limit.cpu",                CLASS_LIMIT, END_ERROR, "raise limits.cpu in task.json if the suite rightly needs more")
X(LIMIT_MEMORY,        "limit.memory",             CLASS_LIMIT, END_ERROR, "raise limits.memory in task.json if the suite rightly needs more")
X(LIMIT_PIDS,          "limit.pids",               CLASS_LIMIT, END_ERROR, "raise limits.pids in task.json if the suite rightly needs more processes")
X(LIMIT_DISK,          "limit.disk",               CLASS_LIMIT, END_ERROR, "write less or smaller files, or raise limits.disk or limits.inodes in task.json")
X(LIMIT_OUTPUT,        "limit.output",             CLASS_LIMIT, END_ERROR, "write less to standard output, or raise limits.output in task.json")
X(LIMIT_RESULT,        "limit.result",             CLASS_LIMIT, END_ERROR, "write a smaller result, or raise limits.result in task.json")

/* The judge. */
X(JUDGE_PENDING,       "judge.pending",            CLASS_JUDGE, END_PENDING, "`assay finalize RESULT --llm-score N` takes the score when it is there")
X(JUDGE_MISSING,       "judge.missing",            CLASS_JUDGE, END_ERROR, "give --llm-score, or set scoring.llm_missing to \"pending\"")
X(JUDGE_FAILED,        "judge.failed",             CLASS_JUDGE, END_ERROR, "see what the judge said; `assay finalize RESULT --llm-score N` takes a score that comes later")
X(JUDGE_INVALID,       "judge.invalid_verdict",    CLASS_JUDGE, END_ERROR, "the verdict must score each llm criterion of the rubric once, 0 to 100")

/* This machine. */
X(INFRA_LIMITS,        "infra.weak_limits",        CLASS_INFRA, END_ERROR, "run as root or in a delegated cgroup, or accept weaker limits with --allow-weak-limits; `assay doctor` tells more")
X(INFRA_CELL,          "infra.cell",               CLASS_INFRA, END_ERROR, "`assay doctor` tells what this machine lacks")
X(INFRA_NETWORK,       "infra.network",            CLASS_INFRA, END_ERROR, "apt-get install passt, which has pasta; it also needs a /dev/net/tun that any user may open (chmod 666), and a network of the machine's own")
X(INFRA_CGROUP,        "infra.cgroup",             CLASS_INFRA, END_ERROR, "`assay doctor` tells what this machine lacks")
X(INFRA_HELPER,        "infra.helper_missing",     CLASS_INFRA, END_ERROR, "install Assay again; its programs belong together")
X(INFRA_STATE,         "infra.state",              CLASS_INFRA, END_ERROR, "check the state directory (ASSAY_STATE) and its free space")
X(INFRA_STORE,         "infra.store",              CLASS_INFRA, END_ERROR, "check where the store and its key are, who may write there, and its free space (docs/store.md); what was not stored has to be graded again")
X(LEASE_LOST,          "infra.lease_lost",         CLASS_INFRA, END_ERROR, "nothing is lost: another worker has the job; if it happens often, give workers a longer --lease")
X(WORKER_LOST,         "infra.worker_lost",        CLASS_INFRA, END_ERROR, "see what its workers died of (memory, power, a kill); `assay queue retry JOB` tries it again")
X(JOB_LIMIT,           "infra.job_limit",         CLASS_INFRA, END_ERROR, "see what it waited for; `assay worker --job-limit` says how long a job may take, all in all")
X(JOB_FILE,            "infra.job_file",           CLASS_INFRA, END_ERROR, "submit it again: what the store has of it is not what was submitted, or was erased")
X(INFRA_MEMORY,        "infra.memory",             CLASS_INFRA, END_ERROR, "free some memory, or raise the limits of processes and open files (ulimit -u, ulimit -n), and try again")
X(INFRA_IO,            "infra.io",                 CLASS_INFRA, END_ERROR, "try again; if it stays, check disk and permissions")
X(INFRA_SUPERVISOR,    "infra.supervisor_lost",    CLASS_INFRA, END_ERROR, "try again; if it stays, look at the kernel's log for an out-of-memory kill")
X(TASK_CHANGED,        "infra.task_changed",       CLASS_INFRA, END_ERROR, "grade it again, with a copy of the task that nobody writes to meanwhile")
X(INTERRUPTED,         "interrupted",              CLASS_INFRA, END_INTERRUPTED, "run it again")

/* Ourselves. */
X(INTERNAL_FRAME,      "internal.frame",           CLASS_INTERNAL, END_ERROR, "report this: two of Assay's programs disagreed")
X(INTERNAL_HELPER,     "internal.helper_died",     CLASS_INTERNAL, END_ERROR, "report this, with the input that caused it")
X(INTERNAL_BUG,        "internal.bug",             CLASS_INTERNAL, END_ERROR, "report this, with the input that caused it")
/* clang-format on */
