#!/usr/bin/env bats
# assay finalize: a result that waits for its judge, and the score that came later.

load common

setup() {
    setup_work
    unset ASSAY_JUDGE_URL ASSAY_JUDGE_KEY ASSAY_JUDGE_KEY_FILE
    rubric='"rubric": [{"name": "Works", "weight": 60, "source": "test"}, {"name": "Style", "weight": 30}, {"name": "Docs", "weight": 10}]'
}

# waits SCORING: a result of a task with that scoring, whose suite gives 80, without a verdict
waits() {
    mkdir -p "$work/task/tests"
    cp "$ASSAY_BUILD/tests/suite" "$work/task/tests/"
    cat > "$work/task/task.json" << END
{"schema": "assay.task/1", "name": "test", "scoring": {$1}, "suite": {"command": ["/tests/suite", "good"]}}
END
    submission
    grade
    cp "$work/result.json" "$work/before.json"
}

# finalize OPTIONS…: of that result, into result.json
finalize() {
    status=0
    "$ASSAY" finalize --json "$work/before.json" "$@" > "$work/result.json" 2> "$work/errors" || status=$?
}

# verdict STYLE DOCS: in $work/verdict.json
verdict() {
    cat > "$work/verdict.json" << END
{"criteria": [{"name": "Docs", "score": $2, "reasoning": "d"}, {"name": "Style", "score": $1, "reasoning": "s"}], "summary": "so-so"}
END
}

# as_if_graded OPTIONS…: what finalize made is what `assay run` makes with the same verdict, but for
# what tells of the run itself
as_if_graded() {
    local apart='del(.id, .revision, .supersedes, .phases, .usage, .build_check, .tests[].duration_ms)'
    cp "$work/result.json" "$work/final.json"
    grade "$@"
    is 'the same as graded at once' '' \
        "$(diff <(jq -S "$apart" "$work/result.json") <(jq -S "$apart" "$work/final.json"))"
    cp "$work/final.json" "$work/result.json"
}

@test "hybrid, and a number: the result that a run with it makes" {
    waits "\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40, $rubric"
    is exit 5 "$status"
    is 'test score while it waits' 80 "$(field .exact.test_score)"
    finalize --llm-score 90
    is exit 0 "$status"
    is score '84 pass' "$(field '"\(.exact.score) \(.outcome)"')"
    as_if_graded --llm-score 90
}

@test "hybrid, and a verdict: rows with reasons, a summary, the weighted mean" {
    waits "\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40, $rubric"
    verdict 50 100
    finalize --llm-score "$work/verdict.json"
    is exit 0 "$status"
    is 'llm score' 125/2 "$(field .exact.llm_score)"
    is rows 'Style 50 s,Docs 100 d' \
        "$(field '[.criteria[1:][] | "\(.name) \(.score) \(.reasoning)"] | join(",")')"
    is summary so-so "$(field .summary)"
    as_if_graded --llm-score "$work/verdict.json"
}

@test "llm alone: below what passes is exit 1" {
    waits '"rubric": [{"name": "Style", "weight": 60}, {"name": "Docs", "weight": 40}]'
    verdict 50 60
    finalize --llm-score "$work/verdict.json"
    is exit 1 "$status"
    is score 54 "$(field .exact.score)"
    as_if_graded --llm-score "$work/verdict.json"
    finalize --llm-score "$work/verdict.json" --fail-under 54
    is 'exit with --fail-under' 0 "$status"
}

@test "dimensions: those of the judge wait, the others are there" {
    waits '"scheme": "dimensions", "dimensions": [
        {"name": "correctness", "weight": 0.5, "source": "suite"},
        {"name": "methodology", "weight": 0.3, "source": "judge", "criterion": "Style"},
        {"name": "analysis", "weight": 0.2, "source": "judge", "criterion": "Docs"}]'
    is exit 5 "$status"
    is 'while it waits' '800 null null' "$(field '[.score_breakdown[].score] | map(tostring) | join(" ")')"
    verdict 50 65.5
    finalize --llm-score "$work/verdict.json"
    is exit 1 "$status"
    is total '681 draw 681' "$(field '"\(.score) \(.outcome) \(.exact.sum)"')"
    as_if_graded --llm-score "$work/verdict.json"
    finalize --llm-score 100
    is 'exit by a number' 0 "$status"
    as_if_graded --llm-score 100
}

@test "dimensions whose scores are long fractions: the sum is exact" {
    waits '"scheme": "dimensions", "dimensions": [
        {"name": "correctness", "weight": 0.25, "source": "suite"},
        {"name": "precision", "weight": 0.25, "source": "suite"},
        {"name": "methodology", "weight": 0.5, "source": "judge", "criterion": "Style"}]'
    cp "$work/before.json" "$work/good.json"
    jq --arg a "1/$(printf '3%.0s' {1..300})" --arg b "1/$(printf '7%.0s' {1..299})" \
        '.exact.score_breakdown.correctness.score = $a | .exact.score_breakdown.precision.score = $b' \
        "$work/good.json" > "$work/before.json"
    finalize --llm-score 100
    is exit 1 "$status"
    is sum "$(python3 -c 'from fractions import Fraction as F
print(500 + (F(1, int("3" * 300)) + F(1, int("7" * 299))) / 4)')" "$(field .exact.sum)"
}

@test "a new result: the next revision, which names the one it supersedes; the old file stays" {
    waits "\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40, $rubric"
    before=$(sha256sum "$work/before.json")
    finalize --llm-score 90
    is revision 2 "$(field .revision)"
    is supersedes "$(jq -r .id "$work/before.json")" "$(field .supersedes)"
    [ "$(field .id)" != "$(field .supersedes)" ]
    is 'attempt' true "$(field .attempt_used)"
    is 'the old file' "$before" "$(sha256sum "$work/before.json")"
    is 'what the suite said' "$(jq -c .tests "$work/before.json")" "$(jq -c .tests "$work/result.json")"
}

@test "a judge that failed is made up for in the same way" {
    mkdir -p "$work/task"
    cat > "$work/task/task.json" << 'END'
{"schema": "assay.task/1", "name": "test", "scoring": {"rubric": [{"name": "Style", "weight": 100}]}, "judge": {"command": ["false"]}}
END
    export ASSAY_JUDGE_PAUSE=1ms
    submission
    grade
    ends 4 error judge judge.failed
    cp "$work/result.json" "$work/before.json"
    finalize --llm-score 71
    is exit 0 "$status"
    is score 71 "$(field .exact.score)"
}

@test "what has a score already, or never waited, is refused" {
    waits '"mode": "container"'
    finalize --llm-score 90
    is exit 6 "$status"
    grep -q '^assay: result.final: ' "$work/errors"
    waits '"rubric": [{"name": "Style", "weight": 100}]'
    finalize --llm-score 90
    cp "$work/result.json" "$work/before.json"
    finalize --llm-score 100
    is 'exit, again' 6 "$status"
}

@test "a verdict that is not of the rubric is invalid, and makes no result" {
    waits "\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40, $rubric"
    while IFS='|' read -r criteria why; do
        echo "{\"criteria\": [$criteria], \"summary\": \"\"}" > "$work/verdict.json"
        finalize --llm-score "$work/verdict.json"
        is "exit: $criteria" 4 "$status"
        grep -q "^assay: judge.invalid_verdict: .*$why" "$work/errors" ||
            is "$criteria" "$why" "$(cat "$work/errors")"
        is 'result' '' "$(cat "$work/result.json")"
    done << 'TABLE'
{"name": "Style", "score": 1, "reasoning": ""}|does not score the criterion "Docs"
{"name": "Style", "score": 1, "reasoning": ""}, {"name": "Docs", "score": 1, "reasoning": ""}, {"name": "Luck", "score": 1, "reasoning": ""}|has 3 criteria
{"name": "Style", "score": 1, "reasoning": ""}, {"name": "Docs", "score": 101, "reasoning": ""}|0 to 100
TABLE
}

@test "a result that is none, or was changed into nonsense, is named" {
    waits "\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40, $rubric"
    cp "$work/before.json" "$work/good.json"
    while IFS='|' read -r change why; do
        jq "$change" "$work/good.json" > "$work/before.json"
        finalize --llm-score 90
        is "exit: $change" 2 "$status"
        grep -q "^assay: result.invalid: .*$why" "$work/errors" ||
            is "$change" "$why" "$(cat "$work/errors")"
    done << 'TABLE'
.schema = "assay.result/2"|schema
del(.id)|id: is missing
.exact.test_score = "101"|exact.test_score: must be at most 100
.exact.test_score = "1/0"|exact.test_score: must be a fraction
.weights.llm = 41|weights: must add up to 100
del(.pass)|lacks `pass`
del(.exact)|lacks exact.test_score
.runner.scoring_version = "2"|scoring_version
.criteria[0].score = "80"|criteria\[0\].score
TABLE
    echo '{"a": 1' > "$work/before.json"
    finalize --llm-score 90
    is 'exit: no JSON' 2 "$status"
}

@test "a result of several MiB is finalized; what is too large to be one is no result, or no verdict" {
    waits "\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40, $rubric"
    cp "$work/before.json" "$work/good.json"
    for bytes in 1048000 1048576 5000000; do
        jq --arg text "$(head -c 1000 /dev/zero | tr '\0' x)" \
            ".tests[0] as \$t | .tests = [range($bytes / 1000 | floor) | \$t + {name: \$text}]" \
            "$work/good.json" > "$work/before.json"
        finalize --llm-score 90
        is "exit with $bytes bytes" 0 "$status"
        is tests "$(jq -c .tests "$work/before.json" | sha256sum)" "$(jq -c .tests "$work/result.json" | sha256sum)"
    done
    head -c 40000000 /dev/zero | tr '\0' ' ' | cat - "$work/good.json" > "$work/before.json"
    finalize --llm-score 90
    is 'exit, too large' 2 "$status"
    grep -q '^assay: result.invalid: the result: more than ' "$work/errors"
    cp "$work/good.json" "$work/before.json"
    head -c 5000000 /dev/zero | tr '\0' ' ' > "$work/verdict.json"
    finalize --llm-score "$work/verdict.json"
    is 'exit, a verdict too large' 4 "$status"
    grep -q '^assay: judge.invalid_verdict: --llm-score: more than ' "$work/errors"
}

@test "usage: a result, and a score from 0 to 100" {
    waits '"rubric": [{"name": "Style", "weight": 100}]'
    for options in '' '--llm-score 101' '--llm-score -1' '--llm-score missing.json' '--llm-score 5 --fail-under x' '--llm-score 5 --fail-under -5'; do
        # shellcheck disable=SC2086 # options
        finalize $options
        is "exit with '$options'" 2 "$status"
    done
    status=0
    "$ASSAY" finalize --llm-score 5 "$work/missing" 2> "$work/errors" || status=$?
    is 'exit without a result' 2 "$status"
}

@test "for people: the score in a line; from standard input" {
    waits "\"mode\": \"hybrid\", \"test_weight\": 60, \"llm_weight\": 40, $rubric"
    is line 'pass, 84.00 of 100 (tests 80.00, judge 90.00)' \
        "$("$ASSAY" finalize --llm-score 90 - < "$work/before.json")"
}
