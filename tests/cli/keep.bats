#!/usr/bin/env bats
# assay run --keep: what an evaluation worked on stays, to be looked at.

load common

setup() {
    setup_work
}

# kept [OPTIONS…]: grades; where it was kept is $there
kept() {
    grade --keep "$@"
    there=$(sed -n 's/^assay: kept in //p' "$work/errors")
    [ -d "$there" ]
    is 'its name' "$(field .id)" "$(basename "$there")"
    nothing_left
}

@test "the submission, what the suite wrote and printed, and the result" {
    script_task <<< 'echo printed; echo said >&2; echo "{\"score\": 70, \"pass\": true}" > /results/score.json'
    submission main.txt src/more.txt
    kept
    is exit 0 "$status"
    is files 'main.txt
src
src/more.txt' "$(find "$there/submission" -mindepth 1 -printf '%P\n' | sort)"
    is result '{"score": 70, "pass": true}' "$(cat "$there/results/score.json")"
    is stdout printed "$(cat "$there/suite.stdout")"
    is stderr said "$(cat "$there/suite.stderr")"
    cmp "$there/result.json" "$work/result.json"
    [ ! -e "$there/built" ]
}

@test "what was built, and what is missing in the middle of a log" {
    task good '"build": {"command": ["sh", "build.sh"]}, "limits": {"output": "4KiB"},'
    mkdir "$work/submission"
    echo 'echo first; head -c 20000 /dev/zero; echo last; echo made > made' > "$work/submission/build.sh"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    kept
    is exit 0 "$status"
    is built made "$(cat "$there/built/made")"
    [ ! -e "$there/submission/made" ]
    is 'first line' first "$(head -n 1 "$there/build.stdout")"
    is 'last line' last "$(tail -n 1 "$there/build.stdout" | tr -d '\0')"
    grep -qa '^\[[0-9]* bytes are missing here\]$' "$there/build.stdout"
}

@test "an evaluation without a score is kept too" {
    task sleeps '"limits": {"wall": "200ms"},'
    submission
    kept
    is exit 4 "$status"
    is code limit.wall "$(jq -r .code "$there/result.json")"
    [ -e "$there/submission/main.txt" ]
}

@test "what a judge is asked, and a complete result whoever asks" {
    mkdir -p "$work/task"
    echo '{"schema": "assay.task/1", "name": "test", "scoring": {"rubric": [{"name": "a", "weight": 100}]}}' \
        > "$work/task/task.json"
    submission
    kept --for submitter
    is exit 5 "$status"
    is schema assay.judge/1 "$(jq -r .schema "$there/judge-request.json")"
    is file main.txt "$(jq -r '.files[0].path' "$there/judge-request.json")"
    is status pending "$(jq -r .status "$there/result.json")"
}

@test "what is kept is its owner's alone, and later runs let it be" {
    task good
    submission
    kept
    is mode 700 "$(stat -c %a "$there")"
    grade
    [ -e "$there/result.json" ]
}

@test "what cannot be kept leaves nothing behind, now or when the runner is killed at it" {
    task good
    submission
    mkfifo "$work/archive"
    "$ASSAY" run --keep --quiet "${weak[@]}" "$work/task" - < "$work/archive" 2> "$work/errors" 3>&- &
    exec 4> "$work/archive"
    until rmdir "$ASSAY_STATE/kept" 2> /dev/null; do kill -0 $!; done
    cat "$work/submission.tar.gz" >&4
    exec 4>&-
    status=0
    wait $! || status=$?
    is exit 4 "$status"
    grep -q '^assay: infra.state: cannot keep the evaluation' "$work/errors"
    nothing_left

    # What one that was killed in the middle leaves: all but the last step.
    kept
    mv "$there/submission" "$there/tree"
    mv "$there" "$ASSAY_STATE/evaluations/"
    grade
    nothing_left
}
