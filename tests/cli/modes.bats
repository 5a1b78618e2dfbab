#!/usr/bin/env bats
# Each mode and scheme, each way it can end, and the exit status of that.

load common

setup() {
    setup_work
    unset ASSAY_JUDGE_URL
}

# a_task SCORING KIND: a task with that scoring, whose suite (tests/programs/suite.c) behaves like that
a_task() {
    mkdir -p "$work/task/tests" "$work/task/truth"
    cp "$ASSAY_BUILD/tests/suite" "$work/task/tests/"
    echo '{"expected": [1, 2]}' > "$work/task/truth/truth.json"
    cat > "$work/task/task.json" << END
{"schema": "assay.task/1", "name": "test", "scoring": {$1}, "suite": {"command": ["/tests/suite", "$2"]}, "limits": {"wall": "5s"}}
END
}

@test "mode by outcome by exit status" {
    container='"mode": "container"'
    judged='"rubric": [{"name": "a", "weight": 100}]'
    hybrid='"mode": "hybrid", "test_weight": 60, "llm_weight": 40, "rubric": [{"name": "t", "weight": 60, "source": "test"}, {"name": "a", "weight": 40}]'
    accuracy='"name": "accuracy", "weight": 0.5, "primitive": "exact_match_ratio", "field": "answers", "ground_truth_field": "expected"'
    answer="\"scheme\": \"dimensions\", \"dimensions\": [{$accuracy}, {\"name\": \"speed\", \"weight\": 0.5, \"primitive\": \"time_decay\", \"time_limit_secs\": 100}]"
    suite="\"scheme\": \"dimensions\", \"dimensions\": [{$accuracy}, {\"name\": \"correctness\", \"weight\": 0.5, \"source\": \"suite\"}]"
    both="\"scheme\": \"dimensions\", \"dimensions\": [{\"name\": \"correctness\", \"weight\": 0.5, \"source\": \"suite\"}, {\"name\": \"methodology\", \"weight\": 0.5, \"source\": \"judge\", \"criterion\": \"Methodology\"}]"
    echo '{"answers": [1, 2]}' > "$work/submission.tar.gz"
    while IFS='|' read -r scoring kind options want; do
        a_task "$(eval "echo \"\$$scoring\"")" "$kind"
        # shellcheck disable=SC2086 # a list of options
        grade $options
        is "$scoring, $kind, $options" "$want" \
            "$(field '"\(.status) \(.class // "-") \(.outcome // "-") \(.score // "-")"') $status"
    done << 'TABLE'
judged|good|--llm-score 70|graded - pass 70 0
judged|good|--llm-score 69.99|graded - fail 69.99 1
judged|good|--llm-score 100|graded - pass 100 0
judged|good||pending judge - - 5
judged|good|--llm-score 70 --fail-under 70.01|graded - pass 70 1
container|good||graded - pass 80 0
container|good|--fail-under 81|graded - pass 80 1
container|good|--fail-under 80|graded - pass 80 0
container|fails||graded - fail 40 1
container|nothing||error suite - - 4
container|crashes||error suite - - 4
container|broken||error suite - - 4
container|result-huge||error limit - - 4
hybrid|good|--llm-score 90|graded - pass 84 0
hybrid|good|--llm-score 10|graded - fail 52 1
hybrid|good||pending judge - - 5
hybrid|crashes|--llm-score 90|error suite - - 4
answer|good|--time-used 10|graded - win 950 0
answer|good|--time-used 100|graded - draw 500 1
answer|good||error usage - - 2
answer|good|--time-used 10 --fail-under 951|graded - win 950 1
suite|good||graded - win 900 0
suite|fails||graded - win 700 0
suite|crashes||error suite - - 4
both|good|--llm-score 100|graded - win 900 0
both|good|--llm-score 1|graded - draw 405 1
both|fails|--llm-score 0|graded - loss 200 1
both|good||pending judge - - 5
TABLE
    nothing_left
}

@test "a time that the score needs is asked for before anything runs" {
    a_task '"scheme": "dimensions", "dimensions": [{"name": "correctness", "weight": 0.5, "source": "suite"},
        {"name": "speed", "weight": 0.5, "primitive": "time_decay", "time_limit_secs": 100}]' good
    submission
    grade
    ends 2 error usage score.time_missing
    is phases '' "$(field '[.phases[].name] | join(" ")')"
}

@test "a rejected submission is rejected in each mode, before anything runs" {
    for scoring in '"rubric": [{"name": "a", "weight": 100}]' '"mode": "container"'; do
        a_task "$scoring" good
        echo nonsense > "$work/submission.tar.gz"
        grade
        is exit 3 "$status"
        is status rejected "$(field .status)"
        is phases 'received unpack' "$(field '[.phases[].name] | join(" ")')"
    done
}

@test "as root: a truth that only root may read" {
    is_root || skip 'needs root'
    a_task '"scheme": "dimensions", "dimensions": [
        {"name": "accuracy", "weight": 0.5, "primitive": "exact_match_ratio", "field": "answers", "ground_truth_field": "expected"},
        {"name": "speed", "weight": 0.5, "primitive": "time_decay", "time_limit_secs": 100}]' good
    echo '{"answers": [1, 2]}' > "$work/submission.tar.gz"
    chmod -R go-rwx "$work/task"
    grade --time-used 0
    is score 1000 "$(field .score)"
}

@test "dimensions: the script's scores, the judge's and the tests' meet in one total" {
    a_task '"scheme": "dimensions", "dimensions": [
        {"name": "correctness", "weight": 0.4, "source": "tests", "tests": ["good/*"]},
        {"name": "methodology", "weight": 0.6, "source": "judge", "criterion": "Methodology"}]' tests
    submission
    echo '{"criteria": [{"name": "Methodology", "score": 55.5, "reasoning": "r"}], "summary": ""}' > "$work/verdict.json"
    grade --llm-score "$work/verdict.json"
    is total 733 "$(field .score)"
    is exact 733 "$(field .exact.sum)"
    is weighted 333 "$(field '.score_breakdown.methodology.weighted | floor')"
}

@test "a trajectory counts in the dimensions that ask for it, and what exceeds a constraint is reported" {
    a_task '"scheme": "dimensions", "constraints": {"token_budget": 100, "max_llm_calls": 1}, "dimensions": [
        {"name": "token_efficiency", "weight": 0.5, "source": "tokens"},
        {"name": "correctness", "weight": 0.25, "source": "suite"},
        {"name": "completeness", "weight": 0.25, "source": "suite"}]' good
    submission
    printf '%s\n' '{"ts": 1, "type": "llm_call", "model": "m", "input_tokens": 10, "output_tokens": 15}' \
        '{"ts": 2, "type": "llm_call", "model": "m", "input_tokens": 0, "output_tokens": 0}' > "$work/trajectory"
    grade --trajectory "$work/trajectory"
    is total 775 "$(field .score)"
    is violation max_llm_calls "$(field '.constraint_violations[0].constraint')"
}

@test "criteria take their rows from the breakdown, or from the tests that they name; one without is warned of" {
    a_task '"mode": "container", "rubric": [{"name": "good", "weight": 50, "tests": ["good/*", "d"]},
        {"name": "bad", "weight": 25, "tests": ["bad/*", "good/a"]}, {"name": "nothing", "weight": 25}]' tests
    submission
    grade
    is exit 0 "$status"
    is rows '100 50 null' "$(field '[.criteria[].score | tostring] | join(" ")')"
    is warning criteria "$(field '.suite_warnings[0].field')"
}

@test "for submitters: hidden tests and output are left out, after the due date they are there" {
    a_task '"mode": "container"' tests
    submission
    grade --for submitter
    is tests 4 "$(field '.tests | length')"
    is logs null "$(field .logs.stdout)"
    sed -i 's/^{/{"visibility": {"tests": "hidden", "stdout": "visible"}, /' "$work/task/task.json"
    grade --for submitter
    is tests '0 4' "$(field '"\(.tests | length) \(.hidden_tests)"')"
    is logs 0 "$(field .logs.stdout.dropped_bytes)"
    grade
    is tests 4 "$(field '.tests | length')"
    for due in 2000-01-01T00:00:00Z:4 2000-01-01T00:00:00.5+02:00:4 2999-12-31T00:00:00Z:0; do
        sed -i "s/\"tests\": \"[a-z_]*\"/\"tests\": \"after_due\"/; s/\"due\": \"[^\"]*\", //; s/\"stdout\"/\"due\": \"${due%:*}\", \"stdout\"/" \
            "$work/task/task.json"
        grade --for submitter
        is "tests, due $due" "${due##*:}" "$(field '.tests | length')"
    done
    grade --for nobody
    is exit 2 "$status"
}

# So that none of many at once can wait for another.
@test "an evaluation takes locks, and waits for none" {
    strace -V > /dev/null 2>&1 && strace -o /dev/null true 2> /dev/null || skip 'strace may not trace here'
    a_task '"mode": "container"' good
    submission
    strace -f -o "$work/trace" -e trace=flock,fcntl "$ASSAY" run --quiet "${weak[@]}" "$work/task" "$work/submission.tar.gz"
    grep -qE 'LOCK_NB|SETLK,' "$work/trace"
    is 'locks that are waited for' '' "$(grep -E 'flock\([0-9]+, LOCK_(SH|EX)\)|SETLKW' "$work/trace")"
}

@test "fifty evaluations at once on one state directory: all right" {
    a_task '"mode": "container"' good
    submission
    for i in $(seq 50); do
        "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/result.$i" 2>&1 3>&- &
    done
    wait
    is scores 50 "$(cat "$work"/result.* | jq -r .exact.score | grep -c '^80$')"
    is 'ids that are their own' 50 "$(cat "$work"/result.* | jq -r .id | sort -u | wc -l)"
    nothing_left
}
