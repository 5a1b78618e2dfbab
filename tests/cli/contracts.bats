#!/usr/bin/env bats
# Graders that were written for other platforms, as those tell people to write them, graded as they
# are; and every way in which each of them can fail.

load common
load layout

setup() {
    setup_work
    cd "$work" || return
    mkdir -p task/tests
}

contracts='straw gradescope prairielearn codabench harbor'

# contract_task CONTRACT [JSON members…]: task.json; "suite" is among the members where it needs one
contract_task() {
    cat > "$work/task/task.json" <<END
{
    "schema": "assay.task/1",
    "name": "test",
    "title": "Assignment 1",
    ${2:-}
    "contract": "$1",
    "scoring": {"scheme": "blend", "mode": "container"}
}
END
}

# program FILE < TEXT: an executable file of the task
program() {
    mkdir -p "$(dirname "$work/task/$1")"
    cat > "$work/task/$1"
    chmod +x "$work/task/$1"
}

# packed: an archive of what is in $work/submission
packed() {
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
}

# graded SCORE: that is the score, by code that shares the suite's cell
graded() {
    is status graded "$(field .status)"
    is score "$1" "$(field .exact.score)"
    is integrity shared "$(field .isolation.integrity)"
    is 'attempt used' true "$(field .attempt_used)"
    nothing_left
}

# --- graders as their platforms have them ------------------------------------------------------

@test "gradescope: run_autograder copies the submission to its source, runs there, knows the metadata" {
    contract_task gradescope
    cat > task/tests/run_autograder <<'END'
#!/usr/bin/env bash
cp -r /autograder/submission/* /autograder/source/
cd /autograder/source
python3 run_tests.py
END
    cat > task/tests/run_tests.py <<'END'
import datetime, json, sys
from calculator import add
meta = json.load(open('/autograder/submission_metadata.json'))
form = '%Y-%m-%dT%H:%M:%S.%f%z'
made = datetime.datetime.strptime(meta['created_at'], form)
due = datetime.datetime.strptime(meta['assignment']['due_date'], form)
print(meta['assignment']['title'], meta['users'][0]['name'], len(meta['previous_submissions']), made < due)
tests = [{'name': 'one', 'score': 2, 'max_score': 2, 'visibility': 'visible'},
         {'name': 'two', 'score': 2.0 if add(2, 2) == 4 else 0, 'max_score': 3, 'output': 'not quite', 'number': '1.2'}]
json.dump({'tests': tests, 'execution_time': 1, 'stdout_visibility': 'hidden', 'leaderboard': []},
          open('/autograder/results/results.json', 'w'))
sys.exit(1)
END
    sed -i 's/"contract"/"visibility": {"due": "2999-12-01T00:00:00Z"}, "contract"/' task/task.json
    mkdir submission && echo 'def add(a, b): return a + b' > submission/calculator.py
    packed
    grade
    graded 80
    is 'exit status' 0 "$status"
    is printed 'Assignment 1 Anonymous 0 True' "$(field .logs.stdout.head)"
    is tests '[["one",true],["two",false]]' "$(jq -c '[.tests[] | [.name, .passed]]' result.json)"
}

@test "prairielearn: the entry point finds data, tests and the student's files below /grade" {
    contract_task prairielearn '"suite": {"command": ["/grade/tests/run.sh"]},'
    program tests/run.sh <<'END'
#!/bin/bash
mkdir -p /grade/run /grade/results
cp -rv /grade/student/* /grade/tests/ag.py /grade/run > /dev/null
cd /grade/run && python3 ag.py
END
    cat > task/tests/ag.py <<'END'
import json
from fib import fib
data = json.load(open('/grade/data/data.json'))
assert data['params'] == {} and data['gradable'] is True and data['variant_seed'] == 0, data
results = {'gradable': True, 'score': 0.25, 'message': 'Tests completed successfully.',
           'output': 'Running', 'images': [], 'tests': [
    {'name': 'Test 1', 'description': 'a thing', 'points': 1, 'max_points': 1, 'message': 'No errors!'},
    {'name': 'Test 2', 'points': 0, 'max_points': 3, 'message': 'wrong: %d' % fib(3), 'output': '…'}]}
json.dump(results, open('/grade/results/results.json', 'w'))
END
    mkdir submission && echo 'def fib(n): return n' > submission/fib.py
    packed
    grade
    graded 25
    is 'exit status' 1 "$status"
    is notes 'Tests completed successfully.' "$(field .notes)"
    is 'second test' '["Test 2",false,"wrong: 3"]' "$(jq -c '.tests[1] | [.name, .passed, .error]' result.json)"
}

@test "prairielearn: what is not gradable takes no attempt" {
    contract_task prairielearn '"suite": {"command": ["/grade/tests/run"]},'
    program tests/run <<'END'
#!/bin/sh
echo '{"gradable": false, "message": "does not parse", "format_errors": ["line 3"]}' > /grade/results/results.json
END
    submission
    grade
    ends 3 ungradable suite suite.ungradable
    is 'attempt used' false "$(field .attempt_used)"
    is notes 'does not parse' "$(field .notes)"
    echo '{"gradable": false, "format_errors": ["line 3", "line 4"]}' > task/tests/answer
    program tests/run <<< '#!/bin/sh
cp /grade/tests/answer /grade/results/results.json'
    grade
    is status ungradable "$(field .status)"
    is notes $'line 3\nline 4' "$(field .notes)"
}

@test "codabench: the program that metadata.yaml names compares predictions with the truth" {
    contract_task codabench '"result": {"key": "accuracy"},'
    # shellcheck disable=SC2016 # variables of the platform
    printf '%s\r\n' '# scoring program' 'command: python3 $program/score.py $input $output' 'description: "a: b"' \
        > task/tests/metadata.yaml
    cat > task/tests/score.py <<'END'
import json, os, sys
input_dir, output_dir = sys.argv[1:]
truth = open(os.path.join(input_dir, 'ref', 'labels.txt')).read().split()
guess = open(os.path.join(input_dir, 'res', 'predictions.txt')).read().split()
assert (input_dir, output_dir, os.getcwd()) == ('/app/input', '/app/output', '/app/program')
right = sum(a == b for a, b in zip(truth, guess))
with open(os.path.join(output_dir, 'scores.json'), 'w') as f:
    json.dump({'accuracy': right / len(truth), 'duration': 3.5}, f)
open(os.path.join(output_dir, 'detailed_results.html'), 'w').write('<p>')
END
    mkdir task/truth submission
    echo a b c d > task/truth/labels.txt
    echo a b c x > submission/predictions.txt
    packed
    grade
    graded 75
    # A scale of its own, on which less is better.
    contract_task codabench '"result": {"key": "duration", "min": 0, "max": 10},'
    grade
    graded 35
}

@test "codabench: without metadata or command the task says what is missing" {
    contract_task codabench '"result": {"key": "accuracy"},'
    submission
    grade
    ends 4 error suite suite.not_found
    field .reason | grep -q metadata.yaml
    run "$ASSAY" check task
    is 'exit of check' 2 "$status"
    [[ $output == *'suite.not_found: '*metadata.yaml* ]]
    echo 'image: x' > task/tests/metadata.yaml
    grade
    is code task.invalid "$(field .code)"
    run "$ASSAY" check task
    is 'exit of check' 2 "$status"
    [[ $output == *'task.invalid: tests/metadata.yaml: '* ]] || { echo "$output" && return 1; }
    # The task's own command is stronger.
    contract_task codabench '"result": {"key": "accuracy"},
        "suite": {"command": ["sh", "-c", "echo \"{\\\"accuracy\\\": 1}\" > /app/output/scores.json"]},'
    grade
    graded 100
    "$ASSAY" check task
}

@test "harbor: tests/test.sh is run by bash from /app, which holds the submission and may be changed" {
    contract_task harbor
    cat > task/tests/test.sh <<'END'
#!/bin/bash
[[ $PWD == /app ]] || exit 7
echo built > built.txt && echo more >> answer.txt
if python3 /tests/test_outputs.py; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
exit 3
END
    echo 'from pathlib import Path; assert Path("answer.txt").read_text().split() == ["42", "more"]' > task/tests/test_outputs.py
    mkdir submission && echo 42 > submission/answer.txt
    packed
    grade
    graded 100
    is 'exit status' 0 "$status"
    echo 43 > submission/answer.txt
    packed
    grade
    graded 0
    program tests/test.sh <<< 'echo "{\"reward\": 0.5, \"speed\": 3}" > /logs/verifier/reward.json'
    grade
    graded 50
    contract_task harbor '"result": {"key": "speed"},'
    grade
    is code suite.result_invalid "$(field .code)" # not from 0 to 1
}

@test "harbor: both reward files agree, or neither is believed" {
    contract_task harbor
    program tests/test.sh <<< 'echo "{\"reward\": 0.50}" > /logs/verifier/reward.json; echo 0.5 > /logs/verifier/reward.txt'
    submission
    grade
    graded 50
    program tests/test.sh <<< 'echo "{\"reward\": 0.6}" > /logs/verifier/reward.json; echo 0.5 > /logs/verifier/reward.txt'
    grade
    ends 4 error suite suite.result_invalid
    field .reason | grep -qF 'reward.txt says 0.5'
    program tests/test.sh <<< 'echo "{\"reward\": 0.6}" > /logs/verifier/reward.json; ln -s reward.json /logs/verifier/reward.txt'
    grade
    ends 4 error suite suite.result_not_a_file
    field .reason | grep -qF /logs/verifier/reward.txt
}

# evaluator_task SCRIPT: a custom script as its platform has it, which scores a dimension by itself
evaluator_task() {
    mkdir -p task/truth submission
    echo '{"expected": [1, 2, 3, 4]}' > task/truth/truth.json
    program tests/evaluate <<< "$1"
    cat > task/task.json <<'END'
{"schema": "assay.task/1", "name": "test", "contract": "evaluator", "suite": {"command": ["/tests/evaluate"]},
 "limits": {"wall": "5s"},
 "scoring": {"scheme": "dimensions", "type": "custom-script", "dimensions": [
    {"name": "accuracy", "weight": 0.5, "primitive": "exact_match_ratio", "field": "answers", "ground_truth_field": "expected"},
    {"name": "depth", "weight": 0.5, "source": "script", "key": "depth"}]}}
END
    echo '{"answers": [1, 2, 0, 4], "depth": 0.6}' > submission.tar.gz
}

@test "evaluator: the script finds answer and truth, and its last line with scores counts" {
    evaluator_task '#!/usr/bin/python3
import json, os
answer = json.load(open("/workspace/answer.json"))
assert json.load(open("/truth/truth.json"))["expected"] and os.getcwd() == "/workspace"
print(json.dumps({"scores": {"depth": 1}}))
print("seed", os.environ["ASSAY_SEED"])
print(json.dumps({"scores": {"depth": round(1000 * answer["depth"])}}))
print("done")'
    grade --seed 7
    is exit 1 "$status"
    is outcome draw "$(field .outcome)"
    is score 675 "$(field .score)"
    is scores '750 600' "$(field '"\(.score_breakdown.accuracy.score) \(.score_breakdown.depth.score)"')"
    field .logs.stdout.head | grep -qx 'seed 7'
    nothing_left
}

@test "evaluator: each way in which it can fail has its class" {
    while IFS='|' read -r code class script; do
        evaluator_task "#!/bin/sh
$script"
        grade
        ends 4 error "$class" "$code"
    done <<'TABLE'
suite.no_result|suite|echo nothing
suite.result_invalid|suite|echo '{"scores": {"depth": 1001}}'
suite.result_invalid|suite|echo '{"scores": {}}'
suite.exit|suite|echo '{"scores": {"depth": 1}}'; exit 1
suite.signal|suite|echo '{"scores": {"depth": 1}}'; kill -9 $$
limit.wall|limit|echo '{"scores": {"depth": 1}}'; sleep 100
TABLE
}

@test "straw: the suite finds the submission in both places, read-only" {
    contract_task straw '"suite": {"command": ["/tests/run"]},'
    program tests/run <<'END'
#!/bin/sh
cmp /agent_output/main.txt /submission/main.txt && ! touch /submission/new 2> /dev/null && score=80
printf '{"score": %d, "pass": true}' "$score" > /results/score.json
END
    submission
    grade
    graded 80
}

# --- the same in images ------------------------------------------------------------------------

# image NAME CONFIG: of the directory $work/base with busybox
image() {
    local name
    mkdir -p base/bin base/tmp
    cp /bin/busybox base/bin/
    for name in sh cat cp echo env id ls mkdir rm sed test; do ln -sf busybox "base/bin/$name"; done
    # shellcheck disable=SC2016 # for the shell inside
    [ -e base/bin/bash ] || { printf '%s\n' '#!/bin/sh' 'exec sh "$@"' > base/bin/bash && chmod 755 base/bin/bash; }
    config=$2 layout oci "$1" base
    "$ASSAY" image load oci --quiet
}

@test "gradescope in an image: its own run_autograder and source, its environment" {
    mkdir -p base/autograder/source base/autograder/results
    cat > base/autograder/run_autograder <<'END'
#!/bin/sh
cp /autograder/submission/* /autograder/source/ && cd /autograder/source && . ./points
echo "{\"score\": $points, \"tests\": [{\"score\": 1, \"max_score\": $MOST}]}" > /autograder/results/results.json
END
    chmod 755 base/autograder/run_autograder
    echo stale > base/autograder/results/results.json
    image gradescope-image '{"Env": ["PATH=/bin", "MOST=20"], "WorkingDir": "/autograder"}'
    contract_task gradescope '"image": "gradescope-image",'
    rmdir task/tests
    mkdir submission && echo points=15 > submission/points
    packed
    grade
    graded 75
    # What the image has in the directory of results is nobody's result.
    echo 'exit 0' > submission/points
    packed
    grade
    ends 4 error suite suite.no_result
}

@test "gradescope in an image: run_autograder of the task takes the place of the image's" {
    mkdir -p base/autograder/source
    printf '%s\n' '#!/bin/sh' 'exit 9' > base/autograder/run_autograder
    chmod 755 base/autograder/run_autograder
    image gradescope-image '{"Env": ["PATH=/bin"]}'
    contract_task gradescope '"image": "gradescope-image", "result": {"max": 4},'
    printf '%s\n' '#!/bin/sh' 'echo "{\"score\": 1}" > /autograder/results/results.json' > task/tests/run_autograder
    submission
    grade
    graded 25
}

@test "prairielearn in an image: its ENTRYPOINT runs, in its own directory" {
    mkdir -p base/grader base/grade/results
    cat > base/grader/run.sh <<'END'
#!/bin/sh
[ "$PWD" = /grader ] && [ -r /grade/data/data.json ] && [ -r /grade/tests/expected ] && cat /grade/student/main.txt &&
    echo '{"score": 0.5, "tests": [{"points": 1}, {"points": 0}]}' > /grade/results/results.json
END
    chmod 755 base/grader/run.sh
    image prairielearn-image '{"Env": ["PATH=/bin"], "WorkingDir": "/grader", "Entrypoint": ["/grader/run.sh"]}'
    contract_task prairielearn '"image": "prairielearn-image",'
    echo 1 > task/tests/expected
    submission
    grade
    graded 50
}

@test "an image's own user may write where its contract lets a grader write" {
    is_root || [ ${#weak[@]} -eq 0 ] || skip 'an ordinary user without a delegation has one id for a cell'
    local contract top
    mkdir -p base/grade base/autograder
    image user-image '{"Env": ["PATH=/bin"], "User": "1000:1000"}'
    for contract in gradescope prairielearn; do
        top=/autograder/submission:/autograder/source
        [ "$contract" = gradescope ] || top=/grade/student:/grade/tests
        suite_of "$contract" '"image": "user-image",' <<< "id -u; for d in ${top/:/ }; do cd \$d && echo x > new && mkdir made || exit 9; done
echo more >> ${top%:*}/main.txt || exit 10
good"
        submission
        grade
        graded 80
        is 'user id' 1000 "$(field .logs.stdout.head)"
    done
}

# What the test.sh below sees and does is the same for every user of an image.
harbor_image() { # CONFIG
    mkdir -p base/app/lib base/app/both
    echo image | tee base/app/kept base/app/replaced base/app/lib/a base/app/both/1 > base/app/becomes-directory
    image harbor-image "$1"
    contract_task harbor '"image": "harbor-image",'
    cat > task/tests/test.sh <<'END'
cat kept replaced lib/a lib/b both/1 both/2 becomes-directory/x
[ -d /app/both ] && echo changed > kept && echo changed > replaced && echo new > lib/new && rm lib/a lib/b &&
    mkdir made && cat kept replaced lib/new && echo 0.75 > /logs/verifier/reward.txt
END
    mkdir -p submission/lib submission/both submission/becomes-directory
    echo ours | tee submission/replaced submission/lib/b submission/both/2 > submission/becomes-directory/x
    packed
}

@test "harbor in an image: the submission lies over the image's /app, and all of it may be changed" {
    harbor_image '{"Env": ["PATH=/bin"], "WorkingDir": "/app"}'
    for _ in 1 2; do
        grade
        graded 75
        is printed 'image ours image ours image ours ours changed changed new' "$(field .logs.stdout.head | xargs)"
    done
    is 'the submission' ours "$(cat submission/replaced)"
}

@test "harbor in an image with a user of its own: that one may change what it has in /app" {
    is_root || [ ${#weak[@]} -eq 0 ] || skip 'an ordinary user without a delegation has one id for a cell'
    harbor_image '{"Env": ["PATH=/bin"], "WorkingDir": "/app", "User": "1000:1000"}'
    cat > task/tests/test.sh <<'END'
id -u && echo changed > replaced && echo new > new && mkdir made && echo new > both/new && cat kept replaced new both/*
echo 1 > /logs/verifier/reward.txt
END
    grade
    graded 100
    is printed '1000 image changed new image ours new' "$(field .logs.stdout.head | xargs)"
}

@test "harbor in an image: without /app in the image there is the submission alone; a link there is not followed" {
    image harbor-image '{"Env": ["PATH=/bin"]}'
    contract_task harbor '"image": "harbor-image",'
    program tests/test.sh <<< 'ls /app; echo 1 > /logs/verifier/reward.txt'
    submission
    grade
    graded 100
    is printed main.txt "$(field .logs.stdout.head)"
    ln -s bin base/app
    image harbor-image '{"Env": ["PATH=/bin"]}'
    program tests/test.sh <<< 'ls /app; [ -e /bin/main.txt ] || echo 1 > /logs/verifier/reward.txt'
    grade
    is code image.unsupported "$(field .code)"
    nothing_left
}

# --- with a broker, and with a build ------------------------------------------------------------

@test "with a broker each contract's suite reads the submission in its place and runs it elsewhere" {
    local contract place
    mkdir submission && printf '%s\n' '#!/bin/sh' 'echo "$PWD $(cat data)"' > submission/program && chmod 755 submission/program
    echo 42 > submission/data
    packed
    for contract in $contracts; do
        case $contract in straw) place=/agent_output ;; gradescope) place=/autograder/submission ;;
            prairielearn) place=/grade/student ;; codabench) place=/app/input/res ;; harbor) place=/app ;; esac
        # shellcheck disable=SC2016 # for the suite's shell
        suite_of "$contract" '' <<< "$place/program 2> /dev/null && exit 9"'
cat '"$place"'/data && $ASSAY_EXEC -- ./program && good'
        if grep -q '"suite"' task/task.json; then
            sed -i 's/"suite": {/"suite": {"broker": true, /' task/task.json
        else
            sed -i 's/"contract"/"suite": {"broker": true}, "contract"/' task/task.json
        fi
        sed -i 's/"contract"/"submission": {"image": "host"}, "contract"/' task/task.json
        grade
        echo "$contract" >&2
        is score 80 "$(field .exact.score)"
        is integrity brokered "$(field .isolation.integrity)"
        is printed "42 $place 42" "$(field .logs.stdout.head | xargs)"
    done
}

@test "harbor in an image: a build makes the submission's files, which calls see over those of the image" {
    mkdir -p base/app submission
    echo image > base/app/data
    image harbor-image '{"Env": ["PATH=/bin"], "WorkingDir": "/app"}'
    contract_task harbor '"image": "harbor-image", "build": {"command": ["sh", "build.sh"]}, "suite": {"broker": true},
        "submission": {"image": {"from": "suite", "hide": ["/tests"]}},'
    # shellcheck disable=SC2016 # for the suite's shell
    printf '%s\n' '$ASSAY_EXEC -- sh -c "ls; cat data made"' 'echo 1 > /logs/verifier/reward.txt' > task/tests/test.sh
    echo 'echo built > made' > submission/build.sh
    packed
    grade
    is score 100 "$(field .exact.score)"
    is printed 'build.sh data made image built' "$(field .logs.stdout.head | xargs)"
}

@test "check: a contract whose program is not in tests/" {
    local contract
    for contract in gradescope harbor; do
        contract_task "$contract"
        run -2 "$ASSAY" check task
        [[ $output == *suite.not_found*"contract $contract"* ]]
    done
    echo true > task/tests/test.sh
    run -0 "$ASSAY" check task
}

# --- failures, of each contract ----------------------------------------------------------------

# suite_of CONTRACT [JSON members…] < SCRIPT: a suite in sh where that contract has it; in it, $result is the
# file that is read and `good` writes a result of 80 there
suite_of() {
    local result good members=${2:-} file command=''
    case $1 in
        straw) result=/results/score.json good='{"score": 80, "pass": true}' file=run command=/tests/run ;;
        gradescope) result=/autograder/results/results.json good='{"score": 8, "tests": [{"max_score": 10}]}' file=run_autograder ;;
        prairielearn) result=/grade/results/results.json good='{"score": 0.8}' file=run command=/grade/tests/run ;;
        codabench) result=/app/output/scores.json good='{"a": 0.8}' file=run command=/app/program/run ;;
        harbor) result=/logs/verifier/reward.json good='{"reward": 0.8}' file=test.sh ;;
    esac
    case $1,$members in codabench,*'"result"'*) members=${members/'"result": {'/'"result": {"key": "a", '} ;;
        codabench,*) members="$members \"result\": {\"key\": \"a\"}," ;; esac
    [ -z "$command" ] || members="$members \"suite\": {\"command\": [\"$command\"]},"
    rm -rf "$work/task/tests"
    { printf '%s\n' '#!/bin/sh' "result=$result" "good() { echo '$good' > \$result; }" && cat; } | program "tests/$file"
    contract_task "$1" "$members"
}

# each SCRIPT [JSON members…] [CHECK…]: the check holds of every contract's suite that does that
each() {
    local script=$1 members=$2 contract
    shift 2
    [ -e "$work/submission.tar.gz" ] || submission
    for contract in $contracts; do
        suite_of "$contract" "$members" <<< "$script"
        grade
        echo "$contract: $script" >&2 # shown where the check fails
        "$@"
        nothing_left
    done
}

@test "a result is graded, in each contract" {
    each good '' graded 80
}

@test "no result" {
    each true '' ends 4 error suite suite.no_result
}

@test "a result that is none: text, half of one, another kind of value, a wrong key" {
    # shellcheck disable=SC2016 # for the suite's shell
    for script in 'echo hello > $result' 'good; printf "%s" "$(head -c 9 $result)" > $result' 'echo "[]" > $result' \
        'echo "{\"scor\": 1}" > $result; [ "$result" != /logs/verifier/reward.json ] || echo x > $result' 'printf "\0\0\0" > $result'; do
        each "$script" '' ends 4 error suite suite.result_invalid
    done
}

@test "a score beyond its range is an error; only gradescope has extra credit, which is said" {
    # shellcheck disable=SC2016 # for the suite's shell
    contracts='straw prairielearn harbor' each 'good; sed -i "s/: [0-9.]*/: 101/" $result' '' ends 4 error suite suite.result_invalid
    # shellcheck disable=SC2016
    contracts='straw harbor prairielearn' each 'good; sed -i "s/: [0-9.]*/: -1/" $result' '' ends 4 error suite suite.result_invalid
    # shellcheck disable=SC2016
    suite_of gradescope '' <<< 'good; sed -i "s/: 8/: 12/" $result'
    grade
    graded 100
    is warning score "$(field '.suite_warnings[0].field')"
    is raw 120 "$(field .exact.raw_test_score)"
}

@test "no tests collected" {
    # shellcheck disable=SC2016 # for the suite's shell
    contracts='straw gradescope prairielearn' each 'good; sed -i "s/, .tests.*//; s/}*\$/, \"tests\": []}/" $result' '' \
        ends 4 error suite suite.result_invalid
    # shellcheck disable=SC2016
    contracts='codabench harbor' each 'echo "{}" > $result' '' ends 4 error suite suite.result_invalid
    field .reason | grep -q key
}

@test "a crash, with a valid result or without" {
    # shellcheck disable=SC2016 # for the suite's shell
    each 'good; kill -SEGV $$' '' ends 4 error suite suite.signal
    # shellcheck disable=SC2016
    each 'kill -ABRT $$' '' ends 4 error suite suite.signal
}

@test "an exit status of 125 and above never scores" {
    for number in 125 255; do
        each "good; exit $number" '' ends 4 error suite suite.exit
    done
}

@test "an exit status of 1 with a valid result: the contract's policy, or what the task says" {
    contracts='straw prairielearn codabench' each 'good; exit 1' '' ends 4 error suite suite.exit
    contracts='gradescope harbor' each 'good; exit 1' '' graded 80
    each 'good; exit 1' '"result": {"exit": "strict"},' ends 4 error suite suite.exit
    each 'good; exit 124' '"result": {"exit": "result"},' graded 80
    each 'exit 1' '"result": {"exit": "result"},' ends 4 error suite suite.exit
}

@test "a time-out, though there is a result" {
    each 'good; sleep 1000' '"limits": {"wall": "200ms"},' ends 4 error limit limit.wall
    each 'good; sleep 1000' '"limits": {"wall": "200ms"}, "result": {"on_limit": "zero"},' graded 0
    is code limit.wall "$(field .code)"
    is class limit "$(field .class)"
}

@test "out of memory: of the suite itself, or of what it ran" {
    [ ${#weak[@]} -eq 0 ] || skip 'no memory limit that the kernel keeps'
    each 'exec python3 -c "x = b\"a\" * 1000000000"' '"limits": {"memory": "64MiB"},' ends 4 error limit limit.memory
    each 'python3 -c "x = b\"a\" * 1000000000" || exit 1' '"limits": {"memory": "64MiB"},' ends 4 error limit limit.memory
    each 'python3 -c "x = b\"a\" * 1000000000"; true' '"limits": {"memory": "64MiB"},' ends 4 error limit limit.memory
    each 'python3 -c "x = b\"a\" * 1000000000"' '"limits": {"memory": "64MiB"}, "result": {"on_limit": "zero"},' graded 0
    each 'python3 -c "x = b\"a\" * 1000000000"; good' '"limits": {"memory": "64MiB"},' graded 80
    is warning limits.memory "$(field '.suite_warnings[0].field')"
}

@test "links, fifos and directories in the place of a result" {
    # shellcheck disable=SC2016 # for the suite's shell
    for script in 'ln -s /etc/passwd $result' 'mkfifo $result' 'mkdir $result' 'good; ln $result $result.2'; do
        each "$script" '' ends 4 error suite suite.result_not_a_file
    done
}

# --- limits and the tests that ended -----------------------------------------------------------

# shellcheck disable=SC2016 # for the suite's shell
three='say() { echo "{\"name\": \"$1\", \"passed\": $2}" >> ${result%/*}/tests.jsonl; }; say one true; say two false; say three true'
partial='"limits": {"wall": "300ms"}, "result": {"on_limit": "partial", "planned": 4},'

@test "on_limit partial: the tests that ended count against those that were planned" {
    each "$three; sleep 1000" "$partial" graded 50
    is code limit.wall "$(field .code)"
    is tests '[["one",true],["two",false],["three",true]]' "$(jq -c '[.tests[] | [.name, .passed]]' result.json)"
    field '.suite_warnings[].message' | grep -q '1 of 4 planned tests did not run'
}

@test "on_limit partial: a last line that is half written does not count, and loses nothing" {
    # shellcheck disable=SC2016 # for the suite's shell
    each "$three; "'printf "{\"name\": \"four\", \"pas" >> ${result%/*}/tests.jsonl; sleep 1000' "$partial" graded 50
    is 'number of tests' 3 "$(jq '.tests | length' result.json)"
}

@test "on_limit partial: a suite that ends in time is graded by its result" {
    each "$three; good" "$partial" graded 80
    each "$three; exit 1" "$partial" ends 4 error suite suite.exit
}

@test "on_limit partial: no test that ended, lines that are none, too many tests" {
    each 'sleep 1000' "$partial" ends 4 error limit limit.wall
    contracts='straw harbor'
    # shellcheck disable=SC2016 # for the suite's shell
    each 'echo > ${result%/*}/tests.jsonl; sleep 1000' "$partial" ends 4 error limit limit.wall
    # shellcheck disable=SC2016
    each 'echo hello > ${result%/*}/tests.jsonl; sleep 1000' "$partial" ends 4 error suite suite.result_invalid
    each "$three; $three; sleep 1000" "$partial" ends 4 error suite suite.result_invalid
    field .reason | grep -q 'more tests than the 4'
}

# --- formats in other contracts than their own -------------------------------------------------

# of FORMAT SCRIPT: a suite of contract straw whose result is in that format
of() {
    suite_of straw "\"result\": {\"format\": \"$1\"}," <<< "$2"
    [ -e submission.tar.gz ] || submission
    grade
}

@test "ctrf, junit and tap count tests; the exit status of their tools is no failure" {
    of ctrf 'echo "{\"results\": {\"tool\": {\"name\": \"x\"}, \"summary\": {}, \"tests\": [{\"name\": \"a\", \"status\": \"passed\",
        \"duration\": 1}, {\"name\": \"b\", \"status\": \"failed\", \"duration\": 1}]}}" > /results/ctrf.json; exit 1'
    graded 50
    of junit 'echo "<testsuite><testcase name=\"a\"/><testcase name=\"b\"><failure/></testcase><testcase name=\"c\"/>
        <testcase name=\"d\"/></testsuite>" > /results/junit.xml; exit 1'
    graded 75
    of tap 'printf "%s\n" 1..4 "ok 1" "not ok 2" "ok 3 # SKIP" > /results/results.tap; exit 1'
    graded 100/3
    of tap 'printf "%s\n" 1..2 "ok 1" "ok 2" > /results/results.tap; exit 1'
    graded 100
    field '.suite_warnings[].message' | grep -q 'all its tests passed, but'
}

@test "ctrf, junit and tap: none collected, none that is valid" {
    for format in ctrf junit tap; do
        # shellcheck disable=SC2016 # for the suite's shell
        of "$format" 'for file in ctrf.json junit.xml results.tap; do echo nonsense > /results/$file; done'
        ends 4 error suite suite.result_invalid
    done
    of ctrf 'echo "{\"results\": {\"tests\": []}}" > /results/ctrf.json'
    ends 4 error suite suite.result_invalid
    of junit 'echo "<testsuites/>" > /results/junit.xml'
    ends 4 error suite suite.result_invalid
    of tap 'echo 1..0 > /results/results.tap'
    ends 4 error suite suite.result_invalid
}

@test "exit-code: the status is the score, and only the status" {
    of exit-code true
    graded 100
    is outcome pass "$(field .outcome)"
    for number in 1 2 124; do
        of exit-code "exit $number"
        graded 0
        is 'exit status' 1 "$status"
    done
    of exit-code 'exit 125'
    ends 4 error suite suite.exit
    # shellcheck disable=SC2016 # for the suite's shell
    of exit-code 'kill -TERM $$'
    ends 4 error suite suite.signal
    suite_of straw '"result": {"format": "exit-code", "on_limit": "partial", "planned": 2}, "limits": {"wall": "200ms"},' \
        <<< 'echo "{\"name\": \"a\", \"passed\": true}" > /results/tests.jsonl; sleep 1000'
    grade
    graded 50
}
