#!/usr/bin/env bats
# operator.json: what tasks may have on a machine, and the judges that they may name.

load common

setup() {
    setup_work
    export ASSAY_JUDGE_PAUSE=1ms
    unset ASSAY_JUDGE_URL ASSAY_JUDGE_KEY ASSAY_JUDGE_KEY_FILE
    chmod 755 "$work"
}

teardown() {
    [ -z "${place:-}" ] || rm -rf "$place"
}

# policy [MEMBERS]: in $work/operator.json
policy() {
    echo "{\"schema\": \"assay.operator/1\"${1:+, $1}}" > "$work/operator.json"
}

allowed() { # OPTIONS…
    grade --policy "$work/operator.json" "$@"
}

# objects KEY WORDS: exactly this is not allowed, and nothing ran
objects() {
    is exit 2 "$status"
    grep -q "task/task.json:[0-9]*:[0-9]*: $1: $2" "$work/errors"
    is 'lines of problems' 1 "$(grep -c task.json: "$work/errors")"
    grep -q '^assay: task.not_permitted: ' "$work/errors"
    is result '' "$(cat "$work/result.json")"
}

@test "a task within the policy is graded as without one" {
    task good '"limits": {"wall": "60s"},'
    submission
    policy '"host_image": true, "limits": {"wall": "60s"}'
    allowed
    is exit 0 "$status"
    is wall "60 s" "$(field .limits.wall.value)"
}

@test "what a task leaves open is what the operator allows" {
    task good
    submission
    policy '"host_image": true, "limits": {"wall": "100s", "memory": "300MiB", "pids": 40}'
    allowed
    is exit 0 "$status"
    is wall "100 s" "$(field .limits.wall.value)"
    is cpu "200 s" "$(field .limits.cpu.value)"
    is memory "300 MiB" "$(field .limits.memory.value)"
    is pids 40 "$(field .limits.pids.value)"
}

@test "what a submission may be is held too" {
    task good
    submission one two
    policy '"host_image": true, "submission": {"max_entries": 1}'
    allowed
    is exit 3 "$status"
    is code archive.too_many_entries "$(field .code)"
}

@test "a ceiling of processor time is held although nobody gave it" {
    task good
    submission
    policy '"host_image": true, "limits": {"cpu": "30s"}'
    allowed
    is cpu "30 s" "$(field .limits.cpu.value)"
}

@test "limits above the ceilings: each at its place, all at once, and nothing runs" {
    cat > "$work/more" << 'END'
    "limits": {"wall": "2h", "memory": "8GiB", "total_memory": "9GiB", "pids": 10},
    "submission": {"limits": {"cpu": "100s"}, "max_unpacked": "1GiB"},
END
    task good "$(cat "$work/more")"
    submission
    policy '"host_image": true, "limits": {"wall": "1h", "memory": "4GiB", "total_memory": "4GiB", "pids": 10},
        "submission": {"limits": {"cpu": "10s"}, "max_unpacked": "100MiB"}'
    allowed
    is exit 2 "$status"
    is problems "task.json:5:20: limits.wall: is 7200 s; the operator allows at most 3600 s
task.json:5:34: limits.memory: is 8 GiB; the operator allows at most 4 GiB
task.json:6:31: submission.limits.cpu: is 100 s; the operator allows at most 10 s
task.json:5:52: limits.total_memory: is 9 GiB; the operator allows at most 4 GiB
task.json:6:47: submission.max_unpacked: is 1 GiB; the operator allows at most 100 MiB" \
        "$(sed -n 's|.*/task.json:|task.json:|p' "$work/errors")"
    is result '' "$(cat "$work/result.json")"
    status=0
    "$ASSAY" check --policy "$work/operator.json" "$work/task" > "$work/out" || status=$?
    is 'exit of check' 2 "$status"
    is 'problems that check finds' 5 "$(wc -l < "$work/out")"
}

@test "the time of a case is held to the ceilings of submission cells" {
    mkdir -p "$work/task"
    cat > "$work/task/task.json" << 'END'
{"schema": "assay.task/1", "name": "test", "scoring": {"mode": "container"},
 "cases": [{"name": "slow", "command": ["true"], "timeout": "4s"}]}
END
    submission
    policy '"host_image": true, "submission": {"limits": {"cpu": "3s"}}'
    allowed
    objects cases 'slow: its timeout needs more cpu time than the 3 s'
    policy '"host_image": true, "submission": {"limits": {"wall": "12s"}}'
    allowed
    objects cases 'slow: its timeout needs more wall time than the 12 s'
    policy '"host_image": true, "submission": {"limits": {"wall": "13s", "cpu": "4s"}}'
    allowed
    is exit 0 "$status"
}

@test "a call of assay-exec is held to the ceilings of submission cells" {
    script_task << 'END'
"$ASSAY_EXEC" --memory 200MiB -- true 2> /tmp/said
echo "{\"score\": 100, \"pass\": true, \"notes\": \"$? $(cat /tmp/said)\"}" > /results/score.json
END
    submission
    policy '"host_image": true, "submission": {"limits": {"memory": "100MiB"}}'
    allowed
    is exit 0 "$status"
    [[ $(field .notes) == "125 "*"100 MiB"* ]]
}

@test "what is not said is not allowed: the machine's own programs as image" {
    task good
    submission
    policy
    allowed
    objects image '"host" is not allowed'
}

@test "the machine's own programs are nothing to a task that runs nothing" {
    task good
    cat > "$work/task/task.json" << 'END'
{"schema": "assay.task/1", "name": "test",
 "scoring": {"mode": "llm", "rubric": [{"name": "a", "weight": 100}]}}
END
    submission
    policy
    allowed --llm-score 80
    is exit 0 "$status"
}

@test "a network: only where the policy allows it, and then without --allow-network" {
    task good '"limits": {"network": "outbound"},'
    submission
    policy '"host_image": true'
    allowed --allow-network
    objects limits.network 'the operator allows no network'
    policy '"host_image": true, "limits": {"network": "outbound"}'
    allowed
    # Whether the machine can give one is another question.
    [ "$status" -eq 0 ] || is code infra.network "$(field .code)"
}

rubric='"rubric": [{"name": "Code quality", "weight": 100}]'

judged() { # JUDGE
    mkdir -p "$work/task"
    cat > "$work/task/task.json" << END
{"schema": "assay.task/1", "name": "test", "scoring": {"mode": "llm", $rubric}${1:+, \"judge\": $1}}
END
    printf '#!/bin/sh\ntouch "%s/ran"\n' "$work" > "$work/task/judge"
    chmod 755 "$work/task/judge"
    submission
}

# operators_judge: a program of the operator's that says which environment it has
operators_judge() {
    place=$(mktemp -d)
    chmod 755 "$place"
    cat > "$place/judge" << 'END'
#!/bin/sh
cat > /dev/null
echo "{\"criteria\": [{\"name\": \"Code quality\", \"score\": 70,
    \"reasoning\": \"$* $ASSAY_JUDGE_MODEL $HOME\"}], \"summary\": \"fine\"}"
END
    chmod 755 "$place/judge"
}

@test "a task's own judge is refused, and not run" {
    judged '{"command": ["./judge"]}'
    policy '"judges": {"default": {"command": ["assay-judge"]}}'
    allowed
    objects judge 'is a program; the operator allows its own judges only'
    [ ! -e "$work/ran" ]
}

@test "a judge by a name that the operator does not know" {
    judged '"strict"'
    policy '"judges": {"default": {"command": ["assay-judge"]}}'
    allowed
    objects judge 'the operator has no judge "strict"'
}

@test "a judge by its name is the operator's program, with the operator's environment" {
    operators_judge
    judged '"strict"'
    policy "\"judges\": {\"strict\": {\"command\": [\"$place/judge\", \"--hard\"]}}"
    ASSAY_JUDGE_MODEL=model-7 allowed
    is exit 0 "$status"
    is score 70 "$(field .score)"
    is reasoning '--hard model-7 ' "$(field '.criteria[0].reasoning')"
}

@test "no judge is named by anybody: a score from outside is waited for" {
    judged ''
    policy
    ASSAY_JUDGE_URL=http://127.0.0.1:1/ allowed
    is exit 5 "$status"
}

@test "without a judge's name, default is the operator's" {
    operators_judge
    judged ''
    policy "\"judges\": {\"default\": {\"command\": [\"$place/judge\"]}}"
    allowed
    is exit 0 "$status"
    is score 70 "$(field .score)"
}

@test "a policy that is wrong stops every run, and says where" {
    task good
    submission
    while read -r members; do
        policy "$members"
        allowed
        is "exit with $members" 2 "$status"
        grep -q '^assay: policy.invalid: the operator.s policy: line 1, column ' "$work/errors"
    done << 'END'
"limit": {}
"limits": {"walls": "1s"}
"limits": {"wall": "soon"}
"judges": {"default": {"command": ["judge"]}}
"judges": {"default": {}}
"judges": {"a/b": {"command": ["assay-judge"]}}
"judges": []
"host_image": 1
"submission": {"limits": {"network": "outbound"}}
END
    echo '{' > "$work/operator.json"
    allowed
    is exit 2 "$status"
    grep -q '^assay: policy.invalid: ' "$work/errors"
    echo '{}' > "$work/operator.json"
    allowed
    grep -q '^assay: policy.invalid: .*schema' "$work/errors"
    rm "$work/operator.json"
    allowed
    is exit 2 "$status"
    grep -q "^assay: policy.invalid: $work/operator.json: " "$work/errors"
}

@test "batch, verify, describe and submission check are held to it too" {
    task good '"limits": {"wall": "60s"},'
    submission
    policy '"host_image": true, "limits": {"wall": "30s"}'
    for verb in "batch $work/task $work/submission.tar.gz" "verify $work/task" \
        "describe $work/task" "submission check $work/task $work/submission.tar.gz"; do
        read -ra words <<< "$verb"
        status=0
        "$ASSAY" "${words[@]}" --policy "$work/operator.json" > "$work/out" 2> "$work/errors" ||
            status=$?
        is "exit of $verb" 2 "$status"
        grep -q 'limits.wall: is 60 s; the operator allows at most 30 s' "$work/errors"
    done
}

@test "pulling is refused where the policy does not allow it" {
    task good '"image": "127.0.0.1:1/it:1",'
    submission
    policy
    allowed --pull
    is exit 2 "$status"
    grep -q '^assay: task.not_permitted: --pull: the operator allows no images from registries' "$work/errors"
    policy '"pull": true'
    allowed --pull
    is exit 4 "$status"
    grep -q '^assay: image.pull_failed: \|^assay: infra.program_missing: ' "$work/errors"
}
