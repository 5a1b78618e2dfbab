#!/usr/bin/env bats
# Workflows: what a submission asks the tools of its task to do, run step by step and scored by the
# record of it.

load common

setup() {
    setup_work
    mkdir -p "$work/task/tools" "$work/task/truth" "$work/task/tests"
    # `sum` adds up .numbers; `act` does what its input says, or prints it.
    cat > "$work/task/tools/sum" << 'END'
#!/usr/bin/env python3
import json, sys
given = json.load(sys.stdin)
print(json.dumps({"result": sum(given["numbers"])}))
END
    cat > "$work/task/tools/act" << 'END'
#!/bin/sh
read -r what
case $what in
*sleep*) exec sleep 1000 ;;
*fail*) echo 'no' >&2 && exit 3 ;;
*loop*) while :; do :; done ;;
*flood*) exec yes ;;
*text*) echo 'not JSON' ;;
*nothing*) exit 0 ;;
*deep*) head -c 1000 /dev/zero | tr '\0' '[' ;;
*look*) echo "\"$(ls -d /tests /truth /agent_output /submission /tools 2> /dev/null | tr '\n' ' ')\"" ;;
*write*) touch /tools/x 2> /dev/null && echo '"written"' || echo '"read-only"' ;;
*state*) [ ! -e /tmp/here ] && touch /tmp/here && echo '"fresh"' || echo '"used"' ;;
*) printf '%s\n' "$what" ;;
esac
END
    chmod +x "$work/task/tools/sum" "$work/task/tools/act"
    echo '{"result": 10, "all": {"b": {"result": 3}, "c": {"result": 7}}}' > "$work/task/truth/truth.json"
}

quality='"quality": {"primitive": "exact_match", "field": "result", "ground_truth_field": "result"}'

# workflow_task [SCORING [MEMBERS]]: with the tools sum (0.5 s declared), act and slow
workflow_task() {
    cat > "$work/task/task.json" << END
{
    "schema": "assay.task/1",
    "name": "test",
    "scoring": {"scheme": "composite", "max_budget": 0.05, "max_latency": "10s", ${1:-$quality}},
    "tools": {"sum": {"command": ["/tools/sum"], "cost": 0.01, "seconds": 0.5},
              "act": {"command": ["/tools/act"], "cost": 0.01, "seconds": 2},
              "slow": {"command": ["/tools/act"]}}
    ${2:+, $2}
}
END
}

# workflow STEPS [ERROR_HANDLING]: graded; the result is in $work/result.json
workflow() {
    echo "{\"steps\": [$1]${2:+, \"error_handling\": $2}}" > "$work/workflow.json"
    status=0
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/workflow.json" > "$work/result.json" 2> "$work/errors" || status=$?
}

# step ID TOOL INPUT [DEPENDS_ON [MORE]]
step() {
    printf '{"id": "%s", "tool": "%s", "input": %s, "depends_on": [%s]%s}' "$1" "$2" "$3" "${4:-}" "${5:-}"
}

# each 'ID STATUS ATTEMPTS'
steps() {
    field '.execution.steps[] | [.id, .status, .attempts[].status] | join(" ")'
}

# same_json PATH WANT: of the result, whatever the order of members
same_json() {
    diff <(echo "$2" | jq -S .) <(jq -S "$1" "$work/result.json")
}

# The record by itself has the same score.
replays() {
    jq .execution "$work/result.json" > "$work/record.json"
    jq .scoring "$work/task/task.json" > "$work/spec.json"
    for spec in "$work/spec.json" "$work/task/task.json"; do
        "$ASSAY" workflow score --json "$spec" "$work/record.json" > "$work/replayed.json" || true
        is 'the score of the record' "$(field '{outcome, score, scale, composite, exact}')" \
            "$(jq '{outcome, score, scale, composite, exact}' "$work/replayed.json")"
    done
}

a='{"id": "a", "tool": "sum", "input": {"numbers": [1, 2]}}'
# shellcheck disable=SC2016 # no expressions
from_a='{"numbers": [{"$from": "a", "path": "/result"}, 7]}'

@test "steps get what they refer to, and the output is scored: exactly, by the record" {
    workflow_task
    workflow "$(step b sum "$from_a" '"a"' ', "timeout_seconds": 10'), $a" '{"b": {"retry_count": 2}}'
    is exit 0 "$status"
    is status 'graded pass 1' "$(field '"\(.status) \(.outcome) \(.scale)"')"
    # .5 × 1 + .25 × (1 − .02/.05) + .15 × (1 − 1/10) + .1
    is score 177/200 "$(field .exact.score)"
    is 'score as shown' 0.885000 "$(sed -n 's/^  "score": \(.*\),/\1/p' "$work/result.json")"
    is parts '{"gate":true,"success":1,"cost":0.6,"latency":0.9,"reliability":1}' "$(field '.composite | tostring')"
    same_json .execution '{
        "schema": "assay.execution/1",
        "steps": [
            {"id": "a", "tool": "sum", "status": "completed", "retry_count": 0,
             "attempts": [{"status": "ok", "seconds": 0.5, "cost": 0.01}], "output": {"result": 3}},
            {"id": "b", "tool": "sum", "status": "completed", "retry_count": 2,
             "attempts": [{"status": "ok", "seconds": 0.5, "cost": 0.01}], "output": {"result": 10}}],
        "total_steps": 2, "actual_seconds": 1, "actual_cost": 0.02, "budget_aborted": false, "output_quality": 1}'
    is integrity isolated "$(field .isolation.integrity)"
    is 'cells of tools' 2 "$(field .usage.submission.cells)"
    is phases 'received unpack image start run collect score' "$(field '[.phases[].name] | join(" ")')"
    replays
    nothing_left
}

@test "what nobody depends on is the output: of several steps an object" {
    workflow_task '"quality": {"primitive": "exact_match", "field": "/c/result", "ground_truth_field": "/all/c/result"}'
    workflow "$a, $(step b sum '{"numbers": [3]}'), $(step c sum "{\"numbers\": [{\"\$from\": \"a\", \"path\": \"/result\"}, 4]}" '"a"')"
    is exit 0 "$status"
    is quality 1 "$(field .execution.output_quality)"
    # The step `b` runs beside the others.
    is latency 1 "$(field .execution.actual_seconds)"
    replays
    # A step that failed is missing there.
    workflow "$a, $(step c act '"fail"' '"a"'), $(step b sum '{"numbers": [3]}')"
    is exit 1 "$status"
    is quality 0 "$(field .execution.output_quality)"
    [[ $(field '.suite_warnings[] | select(.field == "quality").message') == *'/c/result'* ]]
    replays
}

@test "an id is no pointer, whatever it looks like" {
    workflow_task '"quality": {"primitive": "exact_match", "field": "/slash", "ground_truth_field": "result"}'
    workflow "$(step /a sum '{"numbers": [10]}'), $(step a sum '{"numbers": [5]}'), $(step '~1' sum '{"numbers": [6]}'), $(
        step b act '{"slash": {"$from": "/a", "path": "/result"}, "plain": {"$from": "a", "path": "/result"}, "tilde": {"$from": "~1", "path": "/result"}}' \
            '"/a", "a", "~1"')"
    is exit 0 "$status"
    same_json '.execution.steps[] | select(.id == "b").output' '{"slash": 10, "plain": 5, "tilde": 6}'
    replays
}

@test "latency is that of the longest way, whatever ran beside it" {
    workflow_task "\"max_attempts\": 1, $quality" '"limits": {"cpus": 4}'
    # 0.5 and 0.5 beside 2, then 0.5.
    workflow "$a, $(step l act '[1]'), $(step b sum '{"numbers": []}' '"a"'), $(step d sum '{"numbers": [10]}' '"b", "l"')"
    is exit 0 "$status"
    is seconds 2.5 "$(field .execution.actual_seconds)"
    is cost 0.04 "$(field .execution.actual_cost)"
    replays
}

@test "retries that were declared are free, those beyond cost reliability, and the last failure more" {
    workflow_task "\"max_attempts\": 5, $quality"
    workflow "$(step a act '"fail"')" '{"a": {"retry_count": 2}}'
    is exit 1 "$status"
    is steps 'a hard_failure error error error error error' "$(steps)"
    is why 'exited with status 3, expected 0' "$(field .execution.steps[0].attempts[4].error)"
    is reliability 3/10 "$(field .exact.reliability)"
    is success 0 "$(field .exact.success)"
    replays
    # Without max_attempts there are as many as were declared.
    workflow_task
    workflow "$(step a act '"fail"')" '{"a": {"retry_count": 2}}'
    is steps 'a hard_failure error error error' "$(steps)"
    is reliability 1/2 "$(field .exact.reliability)"
    replays
    workflow "$(step a act '"fail"')"
    is steps 'a hard_failure error' "$(steps)"
    replays
}

@test "an attempt over its timeout_seconds counts as that, by the clock or by the declared time" {
    workflow_task
    workflow "$(step a act '1' '' ', "timeout_seconds": 1.5'), $(step b slow '"sleep"' '' ', "timeout_seconds": 0.25'), $(step c act '1' '' ', "timeout_seconds": 2')" \
        '{"a": {"retry_count": 1}}'
    is exit 1 "$status"
    is steps 'a hard_failure timeout timeout
b hard_failure timeout
c completed ok' "$(steps)"
    is seconds '1.5 1.5 0.25 2' "$(field '[.execution.steps[].attempts[].seconds] | join(" ")')"
    is latency 3 "$(field .execution.actual_seconds)"
    is why 'took longer than its timeout_seconds, 0.25' "$(field .execution.steps[1].attempts[0].error)"
    # 1 − 3 × .2 − 2 × .5
    is reliability 0 "$(field .exact.reliability)"
    is 'cells of tools' 2 "$(field .usage.submission.cells)"
    replays
}

@test "what depends on a step that failed is skipped, and the others go on" {
    workflow_task "\"min_steps\": 8, $quality"
    workflow "$(step f act '"fail"'), $(step g sum '{"numbers": [1]}' '"f"'), $(step h sum '{"numbers": [1]}' '"g", "a"'), $a, $(step b sum "$from_a" '"a"')"
    is exit 1 "$status"
    is steps 'f hard_failure error
g skipped
a completed ok
h skipped
b completed ok' "$(steps)"
    is 'steps that count' 8 "$(field .execution.total_steps)"
    replays
    # Two of the eight are completed, and what came of `b` is beside what is missing of `h`.
    workflow_task "\"min_steps\": 8, \"quality\": {\"primitive\": \"exact_match\", \"field\": \"/b/result\", \"ground_truth_field\": \"result\"}"
    workflow "$(step f act '"fail"'), $(step g sum '{"numbers": [1]}' '"f"'), $a, $(step b sum "$from_a" '"a"')"
    is success 1/4 "$(field .exact.success)"
    replays
}

@test "the run ends when the next attempt would cost more than the budget, in the order of the steps" {
    workflow_task "$quality" '"limits": {"cpus": 4}'
    steps=$a
    for i in 1 2 3 4 5 6; do steps+=", $(step "s$i" sum '{"numbers": [10]}')"; done
    workflow "$steps"
    is exit 1 "$status"
    is steps 'a completed ok
s1 completed ok
s2 completed ok
s3 completed ok
s4 completed ok
s5 budget_abort
s6 budget_abort' "$(steps)"
    is aborted 'true 0.05' "$(field '.execution | "\(.budget_aborted) \(.actual_cost)"')"
    is 'the part of cost' 0 "$(field .exact.cost)"
    replays
    # A retry of an early step takes from later ones, also where those were faster; and a step that
    # has begun keeps what it could pay for.
    for _ in 1 2 3; do
        workflow "$(step f act '"fail"'), $(step g act '"fail"'), $(step s sum '{"numbers": [10]}')" '{"f": {"retry_count": 2}, "g": {"retry_count": 3}}'
        is steps 'f hard_failure error error error
g budget_abort error error
s budget_abort' "$(steps)"
        is cost 0.05 "$(field .execution.actual_cost)"
        replays
    done
    # What costs nothing is not to be had either, once the run has ended.
    workflow "$(step f act '"fail"'), $(step g slow '1')" '{"f": {"retry_count": 6}}'
    is steps 'f budget_abort error error error error error
g budget_abort' "$(steps)"
    replays
}

@test "cost and latency count only above a success of exactly 0.7" {
    echo '{"result": [1, 2, 3, 4, 5, 6, 7, 8]}' > "$work/task/truth/truth.json"
    workflow_task '"min_steps": 5, "quality": {"primitive": "exact_match_ratio", "field": "result", "ground_truth_field": "result"}'
    early=''
    for i in 1 2 3; do early+="$(step "s$i" slow '1'), "; done
    workflow "$early $(step d slow '{"result": [1, 2, 3, 4, 5, 6, 7, 0]}' '"s1", "s2", "s3"')"
    is success 7/10 "$(field .exact.success)"
    is gate false "$(field .composite.gate)"
    is score 9/20 "$(field .exact.score)"
    is exit 1 "$status"
    replays
    workflow "$early $(step d slow '{"result": [1, 2, 3, 4, 5, 6, 7, 8]}' '"s1", "s2", "s3"')"
    is gate true "$(field .composite.gate)"
    replays
}

@test "a suite says how good the output is, from /workflow" {
    cat > "$work/task/tests/run" << 'END'
#!/bin/sh
grep -q '"result":10' /workflow/output.json && grep -q '"budget_aborted": false' /workflow/execution.json || exit 1
[ -e /agent_output/answer.json ] && [ ! -e /tools ] || exit 1
echo '{"score": 87.5, "pass": true, "tests": [{"name": "ten", "passed": true}]}' > /results/score.json
END
    chmod +x "$work/task/tests/run"
    workflow_task '"quality": {"source": "suite"}' '"suite": {"command": ["/tests/run"]}'
    workflow "$a, $(step b sum "$from_a" '"a"')"
    is exit 0 "$status"
    is quality 0.875 "$(field .execution.output_quality)"
    is tests ten "$(field '.tests[].name')"
    is cells 'suite 2' "$(field '.usage | "\(keys[1]) \(.submission.cells)"')"
    replays
    # A suite that fails is nobody's score.
    workflow "$a"
    is exit 4 "$status"
    is code suite.exit "$(field .code)"
    is score null "$(field .score)"
    nothing_left
}

@test "each way a tool can fail is an error of that attempt" {
    workflow_task "\"max_budget\": 1, $quality" '"submission": {"limits": {"cpu": "100ms"}}'
    sed -i 's/"max_budget": 0.05, //' "$work/task/task.json"
    all=$a
    for what in fail loop flood text nothing deep; do all+=", $(step $what act "\"$what\"")"; done
    # shellcheck disable=SC2016 # no expressions
    all+=", $(step pointer act '{"$from": "a", "path": "/results"}' '"a"' ', "timeout_seconds": 5')"
    workflow "$all"
    is exit 1 "$status"
    is errors 'fail error exited with status 3, expected 0
loop error limit.cpu: used more processor time than 100 ms
flood error limit.output: printed more than 64 KiB
text error the output is no JSON: line 1, column 1: expected a value
nothing error the output is no JSON: line 1, column 1: the document is empty
deep error the output is no JSON: line 1, column 65: nested deeper than 64 levels
pointer error the output of "a" has nothing at "/results"' \
        "$(field '.execution.steps[1:][] | "\(.id) \(.attempts[].status) \(.attempts[].error)"')"
    is 'what is charged where no tool is called' '[{"status":"error","seconds":0,"cost":0}]' \
        "$(field '[.execution.steps[-1].attempts[] | del(.error)] | tostring')"
    replays
    nothing_left
}

@test "a tool's cell has the tools and nothing else of the task, and is fresh each time" {
    workflow_task
    workflow "$(step a act '"look"'), $(step b act '"write"' '"a"'), $(step c act '"state"'), $(step d act '"state"' '"c"')"
    is outputs '/tools  read-only fresh fresh' "$(field '[.execution.steps[].output] | join(" ")')"
    [ ! -e "$work/task/tools/x" ]
}

@test "a tool that is not there is the task's fault" {
    workflow_task
    rm "$work/task/tools/sum"
    run -2 --separate-stderr "$ASSAY" check "$work/task"
    [[ $stderr == *suite.tool_not_found*'/tools/sum is not in tools/'* ]]
    workflow "$a"
    ends 4 error suite suite.tool_not_found
    nothing_left
}

@test "tools that lead out of the task are refused" {
    workflow_task
    ln -s /etc/passwd "$work/task/tools/out"
    workflow "$a"
    is exit 2 "$status"
    grep -q '^assay: task.unsafe: .*tools/out: is a link that leaves its directory' "$work/errors"
}

@test "a workflow comes alone, in a directory or in an archive" {
    workflow_task "\"max_attempts\": 1, $quality"
    mkdir "$work/folder"
    echo "{\"steps\": [$(step a sum '{"numbers": [10]}')]}" > "$work/folder/workflow.json"
    tar -C "$work/folder" -cf "$work/folder.tar" .
    for form in folder folder.tar folder/workflow.json; do
        run -0 "$ASSAY" run "${weak[@]}" "$work/task" "$work/$form"
        [[ ${lines[0]} == 'test: passed, 0.942500 of 1 (passes at 0.7)' ]]
        [[ $output == *'1 step, 0.5 s, cost 0.01, quality 1'*'completed a (sum, 1 attempt)'* ]]
    done
    run -1 "$ASSAY" run "${weak[@]}" --fail-under 0.943 --quiet "$work/task" "$work/folder"
    run -0 "$ASSAY" run "${weak[@]}" --fail-under 0.9425 --quiet "$work/task" "$work/folder"
    # A key that nobody knows is warned of.
    jq '.steps[0].timeout_second = 5' "$work/folder/workflow.json" > "$work/odd.json"
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/odd.json" > "$work/result.json"
    is warning 'is not a key here; did you mean "timeout_seconds"?' \
        "$(field '.submission_warnings[] | select(.field == "steps[0].timeout_second").message')"
    submission
    grade
    ends 3 rejected submission workflow.invalid
}

@test "a workflow that is none is rejected before anything runs, also by the intake alone" {
    workflow_task
    workflow "$(step a sum '{}' '"a"')"
    ends 3 rejected submission workflow.invalid
    [[ $(field .reason) == *'steps[0].depends_on: makes a circle'* ]]
    run -3 "$ASSAY" submission check "$work/task" "$work/workflow.json"
    [[ $output == *'workflow.invalid'*'makes a circle'* ]]
    # What is deep, long or large is refused at its bound.
    { printf '{"steps": [' && yes "{}," | head -100000 && echo "{}]}"; } > "$work/large"
    { printf '{"steps": [{"id": "a", "tool": "sum", "input": ' && head -c 100000 /dev/zero | tr '\0' '['; } > "$work/deep"
    { printf '{"steps": [{"id": "a", "tool": "sum", "input": "' && head -c 600000 /dev/zero | tr '\0' x && echo '"}]}'; } > "$work/long"
    { printf '{"steps": [{"id": "a", "tool": "sum", "input": "' && head -c 5000000 /dev/zero | tr '\0' x && echo '"}]}'; } > "$work/huge"
    while read -r file why; do
        cp "$work/$file" "$work/workflow.json"
        run -3 --separate-stderr "$ASSAY" run "${weak[@]}" --quiet "$work/task" "$work/workflow.json"
        [[ $stderr == *"$why"* ]] || { echo "$stderr" && return 1; }
    done << 'END'
large must be an array of 1 to 1000 objects
deep nested deeper than 64
long has more than 524288 bytes
huge more than 4194304 bytes
END
    nothing_left
}

@test "the outputs of a workflow are bounded together, whatever each may have" {
    workflow_task "\"max_attempts\": 1, $quality" '"limits": {"cpus": 2}, "submission": {"limits": {"output": "1MiB"}}'
    { printf '"' && head -c 1000000 /dev/zero | tr '\0' x && printf '"'; } > "$work/task/tools/large"
    sed -i 's|"slow": {"command": \["/tools/act"\]}|"slow": {"command": ["/bin/cat", "/tools/large"]}|' "$work/task/task.json"
    workflow "$(for i in {1..16}; do step "s$i" slow 1 && printf ,; done)$a"
    is exit 1 "$status"
    is steps 17 "$(field '.execution.steps | map(select(.status == "completed")) | length')"
    workflow "$(for i in {1..17}; do step "s$i" slow 1 && printf ,; done)$a"
    ends 3 rejected submission workflow.invalid
    [[ $(field .reason) == *'more than 16777216 bytes'* ]]
    nothing_left
}

@test "all attempts together have limits.wall" {
    workflow_task "\"max_attempts\": 9, $quality" '"limits": {"wall": "200ms"}'
    workflow "$(step a slow '"sleep"' '' ', "timeout_seconds": 0.2')"
    ends 3 rejected submission workflow.too_slow
    nothing_left
}

@test "twenty runs are the same but for times and ids" {
    workflow_task "\"max_attempts\": 3, $quality" '"limits": {"cpus": 4}'
    all="$a, $(step b act '"fail"'), $(step c act '{"x": [1, 2.50]}' '"a"'), $(step d sum '{"numbers": [10]}' '"b"'), $(step e act '1' '' ', "timeout_seconds": 1')"
    for i in $(seq "${ASSAY_RERUNS:-20}"); do
        workflow "$all"
        jq -S 'del(.id, .phases, .usage)' "$work/result.json" > "$work/run.$i"
        diff "$work/run.1" "$work/run.$i"
    done
    is steps 'a completed ok
b hard_failure error error error
c completed ok
d skipped
e budget_abort' "$(steps)"
}

@test "what a submitter may know: tools, what they cost, and the limits" {
    workflow_task "\"min_steps\": 4, \"max_attempts\": 5, $quality"
    run -0 "$ASSAY" check "$work/task"
    run -0 "$ASSAY" describe "$work/task"
    [[ $output == *'costs at most 0.05 and takes at most 10 s, counts as 4 steps or more, each step has 5 attempts'* ]]
    [[ $output == *'tool sum: cost 0.01, 0.5 s'*'tool slow: cost 0'* ]]
    [[ $output != */tools/sum* ]]
    "$ASSAY" describe --json "$work/task" > "$work/result.json"
    same_json '.workflow | del(.limits)' '{"max_budget": 0.05, "max_latency": 10, "min_steps": 4, "max_attempts": 5, "quality": "primitive",
        "tools": [{"name": "sum", "cost": 0.01, "seconds": 0.5}, {"name": "act", "cost": 0.01, "seconds": 2}, {"name": "slow", "cost": 0}],
        "limits_of": "each attempt"}'
    is scale '1 0.7' "$(field '"\(.scale) \(.pass)"')"
}

@test "a signal ends the tools, and leaves nothing" {
    workflow_task
    sed -i 's|"slow": {"command": \["/tools/act"\]}|"slow": {"command": ["/bin/sleep", "9876.5"]}|' "$work/task/task.json"
    echo "{\"steps\": [$(step a slow 1), $(step b slow 1)]}" > "$work/workflow.json"
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/workflow.json" > "$work/result.json" 2> "$work/errors" 3>&- &
    local runner=$!
    until pgrep -f '^/bin/sleep 9876.5$' > /dev/null; do :; done
    kill -TERM "$runner"
    status=0
    wait "$runner" || status=$?
    is exit 130 "$status"
    is code interrupted "$(field .code)"
    is score null "$(field .score)"
    nothing_left
}
