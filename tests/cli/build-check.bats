#!/usr/bin/env bats
# The build check: what a judge is told of a build that no task declares. It never counts.

load common
load layout

setup() {
    setup_work
    unset ASSAY_JUDGE_URL
    mkdir -p "$work/task/tests" "$work/submission"
    cat > "$work/task/judge" <<'END'
#!/bin/sh
sed 's/.*"build_check":/{"build_check":/; s/,"test_score".*/}/' > "$0.asked"
echo '{"criteria": [{"name": "Code quality", "score": 80, "reasoning": "r"}], "summary": "s"}'
END
    chmod 755 "$work" "$work/task/judge"
    judged '"mode": "llm"'
}

judged() { # MODE [MEMBERS]
    cat > "$work/task/task.json" <<END
{"schema": "assay.task/1", "name": "test", "judge": {"command": ["./judge"]}, ${2:-}
 "scoring": {$1, "rubric": [{"name": "Code quality", "weight": 100}]}}
END
}

# checked [OPTIONS…]: what came of the check, in $work/result.json
checked() {
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    grade "$@"
    is exit 0 "$status"
    is score 80 "$(field .exact.llm_score)"
    is class null "$(field .class)"
}

check() { # KEY WANTED
    is "build_check.$1" "$2" "$(field ".build_check.$1")"
}

@test "nothing to build" {
    echo text > "$work/submission/notes.txt"
    checked
    check detected null
    check ok null
    check reason 'nothing to build'
    is phases 'received unpack judge score' "$(field '[.phases[].name] | join(" ")')"
}

@test "a Makefile that builds" {
    printf 'all:\n\tcp Makefile built; echo done\n' > "$work/submission/Makefile"
    checked
    check detected Makefile
    check command make
    check ok true
    check exit 0
    check reason null
    [[ $(field .build_check.output) == *done* ]]
    [ "$(field '.build_check.ms | type')" = number ]
    is phases 'received unpack build judge score' "$(field '[.phases[].name] | join(" ")')"
    [ "$(field .usage.build.wall_ms)" != null ]
}

@test "a Makefile that does not: no matter for the score, and for the result's class" {
    printf 'all:\n\techo broken >&2; exit 3\n' > "$work/submission/Makefile"
    checked
    check ok false
    check exit 2
    check reason null
    [[ $(field .build_check.output) == *broken* ]]
}

@test "the suite and the judge have the files as they were submitted" {
    judged '"mode": "hybrid", "test_weight": 0, "llm_weight": 100' '"suite": {"command": ["/tests/run"]},'
    cat > "$work/task/tests/run" <<'END'
#!/bin/sh
echo "{\"score\": 100, \"pass\": true, \"notes\": \"$(ls /agent_output)\"}" > /results/score.json
END
    chmod 755 "$work/task/tests/run"
    printf 'all:\n\ttouch built; rm -f Makefile\n' > "$work/submission/Makefile"
    checked
    check ok true
    is files Makefile "$(field .notes)"
}

# small_image: busybox, and a go that asks for a network
small_image() {
    mkdir -p base/bin
    cp /bin/busybox base/bin/
    ln -s busybox base/bin/sh
    printf '#!/bin/sh\necho "dial tcp: lookup proxy: no such host" >&2; exit 1\n' > base/bin/go
    chmod 755 base/bin/go
    config='{"Env": ["PATH=/bin"]}' layout oci small base
    "$ASSAY" image load oci --quiet
    judged '"mode": "llm"' '"image": "small",'
}

@test "a tool that is not in the image: null, with the reason" {
    cd "$work"
    small_image
    echo '[package]' > submission/Cargo.toml
    checked
    check detected Cargo.toml
    check command 'cargo build --offline'
    check ok null
    check reason 'there is no cargo in the image'
}

@test "a network that would be needed: null, with the reason" {
    cd "$work"
    small_image
    echo 'module m' > submission/go.mod
    checked
    check ok null
    check exit 1
    check reason 'it seems to need a network ("dial tcp")'
}

@test "an image that is not here: null, with the reason, and the judge is asked" {
    judged '"mode": "llm"' '"image": "missing",'
    echo 'all:' > "$work/submission/Makefile"
    checked
    check ok null
    check reason 'there is no image missing on this machine'
}

@test "a build without end is stopped" {
    judged '"mode": "llm"' '"limits": {"wall": "500ms"},'
    printf 'all:\n\tsleep 100\n' > "$work/submission/Makefile"
    checked
    check ok null
    check reason 'it was stopped by its limit (limit.wall)'
}

@test "syntax errors of Python are found" {
    echo 'requests' > "$work/submission/requirements.txt"
    echo 'def f(:' > "$work/submission/main.py"
    command -v python3 > /dev/null || skip "needs python3"
    checked
    check command 'python3 -m compileall -q'
    check ok false
    [[ $(field .build_check.output) == *SyntaxError* ]]
    echo 'print(1)' > "$work/submission/main.py"
    checked
    check ok true
}

@test "a score that is there already: nothing is built" {
    printf 'all:\n\techo done\n' > "$work/submission/Makefile"
    checked --llm-score 80
    is 'build check' null "$(field .build_check)"
}

@test "a task without a judge has no build check" {
    printf 'all:\n\techo done\n' > "$work/submission/Makefile"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    task good
    grade
    is exit 0 "$status"
    is 'build check' null "$(field .build_check)"
}

@test "where the operator allows no host image the check is left out, and says so" {
    printf 'all:\n\techo done\n' > "$work/submission/Makefile"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    cat > "$work/task/task.json" <<'END'
{"schema": "assay.task/1", "name": "test", "scoring": {"rubric": [{"name": "Code quality", "weight": 100}]}}
END
    echo '{"schema": "assay.operator/1"}' > "$work/operator.json"
    grade --policy "$work/operator.json"
    is exit 5 "$status"
    check ok null
    check reason 'the operator does not allow "host" as image'
}
