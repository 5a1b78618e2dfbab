#!/usr/bin/env bats
# Scoring by itself: assay score, workflow, match. What the numbers must be, tests/reference says.

load common

setup() {
    setup_work
    cd "$work" || return
    cat > spec.json <<'END'
{"type": "deterministic", "dimensions": [
    {"name": "accuracy", "weight": 0.6, "primitive": "exact_match_ratio", "field": "answers", "ground_truth_field": "expected_answers"},
    {"name": "speed", "weight": 0.2, "primitive": "time_decay", "time_limit_secs": 300},
    {"name": "coverage", "weight": 0.2, "primitive": "coverage_ratio", "field": "attempted", "ground_truth_field": "all_questions"}]}
END
    echo '{"answers": ["a", 2, 3.0], "attempted": [1, 2, 2]}' > answer.json
    echo '{"expected_answers": ["a", 2, 3, 4], "all_questions": [1, 2, 3]}' > truth.json
}

@test "the spec of the text is accepted as it is; its scores, exact and shown" {
    run -0 "$ASSAY" score --json --time-used 100 spec.json answer.json truth.json
    is result '{"outcome":"win","score":716,"scale":1000,"sum":"2150/3","speed":["666.67","0.2","133.33"],"exact":"2000/3"}' \
        "$(echo "$output" | jq -c '{outcome, score, scale, sum: .exact.sum,
            speed: [.score_breakdown.speed | .score, .weight, .weighted | tostring], exact: .exact.score_breakdown.coverage.score}')"
}

@test "the breakdown is enough to recompute the total" {
    run -0 "$ASSAY" score --json --time-used 100 spec.json answer.json truth.json
    is total 716 "$(echo "$output" | jq -r '[.exact.score_breakdown[].weighted | split("/") | map(tonumber) | .[0] / (.[1] // 1)] | add | floor')"
    run -0 "$ASSAY" score --explain --time-used 100 spec.json answer.json truth.json
    [[ $output == *'accuracy: exact_match_ratio: 1000 × 3/4 positions equal = 750'* ]] || return 1
    [[ $output == *'total: floor(min(1000, 2150/3)) = 716: win'* ]] || return 1
}

@test "won, drawn, lost: the exit status; what is missing, and wrong" {
    "$ASSAY" score --quiet --time-used 0 spec.json answer.json truth.json
    run -1 "$ASSAY" score --quiet --time-used 300 spec.json answer.json truth.json
    run -2 "$ASSAY" score spec.json answer.json truth.json
    [[ $output == *score.time_missing* ]] || return 1
    run -2 "$ASSAY" score --time-used 1 spec.json answer.json
    [[ $output == *score.truth_invalid* ]] || return 1
    run -2 "$ASSAY" score --time-used -1 spec.json answer.json truth.json
    run -2 "$ASSAY" score --time-used 1 answer.json answer.json truth.json
    [[ $output == *'answer.json:1:2: answers: is not a key here'* && $output == *score.spec_invalid* ]] || return 1
    echo '{"answers": [NaN]}' > bad.json
    run -3 "$ASSAY" score --time-used 1 spec.json bad.json truth.json
    [[ $output == *'score.answer_invalid: the submission: line 1, column 14: NaN is not JSON'* ]] || return 1
    run -3 "$ASSAY" score --time-used 1 spec.json - truth.json < /dev/null
    run -2 "$ASSAY" score --time-used 1 spec.json missing truth.json
    run -2 "$ASSAY" score spec.json
    sed -i 's/0.6/0.5999/' spec.json
    run -2 "$ASSAY" score --time-used 1 spec.json answer.json truth.json
    [[ $output == *'spec.json:1:27: dimensions: has weights that add up to 9999/10000, not 1'* ]] || return 1
}

@test "trajectories: calls and tokens, violations, what makes one invalid" {
    cat > spec.json <<'END'
{"dimensions": [{"name": "a", "weight": 0.5, "primitive": "exact_match", "field": "x", "ground_truth_field": "/x"},
    {"name": "b", "weight": 0.1, "primitive": "exact_match", "field": "x", "ground_truth_field": "x"},
    {"name": "token_efficiency", "weight": 0.2, "source": "tokens"}, {"name": "call_efficiency", "weight": 0.2, "source": "calls"}],
 "constraints": {"token_budget": 1000, "max_llm_calls": 4, "max_tool_calls": 1}}
END
    echo '{"x": 1}' > answer.json
    cat > calls <<'END'
{"ts": 1000, "type": "llm_call", "model": "m", "input_tokens": 100, "output_tokens": 150, "duration_ms": 5}
{"ts": "1970-01-01T01:16:40.5+01:00", "type": "tool_call", "tool": "t", "duration_ms": 5}
{"ts": 1001, "type": "tool_call", "tool": "t"}
END
    run -0 "$ASSAY" score --json --trajectory calls --started 1005 --submitted 996 spec.json answer.json answer.json
    is efficiency '[750,750]' "$(echo "$output" | jq -c '[.score_breakdown | .token_efficiency.score, .call_efficiency.score | floor]')"
    is violations '[{"constraint":"max_tool_calls","limit":1,"actual":2}]' "$(echo "$output" | jq -c .constraint_violations)"
    for options in '--started 1005.0001' '--submitted 995.9'; do
        # shellcheck disable=SC2086 # an option and its value
        run -1 "$ASSAY" score --json --trajectory calls $options spec.json answer.json answer.json
        is score 600 "$(echo "$output" | jq .score)"
        [[ $(echo "$output" | jq -r '.submission_warnings[0].message') == 'line '*'ts is outside of the match' ]] || return 1
    done
    for line in '' '{"ts": 1}' '{"ts": "now", "type": "tool_call"}' '{"ts": 1, "type": "llm_call", "input_tokens": 1}' \
        '{"ts": 1, "type": "llm_call", "input_tokens": -1, "output_tokens": 1}' 'nonsense'; do
        echo "$line" > calls
        run -1 "$ASSAY" score --json --trajectory calls spec.json answer.json answer.json
        is "score with $line" 600 "$(echo "$output" | jq .score)"
    done
    run -1 "$ASSAY" score --json spec.json answer.json answer.json
    is 'without one' 'there is no trajectory: it counts as 0' "$(echo "$output" | jq -r '.submission_warnings[0].message')"
}

@test "format rules zero a dimension, or warn" {
    echo '{"dimensions": [{"name": "a", "weight": 0.5, "primitive": "exact_match", "field": "x", "ground_truth_field": "x"},
        {"name": "b", "weight": 0.5, "primitive": "exact_match", "field": "x", "ground_truth_field": "x"}],
        "format": [{"field": "list", "type": "array", "min_items": 1, "severity": "error", "dimension": "a", "message": "needs a list"},
            {"field": "note", "type": "string", "severity": "warning"}]}' > spec.json
    echo '{"x": 1, "list": []}' > answer.json
    run -1 "$ASSAY" score --json spec.json answer.json answer.json
    is score 500 "$(echo "$output" | jq .score)"
    is warnings '[["error","list","needs a list"],["warning","note","is missing"]]' \
        "$(echo "$output" | jq -c '[.submission_warnings[] | [.severity, .field, .message]]')"
}

@test "a batch: a line for each, in their order; one that fails stops no other" {
    tr -d '\n' < spec.json > spec.line
    echo >> spec.line
    cat answer.json - answer.json > answers <<'END'
nonsense
{"attempted": [], "answers": []}
END
    run -1 "$ASSAY" score --batch --time-used 150 spec.line answers truth.json
    is results 'graded 683
rejected null
graded 100
graded 683' "$(echo "$output" | jq -r '"\(.status) \(.score)"')"
    run -2 "$ASSAY" score --batch --time-used 150 spec.line answers <(cat truth.json truth.json)
    for i in $(seq 5000); do echo "{\"answers\": [\"a\", 2, 3, $i], \"attempted\": [1, 2, 3]}"; done > answers
    "$ASSAY" score --batch --time-used 150 spec.line - truth.json < answers > results
    is lines 5000 "$(wc -l < results)"
    is 'the one that is right' 4 "$(jq -r .score results | grep -nx 900 | cut -d: -f1)"
}

@test "texts, objects and sets of any size, in the confined scorer" {
    python3 - > answer.json <<'END'
import json
print(json.dumps({"text": "abc " * 20000, "object": {f"k{i}": [i, {"x": i}] for i in range(3000)}, "set": [{"i": i} for i in range(50000)]}))
END
    for pair in fuzzy_string:text exact_match:object set_overlap:set; do
        echo "{\"dimensions\": [{\"name\": \"a\", \"weight\": 0.5, \"primitive\": \"${pair%:*}\", \"field\": \"${pair#*:}\", \"ground_truth_field\": \"${pair#*:}\"},
            {\"name\": \"b\", \"weight\": 0.5, \"primitive\": \"exact_match\", \"field\": \"text\", \"ground_truth_field\": \"text\"}]}" > spec.json
        run -0 "$ASSAY" score --json spec.json answer.json answer.json
        is "$pair" 1000 "$(echo "$output" | jq .score)"
    done
}

@test "what wants too much memory or time is the answer's fault, and stops no other line" {
    echo '{"dimensions": [{"name": "a", "weight": 0.5, "primitive": "fuzzy_string", "field": "t", "ground_truth_field": "t"},
        {"name": "b", "weight": 0.5, "primitive": "exact_match", "field": "n", "ground_truth_field": "n"}]}' | tr -d '\n' > spec.line
    python3 - > answers <<'END'
import json
print(json.dumps({"t": "ab", "n": 1}))
print('{"x": [' + ','.join(['{}'] * 990000) + '], "z": "' + 'a' * 12000000 + '", "n": 1}')
for i in range(16):
    print(json.dumps({"t": "ab" * 49000 + "c" * i, "n": 1}))
print('"' + 'x' * 17000000 + '"')
print(json.dumps({"t": "ba", "n": 1}))
END
    python3 -c 'import json; print(json.dumps({"t": "ba" * 49000, "n": 1}))' > truth.line
    run -1 "$ASSAY" score --batch spec.line answers truth.line
    is 'lines in their order' 20 "${#lines[@]}"
    # The second may be too much, or not.
    [[ ${lines[1]} == '{"status":"graded"'* || ${lines[1]} == *'"class":"submission"'* ]] || return 1
    is statuses '     17 graded
      1 rejected
      1 graded' "$(printf '%s\n' "${lines[0]}" "${lines[@]:2}" | jq -r .status | uniq -c)"
    [[ ${lines[18]} == *'a line of more than 16777216 bytes'* ]] || return 1
}

@test "odd files are wrong usage" {
    run -2 "$ASSAY" score spec.json . truth.json
    [[ $output == *'is a directory'* ]] || return 1
    run -2 "$ASSAY" score spec.json - - < answer.json
    [[ $output == *'only one of the files can be standard input'* ]] || return 1
    tr -d '\n' < spec.json | sed 's/0.6/0.7/' > spec.line
    run -1 "$ASSAY" score --batch --time-used 1 spec.line answer.json truth.json
    [[ $(echo "$output" | jq -r .reason) == *'dimensions: has weights that add up to 11/10, not 1' ]] || return 1
}

@test "workflow score: the vectors of the text, from records" {
    # record QUALITY COMPLETED TOTAL COST SECONDS UNPLANNED TIMEOUTS HARD
    record() {
        local steps='' attempts i
        for i in $(seq "$2"); do
            attempts='{"status": "ok"}'
            [ "$i" -gt 1 ] || for _ in $(seq "$6"); do attempts="$attempts, {\"status\": \"error\"}"; done
            [ "$i" -gt 1 ] || for _ in $(seq "$7"); do attempts="$attempts, {\"status\": \"timeout\"}"; done
            steps="$steps, {\"id\": \"s$i\", \"status\": \"completed\", \"retry_count\": $([ "$i" -gt 1 ] && echo 0 || echo "$7"), \"attempts\": [$attempts]}"
        done
        for i in $(seq "$8"); do steps="$steps, {\"id\": \"h$i\", \"status\": \"hard_failure\", \"attempts\": []}"; done
        echo "{\"schema\": \"assay.execution/1\", \"steps\": [${steps#,}], \"total_steps\": $3, \"actual_seconds\": $5,
            \"actual_cost\": $4, \"budget_aborted\": false, \"output_quality\": $1}" > record.json
    }
    echo '{"scheme": "composite", "max_budget": 0.05, "max_latency": "10s"}' > composite.json
    while read -r want rest; do
        # shellcheck disable=SC2086 # numbers
        record $rest
        is "score of $rest" "$want" "$("$ASSAY" workflow score --json composite.json record.json | jq -r .exact.score)"
    done <<'END'
21/25 1 4 4 0.02 4 0 0 0
9/20 0.7 4 4 0 0 0 0 0
143/400 0.9 3 4 0.01 2 1 1 1
57/100 1 4 4 0.06 12 3 0 0
END
    record 0.875 4 5 0 0 0 0 0
    is 'a product of exactly 7/10 does not open the gate' false "$("$ASSAY" workflow score --json composite.json record.json | jq .composite.gate)"
    run -1 "$ASSAY" workflow score --explain composite.json record.json
    [[ $output == *'7/10 > 7/10: no, so cost and latency are 0'* ]] || return 1
    for wrong in 's/"total_steps": 5/"total_steps": 3/' 's/"id": "s2"/"id": "s1"/' 's/"completed"/"done"/'; do
        sed "$wrong" record.json > wrong.json
        run -3 "$ASSAY" workflow score composite.json wrong.json
    done
    sed 's/"status": "hard_failure"/"status": "budget_abort"/' <(record 1 4 4 0.02 4 0 0 1 && cat record.json) | sed 's/"total_steps": 4/"total_steps": 5/' > aborted.json
    is 'the cost of what the budget ended' 0 "$("$ASSAY" workflow score --json composite.json aborted.json | jq -r .exact.cost)"
    run -2 "$ASSAY" workflow score record.json record.json
    run -3 "$ASSAY" workflow score composite.json composite.json
    run -2 "$ASSAY" workflow score composite.json
}

@test "workflow window: means of the last hundred, weights of at most 15 %" {
    { echo '{"old": [' && echo '0, 0, ' && yes 1 | head -100 | paste -sd, && echo '], "half": ["1/2"], "none": []}'; } > scores.json
    run -0 "$ASSAY" workflow window --json scores.json
    is means '[["old",100,1],["half",1,0.5],["none",0,0]]' "$(echo "$output" | jq -c '[.weights[] | [.name, .scores, .mean]]')"
    is unassigned 7/10 "$(echo "$output" | jq -r .exact_unassigned)"
    jq -n '[range(10) | {key: "m\(.)", value: [(. + 1) / 10]}] | from_entries' > scores.json
    run -0 "$ASSAY" workflow window --json scores.json
    is 'sum of ten' 1 "$(echo "$output" | jq '[.weights[].weight] | add * 1000000 | round / 1000000')"
    is 'the most' 0.15 "$(echo "$output" | jq '[.weights[].weight] | max')"
    python3 -c 'import json, random; random.seed(1); print(json.dumps({f"m{i}": [f"{random.randint(0, n)}/{n}" for n in (random.randint(1, 99999) for _ in range(20))] for i in range(40)}))' > scores.json
    run -0 "$ASSAY" workflow window --json scores.json
    is 'fractions of many denominators' 1 "$(echo "$output" | jq '[.weights[].weight] | add * 10000 | round / 10000')"
    python3 -c 'import json; print(json.dumps({f"m{i}": [f"1/{10**100 + i * 1000 + n}" for n in range(100)] for i in range(20)}))' > scores.json
    run -2 "$ASSAY" workflow window scores.json
    [[ $output == *'fractions that are too long together'* ]] || return 1
    echo '{"a": [1.1]}' > scores.json
    run -2 "$ASSAY" workflow window scores.json
    [[ $output == *'line 1, column 8: a[0]: must be a score from 0 to 1'* ]] || return 1
}

@test "match rate: the vectors of the contract" {
    while read -r own opponent result matches plain verified benchmark; do
        rate=("$ASSAY" match rate --json --own "$own" --opponent "$opponent" --result "$result" --matches "$matches")
        is "$own $opponent $result" "$plain" "$("${rate[@]}" | jq .elo_after)"
        is verified "$verified" "$("${rate[@]}" --verified | jq .elo_after)"
        is benchmark "$benchmark" "$("${rate[@]}" --verified --memoryless --first-attempt | jq .elo_after)"
    done <<'END'
1000 contender win 5 1016 1018 1019
1050 veteran win 10 1073 1075 1078
1000 legendary win 5 1029 1032 1035
1000 newcomer draw 30 996 996 996
1200 1400 draw 29 1208 1209 1210
100 2000 loss 3 100 100 100
END
    run -2 "$ASSAY" match rate --own 1000 --opponent nobody --result win --matches 1
    run -2 "$ASSAY" match rate --own 1000
    run -2 "$ASSAY" match
}

@test "the same input gives the same bytes: again, in another language, and without memory that was cleared" {
    "$ASSAY" score --json --time-used 100 spec.json answer.json truth.json > once
    for set in LC_ALL=C.UTF-8 LC_ALL=de_DE.UTF-8 LC_NUMERIC=fr_FR MALLOC_PERTURB_=165 TZ=Asia/Tokyo; do
        env "$set" "$ASSAY" score --json --time-used 100 spec.json answer.json truth.json | cmp - once
    done
}

@test "two implementations agree: the vectors of the contract, and random cases" {
    reference=$here/../reference
    [ -x "$ASSAY_BUILD/tests/score-driver" ] || skip 'this build has no driver'
    python3 "$reference/compare" "$ASSAY_BUILD/tests/score-driver" "$reference/vectors.jsonl"
    python3 "$reference/compare" "$ASSAY_BUILD/tests/score-driver" "${ASSAY_SEED:-$RANDOM}" 2000
}

@test "the order of keys in a record and a spec means nothing" {
    cd "$BATS_TEST_TMPDIR"
    jq '{steps, output_quality, total_steps, actual_seconds, actual_cost, schema}' \
        "$examples/scoring/record.json" > record.json
    jq '. as $s | {scheme: "composite"} + $s' "$examples/scoring/workflow.json" > before.json
    jq '. + {scheme: "composite"}' "$examples/scoring/workflow.json" > after.json
    want=$("$ASSAY" workflow score --json "$examples/scoring/workflow.json" "$examples/scoring/record.json") || true
    for spec in before.json after.json; do
        got=$("$ASSAY" workflow score --json $spec record.json) || true
        is score "$want" "$got"
    done
}
