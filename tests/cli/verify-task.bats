#!/usr/bin/env bats
# assay verify: a task's own solutions against what they must get.

load common

setup() {
    setup_work
    cd "$work" || return
    # What the files `score` and `tests` say.
    script_task << 'END'
score=$(cat /agent_output/score 2> /dev/null)
[ ! -e /agent_output/expect.json ] || score=1
[ -n "$score" ] || score=0
[ "$score" -ge 70 ] && pass=true || pass=false
tests=''
for name in one two three; do
    grep -q $name /agent_output/tests 2> /dev/null && ok=true || ok=false
    tests="$tests${tests:+, }{\"name\": \"$name\", \"passed\": $ok}"
done
echo "{\"score\": $score, \"pass\": $pass, \"tests\": [$tests]}" > /results/score.json
END
}

# solution NAME EXPECTATION SCORE [TESTS]
solution() {
    mkdir -p "task/solutions/$1"
    printf '%s' "$2" > "task/solutions/$1/expect.json"
    echo "$3" > "task/solutions/$1/score"
    echo "${4:-}" > "task/solutions/$1/tests"
}

# verify [OPTIONS…]
verify() {
    status=0
    "$ASSAY" verify "${weak[@]}" "$@" "$work/task" > "$work/output" 2> "$work/errors" || status=$?
}

# warnings: of the last verify --json
warnings() {
    jq -r '.warnings[]' output
}

@test "solutions that get what they must" {
    solution good '{"score": {"min": 90, "max": 100}}' 95 'one two three'
    solution exact '{"score": 84}' 84 'one two'
    solution fails '{"outcome": "fail", "test_score": {"max": 69.99}}' 30 ''
    verify
    is "exit ($(cat output errors))" 0 "$status"
    is output 'ok   exact: pass 84.00
ok   fails: fail 30.00
ok   good: pass 95.00
ok   empty (made up): fail 0.00
4 as expected, 0 not' "$(cat output)"
    verify --quiet
    is quiet '' "$(cat output)"
    nothing_left
}

@test "solutions that do not: each difference is named" {
    solution low '{"score": {"min": 90}}' 80 'one two three'
    solution high '{"score": {"max": 10}, "outcome": "fail"}' 75 ''
    solution good '{"score": 90}' 90 'one two three'
    verify
    is exit 1 "$status"
    grep -qx 'FAIL low: pass 80.00' output
    grep -qx '       score is 80.00, below 90' output
    grep -qx '       score is 75.00, above 10' output
    grep -qx '       outcome is pass, not fail' output
    grep -qx '2 as expected, 2 not' output
    verify --json
    is exit 1 "$status"
    is schema assay.verify/1 "$(jq -r .schema output)"
    is met 'false good empty' "$(jq -r '[.met] + [.solutions[] | select(.met).name] | join(" ")' output)"
}

@test "rejected, failed and pending ones can be expected, too" {
    solution good '{"score": 90}' 90 'one two three'
    solution link '{"status": "rejected", "code": "archive.link_escape"}' 90
    ln -s /etc/passwd task/solutions/link/secret
    mkdir -p task/solutions/nothing
    echo '{"code": "archive.empty"}' > task/solutions/nothing/expect.json
    solution wrong-code '{"status": "rejected", "code": "archive.empty"}' 0
    ln -s /etc/passwd task/solutions/wrong-code/secret
    verify
    is exit 1 "$status"
    grep -qx 'ok   link: rejected (archive.link_escape)' output
    grep -qx 'ok   nothing: rejected (archive.empty)' output
    grep -qx 'FAIL wrong-code: rejected (archive.link_escape)' output
    grep -qx '       code is archive.link_escape, not archive.empty' output
    grep -q '^       why: ' output
    grep -q '^       what to do: ' output
}

@test "expect.json is not part of the solution, but one further down is; a single folder stays" {
    solution good '{"score": 95}' 95 'one two three'
    mkdir -p task/solutions/folder/only
    echo '{"score": 0}' > task/solutions/folder/expect.json
    echo 95 > task/solutions/folder/only/score # would be seen if `only` were stripped
    cp task/solutions/folder/expect.json task/solutions/folder/only/
    ln -s only/score task/solutions/folder/a-link
    verify
    is "exit ($(cat output errors))" 0 "$status"
}

@test "a solution may have many files, long names and links" {
    script_task << 'END'
cd /agent_output || exit 1
[ "$(stat -c %a run plain | xargs)" = '755 644' ] && [ "$(cat link)" = plain ] && [ "$(cat "$(find . -name 'l*g')")" = long ] && [ "$(find . -type f | wc -l)" -eq 53 ] &&
    [ "$(wc -c < big)" -eq 300000 ] && [ -d empty-folder ] && score=100 || score=50
echo "{\"score\": $score, \"pass\": true}" > /results/score.json
END
    mkdir -p task/solutions/all/many task/solutions/all/empty-folder
    cd task/solutions/all
    echo '{"score": 100}' > expect.json
    printf 'plain' > plain
    printf '#!/bin/sh' > run
    chmod +x run
    ln -s plain link
    head -c 300000 /dev/zero > big
    deep=$(printf 'd%.0s' $(seq 120))
    mkdir "$deep"
    printf long > "$deep/l$(printf 'o%.0s' $(seq 200))g"
    ln -s "$(printf './%.0s' $(seq 80))plain" longlink
    for i in $(seq 49); do echo "$i" > "many/$i"; done
    cd "$work"
    verify
    grep -qx 'ok   all: pass 100.00' output
}

@test "--twice: what differs from one run to the next is not deterministic" {
    solution good '{"score": {"min": 0}}' 90 'one two three'
    solution bad '{"outcome": "fail"}' 10
    verify --twice
    is exit 0 "$status"
    grep -q 'each graded twice' output
    script_task << 'END'
score=$(od -An -N 3 -tu4 < /dev/urandom | tr -d ' ')
echo "{\"score\": $((score % 100)).$score, \"pass\": true}" > /results/score.json
END
    solution good '{"score": {"min": 0}}' 90
    verify --twice
    is exit 1 "$status"
    grep -q '^       not deterministic: score ' output
    script_task << 'END'
name=$(od -An -N 6 -tx1 < /dev/urandom | tr -d ' \n')
echo "{\"score\": 0, \"pass\": true, \"tests\": [{\"name\": \"$name\", \"passed\": true}]}" > /results/score.json
END
    verify --twice --json
    is exit 1 "$status"
    jq -e '.solutions[] | select(.name == "good") | .differs[0] | startswith("not deterministic: the test")' output
    is runs 2 "$(jq '.solutions[] | select(.name == "good").runs | length' output)"
}

@test "warnings: tests that show nothing, and no solution that passes or fails" {
    solution good '{"score": 90}' 90 'one two'
    solution bad '{"score": 20}' 20 'one'
    verify --json
    is exit 0 "$status"
    is warnings 'no wrong solution fails the test "one"
no solution passes the test "three"' "$(warnings)"
    rm -r task/solutions/bad
    verify --json
    is 'only right ones' 'no solution fails: nothing shows that the task tells wrong work from right
no solution passes the test "three"' "$(warnings)"
    rm -r task/solutions/good
    solution bad '{"score": 20}' 20 'one two three'
    verify --json
    grep -q 'no solution passes: nothing shows that one can' <(warnings)
    is exit 0 "$status"
}

@test "an empty submission must not pass" {
    solution good '{"score": 90}' 90 'one two three'
    solution bad '{"score": 20}' 20
    script_task << 'END'
echo "{\"score\": $(cat /agent_output/score 2> /dev/null || echo 75), \"pass\": true}" > /results/score.json
END
    verify
    is exit 1 "$status"
    grep -qx '       an empty submission passes, with 75.00' output
    script_task << 'END'
score=$(cat /agent_output/score 2> /dev/null || echo 5)
[ "$score" -ge 70 ] && pass=true || pass=false
echo "{\"score\": $score, \"pass\": $pass}" > /results/score.json
END
    verify
    is exit 0 "$status"
    grep -qx 'warning: an empty submission scores 5.00' output
    script_task << 'END'
score=$(cat /agent_output/score) || exit 1
[ "$score" -ge 70 ] && pass=true || pass=false
echo "{\"score\": $score, \"pass\": $pass}" > /results/score.json
END
    verify
    is exit 0 "$status"
    grep -q '^warning: an empty submission gets no score (suite.exit' output
    solution empty '{"status": "error", "code": "suite.exit"}' '' # one's own takes its place
    rm task/solutions/empty/score
    verify
    is exit 0 "$status"
    grep -qx 'ok   empty: error (suite.exit)' output
}

@test "an empty submission has the files that are required" {
    solution good '{"score": 90}' 90 'one two three'
    solution bad '{"score": 20}' 20
    task=$(jq '.submission.required_files = [{"path": "src/main.txt"}, {"path": "score"}]' task/task.json)
    echo "$task" > task/task.json
    mkdir task/solutions/good/src task/solutions/bad/src
    touch task/solutions/good/src/main.txt task/solutions/bad/src/main.txt
    verify
    is "exit ($(cat output))" 0 "$status"
    grep -qx 'ok   empty (made up): fail 0.00' output
}

@test "the judge's score is the expectation's; without one it is pending" {
    cp -R "$examples/palindrome" hybrid
    "$ASSAY" verify "${weak[@]}" hybrid > output
    is 'warnings' '' "$(grep ^warning output || true)"
    echo '{"score": {"min": 90}}' > hybrid/solutions/good/expect.json
    status=0
    "$ASSAY" verify "${weak[@]}" hybrid > output || status=$?
    is exit 1 "$status"
    grep -qx '       status is pending (judge.pending), not graded' output
    echo '{"status": "pending"}' > hybrid/solutions/good/expect.json
    "$ASSAY" verify "${weak[@]}" hybrid > output
}

@test "usage: tasks without solutions, solutions without expectations, expectations of nothing" {
    verify
    is 'no solutions' 2 "$status"
    grep -q '^assay: task.expectation: .*solutions' errors
    mkdir -p task/solutions/good
    verify
    is 'no expect.json' 2 "$status"
    grep -q 'solutions/good/expect.json' errors
    for bad in '{}' '{"score": "90"}' 'x' '[]' '{"score": 90, "scores": 1}'; do
        solution good "$bad" 90
        verify
        is "exit for $bad" 2 "$status"
        grep -q '^assay: task.expectation: good: line 1' errors
        is "lines for $bad" 1 "$(wc -l < errors)"
    done
    rm task/solutions/good/expect.json
    mkfifo task/solutions/good/expect.json
    verify
    is 'a fifo' 2 "$status"
    rm -r task/solutions
    ln -s "$work" task/solutions
    verify
    is 'a link' 2 "$status"
    echo '{"schema": "assay.task/1"}' > task/task.json
    verify
    is 'an invalid task' 2 "$status"
    grep -q 'task.json:1:' errors
}

@test "what this machine is to blame for is said with its remedy, exit status 4" {
    solution good '{"score": 90}' 90 'one two three'
    task=$(jq '.image = "no/such:image"' task/task.json)
    echo "$task" > task/task.json
    verify
    is exit 4 "$status"
    grep -qx 'FAIL good: error (image.missing)' output
    grep -q '^       what to do: load it' output
}

@test "interrupted: nothing is left" {
    script_task << 'END'
exec sleep 600
END
    solution good '{"score": 90}' 90
    "$ASSAY" verify "${weak[@]}" task > output 2> errors 3>&- &
    local verify=$!
    until [ -n "$(ls "$ASSAY_STATE/evaluations" 2> /dev/null)" ]; do kill -0 "$verify"; done
    kill -TERM "$verify"
    status=0
    wait "$verify" || status=$?
    is exit 130 "$status"
    grep -q '^assay: interrupted' errors
    nothing_left
}
