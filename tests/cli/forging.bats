#!/usr/bin/env bats
# Submissions that want a better score than theirs, against graders of every kind: tests/forging has
# the attacks, the table here what each scores. What wrong.py says is worth 25, an attack that says
# something else instead is worth less, and no attack is worth more.

load common

setup() {
    setup_work
    cd "$work" || return
    mkdir -p task/tests task/truth
    # What is expected cannot be known, but for the first.
    {
        echo the-answer-to first one
        for question in second third fourth; do echo "the-answer-to $question $(od -An -N8 -tx8 /dev/urandom | tr -d ' ')"; done
    } > task/tests/answers
    cp task/tests/answers task/truth/
}

scores='
    honest          25
    result-file     25
    daemon          25
    read-files      25
    read-processes  25
    kill            25
    plant           25
    broker          25
    pipes           25
    print           0
    exit            0
    flood           0
    close           0'

# submit ATTACK: the archive
submit() {
    rm -rf submission
    mkdir submission
    ! [ "$1" = plant ] || (cd submission && sh "$here/../forging/plant.sh")
    cat "$here/../forging/$1.py" "$here/../forging/wrong.py" > submission/solution.py
    tar -C submission -czf submission.tar.gz .
}

# attacked ATTACK: grade it. Who stays for ever is not waited for.
attacked() {
    local patience=20s
    [ "$1" != close ] || patience=300ms
    sed "s/PATIENCE/$patience/" task.json > task/task.json
    submit "$1"
    status=0
    timeout 100 "$ASSAY" run --json "${weak[@]}" task submission.tar.gz > result.json 2> errors || status=$?
}

# withstands INTEGRITY: every attack scores what the table says, and leaves nothing
withstands() {
    local attack expected
    while read -r attack expected; do
        [ -n "$attack" ] || continue
        attacked "$attack"
        is "status after $attack" graded "$(field .status)"
        is "score of $attack" "$expected" "$(field .exact.score)"
        is "integrity of $attack" "$1" "$(field .isolation.integrity)"
        nothing_left
    done <<< "$scores"
}

# suite_task COMMAND [JSON members…]: a task whose suite has calls, and sees the submission
suite_task() {
    cat > task.json <<END
{"schema": "assay.task/1", "name": "test", "scoring": {"mode": "container"}, ${2:-}
    "limits": {"wall": "90s"},
    "suite": {"command": $1, "broker": true, "env": {"TIMEOUT": "PATIENCE"}},
    "submission": {"image": "host"}}
END
}

python_suite() {
    cat > task/tests/test_all.py <<'END'
import os, subprocess, unittest

def ask(question):
    return subprocess.run([os.environ['ASSAY_EXEC'], '--timeout', os.environ['TIMEOUT'], '--', 'python3', 'solution.py'],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, input=question.encode() + b'\n').stdout

class Answers(unittest.TestCase):
    pass

for line in open('/tests/answers'):
    _, question, answer = line.split()
    setattr(Answers, 'test_' + question, lambda self, q=question, a=answer: self.assertEqual(ask(q), a.encode() + b'\n'))
END
}

@test "a suite in Python (unittest), by calls" {
    python_suite
    cat > task/tests/run.py <<'END'
import json, unittest
suite = unittest.defaultTestLoader.discover('/tests')
result = unittest.TextTestRunner().run(suite)
failed = len(result.failures) + len(result.errors)
json.dump({'score': 100 * (result.testsRun - failed) / result.testsRun, 'pass': not failed}, open('/results/score.json', 'w'))
END
    suite_task '["python3", "/tests/run.py"]'
    withstands brokered
}

@test "a suite in Python (pytest), by calls, with a result in JUnit's format" {
    /usr/bin/python3 -c 'import pytest' 2> /dev/null || skip 'no pytest'
    python_suite
    suite_task '["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=/results/junit.xml", "/tests"]' \
        '"result": {"format": "junit", "path": "/results/junit.xml"},'
    withstands brokered
}

@test "a suite in C, by calls" {
    cp "$ASSAY_BUILD/tests/forging-suite" task/tests/run
    suite_task '["/tests/run"]'
    withstands brokered
}

@test "a suite in Node, by calls" {
    [ -x /usr/bin/node ] || skip 'no node in /usr/bin'
    cat > task/tests/run.js <<'END'
const fs = require('fs'), child = require('child_process');
let right = 0, count = 0;
for (const line of fs.readFileSync('/tests/answers', 'utf8').trim().split('\n')) {
    const [, question, answer] = line.split(' ');
    const said = child.spawnSync(process.env.ASSAY_EXEC, ['--timeout', process.env.TIMEOUT, '--', 'python3', 'solution.py'], {input: question + '\n'});
    right += said.stdout.toString() === answer + '\n';
    count++;
}
fs.writeFileSync('/results/score.json', JSON.stringify({score: 100 * right / count, pass: right === count}));
END
    suite_task '["/usr/bin/node", "/tests/run.js"]'
    withstands brokered
}

@test "cases" {
    {
        echo '{"schema": "assay.task/1", "name": "test", "scoring": {"mode": "container"}, "cases": ['
        while read -r _ question answer; do
            echo "$answer" > "task/tests/$question.out"
            printf '{"name": "%s", "command": ["python3", "solution.py"], "stdin": "%s\\n", "timeout": "PATIENCE",
                "stdout_file": "tests/%s.out", "compare": "exact"},\n' "$question" "$question" "$question"
        done < task/tests/answers | sed '$s/,$//'
        echo ']}'
    } > task.json
    withstands isolated
}

# --- what a submission plants where the suite starts ------------------------------------------------

@test "a suite with calls does not start in the submission, whose modules its tools would load" {
    python_suite
    for contract in evaluator harbor; do
        # Python looks for modules where it is started; in the end they would run in the suite's cell.
        cat > task.json <<END
{"schema": "assay.task/1", "name": "test", "contract": "$contract", "scoring": {"mode": "container"},
    "suite": {"command": ["sh", "-c", "exec python3 -m unittest -q test_all"], "broker": true,
              "env": {"PYTHONPATH": "/tests", "TIMEOUT": "PATIENCE"}},
    "result": {"format": "exit-code"}, "submission": {"image": "host"}}
END
        attacked honest
        is "score of wrong.py ($contract)" 0 "$(field .exact.score)"
        attacked plant
        is "score with planted modules ($contract)" 0 "$(field .exact.score)"
        is integrity brokered "$(field .isolation.integrity)"
    done
}

# --- suites that run the submission in their own cell --------------------------------------------------

@test "a naive suite: what its cell forges is shared, and what comes after its end counts for nothing" {
    cat > task.json <<END
{"schema": "assay.task/1", "name": "test", "scoring": {"mode": "container"},
    "suite": {"command": ["sh", "/tests/run"], "broker": true, "env": {"TIMEOUT": "PATIENCE"}}}
END
    cat > task/tests/run <<'END'
right=0
while read -r _ question answer; do
    (cd /agent_output && echo "$question" | timeout 20 python3 solution.py) > /tmp/said 2> /dev/null
    [ "$(cat /tmp/said)" != "$answer" ] || right=$((right + 25))
done < /tests/answers
rm -rf /results/*
echo "{\"score\": $right, \"pass\": false}" > /results/score.json
END
    for attack in honest daemon broker; do
        attacked $attack
        is "integrity of $attack" shared "$(field .isolation.integrity)"
        # Before the suite's end a daemon may be faster than the suite, or write at the same time.
        [ $attack = daemon ] || is "score of $attack" 25 "$(field .exact.score)"
        nothing_left
    done
}

# --- what programs of cases may do to their runner ------------------------------------------------------

# cases_task COUNT CASE [JSON members…]: so many cases
cases_task() {
    local cases='' i
    for ((i = 0; i < $1; i++)); do cases="$cases, {\"name\": \"$i\", $2}"; done
    echo "{\"schema\": \"assay.task/1\", \"name\": \"test\", \"scoring\": {\"mode\": \"container\"}, ${3:-} \"cases\": [${cases#, }]}" > task/task.json
}

@test "cases: output and errors together are too much, whether they were read before its end or after" {
    cases_task 12 '"command": ["sh", "program"], "stdout_file": "tests/zeros"'
    head -c 40000 /dev/zero > task/tests/zeros
    submission
    echo 'head -c 40000 /dev/zero; head -c 40000 /dev/zero >&2' > submission/program
    tar -C submission -czf submission.tar.gz .
    grade
    is status graded "$(field .status)"
    is reasons 'limit.output: printed more than 64 KiB' "$(field '.tests[].error' | sort -u)"
}

@test "cases: what many wrong programs print is not all kept at once" {
    cases_task 40 '"command": ["head", "-c", "12000000", "/dev/zero"], "stdout": "right"' \
        '"submission": {"limits": {"output": "12MB"}}, "limits": {"cpus": 1},'
    sed -i 's/"12MB"/12000000/' task/task.json
    submission
    status=0
    (ulimit -S -v 400000 && exec timeout 100 "$ASSAY" run --json "${weak[@]}" task submission.tar.gz > result.json 2> errors) || status=$?
    is status graded "$(field .status)"
    is exit 1 "$status"
    is 'cases judged' 40 "$(field '.tests | length')"
}

@test "cases: a program that prints more than a checker takes has failed, not the task" {
    cases_task 1 '"command": ["head", "-c", "1000000", "/dev/zero"], "stdout": "right", "compare": {"checker": ["/tests/check"]}' \
        '"submission": {"limits": {"output": "4MiB"}},'
    printf '#!/bin/sh\nexit 0\n' > task/tests/check
    chmod +x task/tests/check
    submission
    grade
    is status graded "$(field .status)"
    is score 0 "$(field .exact.score)"
    field '.tests[0].error' | grep -q 'too much for a checker'
}

@test "cases: hostile output of every kind is a wrong answer, shown escaped" {
    cases_task 1 '"command": ["sh", "program"], "stdout": "right\n", "timeout": "5s"'
    submission
    while read -r program; do
        echo "$program" > submission/program
        tar -C submission -czf submission.tar.gz .
        grade
        is "status of $program" graded "$(field .status)"
        is "score of $program" 0 "$(field .exact.score)"
        jq -e '.tests[0].error | test("[\\x00-\\x1f\\x7f]") | not' result.json > output
    done <<'END'
printf 'right\n\0'
printf 'right\r\n'
printf '\033[2J\033[Hright\n'
printf '\377\376r\0i\0g\0h\0t\0'
head -c 65536 /dev/urandom
yes right
yes wrong >&2
exec >&-; echo right >&2
exec 2>&- >&- <&-
kill -KILL $$
ln -s /dev/stdin out; cat out
echo right; exit 1
END
    nothing_left
}
