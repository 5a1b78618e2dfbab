#!/usr/bin/env bats
# assay run: every way an evaluation can end.

load common

setup() {
    setup_work
}

@test "a good suite: graded, with a complete result" {
    task good
    submission
    grade
    is exit 0 "$status"
    is status graded "$(field .status)"
    is outcome pass "$(field .outcome)"
    is score 80.00 "$(grep -o '"score": 80.00' "$work/result.json" | head -1 | cut -d' ' -f2)"
    is exact 80 "$(field .exact.score)"
    is schema assay.result/1 "$(field .schema)"
    is 'id length' 26 "$(field '.id | length')"
    is sha256 "$(sha256sum < "$work/submission.tar.gz" | cut -d' ' -f1)" "$(field .submission.sha256)"
    is integrity shared "$(field .isolation.integrity)"
    is phases 'received unpack image start run collect score' "$(field '[.phases[].name] | join(" ")')"
    is 'phases in order' true "$(field '[.phases[].start_us] | . == sort')"
    is 'wall limit' '600 s by clock' "$(field '.limits.wall | .value + " by " + .enforced_by')"
    nothing_left
}

@test "a directory is a submission too, also one that only its owner may read" {
    task good
    submission palindrome lib/deep/file
    (umask 077 && cp -r "$work/submission" "$work/private")
    chmod -R go-rwx "$work/private"
    status=0
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/private" > "$work/result.json" 2> "$work/errors" ||
        status=$?
    is exit 0 "$status"
    is entries 4 "$(field .submission.entries)"
    is 'a digest' 64 "$(field '.submission.sha256 | length')"
    nothing_left
}

@test "a directory with another file system in it is refused, not graded without what is there" {
    is_root || skip 'only root may mount'
    task good
    submission palindrome lib/deep/file
    status=0
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount sh -c 'mount -t tmpfs none "$1/lib" && shift && "$@"' sh "$work/submission" \
        "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission" > "$work/result.json" 2> "$work/errors" ||
        status=$?
    ends 3 rejected submission submission.unreadable
    grep -q ' lib: ' "$work/errors"
    nothing_left
}

@test "a JSON answer is a submission too" {
    task good
    echo '{"answer": 42}' > "$work/submission.tar.gz"
    grade
    is exit 0 "$status"
    is entries 1 "$(field .submission.entries)"
}

@test "the suite's own boolean decides in container mode; a number does where the task gives one" {
    task good '"result": {"format": "score.json"},'
    sed -i 's/"mode": "container"/"mode": "container", "pass": 81/' "$work/task/task.json"
    submission
    grade
    is exit 1 "$status"
    is outcome fail "$(field .outcome)"
    is suite_pass true "$(field .suite_pass)"
    is warning suite_pass "$(field '.suite_warnings[0].field')"
}

@test "hybrid: 80 and 90 at 60/40 blend to 84" {
    cp -R "$examples/palindrome" "$work/task"
    mkdir -p "$work/task/tests" && cp "$ASSAY_BUILD/tests/suite" "$work/task/tests/"
    sed -i 's#"/tests/run"#"/tests/suite", "good"#' "$work/task/task.json"
    submission palindrome
    grade --llm-score 90
    is exit 0 "$status"
    is score 84 "$(field .exact.score)"
    is 'test and llm' '80 90' "$(field '.exact | .test_score + " " + .llm_score')"
    is weights '60 40' "$(field '"\(.weights.test) \(.weights.llm)"')"
}

@test "hybrid with a verdict file: its criteria get their rows, and a bad one is the judge's fault" {
    cp -R "$examples/palindrome" "$work/task"
    cp "$ASSAY_BUILD/tests/suite" "$work/task/tests/"
    sed -i 's#"/tests/run"#"/tests/suite", "good"#' "$work/task/task.json"
    submission palindrome
    echo '{"criteria": [{"name": "Code quality", "score": 100, "reasoning": "short"}], "summary": "good"}' \
        > "$work/verdict.json"
    grade --llm-score "$work/verdict.json"
    is score 88 "$(field .exact.score)"
    is reasoning short "$(field '.criteria[1].reasoning')"
    echo '{"criteria": [{"name": "Style", "score": 100, "reasoning": "short"}], "summary": ""}' \
        > "$work/verdict.json"
    grade --llm-score "$work/verdict.json"
    ends 4 error judge judge.invalid_verdict
    is 'attempt used' false "$(field .attempt_used)"
}

@test "hybrid without a score of the judge: pending" {
    cp -R "$examples/palindrome" "$work/task"
    submission palindrome
    chmod +x "$work/submission/palindrome"
    grade
    ends 5 pending judge judge.pending
}

# --- the six of the first issue, and their kin ---------------------------------------------

@test "a submission that plants /results/score.json: the suite sees no such file" {
    task submission-planted
    submission results/score.json main.txt
    grade
    is exit 1 "$status"
    is status graded "$(field .status)"
    is score 0 "$(field .exact.score)"
}

@test "../x in the archive: rejected, named, nothing runs" {
    task good
    tar -C "$work" --transform 's#^#../#' -czPf "$work/submission.tar.gz" doctor.err
    grade
    ends 3 rejected submission archive.unsafe_path
    field .reason | grep -qF '../doctor.err'
    is phases 'received unpack' "$(field '[.phases[].name] | join(" ")')"
    nothing_left
}

@test "a suite that forks for ever" {
    task forks '"limits": {"wall": "20s", "pids": 40},'
    submission
    grade
    ends 4 error limit limit.pids
    nothing_left
}

@test "a suite that sleeps past its limit" {
    task sleeps '"limits": {"wall": "300ms"},'
    submission
    grade
    ends 4 error limit limit.wall
    field .reason | grep -qF '300 ms'
}

@test "a suite that burns processor time" {
    task spins '"limits": {"wall": "20s", "cpu": "200ms"},'
    submission
    grade
    ends 4 error limit limit.cpu
}

@test "a suite that eats memory" {
    task eats '"limits": {"wall": "20s", "memory": "48MiB"},'
    submission
    grade
    ends 4 error limit limit.memory
}

@test "a suite that fills its tmpfs gets ENOSPC at the disk limit and lives" {
    task fills-tmpfs '"limits": {"disk": "8MiB", "memory": "256MiB"},'
    submission
    grade
    is exit 0 "$status"
}

@test "a suite that prints without end" {
    task prints '"limits": {"wall": "20s", "output": "64KiB"},'
    submission
    grade
    ends 4 error limit limit.output
}

@test "much output: head and tail are kept, what lies between is counted, the JSON is valid" {
    task prints-much '"limits": {"output": "64KiB"},'
    submission
    grade
    is exit 0 "$status"
    field .logs.stdout.head | head -1 | grep -q '^first'
    field .logs.stdout.tail | tail -2 | grep -q 'last$'
    [ "$(field .logs.stdout.dropped_bytes)" -gt 1000000 ]
    is 'bytes counted' "$(field .usage.suite.output_bytes)" \
        "$(field '(.logs.stdout.head | utf8bytelength) + (.logs.stdout.tail | utf8bytelength) - 2 + .logs.stdout.dropped_bytes')"
}

@test "a suite whose result is broken JSON: line and column are named" {
    task broken
    submission
    grade
    ends 4 error suite suite.result_invalid
    field .reason | grep -q 'line 2, column'
}

@test "a limit can count as 0, and the result says what shaped the score" {
    task sleeps '"limits": {"wall": "300ms"}, "result": {"on_limit": "zero"},'
    submission
    grade
    is exit 1 "$status"
    is status graded "$(field .status)"
    is score 0 "$(field .exact.score)"
    is code limit.wall "$(field .code)"
}

@test "numbers with exponents are numbers" {
    task exponents
    submission
    grade
    is exit 0 "$status"
    is score 80 "$(field .exact.score)"
    is duration 1500 "$(field '.tests[0].duration_ms')"
}

@test "a number far smaller than any score is one all the same" {
    task tiny
    submission
    grade
    is exit 1 "$status"
    is score 0 "$(field .score)"
    is exact true "$(field '.exact.score | startswith("0") | not')"
}

@test "a result that is too large is no limit that ended the suite: never 0" {
    task result-huge '"result": {"on_limit": "zero"},'
    submission
    grade
    ends 4 error limit limit.result
}

@test "a signal while the submission is still coming" {
    task good
    mkfifo "$work/fifo" # which nobody ever writes to
    "$ASSAY" run --quiet "${weak[@]}" "$work/task" "$work/fifo" > /dev/null 2> "$work/errors" 3>&- &
    local runner=$!
    until [ -n "$(ls "$ASSAY_STATE/evaluations" 2> /dev/null)" ]; do :; done
    kill -TERM "$runner"
    status=0
    wait "$runner" || status=$?
    is exit 130 "$status"
    nothing_left
}

@test "a task without a judge takes no --llm-score" {
    task good
    submission
    grade --llm-score 50
    is exit 2 "$status"
}

@test "the summary says what it leaves out of a log" {
    task prints-much '"limits": {"output": "64KiB"}, "result": {"path": "/results/other.json"},'
    submission
    "$ASSAY" run "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/text" 2> "$work/errors" || true
    grep -q 'bytes before it are not shown' "$work/text"
    grep -qF '| \xff last' "$work/text"
}

@test "an external score that is none is a usage error" {
    task good
    submission
    for score in 101 -1 100.1 007 x; do
        grade --llm-score "$score"
        is "exit for $score" 2 "$status"
    done
}

@test "evaluations at once do not disturb each other" {
    task good
    submission
    for i in 1 2 3 4 5 6 7 8; do
        for _ in 1 2 3; do
            "$ASSAY" run --quiet "${weak[@]}" "$work/task" "$work/submission.tar.gz" || echo "failed: $?"
        done > "$work/out.$i" 2>&1 3>&- &
    done
    wait
    is failures '' "$(cat "$work"/out.*)"
    nothing_left
}

@test "an odd umask and a file size limit of the caller" {
    task good
    submission
    touch "$work/result.json" "$work/errors"
    (umask 0777 && grade && is status graded "$(field .status)")
    nothing_left
    # shellcheck disable=SC2016 # for the shell below
    run -4 sh -c 'ulimit -f 0; exec "$@"' sh "$ASSAY" run --quiet "${weak[@]}" "$work/task" \
        "$work/submission.tar.gz"
    nothing_left
}

# --- results that are none -----------------------------------------------------------------

# kind CODE for each way to write no valid result
result_ends() {
    task "$1"
    submission
    grade
    ends 4 error suite "$2"
}

@test "no result file" {
    result_ends nothing suite.no_result
}

@test "an empty result file" {
    result_ends empty suite.result_invalid
}

@test "a score out of range" {
    result_ends out-of-range suite.result_invalid
}

@test "NaN as score" {
    result_ends not-a-number suite.result_invalid
}

@test "the score twice" {
    result_ends twice suite.result_invalid
}

@test "zero tests collected" {
    result_ends no-tests suite.result_invalid
}

@test "a symlink as result" {
    result_ends result-link suite.result_not_a_file
}

@test "a hard link as result" {
    result_ends result-hard-link suite.result_not_a_file
}

@test "a fifo as result: no hang" {
    result_ends result-fifo suite.result_not_a_file
}

@test "a directory as result" {
    result_ends result-directory suite.result_not_a_file
}

@test "a result larger than its limit" {
    task result-huge
    submission
    grade
    ends 4 error limit limit.result
}

@test "a suite that exits with a status, though its result is valid" {
    result_ends exits suite.exit
}

@test "a suite that crashes, though its result is valid" {
    result_ends crashes suite.signal
}

@test "a suite that is not there" {
    task good
    sed -i 's#/tests/suite#/tests/missing#' "$work/task/task.json"
    submission
    grade
    ends 4 error suite suite.not_found
}

@test "a suite that is not there is never called anything else, however fast it fails" {
    task good '"limits": {"wall": "1s"}, "result": {"on_limit": "zero"},'
    sed -i 's#/tests/suite#/tests/missing#' "$work/task/task.json"
    submission
    for _ in $(seq 60); do
        grade
        is code suite.not_found "$(field .code)"
    done
}

@test "a suite that is no program" {
    task good
    echo text > "$work/task/tests/suite"
    submission
    grade
    ends 4 error suite suite.not_executable
}

@test "a daemon of the suite's cell cannot change the result after the end" {
    task daemon-forges
    submission
    for _ in 1 2 3; do
        grade
        is score 80 "$(field .exact.score)"
    done
    nothing_left
}

# --- around it ------------------------------------------------------------------------------

@test "text for people: no escape sequence of a submission or suite reaches the terminal" {
    task crashes
    submission
    "$ASSAY" run "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/text" || true
    grep -q 'no score (suite.signal)' "$work/text"
    ! grep -q $'\033' "$work/text"
}

@test "zip submissions, and a common top folder" {
    task submission-planted
    mkdir -p "$work/top/results" && echo x > "$work/top/results/score.json"
    (cd "$work" && zip -qr submission.tar.gz.zip top && mv submission.tar.gz.zip submission.tar.gz)
    grade
    is score 0 "$(field .exact.score)"
}

@test "a submission from standard input" {
    task good
    submission
    "$ASSAY" run --json "${weak[@]}" "$work/task" - < "$work/submission.tar.gz" > "$work/result.json"
    is status graded "$(field .status)"
    cat "$work/submission.tar.gz" | "$ASSAY" run --json "${weak[@]}" "$work/task" - > "$work/result.json"
    is status graded "$(field .status)"
}

@test "standard input cannot be two files, a directory is no file, and what no score is made of is not taken" {
    task good
    submission
    while IFS='|' read -r options which why; do
        status=0
        # shellcheck disable=SC2086 # options
        "$ASSAY" run "${weak[@]}" ${options//WORK/$work} "$work/task" "${which//WORK/$work}" \
            < "$work/submission.tar.gz" > /dev/null 2> "$work/errors" || status=$?
        is "exit with $options" 2 "$status"
        grep -q "^assay: usage: .*$why" "$work/errors" || is "$options" "$why" "$(cat "$work/errors")"
    done << 'TABLE'
--llm-score -|-|only one of the files can be standard input
--trajectory - --replay -|WORK/submission.tar.gz|only one of the files can be standard input
--llm-score WORK|-|Is a directory
--trajectory WORK|-|Is a directory
--replay WORK|-|Is a directory
--trajectory WORK/errors|-|does not score what an agent did
TABLE
}

@test "an archive above the task's limit is rejected" {
    task good '"submission": {"max_archive": "100B"},'
    submission
    grade
    ends 3 rejected submission archive.too_large
}

@test "a required file that is missing" {
    task good '"submission": {"required_files": [{"path": "main.py"}]},'
    submission
    grade
    ends 3 rejected submission archive.required_file_missing
    field .reason | grep -qF main.py
}

@test "usage errors: exit 2, one line, with what to do" {
    for arguments in '' 'run' 'run only-one' 'run --nonsense a b' 'nonsense' 'run /nonexistent x'; do
        # shellcheck disable=SC2086
        run -2 "$ASSAY" $arguments
        [[ $arguments == '' || $output == assay:*'('*')' ]]
    done
}

@test "a missing submission is a usage error, and nothing is left behind" {
    task good
    run -2 "$ASSAY" run "$work/task" "$work/missing.tar"
    [[ $output == *missing.tar* ]]
}

@test "a state directory that cannot be made is the machine's fault" {
    task good
    submission
    touch "$work/file"
    ASSAY_STATE=$work/file/state run -4 "$ASSAY" run "${weak[@]}" "$work/task" "$work/submission.tar.gz"
    [[ $output == *'state'* ]]
}

@test "few descriptors: 64 will do, with fewer it is the machine that is short of them" {
    task good
    submission
    run -0 sh -c 'ulimit -n 64 && exec "$@"' sh "$ASSAY" run --quiet "${weak[@]}" "$work/task" "$work/submission.tar.gz"
    for most in 7 8 10 12; do
        run -4 sh -c 'ulimit -n "$0" && exec "$@"' "$most" \
            "$ASSAY" run --quiet "${weak[@]}" "$work/task" "$work/submission.tar.gz"
        [[ ${lines[-1]} == 'assay: infra.memory: '*'ulimit -n'* ]] || is "$most" infra.memory "$output"
    done
}

@test "descriptors 0 to 2 closed: it works all the same" {
    task good
    submission
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" <&- 2>&- > "$work/result.json"
    is status graded "$(field .status)"
    status=0
    "$ASSAY" run --quiet "${weak[@]}" "$work/task" "$work/submission.tar.gz" <&- >&- 2>&- || status=$?
    is exit 0 "$status"
}

@test "a signal ends an evaluation with 130 and leaves nothing; an ignored one does not" {
    task sleeps
    submission
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/result.json" \
        2> "$work/errors" 3>&- &
    local runner=$!
    until [ -n "$(ls "$ASSAY_STATE/evaluations" 2> /dev/null)" ] && pgrep -P "$runner" > /dev/null; do :; done
    until pgrep -f '^/tests/suite sleeps$' > /dev/null; do :; done
    kill -INT "$runner" # which bash has its background commands ignore
    kill -TERM "$runner"
    status=0
    wait "$runner" || status=$?
    is exit 130 "$status"
    is code interrupted "$(field .code)"
    nothing_left
}

@test "a runner that was killed leaves nothing running; the next start tidies up" {
    task sleeps '"limits": {"wall": "61s"},'
    submission
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/result.json" \
        2> "$work/errors" 3>&- &
    local runner=$! supervisor
    until supervisor=$(pgrep -P "$runner") && pgrep -f '^/tests/suite sleeps$' > /dev/null; do :; done
    kill -KILL "$runner"
    wait "$runner" || true
    wait_gone "$supervisor"
    [ -n "$(ls "$ASSAY_STATE/evaluations")" ]
    task good
    grade
    is status graded "$(field .status)"
    nothing_left
}

@test "tests that only their owner may read are the suite's own in its cell" {
    task good
    submission
    chmod 700 "$work/task/tests" "$work/task/tests/suite"
    grade
    is exit 0 "$status"
}
