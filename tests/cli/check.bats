#!/usr/bin/env bats
# assay check, explain, doctor and the help.

load common

setup() {
    setup_work
}

@test "check: the sample task is valid" {
    run -0 "$ASSAY" check "$examples/palindrome"
    [[ $output == *valid* ]]
}

@test "check: every error at once, each with line, column and key" {
    mkdir "$work/task"
    cat > "$work/task/task.json" <<'END'
{
    "schema": "assay.task/1",
    "name": "x",
    "scoring": {"mode": "hybrid", "test_weigth": 60, "test_weight": 60, "llm_weight": 30},
    "suite": {"command": []},
    "limits": {"memory": "lots"}
}
END
    run -2 --separate-stderr "$ASSAY" check "$work/task"
    [[ $output == *'task.json:4:'*'test_weigth'*'test_weight'* ]]
    [[ $output == *'task.json:5:'*'suite.command'* ]]
    [[ $output == *'task.json:6:'*'limits.memory'* ]]
    run -2 --separate-stderr "$ASSAY" check --json "$work/task"
    [ "$(echo "$output" | jq '.valid == false and (.errors | length >= 4) and .errors[0].line > 0')" = true ]
}

@test "check: a suite that could not be started" {
    task good
    chmod -x "$work/task/tests/suite"
    run -2 "$ASSAY" check "$work/task"
    [[ $output == *suite.not_executable* ]]
    rm "$work/task/tests/suite"
    run -2 "$ASSAY" check "$work/task"
    [[ $output == *suite.not_found* ]]
}

@test "output that cannot be written is an error" {
    run -4 sh -c '"$1" explain > /dev/full' sh "$ASSAY"
    [[ $output == *'standard output'* ]]
}

@test "check: tests that are a link out, or hold one, are unsafe" {
    task good
    ln -s /etc/passwd "$work/task/tests/secret"
    run -2 "$ASSAY" check "$work/task"
    [[ $output == *tests/secret* ]]
    rm -r "$work/task/tests"
    ln -s /etc "$work/task/tests"
    run -2 "$ASSAY" check "$work/task"
    [[ $output == *tests* ]]
    rm "$work/task/task.json"
    ln -s /etc/passwd "$work/task/task.json"
    run -2 "$ASSAY" check "$work/task"
}

@test "check: a script with Windows line ends, an image that is not here" {
    task good
    sed -i 's/suite", "good"/run"/' "$work/task/task.json"
    while IFS='|' read -r first expected; do
        printf '%b\nexit\n' "$first" > "$work/task/tests/run"
        chmod +x "$work/task/tests/run"
        run "$ASSAY" check "$work/task"
        is "exit with $first" "$expected" "$status"
        [ "$expected" = 0 ] || [[ $output == 'assay: suite.not_found: '*'tests/run has a Windows line end'* ]]
    done << 'TABLE'
#!/bin/sh\r|2
#!/usr/bin/env python3\r|2
#! /bin/sh\r|2
#!/bin/sh|0
#!\r|2
#!/usr/bin/perl -w\r|0
echo\r|0
TABLE
    sed -i 's/^{/{"image": "there-is-none:1",/' "$work/task/task.json"
    run -0 "$ASSAY" check "$work/task"
    [[ $output == *'warning: image: there is no such image on this machine'* ]]
}

@test "check: what is wrong with a tree is said as it is" {
    while IFS='|' read -r make why; do
        rm -rf "$work/task"
        task good
        (cd "$work/task" && eval "$make")
        run -2 "$ASSAY" check "$work/task"
        [[ $output == "assay: task.unsafe: "*"$why"* ]] || is "$make" "$why" "$output"
    done << 'TABLE'
mv tests t && ln -s t tests|tests: is a symbolic link (
mv task.json t && ln -s t task.json|task.json: is a symbolic link (
mkdir -p "tests/$(printf 'd/%.0s' {1..70})"|is more than 64 folders deep (
TABLE
}

@test "check: a task.json that is a fifo, a directory or missing does not hang" {
    mkdir "$work/task"
    run -2 "$ASSAY" check "$work/task"
    mkfifo "$work/task/task.json"
    run -2 "$ASSAY" check "$work/task"
    rm "$work/task/task.json"
    mkdir "$work/task/task.json"
    run -2 "$ASSAY" check "$work/task"
}

@test "check: huge and deep task files are refused quickly" {
    mkdir "$work/task"
    head -c 2000000 /dev/zero | tr '\0' ' ' > "$work/task/task.json"
    run -2 "$ASSAY" check "$work/task"
    head -c 100000 /dev/zero | tr '\0' '[' > "$work/task/task.json"
    run -2 "$ASSAY" check "$work/task"
    [[ $output == *deep* || $output == *depth* || $output == *nest* ]]
}

@test "explain: every code has a class, an exit status and a remedy" {
    run -0 "$ASSAY" explain
    [ "$(echo "$output" | grep -c 'what to do: ..')" -gt 30 ]
    run -0 "$ASSAY" explain limit.memory
    [[ $output == *'exit status: 4'* ]]
    run -2 "$ASSAY" explain no.such.code
}

@test "doctor: exit 0 only when every limit can be enforced; the JSON says what is not" {
    status=0
    "$ASSAY" doctor --json > "$work/doctor.json" || status=$?
    is 'exit and weak limits agree' "$([ "$status" -eq 0 ] && echo false || echo true)" \
        "$(jq '[.limits[].weak] | any' "$work/doctor.json")"
    is 'says whether pasta is there' 1 "$(jq '[.findings[] | select(.name == "network")] | length' "$work/doctor.json")"
    is 'a cell could be made' true "$(jq '.findings[] | select(.name == "cell").ok' "$work/doctor.json")"
}

@test "help: every verb explains itself" {
    run -0 "$ASSAY" --help
    for verb in $("$ASSAY" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        run -0 "$ASSAY" "$verb" --help
        [[ $output == usage:* ]]
    done
    run -0 "$ASSAY" --version
}
