#!/usr/bin/env bats
# assay describe: what a submitter may know, and nothing else.

load common

setup() {
    setup_work
    cd "$work" || return
}

describe() { # [OPTIONS…] TASK
    run -0 --separate-stderr "$ASSAY" describe "$@"
}

@test "rubric, weights, limits, files wanted" {
    describe "$examples/palindrome"
    for text in Palindromes 'tests 60 %, judge 40 %; passes at 70' ' 60  Correctness (tests)' ' 40  Code quality (judge)' \
        'needs palindrome, at most 100 KiB' 'What I Built' '/agent_output' 'memory 128 MiB' 'no network'; do
        [[ $output == *"$text"* ]] || { echo "$text is missing in: $output" >&2 && return 1; }
    done
    describe --json "$examples/palindrome"
    is schema assay.task.description/1 "$(jq -r .schema <<< "$output")"
    is weights '{"test":60,"llm":40}' "$(jq -c .weights <<< "$output")"
    is rubric 'Correctness test 60 Code quality llm 40' "$(jq -r '[.rubric[] | "\(.name) \(.source) \(.weight)"] | join(" ")' <<< "$output")"
    is limits '128 MiB' "$(jq -r .limits.memory <<< "$output")"
    is files palindrome "$(jq -r '.submission.required_files[].path' <<< "$output")"
    describe --quiet "$examples/palindrome"
    is quiet '' "$output"
}

@test "of cases the visible ones by name, the hidden ones by number; never what is in them" {
    mkdir -p task/tests/shown task/tests/secret task/truth
    for i in 1 2 10; do
        echo "input-secret-$i" > "task/tests/shown/s$i.in"
        echo "output-secret-$i" > "task/tests/shown/s$i.out"
        cp "task/tests/shown/s$i.in" "task/tests/secret/hidden-name-$i.in"
        cp "task/tests/shown/s$i.out" "task/tests/secret/hidden-name-$i.out"
    done
    cat > task/task.json <<'END'
{
    "schema": "assay.task/1", "name": "x", "title": "A title", "description": "First line.\nSecond line.",
    "scoring": {"mode": "container", "pass": 62.5},
    "cases": {"groups": [
        {"name": "samples", "points": 20, "visibility": "visible",
            "each": {"stdin": "tests/shown/*.in", "stdout": "{stem}.out", "command": ["./command-secret"]}},
        {"name": "more", "points": 30, "visibility": "visible",
            "cases": [{"name": "plain", "command": ["./command-secret"], "stdin": "input-secret", "stdout": "output-secret", "points": 2.5}]},
        {"name": "real", "points": 50, "visibility": "hidden",
            "each": {"stdin": "tests/secret/*.in", "stdout": "{stem}.out", "command": ["./command-secret"]},
            "cases": [{"name": "hidden-name-4", "command": ["./command-secret"], "stdout": "output-secret"}]},
        {"name": "later", "points": 50, "visibility": "after_due",
            "cases": [{"name": "hidden-name-5", "command": ["./command-secret"], "stdout": "output-secret"}]}
    ]},
    "visibility": {"due": "2026-12-01T00:00:00Z"}
}
END
    describe task
    is tests 'Tests, and what they are worth:
  samples: 3 cases, 20 points
    s1 (1)
    s2 (1)
    s10 (1)
  more: 1 case, 30 points
    plain (2.5)
  real: 4 cases, hidden, 50 points
  later: 1 case, hidden, 50 points

Due: 2026-12-01T00:00:00Z' "$(sed -n '/^Tests/,$p' <<< "$output")"
    [[ $output == *'passes at 62.5'* && $output == *$'First line.\nSecond line.'* && $output == *'limits of each run'* ]]
    [[ $output != *secret* && $output != *hidden-name* ]]
    describe --json task
    [[ $output != *secret* && $output != *hidden-name* ]]
    is visible 's1 s2 s10 plain' "$(jq -r '[.groups[].cases[].name] | join(" ")' <<< "$output")"
    is counts '3 1 4 1' "$(jq -r '[.groups[].count] | join(" ")' <<< "$output")"
    is due 2026-12-01T00:00:00Z "$(jq -r .due <<< "$output")"
}

@test "the task's own words are safe to show" {
    mkdir task
    printf '{"schema": "assay.task/1", "name": "x", "description": "a\\u001b[31mb", "scoring": {"mode": "llm", "rubric": [{"name": "R", "weight": 100, "description": "c\\u001b[31md"}]}}' > task/task.json
    describe task
    [[ $output != *$'\x1b'* && $output == *'a\x1b[31mb'* ]]
    describe --json task
    is description $'a\x1b[31mb' "$(jq -r .description <<< "$output")"
    is 'no place to run' null "$(jq -r .contract <<< "$output")"
}

@test "tasks that are invalid or missing" {
    run -2 --separate-stderr "$ASSAY" describe "$work/nothing"
    mkdir task
    echo '{}' > task/task.json
    run -2 --separate-stderr "$ASSAY" describe task
    [[ $stderr == *'task.json:1:'* ]]
    run -2 "$ASSAY" describe
}
