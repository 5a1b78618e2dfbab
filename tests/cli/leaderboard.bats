#!/usr/bin/env bats
# What a store says of all its agents: assay leaderboard, assay workflow window --store.

load common

setup() {
    setup_work
    db=$work/results.db
}

sql() {
    sqlite3 "$db" "$@"
}

# scored AGENT TASK SCORE [ARCHIVE]: a submission of that agent for a task that gives that score
scored() {
    script_task <<< "echo '{\"score\": $3, \"pass\": true}' > /results/score.json"
    jq --arg name "$2" '.name = $name' "$work/task/task.json" > "$work/new" && mv "$work/new" "$work/task/task.json"
    rm -rf "$work/submission"
    submission "${4:-main.txt}"
    grade --store "$db" ${1:+--agent "$1"}
}

leaderboard() {
    status=0
    "$ASSAY" leaderboard "$db" "$@" > "$work/board" 2> "$work/errors" || status=$?
}

# board [OPTIONS…]: ranks, agents and scores in a line
board() {
    leaderboard --json "$@"
    is exit 0 "$status"
    jq -r '[.leaderboard[] | "\(.rank) \(.agent) \(.score)"] | join(", ")' "$work/board"
}

@test "agents by the best of their scores; of equal ones the earlier is first" {
    scored ann first 50
    scored bob first 80
    scored cat first 80
    scored ann first 70 other.txt
    scored ann first 20 third.txt
    scored '' first 99
    is board '1 bob 80, 2 cat 80, 3 ann 70' "$(board)"
    is 'its row' "first 100 null" "$(jq -r '.leaderboard[0] | "\(.task) \(.scale) \(.elo)"' "$work/board")"
    is 'its result' '80.00|bob' "$(sql "SELECT final_score, agent FROM evaluation_results r JOIN submissions s ON s.id = submission_id
        WHERE r.id = '$(jq -r '.leaderboard[0].result_id' "$work/board")'")"
}

@test "of one task, or of all by how much of the full score it is" {
    scored ann first 50
    scored bob second 40
    mkdir -p "$work/quiz/truth"
    echo '{"a": [1, 2, 3, 4, 5]}' | tee "$work/quiz/truth/truth.json" > "$work/answer.json"
    jq -n '{schema: "assay.task/1", name: "quiz", scoring: {scheme: "dimensions", time_limit: "1h", dimensions: [
        {name: "a", weight: 0.5, primitive: "exact_match", field: "a", ground_truth_field: "a"},
        {name: "b", weight: 0.5, primitive: "exact_match", field: "a", ground_truth_field: "a"}]}}' > "$work/quiz/task.json"
    id=$("$ASSAY" match start --json --store "$db" --agent cat "$work/quiz" | jq -r .match_id)
    "$ASSAY" match submit --store "$db" --agent cat "$id" "$work/answer.json" > "$work/output"
    is all '1 cat 1000, 2 ann 50, 3 bob 40' "$(board)"
    is rating '1016 1 1 1' "$(jq -r '.leaderboard[0] | "\(.elo) \(.matches) \(.streak) \(.best_streak)"' "$work/board")"
    is second '1 bob 40' "$(board --task second)"
    is none '' "$(board --task third)"
    is 'no task' '' "$(board --task "' OR 1 = 1 --")"
}

@test "only graded results count, and of an attempt the last revision" {
    echo > "$work/file"
    script_task <<< 'exit 1'
    submission
    grade --store "$db" --agent ann
    is exit 4 "$status"
    mkdir -p "$work/judged"
    echo '{"schema": "assay.task/1", "name": "judged", "scoring": {"rubric": [{"name": "a", "weight": 100}]}}' > "$work/judged/task.json"
    "$ASSAY" run --json --store "$db" --agent bob "$work/judged" "$work/submission.tar.gz" > "$work/result.json" 2> "$work/errors" || is exit 5 $?
    is 'none yet' '' "$(board)"
    "$ASSAY" finalize --store "$db" "$(field .id)" --llm-score 30 > "$work/output" || is exit 1 $?
    is finalized '1 bob 30' "$(board)"
}

@test "as a table, and as CSV that no spreadsheet takes for formulas" {
    scored '=cmd|x, "y"' first 60
    scored café first 50
    leaderboard
    is lines 3 "$(wc -l < "$work/board")"
    grep -q '^    1     60.00    100       -        -       -  .*  =cmd|x, "y"  first$' "$work/board"
    leaderboard --csv
    is CSV "rank,agent,score,scale,task,result_id,completed_at,elo,matches,streak,best_streak
1,\"'=cmd|x, \"\"y\"\"\",60.00,100,first,,,,,," "$(tr -d '\r' < "$work/board" | head -n 2 | sed '2s/first,[^,]*,[^,]*/first,,/')"
    leaderboard --csv --json
    is usage 2 "$status"
    db=$work/none.db leaderboard
    is 'no store' 4 "$status"
}

@test "windows of the workflows in a store: the last score of each task" {
    mkdir -p "$work/task/tools" "$work/task/truth"
    printf '#!/bin/sh\ncat\n' > "$work/task/tools/same"
    chmod +x "$work/task/tools/same"
    echo '{"a": 1}' > "$work/task/truth/truth.json"
    echo '{"steps": [{"id": "a", "tool": "same", "input": {"a": 1}}]}' > "$work/right.json"
    echo '{"steps": [{"id": "a", "tool": "same", "input": {"a": 2}}]}' > "$work/wrong.json"
    # worked AGENT TASK ANSWER
    worked() {
        jq -n --arg name "$2" '{schema: "assay.task/1", name: $name, scoring: {scheme: "composite", max_budget: 1, max_latency: "10s",
            quality: {primitive: "exact_match", field: "a", ground_truth_field: "a"}},
            tools: {same: {command: ["/tools/same"], cost: 0.5, seconds: 5}}}' > "$work/task/task.json"
        status=0
        "$ASSAY" run "${weak[@]}" --store "$db" ${1:+--agent "$1"} "$work/task" "$work/$3.json" > "$work/output" 2> "$work/errors" || status=$?
        [ "$status" -le 1 ]
    }
    worked ann one right
    worked ann one wrong
    worked ann two right
    worked bob one right
    worked '' one right
    is rows 'ann|one|0.800000|4/5
ann|one|0.100000|1/10
ann|two|0.800000|4/5
bob|one|0.800000|4/5' "$(sql 'SELECT agent, task, score, score_exact FROM workflow_scores ORDER BY completed_at')"
    run -0 "$ASSAY" workflow window --json --store "$db"
    is window 'ann 2 9/20, bob 1 4/5' "$(jq -r '[.weights[] | "\(.name) \(.scores) \(.exact.mean)"] | join(", ")' <<< "$output")"
    is capped '3/20 7/10' "$(jq -r '"\(.weights[0].exact.weight) \(.exact_unassigned)"' <<< "$output")"
    run -0 "$ASSAY" results "$db" verify
    run ! sqlite3 "$db" "UPDATE workflow_scores SET score = '1'"
    sql "DROP TRIGGER workflow_scores_no_update" "UPDATE workflow_scores SET score_exact = '1' WHERE agent = 'bob'"
    run -1 "$ASSAY" results "$db" verify
    grep -q 'the score of this workflow was changed' <<< "$output"
    run -2 "$ASSAY" workflow window --store "$db" more
}
