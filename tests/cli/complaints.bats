#!/usr/bin/env bats
# What users of graders complain about most: a test of that name for each.

load common

setup() {
    setup_work
    cd "$work" || return
}

pass='echo "{\"score\": 100, \"pass\": true}" > /results/score.json'

# suite [JSON members…] < SCRIPT: a task whose suite is that, and a submission
suite() {
    script_task "${1:-}"
    submission
}

# result_is_json: valid UTF-8 without a character that a terminal would act on, and valid JSON
result_is_json() {
    iconv -f UTF-8 -t UTF-8 result.json > /dev/null
    jq -e . result.json > /dev/null
    ! grep -q '[[:cntrl:]]' result.json
}

@test "lost partial output: what a suite printed until its time limit is in the result" {
    suite '"limits": {"wall": "300ms"},' <<'END'
echo "test 1 ok"
echo "starting test 2" >&2
printf 'half a line'
sleep 1000
END
    grade
    ends 4 error limit limit.wall
    is 'standard output' $'test 1 ok\nhalf a line' "$(field .logs.stdout.head)"
    is 'standard error' 'starting test 2' "$(field .logs.stderr.head)"
    "$ASSAY" run "${weak[@]}" task submission.tar.gz > text 2> errors || true
    grep -q 'half a line' text
    grep -q 'starting test 2' text
}

@test "lost partial output: of a call that its limit ended, too" {
    suite <<END
\$ASSAY_EXEC --timeout 200ms -- sh -c 'echo started; sleep 1000'
echo "status \$?"
$pass
END
    grade
    is exit 0 "$status"
    is printed $'started\nstatus 124' "$(field .logs.stdout.head)"
}

@test "lost partial output: a suite that crashes keeps what it printed" {
    # shellcheck disable=SC2016 # for the suite's shell
    suite <<< 'echo before; kill -SEGV $$'
    grade
    ends 4 error suite suite.signal
    is printed before "$(field .logs.stdout.head)"
}

@test "a time-out without logs: it is named with its limit, its usage and what to do, and the tests that ended are there" {
    suite '"limits": {"wall": "300ms"}, "result": {"on_limit": "partial", "planned": 3},' <<'END'
echo '{"name": "fast", "passed": true, "duration_ms": 3}' > /results/tests.jsonl
echo "running slow"
sleep 1000
END
    grade
    is exit 1 "$status"
    is code limit.wall "$(field .code)"
    field .reason | grep -qF '300 ms'
    [ -n "$(field .remedy)" ]
    is 'tests that ended' fast "$(field '.tests[].name')"
    is printed 'running slow' "$(field .logs.stdout.head)"
    jq -e '.usage.suite.wall_ms >= 300 and .limits.wall.value == "300 ms"' result.json > /dev/null
}

@test "a memory kill shown as a crash: it is limit.memory, whoever was killed" {
    [ ${#weak[@]} -eq 0 ] || skip 'no memory limit that the kernel keeps'
    suite '"limits": {"memory": "64MiB"},' <<< 'exec python3 -c "x = b\"a\" * 1000000000"'
    grade
    ends 4 error limit limit.memory
    # The shell that waited for it reports 137, or goes on and writes nothing.
    suite '"limits": {"memory": "64MiB"},' <<< 'python3 -c "x = b\"a\" * 1000000000"; echo "status $?"; exit 1'
    grade
    ends 4 error limit limit.memory
    is printed 'status 137' "$(field .logs.stdout.head)"
    field .reason | grep -qF '64 MiB'
}

@test "a memory kill shown as a crash: of a call it is that call's, and says so" {
    [ ${#weak[@]} -eq 0 ] || skip 'no memory limit that the kernel keeps'
    suite <<END
\$ASSAY_EXEC --memory 24MiB --report /tmp/r -- python3 -c 'x = b"a" * 100000000'
cat /tmp/r
$pass
END
    grade
    is exit 0 "$status"
    is limit limit.memory "$(field '.logs.stdout.head | fromjson | .limit')"
}

@test "an image problem shown as 0: an image that is not there is the machine's fault" {
    suite '"image": "nowhere:1",' <<< "$pass"
    sed -i 's/"submission": {"image": "host"}/"submission": {}/' task/task.json
    grade
    ends 4 error infra image.missing
    is outcome null "$(field .outcome)"
    is 'attempt used' false "$(field .attempt_used)"
    # Not even where a limit or a missing verdict counts as 0.
    sed -i 's/"name"/"result": {"on_limit": "zero"}, "name"/' task/task.json
    grade
    ends 4 error infra image.missing
    nothing_left
}

@test "one bad byte losing a run: a suite prints what is no UTF-8, NUL, escapes" {
    suite <<END
printf 'a\377b\000c\033[31md\355\240\200e\r\n'
printf '\360\237\230' >&2
$pass
END
    grade
    is exit 0 "$status"
    result_is_json
    is printed 'true' "$(jq '.logs.stdout.head | startswith("a\ufffdb\u0000c\u001b[31md\ufffd") and endswith("e\r\n")' result.json)"
    is 'standard error' true "$(jq '.logs.stderr.head | test("^\ufffd+$")' result.json)"
}

@test "one bad byte losing a run: a result that holds some is refused as the suite's, or shown" {
    local text
    for text in 'a\\377b' 'a\\000b' 'a\\355\\240\\200b'; do # invalid UTF-8, NUL, a surrogate in three bytes
        suite <<< "printf '{\"score\": 80, \"pass\": true, \"notes\": \"$(printf '%b' "$text")\"}' > /results/score.json"
        grade
        ends 4 error suite suite.result_invalid
        field .reason | grep -q 'line 1, column'
        result_is_json
    done
    # Escapes of JSON: a lone surrogate is no character, NUL no text; a control character is shown escaped.
    for text in '\ud800' '\udc00\ud800' '\u0000'; do
        suite <<< "printf '%s\n' '{\"score\": 80, \"pass\": true, \"notes\": \"a${text}b\"}' > /results/score.json"
        grade
        ends 4 error suite suite.result_invalid
        field .reason | grep -q 'line 1, column 4'
        result_is_json
    done
    suite <<< "printf '%s\n' '{\"score\": 80, \"pass\": true, \"notes\": \"a\\u001b[31m\\ud83d\\ude00b\"}' > /results/score.json"
    grade
    is exit 0 "$status"
    result_is_json
    is notes '"a\u001b[31m😀b"' "$(jq -c .notes result.json)"
}

@test "one bad byte losing a run: in junit and tap, which tools fill with what programs print, it is replaced" {
    suite '"result": {"format": "junit"},' <<'END'
printf '<testsuite><testcase name="a\377\001"/><testcase name="b"><failure>c\000d</failure></testcase></testsuite>' > /results/junit.xml
END
    grade
    is score 50 "$(field .exact.score)"
    result_is_json
    suite '"result": {"format": "tap"},' <<'END'
printf '1..2\nok 1 a\377b\nnot ok 2 c\001\n# d\377\n' > /results/results.tap
END
    grade
    is score 50 "$(field .exact.score)"
    result_is_json
}

@test "one bad byte losing a run: tests.jsonl of a suite that was killed" {
    suite '"limits": {"wall": "300ms"}, "result": {"on_limit": "partial", "planned": 2},' <<'END'
printf '{"name": "a", "passed": true}\n{"name": "b\377", "passed": true}\n' > /results/tests.jsonl
sleep 1000
END
    grade
    ends 4 error suite suite.result_invalid
    field .reason | grep -q 'test 2'
    result_is_json
}

@test "hidden tests that fail to load shown as full marks: nothing collected is no score" {
    suite <<< 'echo "{\"score\": 100, \"pass\": true, \"tests\": []}" > /results/score.json'
    grade
    ends 4 error suite suite.result_invalid
}

@test "a grader that hangs on a child that keeps its output open: the suite's end is the end" {
    suite <<END
sleep 1000 &
$pass
END
    grade
    is exit 0 "$status"
    nothing_left
}

@test "Windows line ends in a script: the message names the interpreter that is missing" {
    suite <<< "$pass"
    printf '#!/bin/sh\r\n%s\r\n' "$pass" > task/tests/run
    grade
    ends 4 error suite suite.not_found
    field .reason | grep -q /tests/run
}

@test "a run that hangs on a busy machine: many at once all end" {
    suite <<END
\$ASSAY_EXEC -- true
$pass
END
    for i in 1 2 3 4; do
        for _ in $(seq 40); do
            # Only a guard: one that hangs would hang for ever.
            timeout -s KILL 60 "$ASSAY" run --quiet "${weak[@]}" task submission.tar.gz || echo "failed: $?"
        done > "out.$i" 2>&1 3>&- &
    done
    wait
    is failures '' "$(cat out.*)"
    nothing_left
}
