#!/usr/bin/env bats
# Results that can be made again: digests of what went in, a task that changes meanwhile, --replay.

load common

setup() {
    setup_work
    unset ASSAY_JUDGE_URL ASSAY_JUDGE_KEY ASSAY_JUDGE_KEY_FILE
}

# replay [OPTIONS…]: grade again as in result.json; what differs is in $work/replay.json
replay() {
    status=0
    "$ASSAY" run --json "${weak[@]}" --replay "$work/result.json" "$@" "$work/task" "$work/submission.tar.gz" \
        > "$work/replay.json" 2> "$work/errors" || status=$?
}

# same: nothing differs
same() {
    is 'what differs' '' "$(jq -c '.differences[]' "$work/replay.json")"
    is exit 0 "$status"
    is same true "$(jq .same "$work/replay.json")"
    is of "$(field .id)" "$(jq -r .of "$work/replay.json")"
}

@test "task.sha256 is that of task.json, tests/ and truth/: as docs/result.md says, by another hand" {
    task good
    mkdir -p "$work/task/truth" "$work/task/tests/b" "$work/task/solutions"
    echo secret > "$work/task/truth/truth.json"
    echo text > "$work/task/tests/b/a file"
    ln -s b "$work/task/tests/a"
    submission
    grade
    is sha256 "$(python3 "$here/../reference/task-digest.py" "$work/task")" "$(field .task.sha256)"
    first=$(field .task.sha256)
    echo other > "$work/task/solutions/notes"
    grade
    is 'with a file that does not count' "$first" "$(field .task.sha256)"
    for change in 'echo >> task.json' 'echo x > truth/more' 'chmod +x tests/b/a*' 'rm tests/a'; do
        (cd "$work/task" && eval "$change")
        grade
        [ "$(field .task.sha256)" != "$first" ] || is "after $change" another "$first"
        first=$(field .task.sha256)
    done
}

@test "a result tells what went in: seed, time, score, policy" {
    task good
    submission
    grade --seed 7
    is inputs '7 null null null null' "$(field '.inputs | "\(.seed) \(.time_used) \(.llm_score) \(.trajectory_sha256) \(.policy_sha256)"')"
    echo '{"schema": "assay.operator/1", "host_image": true}' > "$work/operator.json"
    grade --policy "$work/operator.json"
    is policy "$(sha256sum < "$work/operator.json" | cut -c 1-64)" "$(field .inputs.policy_sha256)"
}

# changes COMMAND: grade a task whose files that command changes after it was opened: when the runner has begun to
# read the archive, which is longer than a pipe takes, and not yet come to its end.
changes() {
    mkfifo "$work/archive"
    head -c 400000 /dev/urandom > "$work/submission/large"
    tar -C "$work/submission" -cf "$work/large.tar" .
    "$ASSAY" run --json "${weak[@]}" "$work/task" - < "$work/archive" > "$work/result.json" 2> "$work/errors" 3>&- &
    exec 4> "$work/archive"
    head -c 200000 "$work/large.tar" >&4
    (cd "$work/task" && eval "$1")
    tail -c +200001 "$work/large.tar" >&4
    exec 4>&-
    status=0
    wait $! || status=$?
    rm "$work/archive"
}

# place PID: how many bytes of a large file it has read; 0: none, or nobody may know
place() {
    local most=0 pos
    for pos in $(sed -n 's/^pos:[[:space:]]*//p' "/proc/$1/fdinfo"/* 2> /dev/null); do
        if [ "$pos" -gt "$most" ]; then most=$pos; fi
    done
    echo "$most"
}

@test "a task that changes while it grades: no score, and what changed is named" {
    while IFS='|' read -r change what; do
        rm -rf "$work/task"
        task good
        mkdir -p "$work/task/truth" "$work/task/tests/deep"
        echo a > "$work/task/tests/deep/file"
        submission
        changes "$change"
        ends 4 error infra infra.task_changed
        field .reason | grep -q "^$what: changed" || is "after $change" "$what" "$(field .reason)"
        is 'attempt used' false "$(field .attempt_used)"
    done << 'TABLE'
echo b > tests/deep/file|tests/deep/file
echo b > tests/deep/more|tests/deep/more
rm tests/deep/file|tests/deep
echo b > truth/truth.json|truth/truth.json
echo >> task.json|task.json
cp task.json x && mv x task.json|task.json
rm -r truth|.*
TABLE
    nothing_left
}

@test "a task too large to be hashed is graded at once, without a digest, and that is said" {
    task good
    mkdir -p "$work/task/truth"
    truncate -s 5G "$work/task/truth/large"
    submission
    grade
    is status graded "$(field .status)"
    is sha256 null "$(field .task.sha256)"
    is why 'there is no digest of it: its files have more than 4 GiB' \
        "$(field '.suite_warnings[] | select(.field == "task") | .message')"
}

@test "who hashes a task ends when the runner does" {
    task good
    mkdir -p "$work/task/truth"
    truncate -s 4000M "$work/task/truth/large"
    submission
    for signal in KILL TERM; do
        "$ASSAY" run --quiet "${weak[@]}" "$work/task" "$work/submission.tar.gz" 2> /dev/null 3>&- &
        runner=$! watcher=
        until [ -n "$watcher" ]; do
            kill -0 "$runner"
            for child in $(pgrep -P "$runner" || true); do
                [ -z "$(find "/proc/$child/fd" -lname '*/truth/large' 2> /dev/null)" ] || watcher=$child
            done
        done
        kill -"$signal" "$runner"
        wait "$runner" || true
        while [ -n "$(tr -d '\0' 2> /dev/null < "/proc/$watcher/cmdline")" ]; do
            # Its place in the file that it reads: how far it came.
            offset=$(place "$watcher")
            [ "$offset" -lt 2000000000 ] || is "after SIG$signal" gone 'still at work'
        done
    done
}

@test "what does not belong to the task may change" {
    task good
    submission
    changes 'echo b > notes; mkdir -p solutions/x'
    is status graded "$(field .status)"
}

@test "the same again: container mode, a judge's words, a number, dimensions" {
    rubric='"rubric": [{"name": "Works", "weight": 60, "source": "test"}, {"name": "Style", "weight": 40}]'
    echo '{"criteria": [{"name": "Style", "score": 87.25, "reasoning": "r"}], "summary": "s"}' > "$work/verdict.json"
    while IFS='|' read -r scoring options; do
        rm -rf "$work/task"
        mkdir -p "$work/task/tests"
        cp "$ASSAY_BUILD/tests/suite" "$work/task/tests/"
        echo "{\"schema\": \"assay.task/1\", \"name\": \"test\", \"scoring\": {$scoring}, \"suite\": {\"command\": [\"/tests/suite\", \"good\"]}}" |
            sed "s/RUBRIC/$rubric/" > "$work/task/task.json"
        submission
        # shellcheck disable=SC2086 # options
        grade ${options//WORK/$work}
        replay
        same
    done << 'TABLE'
"mode": "container"|--seed 5
"mode": "hybrid", "test_weight": 60, "llm_weight": 40, RUBRIC|--llm-score WORK/verdict.json
"mode": "hybrid", "test_weight": 60, "llm_weight": 40, RUBRIC|--llm-score 33.25
"mode": "hybrid", "test_weight": 60, "llm_weight": 40, RUBRIC|
"scheme": "dimensions", "dimensions": [{"name": "correctness", "weight": 0.5, "source": "suite"}, {"name": "speed", "weight": 0.5, "primitive": "time_decay", "time_limit_secs": 100}]|--time-used 12.5
TABLE
}

@test "a finalized result replays as well" {
    mkdir -p "$work/task"
    echo '{"schema": "assay.task/1", "name": "test", "scoring": {"rubric": [{"name": "Style", "weight": 100}]}}' > "$work/task/task.json"
    submission
    grade
    is exit 5 "$status"
    mv "$work/result.json" "$work/before.json"
    "$ASSAY" finalize --json --llm-score 90 "$work/before.json" > "$work/result.json"
    replay
    same
}

@test "what ended without a score ends so again" {
    task crashes
    submission
    grade
    is exit 4 "$status"
    replay
    same
}

@test "another submission, another task: each difference is told, exit 1" {
    task good
    submission
    grade
    submission another
    replay
    is exit 1 "$status"
    is same false "$(jq .same "$work/replay.json")"
    jq -r '.differences[].path' "$work/replay.json" | grep -qx /submission/sha256
    rm -rf "$work/submission"
    submission
    task fails
    replay
    is exit 1 "$status"
    jq -r '.differences[].path' "$work/replay.json" > "$work/paths"
    for path in /task/sha256 /score /exact/score; do
        grep -qx "$path" "$work/paths" || is "$path" differs same
    done
    is 'score' '80.00 40.00' "$(jq -r '.differences[] | select(.path == "/score") | "\(.was) \(.is)"' "$work/replay.json")"
}

@test "for people: what has no outcome, too" {
    mkdir -p "$work/task"
    echo '{"schema": "assay.task/1", "name": "test", "scoring": {"rubric": [{"name": "Style", "weight": 100}]}}' > "$work/task/task.json"
    submission
    grade
    is words "the same as $(field .id): pending" \
        "$("$ASSAY" run "${weak[@]}" --replay "$work/result.json" "$work/task" "$work/submission.tar.gz" 2> /dev/null)"
}

@test "for people: one line, or a line a difference" {
    task good
    submission
    grade
    is words "the same as $(field .id): graded pass" \
        "$("$ASSAY" run "${weak[@]}" --replay "$work/result.json" "$work/task" "$work/submission.tar.gz")"
    submission another
    run "$ASSAY" run "${weak[@]}" --replay "$work/result.json" "$work/task" "$work/submission.tar.gz"
    is exit 1 "$status"
    is headline "differs from $(field .id):" "${lines[0]}"
    [[ ${lines[1]} == "  /submission/sha256: was "* ]]
}

@test "usage: a result that is one, and no inputs beside it" {
    task good
    submission
    grade
    for options in '--seed 1' '--llm-score 1' '--time-used 1' '--for submitter'; do
        # shellcheck disable=SC2086 # options
        replay $options
        is "exit with $options" 2 "$status"
    done
    cp "$work/result.json" "$work/good.json"
    for change in '{}' '.inputs.seed = "-1"' '.inputs.seed = "x"'; do
        jq "$change" "$work/good.json" > "$work/result.json"
        replay
        is "exit with $change" 2 "$status"
        grep -q '^assay: result.invalid: ' "$work/errors" || is "$change" result.invalid "$(cat "$work/errors")"
    done
    mkfifo "$work/pipe"
    { head -c 40000000 /dev/zero | tr '\0' ' '; cat "$work/good.json"; } > "$work/pipe" 2> /dev/null 3>&- &
    status=0
    "$ASSAY" run "${weak[@]}" --replay "$work/pipe" "$work/task" "$work/submission.tar.gz" 2> "$work/errors" || status=$?
    is 'exit, too large' 2 "$status"
    grep -q '^assay: result.invalid: .*more than ' "$work/errors"
    rm "$work/result.json"
    replay
    is exit 2 "$status"
}
