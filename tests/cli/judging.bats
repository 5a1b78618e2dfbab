#!/usr/bin/env bats
# Evaluations that ask a judge: a command of the task's, or assay-judge with a chat API of our own.

load common

setup() {
    setup_work
    export ASSAY_JUDGE_PAUSE=1ms
    unset ASSAY_JUDGE_URL ASSAY_JUDGE_KEY ASSAY_JUDGE_KEY_FILE http_proxy https_proxy HTTPS_PROXY
    chmod 755 "$work"
}

teardown() {
    [ -z "${server:-}" ] || kill "$server"
    [ -z "${place:-}" ] || rm -rf "$place"
}

# A directory that a judge, which has an id of its own, may write to.
open_place() {
    place=$(mktemp -d)
    chmod 777 "$place"
}

rubric='"rubric": [{"name": "Code quality", "weight": 60}, {"name": "Docs", "weight": 40}]'

# judged SCORING [MEMBERS]: a task with the judge that stands in $work/task/judge
judged() {
    mkdir -p "$work/task/tests"
    cp "$ASSAY_BUILD/tests/suite" "$work/task/tests/"
    cat > "$work/task/judge"
    chmod 755 "$work/task/judge"
    cat > "$work/task/task.json" << END
{"schema": "assay.task/1", "name": "test", "scoring": {$1}${2:-}, "judge": {"command": ["./judge"]}}
END
}

verdict() { # SCORE SCORE
    echo "echo '{\"criteria\": [{\"name\": \"Code quality\", \"score\": $1, \"reasoning\": \"r\"}," \
        "{\"name\": \"Docs\", \"score\": $2, \"reasoning\": \"s\"}], \"summary\": \"fine\"}'"
}

serve() { # KIND…
    printf '%s\n' "$@" > "$work/script"
    python3 "$here/../programs/judge-server.py" "$work" > "$work/server.log" 2>&1 3>&- &
    server=$!
    until [ -s "$work/port" ]; do kill -0 $server; done
    ASSAY_JUDGE_URL=http://127.0.0.1:$(cat "$work/port")/v1
    export ASSAY_JUDGE_URL ASSAY_JUDGE_MODEL=model-1
}

@test "llm mode: the weighted mean of the judge's scores, with its reasons" {
    judged "$rubric" << END
#!/bin/sh
cat > /dev/null
$(verdict 90 60.5)
END
    submission
    grade
    is exit 0 "$status"
    is score 391/5 "$(field .exact.score)"
    is reasoning r "$(field '.criteria[0].reasoning')"
    is tries 1 "$(field .judge.tries)"
    is phases 'received unpack judge score' "$(field '[.phases[].name] | join(" ")')"
    nothing_left
}

@test "the request: rubric, files in order, SUBMISSION.md, what is no text is left out" {
    judged "$rubric" << END
#!/usr/bin/python3
import json, sys
q = json.load(sys.stdin)
print(json.dumps({"criteria": [{"name": c["name"], "score": 1, "reasoning": json.dumps(q)} for c in q["task"]["rubric"]], "summary": ""}))
END
    submission b.txt a/c.txt
    printf 'a\0b' > "$work/submission/binary"
    printf '## What I Built\n\nA thing.\n' > "$work/submission/SUBMISSION.md"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    grade
    is exit 1 "$status"
    field '.criteria[0].reasoning' > "$work/request.json"
    is schema assay.judge/1 "$(jq -r .schema "$work/request.json")"
    is files 'SUBMISSION.md a/c.txt b.txt binary' "$(jq -r '[.files[].path] | join(" ")' "$work/request.json")"
    is text 'a/c.txt' "$(jq -r '.files[1].text' "$work/request.json" | head -1)"
    is omitted 'not a text' "$(jq -r '.files[3].omitted' "$work/request.json")"
    jq -r .submission_md "$work/request.json" | grep -q 'A thing.'
    jq -r .submission_md "$work/request.json" | grep -q 'not addressed by agent'
}

@test "a judge that fails, or answers nonsense, is asked three times, and is never a 0" {
    submission
    while read -r code judge; do
        judged "$rubric" << END
#!/bin/sh
$judge
END
        grade
        ends 4 error judge "$code"
        is 'attempt used' false "$(field .attempt_used)"
        is tries 3 "$(field .judge.tries)"
    done << TABLE
judge.failed exit 7
judge.failed kill -9 \$\$
judge.invalid_verdict true
judge.invalid_verdict echo Sure!; $(verdict 1 2)
judge.invalid_verdict $(verdict 1 101)
judge.invalid_verdict $(verdict 1 '"2"')
judge.invalid_verdict $(verdict 1 2 | sed 's/Docs/docs/')
judge.invalid_verdict $(verdict 1 2 | sed 's/Docs/Code quality/')
judge.invalid_verdict head -c 5000000 /dev/zero
TABLE
    nothing_left
}

@test "a judge that comes to its senses is heard" {
    open_place
    judged "$rubric" << END
#!/bin/sh
echo x >> $place/count
[ \$(wc -l < $place/count) -ge 3 ] || exit 1
$(verdict 50 50)
END
    submission
    grade
    is exit 1 "$status"
    is score 50 "$(field .exact.score)"
    is tries 3 "$(field .judge.tries)"
}

@test "hybrid: a suite that fails ends the evaluation, and the judge is not asked" {
    judged '"mode": "hybrid", "test_weight": 60, "llm_weight": 40, "rubric": [{"name": "Tests", "weight": 60, "source": "test"}, {"name": "Docs", "weight": 40}]' \
        ', "suite": {"command": ["/tests/suite", "crashes"]}' << END
#!/bin/sh
END
    submission
    grade
    ends 4 error suite suite.signal
    is judge null "$(field .judge)"
}

@test "hybrid: the judge sees the suite's score" {
    judged '"mode": "hybrid", "test_weight": 60, "llm_weight": 40, "rubric": [{"name": "Tests", "weight": 60, "source": "test"}, {"name": "Docs", "weight": 40}]' \
        ', "suite": {"command": ["/tests/suite", "good"]}' << END
#!/usr/bin/python3
import json, sys
q = json.load(sys.stdin)
print(json.dumps({"criteria": [{"name": "Docs", "score": q["test_score"] + 10, "reasoning": ""}], "summary": ""}))
END
    submission
    grade
    is exit 0 "$status"
    is score 84 "$(field .exact.score)"
}

@test "a judge of the task's gets neither the operator's key nor anything else of the caller's" {
    open_place
    judged "$rubric" << END
#!/bin/sh
env > $place/environment
ls /proc/self/fd | wc -l > $place/descriptors
$(verdict 1 1)
END
    submission
    SECRET=1 ASSAY_JUDGE_KEY=secret ASSAY_JUDGE_URL=http://127.0.0.1:1 grade
    is exit 1 "$status"
    ! grep -E 'SECRET|secret|ASSAY' "$place/environment"
    [ "$(cat "$place/descriptors")" -le 5 ] # ls has one open for the directory, a shell its script
    ! is_root || ! grep -q "^USER=root" "$place/environment"
}

@test "assay-judge with a chat API: graded, its tokens recorded; the key came by a descriptor" {
    judged "$rubric" < /dev/null
    sed -i 's/, "judge": .*/}/' "$work/task/task.json"
    submission
    serve good
    (umask 077 && echo sesame > "$work/key")
    ASSAY_JUDGE_KEY_FILE=$work/key grade
    is exit 0 "$status"
    is score 411/5 "$(field .exact.score)"
    [ "$(field .judge.prompt_tokens)" -gt 0 ]
    is key 'Bearer sesame' "$(jq -r .headers.Authorization "$work/request-1.json")"
}

@test "assay-judge with an API that fails: judge.failed, after three tries" {
    judged "$rubric" < /dev/null
    sed -i 's/, "judge": .*/}/' "$work/task/task.json"
    submission
    serve 500 prose prose
    grade
    ends 4 error judge judge.failed
    is requests 3 "$(find "$work" -name 'request-*.json' | wc -l)"
}

@test "without a judge, and without a score: pending, or what the task says" {
    judged "$rubric" < /dev/null
    sed -i 's/, "judge": .*/}/' "$work/task/task.json"
    submission
    grade
    ends 5 pending judge judge.pending
    sed -i 's/"rubric"/"llm_missing": "error", "rubric"/' "$work/task/task.json"
    grade
    ends 4 error judge judge.missing
    sed -i 's/"error", "rubric"/"zero", "rubric"/' "$work/task/task.json"
    grade
    is exit 1 "$status"
    is score 0 "$(field .exact.score)"
    grade --llm-score 80
    is exit 0 "$status"
}

@test "a judge that leaves a process, which keeps its output, is heard when it has ended" {
    open_place
    judged "$rubric" << END
#!/bin/sh
sleep 1000 &
echo \$! > $place/pid
$(verdict 80 80)
END
    submission
    status=0
    timeout 60 "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/result.json" 2> "$work/errors" || status=$?
    kill "$(cat "$place/pid")"
    is exit 0 "$status"
    is score 80 "$(field .exact.score)"
    is tries 1 "$(field .judge.tries)"
}
