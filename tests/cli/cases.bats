#!/usr/bin/env bats
# Cases: what the submission prints, compared outside of its cells.

load common

setup() {
    setup_work
    mkdir -p "$work/task/tests" "$work/task/truth" "$work/submission"
    # A program that adds up what it reads; -x makes it misbehave.
    cat > "$work/submission/sum" << 'END'
#!/bin/sh
case ${1:-} in
-exit) exit "$2" ;;
-signal) kill -9 $$ ;;
-loop) while :; do :; done ;;
-sleep) sleep 1000 ;;
-flood) exec yes ;;
-raw) printf 'a\0\377b\n' ;;
-quiet) exec > /dev/null ;;
-stderr) yes 2> /dev/null | head -c 30000 >&2; echo done ;;
-close) exec >&- ; sleep 1000 ;;
-files) ls /tests /truth . ; cat /tests/*.out ;;
esac
read -r a b
[ -z "$a" ] || echo $((a + b))
END
    chmod +x "$work/submission/sum"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
}

# cases JSON: a task with these
cases() {
    echo "{\"schema\": \"assay.task/1\", \"name\": \"test\", \"scoring\": {\"mode\": \"container\"}, \"cases\": $1 ${2:-}}" \
        > "$work/task/task.json"
}

# each 'NAME PASSED REASON' in order
outcomes() {
    field '.tests[] | .name + " " + (.passed | tostring) + (if .error then " " + .error else "" end)'
}

@test "what is printed decides: exact, tokens, numeric, regex, contains" {
    cases '[
        {"name": "exact", "command": ["./sum"], "stdin": "1 2\n", "stdout": "3\n"},
        {"name": "newline", "command": ["./sum"], "stdin": "1 2\n", "stdout": "3"},
        {"name": "tokens", "command": ["./sum"], "stdin": "1 2\n", "stdout": " 3 ", "compare": "tokens"},
        {"name": "numeric", "command": ["./sum"], "stdin": "1 2\n", "stdout": "3.0009", "compare": {"numeric": {"abs": "1e-3"}}},
        {"name": "beyond", "command": ["./sum"], "stdin": "1 2\n", "stdout": "3.0011", "compare": {"numeric": {"abs": 0.001}}},
        {"name": "regex", "command": ["./sum"], "stdin": "1 2\n", "compare": {"regex": "^[0-9]"}},
        {"name": "contains", "command": ["./sum"], "stdin": "1 2\n", "compare": {"contains": "4"}},
        {"name": "nothing wanted", "command": ["./sum"]}]'
    grade
    is exit 1 "$status"
    is integrity isolated "$(field .isolation.integrity)"
    is passed 'exact tokens numeric regex nothing wanted' "$(field '[.tests[] | select(.passed).name] | join(" ")')"
    is score 125/2 "$(field .exact.score)"
    is cells 8 "$(field .usage.submission.cells)"
    outcomes | grep -q '^newline false .*newline more at the end'
    nothing_left
}

@test "each way a case can end is that case's, and the others go on" {
    cases '[
        {"name": "status", "command": ["./sum", "-exit", "3"]},
        {"name": "wanted status", "command": ["./sum", "-exit", "3"], "exit": 3},
        {"name": "signal", "command": ["./sum", "-signal"]},
        {"name": "loop", "command": ["./sum", "-loop"], "timeout": "100ms"},
        {"name": "sleep", "command": ["./sum", "-sleep"], "timeout": "500ms"},
        {"name": "flood", "command": ["./sum", "-flood"]},
        {"name": "missing", "command": ["./nothing"]},
        {"name": "raw", "command": ["./sum", "-raw"], "stdout": "ab\n"},
        {"name": "stderr", "command": ["./sum", "-stderr"], "stdout": "done\n"},
        {"name": "good", "command": ["./sum"], "stdin": "2 2\n", "stdout": "4\n"}]'
    grade
    is exit 1 "$status"
    is outcomes 'status false exited with status 3, expected 0
wanted status true
signal false died from signal 9 (Killed)
loop false limit.cpu: used more processor time than 100 ms
sleep false limit.wall: ran longer than 2.5 s
flood false limit.output: printed more than 64 KiB
missing false ./nothing cannot be executed: No such file or directory' "$(outcomes | head -7)"
    is passed 'wanted status stderr good' "$(field '[.tests[] | select(.passed).name] | join(" ")')"
    jq -e . "$work/result.json" > /dev/null
    nothing_left
}

@test "a program that closes its output and sleeps is over its time, like any other" {
    cases '[{"name": "a", "command": ["./sum", "-close"], "timeout": "500ms", "stdout": ""}]'
    grade
    outcomes | grep -q 'limit.wall'
}

@test "a case sees the submission and nothing of the task" {
    echo secret > "$work/task/tests/a.out"
    cases '[{"name": "a", "command": ["./sum", "-files"], "compare": {"contains": "secret"}}]'
    grade
    is exit 1 "$status"
    is score 0 "$(field .exact.score)"
}

@test "each: a case for each file, in the order of people, named after it" {
    for i in 1 2 10; do
        echo "$i $i" > "$work/task/tests/s$i.in"
        echo $((2 * i)) > "$work/task/tests/s$i.out"
    done
    echo wrong > "$work/task/tests/s10.out"
    cases '{"groups": [{"name": "g", "each": {"stdin": "tests/s*.in", "stdout": "{stem}.out", "command": ["./sum"]}}]}'
    grade
    is outcomes 'g/s1 true
g/s2 true
g/s10 false' "$(outcomes | cut -d' ' -f1,2)"
    is score 200/3 "$(field .exact.score)"
    is breakdown 66.67 "$(grep -o '66.67' "$work/result.json" | head -1)"
}

@test "points: of cases, of groups, the least, all or nothing" {
    good='"command": ["./sum"], "stdin": "1 1\n", "stdout": "2\n"'
    bad='"command": ["./sum"], "stdin": "1 1\n", "stdout": "3\n"'
    while IFS='|' read -r aggregate want; do
        cases "{\"groups\": [
            {\"name\": \"a\", \"points\": 60, \"aggregate\": \"$aggregate\", \"cases\": [
                {\"name\": \"1\", $good, \"points\": 3}, {\"name\": \"2\", $bad}]},
            {\"name\": \"b\", \"cases\": [{\"name\": \"1\", $good, \"points\": 40}]}]}"
        grade
        is "$aggregate" "$want" "$(field .exact.score)"
    done << 'TABLE'
sum|85
min|40
all|40
TABLE
}

@test "groups: what is required, and stopping at a failure" {
    good='"command": ["./sum"], "stdin": "1 1\n", "stdout": "2\n"'
    bad='"command": ["./sum", "-exit", "1"]'
    cases "{\"groups\": [
        {\"name\": \"a\", \"stop_on_failure\": true, \"cases\": [{\"name\": \"1\", $good}, {\"name\": \"2\", $bad}, {\"name\": \"3\", $good}]},
        {\"name\": \"b\", \"requires\": [\"a\"], \"cases\": [{\"name\": \"1\", $good}]},
        {\"name\": \"c\", \"cases\": [{\"name\": \"1\", $good}]}]}"
    grade
    is outcomes 'a/1 true
a/2 false exited with status 1, expected 0
a/3 false not run: an earlier case of the group failed
b/1 false not run: group a did not pass
c/1 true' "$(outcomes)"
    is cells 3 "$(field .usage.submission.cells)"
}

checker() { # PROTOCOL < SCRIPT
    { echo '#!/bin/sh' && cat; } > "$work/task/tests/check"
    chmod +x "$work/task/tests/check"
    cases "[{\"name\": \"a\", \"command\": [\"./sum\"], \"stdin\": \"1 2\\n\", \"stdout\": \"x\\n\",
        \"compare\": {\"checker\": [\"/tests/check\", \"first\"], \"protocol\": \"$1\"}, \"points\": 2},
        {\"name\": \"b\", \"command\": [\"./sum\"], \"points\": 2}]"
}

@test "checkers: plain, kattis and testlib, with what each is given" {
    checker plain <<< '[ "$1 $(cat "$2") $(cat "$3") $(cat "$4")" = "first 1 2 x 3" ]'
    grade
    is plain 100 "$(field .exact.score)"
    checker plain <<< 'echo "not that"; exit 1'
    grade
    is outcome 'a false not that' "$(outcomes | head -1)"
    checker kattis <<< '[ "$(cat "$2") $(cat "$3") $(cat)" = "1 2 x 3" ] || exit 43; echo 0.25 > "$4/score.txt"; exit 42'
    grade
    is kattis 125/2 "$(field .exact.score)"
    checker testlib <<< '[ "$(cat "$2") $(cat "$3") $(cat "$4")" = "1 2 3 x" ] || exit 1; echo "points 0.5 nearly" >&2; exit 7'
    grade
    is testlib 75 "$(field .exact.score)"
    is reason 'a false points 0.5 nearly' "$(outcomes | head -1)"
    nothing_left
}

@test "a checker that ends in any other way is the suite's failure, never a score" {
    while read -r protocol script; do
        checker "$protocol" <<< "$script"
        grade
        ends 4 error suite suite.checker
    done << 'TABLE'
plain exit 2
plain kill -9 $$
kattis exit 0
kattis echo 2 > "$4/score.txt"; exit 42
testlib exit 7
testlib exit 3
TABLE
    sed -i 's#"/tests/check"#"/tests/missing"#' "$work/task/task.json"
    grade
    ends 4 error suite suite.checker
}

@test "an interactor talks to the program, and its end decides" {
    cat > "$work/task/tests/guess" << 'END'
#!/bin/sh
read -r a b < "$1"
echo "$a $b"
exec 1>&-
read -r answer
[ "$answer" = 3 ] || { echo "said $answer" >&2; exit 1; }
END
    chmod +x "$work/task/tests/guess"
    printf '#!/bin/sh\nwhile echo more; do :; done\nkill -PIPE $$\n' > "$work/task/tests/late"
    chmod +x "$work/task/tests/guess" "$work/task/tests/late"
    cases '[{"name": "right", "command": ["./sum"], "stdin": "1 2\n", "interactor": ["/tests/guess"]},
        {"name": "wrong", "command": ["./sum"], "stdin": "1 3\n", "interactor": ["/tests/guess"]},
        {"name": "gone", "command": ["./sum", "-exit", "0"], "stdin": "1 3\n", "interactor": ["/tests/late"]},
        {"name": "deaf", "command": ["./sum", "-sleep"], "stdin": "1 3\n", "interactor": ["/tests/guess"], "timeout": "500ms"}]'
    grade
    is outcomes 'right true
wrong false said 4
gone false ended before the interactor was done
deaf false limit.wall: ran longer than 2.5 s' "$(outcomes)"
}

@test "a build comes before the cases; one that fails is 0, and no case runs" {
    mkdir -p "$work/submission/src"
    printf 'built:\n\tprintf "#!/bin/sh\\necho built\\n" > built && chmod +x built\n' > "$work/submission/Makefile"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    cases '[{"name": "a", "command": ["./built"], "stdout": "built\n"}]' ', "build": {"command": ["make", "-s"]}'
    command -v make > /dev/null || skip 'make is not installed'
    grade
    is exit 0 "$status"
    is score 100 "$(field .exact.score)"
    cases '[{"name": "a", "command": ["./built"], "stdout": "built\n"}]' ', "build": {"command": ["false"]}'
    grade
    is exit 1 "$status"
    is code build.failed "$(field .code)"
    is score 0 "$(field .exact.score)"
}

@test "as root: files that only root may read, in folders that only root may list" {
    is_root || skip 'needs root'
    cases '{"groups": [{"name": "g", "each": {"stdin": "tests/in/*.in", "stdout": "truth/{name}.out", "command": ["./sum"]}}]}'
    mkdir -p "$work/task/tests/in" "$work/task/truth"
    echo 1 2 > "$work/task/tests/in/a.in"
    echo 3 > "$work/task/truth/a.out"
    chmod -R go-rwx "$work/task"
    grade
    is exit 0 "$status"
    is tests 'g/a true' "$(field '.tests[] | "\(.name) \(.passed)"')"
    "$ASSAY" check --quiet "$work/task"
    is 'described' a "$("$ASSAY" describe --json "$work/task" | jq -r '.. | .name? // empty' | grep -x a)"
}

@test "a file that is missing, and cases without points, are the task's fault" {
    cases '[{"name": "a", "command": ["./sum"], "stdin_file": "tests/none.in"}]'
    grade
    ends 4 error suite suite.case_file
    cases '{"groups": [{"name": "g", "each": {"stdin": "tests/*.in", "command": ["./sum"]}}]}'
    grade
    ends 4 error suite suite.case_file
    cases '[{"name": "a", "command": ["./sum"], "points": 0}]'
    grade
    is exit 2 "$status"
}

@test "many cases, some of them at once: results in order, nothing left" {
    jq -n '{schema: "assay.task/1", name: "test", scoring: {mode: "container"}, limits: {cpus: 4},
        cases: [range(60) | {name: tostring, command: ["./sum"], stdin: "\(.) 1\n", stdout: "\(. + 1)\n"}]}' > "$work/task/task.json"
    grade
    is exit 0 "$status"
    is order true "$(field '[.tests[].name | tonumber] == [range(60)]')"
    nothing_left
}

@test "a signal in the middle ends all cells" {
    cases '[{"name": "a", "command": ["./sum", "-sleep"]}, {"name": "b", "command": ["./sum", "-sleep"]}]'
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/result.json" 2> "$work/errors" 3>&- &
    runner=$!
    until pgrep -P "$runner" > /dev/null; do :; done
    kill -TERM "$runner"
    status=0
    wait "$runner" || status=$?
    is exit 130 "$status"
    nothing_left
}

@test "the example of the documentation is a valid task" {
    mkdir "$work/example" "$work/example/tests"
    sed -n '/^    {/,/^    }/p' "$examples/../cases.md" > "$work/example/task.json"
    run -0 "$ASSAY" check "$work/example"
}
