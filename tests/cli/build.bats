#!/usr/bin/env bats
# `build`: a command of the task runs once in a cell of the submission; what it leaves is the
# submission from then on.

load common

setup() {
    setup_work
    cd "$work" || return
    mkdir -p submission
}

# build_task ON_FAILURE [JSON members…] < SUITE: which calls `full` for 100 points; the build is
# build.sh of the submission
build_task() {
    { echo 'full() { echo "{\"score\": 100, \"pass\": true}" > /results/score.json; }' && cat; } |
        script_task "\"build\": {\"command\": [\"sh\", \"build.sh\"], \"on_failure\": \"$1\"}, ${2:-}"
}

# builds < SCRIPT: the submission's build.sh
builds() {
    cat > submission/build.sh
    tar -C submission -czf submission.tar.gz .
}

printed() {
    field .logs.stdout.head
}

# zero CODE: graded, but the suite did not run
zero() {
    is exit 1 "$status"
    is status graded "$(field .status)"
    is outcome fail "$(field .outcome)"
    is score 0 "$(field .exact.score)"
    is class submission "$(field .class)"
    is code "$1" "$(field .code)"
    is phases 'received unpack image build score' "$(field '[.phases[].name] | join(" ")')"
    is 'attempt used' true "$(field .attempt_used)"
    nothing_left
}

# refused CODE: rejected, and the suite did not run
refused() {
    ends 3 rejected submission "$1"
    is phases 'received unpack image build' "$(field '[.phases[].name] | join(" ")')"
    nothing_left
}

@test "make: the suite and its calls see what was built, and that it may be executed" {
    script_task '"build": {"command": ["make"]},' <<'END'
ls /agent_output
/agent_output/program || echo "not here: $?"
$ASSAY_EXEC -- ./program
$ASSAY_EXEC -- sh -c 'echo changed >> out/text; ls -l out/text | cut -c 1-10'
$ASSAY_EXEC -- cat out/text
echo '{"score": 100, "pass": true}' > /results/score.json
END
    printf '%s\n' 'all: program out/text' 'program: program.in' '	cp $< $@ && chmod +x $@' \
        'out/text:' '	mkdir -p out && echo built > $@ && ln -s text out/link' > submission/Makefile
    printf '%s\n' '#!/bin/sh' 'echo it runs' > submission/program.in
    tar -C submission -czf submission.tar.gz .
    grade
    is exit 0 "$status"
    is printed 'Makefile
out
program
program.in
not here: 126
it runs
-rw-r--r--
built' "$(printed)"
    is phases 'received unpack image build start run collect score' "$(field '[.phases[].name] | join(" ")')"
    jq -e '.usage.build.wall_ms >= 0 and .usage.build.output_bytes > 0' result.json > /dev/null
    field .logs.build.stdout.head | grep -q 'chmod +x program'
    nothing_left
}

@test "a build also serves a suite that runs the submission in its own cell" {
    task good '"build": {"command": ["sh", "build.sh"]},'
    # shellcheck disable=SC2016 # for the suite's shell
    printf '%s\n' '#!/bin/sh' '[ "$(/submission/bin/program)" = 42 ] && echo "{\"score\": 80, \"pass\": true}" > /results/score.json' \
        > task/tests/run
    chmod +x task/tests/run
    sed -i 's#"/tests/suite", "good"#"/tests/run"#' task/task.json
    builds <<< "mkdir bin; printf '%s\n' '#!/bin/sh' 'echo 42' > bin/program; chmod 700 bin/program"
    grade
    is exit 0 "$status"
    is score 80 "$(field .exact.score)"
}

@test "the tree as submitted stays as it was: a build works on a copy" {
    build_task zero <<< 'sleep 1000; true'
    echo submitted > submission/file
    echo submitted > submission/gone
    builds <<< 'echo built > file; rm gone; mkdir new; touch -d @1 build.sh'
    local token=build-$$-$RANDOM # other tests run at once
    sed -i "s#\"/tests/run\"#\"/tests/run\", \"$token\"#" task/task.json
    "$ASSAY" run --quiet "${weak[@]}" "$work/task" submission > /dev/null 2> errors 3>&- &
    local runner=$! tree
    until pgrep -f "^/bin/sh /tests/run $token\$" > /dev/null; do kill -0 "$runner"; done
    tree=$(echo "$ASSAY_STATE"/evaluations/*/)
    is 'files as submitted' 'submitted submitted' "$(cat "$tree"/tree*/{file,gone} | xargs)"
    kill -TERM "$runner"
    status=0
    wait "$runner" || status=$?
    is exit 130 "$status"
    is 'the directory' 'submitted submitted' "$(cat submission/file submission/gone | xargs)"
    nothing_left
}

@test "on_failure zero: the suite is skipped, the score 0, and the output says why" {
    build_task zero <<< full
    builds <<< 'echo compiling; echo "main.c:3: error" >&2; exit 2'
    grade
    zero build.failed
    field .reason | grep -q 'status 2'
    is 'standard error' 'main.c:3: error' "$(field .logs.build.stderr.head)"
    is 'standard output' compiling "$(field .logs.build.stdout.head)"
    jq -e '.usage.build.wall_ms >= 0' result.json > /dev/null
    "$ASSAY" run "${weak[@]}" task submission.tar.gz > text 2> errors || true
    grep -q 'main.c:3: error' text
}

@test "on_failure zero is what counts where the task does not say" {
    script_task '"build": {"command": ["sh", "build.sh"]},' <<< true
    builds <<< 'exit 1'
    grade
    zero build.failed
}

@test "hybrid: a build that fails is 0 of the tests' weight, and the judge is asked all the same" {
    build_task zero <<< full
    sed -i 's/"mode": "container"/"mode": "hybrid", "test_weight": 60, "llm_weight": 40, "rubric": [{"name": "q", "weight": 100}]/' \
        task/task.json
    builds <<< 'exit 1'
    grade --llm-score 90
    is exit 1 "$status"
    is score 36 "$(field .exact.score)"
    is code build.failed "$(field .code)"
    grade
    ends 5 pending judge judge.pending
}

@test "on_failure reject: the submission is rejected" {
    build_task reject <<< full
    builds <<< 'echo "main.c:3: error" >&2; exit 2'
    grade
    refused build.failed
    is 'standard error' 'main.c:3: error' "$(field .logs.build.stderr.head)"
}

@test "a build that crashes, or whose command is not there, has failed" {
    build_task zero <<< full
    builds <<< 'kill -SEGV $$'
    grade
    zero build.failed
    field .reason | grep -q 'signal 11'
    sed -i 's#"sh", "build.sh"#"./missing"#' task/task.json
    grade
    zero build.failed
    field .reason | grep -q 'cannot be executed'
}

@test "a build that exceeds its limits has failed: time, output, files" {
    build_task zero '"limits": {"wall": "300ms", "output": "64KiB", "inodes": 300},' <<< full
    # shellcheck disable=SC2016 # for the build's shell
    for script in 'sleep 1000' 'yes' 'i=0; while i=$((i + 1)); do : > $i || exit 1; done'; do
        builds <<< "$script"
        grade
        zero build.failed
    done
    field .reason | grep -q 'limit.disk\|status 1'
}

@test "a build that eats memory has failed by that limit" {
    [ ${#weak[@]} -eq 0 ] || skip 'no memory limit that the kernel keeps'
    build_task reject '"limits": {"memory": "64MiB"},' <<< full
    builds <<< 'exec python3 -c "x = b\"a\" * 1000000000"'
    grade
    refused build.failed
    field .reason | grep -q limit.memory
    builds <<< 'python3 -c "x = b\"a\" * 1000000000"'
    grade
    refused build.failed
    field .reason | grep -q limit.memory
}

@test "what a build may not leave: links out, fifos, sockets, bad names" {
    build_task zero <<< full
    # shellcheck disable=SC2016 # for the build's shell
    for script in 'ln -s /tests tests' 'ln -s ../../etc/passwd x' 'mkdir d && ln -s ../../tests d/t' 'mkfifo fifo' \
        'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"s\")"' 'touch a A' 'touch "$(printf "\377")"' \
        'touch "$(printf "a\nb")"'; do
        builds <<< "$script"
        grade
        echo "$script" >&2
        refused build.unsafe_output
    done
}

@test "a build that leaves what cannot be read ends clearly" {
    build_task zero <<< 'cat /agent_output/file; full'
    builds <<< 'echo secret > file; chmod 000 file'
    grade
    refused build.unsafe_output
    builds <<< 'mkdir d; echo secret > d/file; chmod 000 d'
    grade
    refused build.unsafe_output
    builds <<< 'echo text > file; chmod 4755 file; chmod 1777 .'
    grade
    is exit 0 "$status"
    is printed text "$(printed)"
}

@test "a build that leaves as many files as it may, and very deep ones, ends" {
    build_task zero '"limits": {"inodes": 2000},' <<< full
    # shellcheck disable=SC2016 # for the build's shell
    builds <<< 'i=0; while i=$((i + 1)) && : > $i; do :; done 2> /dev/null; exit 0'
    grade
    is status graded "$(field .status)"
    nothing_left
    builds <<< 'python3 -c "
import os
while True:
    try: os.mkdir(\"d\"); os.chdir(\"d\")
    except OSError: break
"; exit 0'
    grade
    case $(field .status) in graded | rejected) ;; *) is status 'graded or rejected' "$(field .status)" ;; esac
    nothing_left
}

@test "a build has no network, no tests, no truth, no broker and no environment of the caller's" {
    build_task zero <<< 'cat /agent_output/found; full'
    mkdir task/truth
    # shellcheck disable=SC2016 # for the build's shell
    builds <<< 'sed -n "3,\$s/:.*//p" /proc/net/dev | xargs > found
ls -d /tests /truth /results /run/assay >> found 2> /dev/null
env | cut -d= -f1 | sort | xargs >> found'
    SECRET=1 grade
    is printed 'lo
HOME LANG PATH PWD' "$(printed)"
}

@test "a build's daemon is gone before anybody looks at what it left" {
    build_task zero <<< 'cat /agent_output/file; full'
    builds <<'END'
echo built > file
# It signals that it runs; from then on it forges.
python3 -c '
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("ready", "w").close()
        while True: open("forged", "a").write("x" * 100)
os._exit(0)
'
until [ -e ready ]; do :; done
END
    grade
    is exit 0 "$status"
    is printed built "$(printed)"
    nothing_left
}
