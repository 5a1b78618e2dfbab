#!/usr/bin/env bats
# Matches in a store: assay match start, submit, show, list, history, harness.

load common

setup() {
    setup_work
    db=$work/matches.db
    quiz 1h
    answer won 1 2 3 4
    answer drawn 1 2 0 0
    answer lost 0 0 0 0
}

# quiz LIMIT [DIFFICULTY]: a task that compares an answer; 900 for all of it, 100 for no time
quiz() {
    mkdir -p "$work/task/truth"
    echo '{"answers": [1, 2, 3, 4]}' > "$work/task/truth/truth.json"
    jq -n --arg limit "$1" --arg difficulty "${2:-contender}" '{schema: "assay.task/1", name: "quiz",
        scoring: {scheme: "dimensions", time_limit: $limit, difficulty: $difficulty, dimensions: [
            {name: "accuracy", weight: 0.9, primitive: "exact_match_ratio", field: "answers", ground_truth_field: "answers"},
            {name: "speed", weight: 0.1, primitive: "time_decay"}]}}' > "$work/task/task.json"
}

# answer NAME NUMBERS…
answer() {
    local name=$1 IFS=,
    shift
    echo "{\"answers\": [$*]}" > "$work/$name.json"
}

sql() {
    sqlite3 "$db" "$@"
}

# match VERB…: its output is in $work/match.json
match() {
    status=0
    "$ASSAY" match --json --store "$db" "$@" > "$work/match.json" 2> "$work/errors" || status=$?
}

# of KEY: of what `match` printed
of() {
    jq -r ".$1" "$work/match.json"
}

# start [OPTIONS…]: a match of ann's, whose id is $id
start() {
    match start --agent ann "$@" "$work/task"
    is exit 0 "$status"
    id=$(of match_id)
}

# submit NAME [OPTIONS…]: that answer to it
submit() {
    match submit --agent ann "${@:2}" "$id" "$work/$1.json"
}

# refused CODE: how the last one ended
refused() {
    is exit 6 "$status"
    grep -q "^assay: $1: " "$work/errors" || is code "$1" "$(cat "$work/errors")"
}

# intact, and found WHERE WHAT: what `results verify` says
intact() {
    "$ASSAY" results "$db" verify > "$work/verified" || is verify intact "$(cat "$work/verified")"
}
found() {
    run -1 "$ASSAY" results "$db" verify
    grep -qF -- "$1: $2" <<< "$output" || is "$1" "$2" "$output"
}

# forge STATEMENT…: with every trigger taken away meanwhile
forge() {
    sql "SELECT sql || ';' FROM sqlite_schema WHERE type = 'trigger'" > "$work/make"
    sql "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema WHERE type = 'trigger'" | sql
    sql "$@"
    sql < "$work/make"
}

# rated ELO MATCHES: as if ann had that after so many
rated() {
    sql "INSERT INTO rating_history VALUES ('ann', $2, 'none', 0, $1, 0, 0, '', '')"
}

# standing: ann's rating, matches, streak, best streak
standing() {
    sql "SELECT elo, matches, streak, best_streak FROM ratings WHERE agent = 'ann'"
}

# overdue: a match of ann's whose time is over
overdue() {
    quiz 1ms
    start
    until [ "$(sql "SELECT expires_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM matches WHERE id = '$id'")" = 1 ]; do :; done
    quiz 1h
}

# calls FILE [SECONDS]: a trajectory of now, or so many seconds off
calls() {
    jq -nc --argjson off "${2:-0}" '{ts: (now + $off), type: "llm_call", model: "m", input_tokens: 10, output_tokens: 5}' > "$work/$1"
}

# driver MODE FRAME…: what assay-store answers to somebody who speaks its frames
driver() {
    timeout 20 "$here/../programs/store-driver.py" "$ASSAY_BUILD/assay-store" "$1" "$db" "$ASSAY_STATE/store/key" "${@:2}" | tail -n 1
}

@test "a match starts: when, until when, which attempt, against whom" {
    start
    is first '1 1000 contender quiz ann false null' \
        "$(jq -r '"\(.attempt_number) \(.opponent_elo) \(.difficulty) \(.task) \(.agent) \(.memoryless) \(.result)"' "$work/match.json")"
    is 'an hour' 3600 "$(jq -r '[.expires_at, .started_at] | map(sub("\\.[0-9]+Z"; "Z") | fromdate) | .[0] - .[1]' "$work/match.json")"
    quiz 1h legendary
    start --memoryless
    is second '2 1400 true' "$(jq -r '"\(.attempt_number) \(.opponent_elo) \(.memoryless)"' "$work/match.json")"
    match start --agent bob "$work/task"
    is "another agent's first" 1 "$(of attempt_number)"
    for difficulty in newcomer:800 contender:1000 veteran:1200; do
        quiz 1h "${difficulty%:*}"
        start
        is "$difficulty" "${difficulty#*:}" "$(of opponent_elo)"
    done
    intact
}

@test "describe tells how long a match takes, and against whom" {
    quiz 90m veteran
    run -0 "$ASSAY" describe --json "$work/task"
    is JSON '5400000 veteran 1200' "$(jq -r '.match | "\(.time_limit_ms) \(.difficulty) \(.opponent_elo)"' <<< "$output")"
    run -0 "$ASSAY" describe "$work/task"
    grep -qx '  a match takes at most 5400 s, against 1200 (veteran)' <<< "$output"
    task good
    run -0 "$ASSAY" describe --json "$work/task"
    is 'without one' null "$(jq -c .match <<< "$output")"
}

@test "an answer ends it: score, parts, and the rating before and after" {
    start
    submit won
    is exit 0 "$status"
    is 'what is said' "$id win true 1000 1016 16 false null" \
        "$(jq -r '"\(.match_id) \(.result) \(.score >= 900) \(.elo_before) \(.elo_after) \(.elo_change) \(.verified) \(.harness_warning)"' "$work/match.json")"
    is parts 'accuracy speed' "$(of 'score_breakdown | keys | join(" ")')"
    is lists 'array array' "$(of '| "\(.submission_warnings | type) \(.constraint_violations | type)"' | sed 's/^\.//')"
    is 'time used' 0 "$(jq -r '[.submitted_at, .started_at] as $t | ($t | map(capture("(?<s>.*)\\.(?<ms>[0-9]+)Z") | (.s + "Z" | fromdate) * 1000 + (.ms | tonumber))) | .[0] - .[1]' "$work/match.json" > "$work/used"
        jq -r '.time_used * 1000 | round' "$work/match.json" | diff - "$work/used" > /dev/null; echo $?)"
    is 'the result' "graded|win|ann" "$(sql "SELECT r.status, r.outcome, s.agent FROM evaluation_results r
        JOIN matches m ON m.result_id = r.id JOIN submissions s ON s.id = r.submission_id WHERE m.id = '$id'")"
    is 'its time' "$(of time_used)" "$(sql "SELECT result FROM evaluation_results" | jq -r .inputs.time_used)"
    match show "$id"
    is shown "win 1016" "$(jq -r '"\(.result) \(.elo_after)"' "$work/match.json")"
    start
    submit drawn
    is 'a draw' '1 draw' "$status $(of result)"
    start
    submit lost
    is 'a loss' '1 loss' "$status $(of result)"
    match history ann
    is history 'win 1000 1016 1;draw 1016 1015 0;loss 1015 998 0' \
        "$(jq -r '[.history[] | "\(.result) \(.elo_before) \(.elo_after) \(.streak)"] | join(";")' "$work/match.json")"
    is standing '998|3|0|1' "$(standing)"
    match list --agent bob
    is 'of another agent' 0 "$(of 'matches | length')"
    intact
}

@test "the time used is the match's, whatever the answer's owner says" {
    start
    forge "UPDATE matches SET started_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1800 seconds') WHERE id = '$id'"
    submit won
    is 'half of the hour' 'true true' "$(jq -r '"\(.time_used >= 1800 and .time_used < 3600) \(.score_breakdown.speed.score <= 500)"' "$work/match.json")"
    run -2 "$ASSAY" match submit --store "$db" --agent ann --time-used 1 "$id" "$work/won.json"
}

@test "an answer that comes slowly counts when it is there, not when it was begun" {
    start
    mkfifo "$work/slow"
    "$ASSAY" match submit --store "$db" --agent ann "$id" - < "$work/slow" > "$work/output" 2> "$work/errors" &
    submit=$!
    exec 7> "$work/slow"
    echo '{"answers":' >&7
    # It has looked at the match, and waits for the rest.
    until store=$(pgrep -P "$submit" -x assay-store) && grep -aqx append <(tr '\0' '\n' < "/proc/$store/cmdline"); do :; done
    forge "UPDATE matches SET expires_at = started_at WHERE id = '$id'"
    echo '[1, 2, 3, 4]}' >&7
    exec 7>&-
    status=0
    wait "$submit" || status=$?
    refused match.expired
    is 'nothing is stored' 0 "$(sql 'SELECT count(*) FROM evaluation_results')"
}

@test "an answer that arrived in time keeps its match open while it is unpacked, but not for ever" {
    start
    driver "append::$id:bob" 68 > "$work/output"
    is "somebody else's" '' "$(sql 'SELECT arrived_at FROM matches')"
    driver "append::$id:ann" 68 > "$work/output"
    forge "UPDATE matches SET started_at = arrived_at, expires_at = strftime('%Y-%m-%dT%H:%M:%fZ', arrived_at, '+0.001 seconds')"
    until [ "$(sql "SELECT expires_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM matches")" = 1 ]; do :; done
    match show "$id"
    is 'still open' null "$(of result)"
    forge "UPDATE matches SET arrived_at = strftime('%Y-%m-%dT%H:%M:%fZ', arrived_at, '-601 seconds')"
    match show "$id"
    is 'killed' expired "$(of result)"
    start
    forge "UPDATE matches SET expires_at = started_at WHERE id = '$id'"
    driver "append::$id:ann" 68 > "$work/output"
    match show "$id"
    is 'too late' expired "$(of result)"
}

@test "only who started it may submit, one answer, to the same task" {
    start
    match submit --agent bob "$id" "$work/won.json"
    refused match.not_owner
    match submit --agent ann 01ARZ3NDEKTSV4RRFFQ69G5FAV "$work/won.json"
    refused match.unknown
    match show nothing
    refused match.unknown
    cp -R "$work/task" "$work/elsewhere"
    jq '.description = "easier"' "$work/task/task.json" > "$work/new"
    mv "$work/new" "$work/task/task.json"
    submit won
    refused match.task_changed
    is 'nothing is stored' 0 "$(sql 'SELECT count(*) FROM evaluation_results')"
    submit won --task "$work/elsewhere"
    is exit 0 "$status"
    submit won --task "$work/elsewhere"
    refused match.ended
    is results 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    intact
}

@test "a match whose time is over is a draw that changes no rating, counts, and ends the streak" {
    start
    submit won
    overdue
    submit won
    refused match.expired
    is 'nothing is stored' 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    is standing '1016|2|0|1' "$(standing)"
    match show "$id"
    is 'as it ended' 'expired 1016 1016 0 true' "$(jq -r '"\(.result) \(.elo_before) \(.elo_after) \(.elo_change) \(.ended_at == .expires_at)"' "$work/match.json")"
    intact
}

@test "whoever comes first notices that its time is over, once" {
    for first in "match show --store $db ID" "match list --store $db" "match history --store $db ann" "leaderboard $db" \
        "match start --store $db --agent ann $work/task"; do
        overdue
        # shellcheck disable=SC2086
        for n in 1 2 3; do "$ASSAY" ${first/ID/$id} > "$work/output.$n" & done
        wait
        is "$first" 'expired|1' "$(sql "SELECT result, (SELECT count(*) FROM rating_history WHERE match_id = '$id') FROM matches WHERE id = '$id'")"
    done
    intact
}

@test "the rating vectors of the contract" {
    while read -r own difficulty answer matches after verified benchmark; do
        # Verified and benchmark are told apart by the attempt and by memory.
        for kind in "$after" "$verified --trajectory" "$benchmark --memoryless --trajectory"; do
            [ "${kind%% *}" != - ] || continue
            rm -f "$db"*
            quiz 1h "$difficulty"
            case $kind in *memoryless*) start --memoryless ;; *) start ;; esac
            rated "$own" "$matches"
            calls now
            case $kind in *trajectory) submit "$answer" --trajectory "$work/now" ;; *) submit "$answer" ;; esac
            is "$own $difficulty $answer $matches $kind" "${kind%% *}" "$(of elo_after)"
            is change "$((${kind%% *} - own))" "$(of elo_change)"
        done
    done << 'END'
1000 contender won 5 1016 1018 1019
1050 veteran won 10 1073 1075 1078
1000 legendary won 5 1029 - -
1000 newcomer drawn 30 996 996 996
1200 legendary drawn 29 1208 1209 1210
100 legendary lost 3 100 100 100
END
}

@test "handed in eight times at once, it ends once" {
    start
    for i in 1 2 3 4 5 6 7 8; do
        { s=0; "$ASSAY" match submit --json --store "$db" --agent ann "$id" "$work/won.json" > "$work/out.$i" 2> "$work/err.$i" || s=$?; echo "$s" > "$work/exit.$i"; } &
    done
    wait
    is exits '1 7' "$(cat "$work"/exit.* | sort | uniq -c | awk '$2 == 0 {won = $1} $2 == 6 {refused = $1} END {print won, refused}')"
    is 'told so' 7 "$(cat "$work"/err.* | grep -c '^assay: match.ended: ')"
    is standing '1016|1|1|1' "$(standing)"
    is rows '1|1' "$(sql 'SELECT (SELECT count(*) FROM evaluation_results), (SELECT count(*) FROM rating_history)')"
    intact
}

@test "a submit that is killed leaves the match to the same answer, with its time" {
    for round in 1 2 3 4 5 6 7 8 9 10; do
        start
        "$ASSAY" match submit --store "$db" --agent ann "$id" "$work/won.json" > "$work/output" 2>&1 &
        for ((i = 0; i < round * 20; i++)); do :; done
        kill -9 $! 2> /dev/null || true
        wait $! || true
        first=$(sql "PRAGMA busy_timeout = 60000; SELECT coalesce(submitted_at, '') FROM matches WHERE id = '$id'" | tail -n 1)
        submit won
        [ "$status" -eq 0 ] || refused match.ended
        match show "$id"
        is result win "$(of result)"
        [ -z "$first" ] || is 'its time' "$first" "$(of submitted_at)"
    done
    is standing '10|10' "$(sql "SELECT matches, streak FROM ratings WHERE agent = 'ann'")"
    intact
}

@test "what could not be graded may be handed in again after the limit, and nothing else" {
    start
    sql "UPDATE matches SET submitted_at = started_at, answer_sha256 = '$(sha256sum < "$work/won.json" | cut -d' ' -f1)' WHERE id = '$id'"
    forge "UPDATE matches SET expires_at = started_at WHERE id = '$id'"
    match list
    is 'not expired' null "$(of 'matches[0].result')"
    submit lost
    refused match.answered
    submit won
    is 'again' '0 win 0' "$status $(of result) $(jq -r '.time_used' "$work/match.json" | cut -d. -f1)"
}

@test "a suite that fails leaves the match as it is; a limit, or an answer that is none, loses it" {
    suite_task() {
        mkdir -p "$work/task/tests"
        printf '#!/bin/sh\n%s\n' "$1" > "$work/task/tests/run"
        chmod +x "$work/task/tests/run"
        jq -n '{schema: "assay.task/1", name: "suite", limits: {wall: "300ms"}, suite: {command: ["/tests/run"]},
            scoring: {scheme: "dimensions", time_limit: "1h", dimensions: [
                {name: "correctness", weight: 0.9, source: "suite"}, {name: "speed", weight: 0.1, primitive: "time_decay"}]}}' > "$work/task/task.json"
    }
    suite_task 'exit 1'
    start
    submit won "${weak[@]}"
    is 'the suite' '4 null error' "$status $(of result) $(of status)"
    is stored 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    suite_task 'sleep 60'
    start
    submit won "${weak[@]}"
    is 'a limit' '4 loss null' "$status $(of result) $(of score)"
    quiz 1h
    start
    echo '{"answers": [1' > "$work/broken.json"
    submit broken
    is 'no answer' '3 loss' "$status $(of result)"
    start
    cp "$work/won.json" "$work/first.json"
    echo 'Rar!' > "$work/unpackable.json"
    submit unpackable
    is 'not accepted' 3 "$status"
    match show "$id"
    is 'not handed in' null "$(of submitted_at)"
    submit won
    is 'the next' '0 win' "$status $(of result)"
    intact
}

@test "a match whose judge is late ends with its verdict" {
    jq '.scoring.dimensions[1] = {name: "methodology", weight: 0.1, source: "judge", criterion: "Methodology"}' \
        "$work/task/task.json" > "$work/new" && mv "$work/new" "$work/task/task.json"
    start
    submit won
    is waits '5 null pending' "$status $(of result) $(of status)"
    is 'no match yet' '' "$(standing)"
    run -0 "$ASSAY" finalize --store "$db" "$(of result_id)" --llm-score 80
    match show "$id"
    is ended 'win 980 1016' "$(jq -r '"\(.result) \(.score) \(.elo_after)"' "$work/match.json")"
    submit won
    refused match.ended
    start
    submit lost --llm-score 100
    is 'at once' '1 loss 100' "$status $(of result) $(of score)"
    intact
}

@test "a valid trajectory verifies a match: self-reported, or signed by its harness" {
    printf '%064x\n' 7 > "$work/key"
    match harness steady --key "$work/key"
    is exit 0 "$status"
    sign() { openssl dgst -sha256 -mac HMAC -macopt hexkey:"$(cat "$work/key")" < "$1" | sed 's/.* //'; }
    calls now
    calls early -3600
    : > "$work/empty"
    tried() { # EXPECTED ANSWER-OPTIONS…
        start --harness steady
        submit won "${@:2}"
        is "${*:2}" "$1" "$(jq -r '"\(.trajectory) \(.verified) \(.harness_warning)"' "$work/match.json")"
    }
    tried 'null false null'
    tried 'self-reported true null' --trajectory "$work/now"
    calls now
    tried 'signed true null' --trajectory "$work/now" --trajectory-hmac "$(sign "$work/now")"
    sign "$work/now" > "$work/hmac"
    tried 'signed true null' --trajectory "$work/now" --trajectory-hmac "$work/hmac"
    tried 'invalid false null' --trajectory "$work/early" --trajectory-hmac "$(sign "$work/early")"
    tried 'invalid false null' --trajectory "$work/now" --trajectory-hmac "$(printf '%064x' 1)"
    tried 'invalid false null' --trajectory "$work/empty"
    tried 'invalid false null' --trajectory "$work/won.json"
    is 'in the result' 'invalid: it is not signed by the harness' \
        "$(sql "SELECT 'invalid: ' || json_extract(result, '$.trajectory.reason') FROM evaluation_results WHERE result LIKE '%not signed%' LIMIT 1")"
    submit won --trajectory-hmac "$work/hmac"
    is 'without one' 2 "$status"
    intact
}

@test "a harness that nobody registered, or that the match was not started with, is warned of" {
    match harness steady
    start --harness unknown
    is started 'the harness is not registered with this store (assay match harness)' "$(of harness_warning)"
    submit won
    is submitted 'the harness is not registered with this store (assay match harness)' "$(of harness_warning)"
    start --harness steady
    submit won --harness unknown
    is other 'the harness is not registered with this store (assay match harness)' "$(of harness_warning)"
    start
    submit won --harness steady
    is changed 'the match was not started with this harness' "$(of harness_warning)"
    calls now
    start --harness steady
    submit won --trajectory "$work/now" --trajectory-hmac "$(printf '%064x' 1)"
    is 'no key' 'invalid false' "$(of trajectory) $(of verified)"
}

@test "only tasks that are won or lost, within a time, have matches" {
    jq 'del(.scoring.time_limit, .scoring.dimensions[1]) | .scoring.dimensions[0].weight = 0.5
        | .scoring.dimensions[1] = (.scoring.dimensions[0] | .name = "again")' "$work/task/task.json" > "$work/new"
    mv "$work/new" "$work/task/task.json"
    match start --agent ann "$work/task"
    is 'no limit' 2 "$status"
    grep -q 'scoring.time_limit' "$work/errors"
    task good
    match start --agent ann "$work/task"
    is 'blend' 2 "$status"
    quiz 400d
    match start --agent ann "$work/task"
    is 'no duration' 2 "$status"
    quiz 9000h
    match start --agent ann "$work/task"
    is 'more than a year' 2 "$status"
    quiz 1h godlike
    match start --agent ann "$work/task"
    is difficulty 2 "$status"
    grep -q 'scoring.difficulty' "$work/errors"
    is 'no store is made' no "$([ -e "$db" ] && echo yes || echo no)"
}

@test "names are names, whatever they hold" {
    for agent in "'; DROP TABLE matches; --" '%n%s' '"ann"' '$1' 'a/../b' '\' '☃' 'x =1'; do
        match start --agent "$agent" --harness "$agent" "$work/task"
        is exit 0 "$status"
        id=$(of match_id)
        match submit --agent "$agent" "$id" "$work/won.json"
        is "$agent" 0 "$status"
        is agent "$agent" "$(of agent)"
        match history "$agent"
        is history 1 "$(of 'history | length')"
        match list --agent "$agent"
        is list 1 "$(of 'matches | length')"
    done
    for agent in '' $'a\nb' "$(printf 'a%.0s' {1..201})" $'\xff'; do
        match start --agent "$agent" "$work/task"
        is "$agent" 2 "$status"
    done
    long=$(printf 'a%.0s' {1..65000})
    for what in "show $long" "history $long" "harness $long" "submit $long $work/won.json --agent ann" \
        "submit $id $work/won.json --agent ann --harness $long" "start $work/task --agent ann --harness $long"; do
        # shellcheck disable=SC2086
        match $what
        is "${what%% *}" 2 "$status"
    done
    match history nobody
    is 'of nobody' 0 "$(of 'history | length')"
    match show "' OR '1' = '1"
    refused match.unknown
    "$ASSAY" match list --store "$db" > "$work/lines"
    is lines 16 "$(wc -l < "$work/lines")"
    intact
}

@test "the database refuses to change what was started, handed in, or has ended" {
    refuses() {
        if sqlite3 "$db" "PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF; $1" 2> "$work/refusal"; then
            echo "done: $1" >&2
            return 1
        fi
    }
    start
    for column in agent task task_sha256 task_path harness difficulty started_at expires_at start_mac id; do
        refuses "UPDATE matches SET $column = 'x'"
    done
    refuses "UPDATE matches SET opponent_elo = 3000"
    refuses "UPDATE matches SET attempt_number = 0"
    refuses "DELETE FROM matches"
    refuses "INSERT OR REPLACE INTO matches SELECT * FROM matches"
    submit won
    for column in submitted_at answer_sha256 trajectory harness_warning result_id result score ended_at; do
        refuses "UPDATE matches SET $column = NULL"
    done
    refuses "UPDATE matches SET elo_after = 3000"
    refuses "UPDATE rating_history SET elo_after = 3000"
    refuses "DELETE FROM rating_history"
    refuses "INSERT OR REPLACE INTO rating_history SELECT * FROM rating_history"
    intact
}

@test "verify finds a match, a rating or a history that was changed or removed" {
    broken() { # STATEMENT WHERE WHAT
        cp "$work/good.db" "$db"
        forge "$1"
        found "$2" "$3"
    }
    match harness steady
    start
    first=$id
    submit won
    start
    submit lost
    sql 'PRAGMA wal_checkpoint(TRUNCATE)' > "$work/output"
    cp "$db" "$work/good.db"
    changed='this match, or what it did to the rating of its agent, was changed, or one before it was removed'
    broken "UPDATE matches SET elo_after = 2000 WHERE id = '$first'" "$first" "$changed"
    broken "UPDATE matches SET result = 'win' WHERE id = '$id'" "$id" "$changed"
    broken "UPDATE rating_history SET elo_after = 2000 WHERE match_id = '$id'" "$id" "$changed"
    broken "DELETE FROM rating_history WHERE match_id = '$first'" "$id" "$changed"
    broken "DELETE FROM rating_history WHERE match_id = '$first'" "$first" "this match has ended, and its agent's history does not know it"
    broken "DELETE FROM matches WHERE id = '$first'" "$id" 'matches before this one were removed'
    broken "UPDATE matches SET started_at = expires_at WHERE id = '$id'" "$id" 'what this match was started with was changed'
    broken "UPDATE matches SET opponent_elo = 3000 WHERE id = '$id'" "$id" 'what this match was started with was changed'
    broken "UPDATE ratings SET elo = 3000" ann 'this rating is not what the last match made it'
    broken "DELETE FROM ratings" ann 'the rating of this agent was removed'
    broken "UPDATE harnesses SET key = '$(printf '%064x' 1)'" steady 'this harness was changed'
    broken "UPDATE matches SET agent = 'bob'" "$id" 'what this match was started with was changed'
    cp "$work/good.db" "$db"
    intact
}

@test "a store of before has matches with the next one that is started" {
    start
    sql "SELECT 'DROP ' || type || ' ' || name || ';' FROM sqlite_schema WHERE sql NOT NULL
        AND (tbl_name IN ('harnesses', 'matches', 'ratings', 'rating_history', 'workflow_scores') AND type = 'table' OR name = 'results_ranked')" | sql
    sql 'PRAGMA user_version = 2'
    match list
    is 'not yet' 4 "$status"
    start
    submit won
    is exit 0 "$status"
    intact
}

@test "who took assay over can end the match of its own answer alone, with what that scored" {
    local digest malformed='failed: the store was sent a malformed frame'
    digest=$(printf '%064d' 7)
    start
    task=$(sql 'SELECT task_sha256 FROM matches')
    mine="append::$id:ann"
    enter="70 quiz $task $digest u32:0"
    row=('3 quiz 00' "5 u8:0 u8:11 $task" '5 u8:0 u8:12 graded' '5 u8:0 u8:17 answer' '6 u8:0 u8:18 u64:1000' '5 u8:0 u8:24 {}' '5 u8:0 u8:25 {}')
    # STORE_…: start, expire, harness, show, list, history; and an answer without a match
    for frame in "65 ann" 66 '67 steady u32:0' "73 $id" '74 ann' '75 ann' 68 "$enter"; do
        is "append: $frame" "$malformed" "$(driver append "$frame")"
        [ "$frame" = 68 ] || [ "$frame" = "$enter" ] || is "match: $frame" "$malformed" "$(driver "$mine" "$frame")"
    done
    for frame in '3 quiz 00' 9 "11 x" "73 $id" 68 "$enter"; do
        is "mode match: $frame" "$malformed" "$(driver match "$frame")"
    done
    is 'to start while reading' "$malformed" "$(driver read 66)"
    is "somebody else's" "failed: the match $id was started by another agent" "$(driver "append::$id:bob" "$enter")"
    is 'of another task' "failed: the task is not the one that the match $id was started with" "$(driver "$mine" "70 quiz $digest $digest u32:0")"
    is 'no digest' "$malformed" "$(driver "$mine" "70 quiz $task x u32:0")"
    is 'without an answer' 'failed: a match ends without an answer' \
        "$(driver "$mine" "${row[@]}" '5 u8:0 u8:19 1000' '5 u8:0 u8:16 win' '7 u8:0' 8)"
    for said in '399 win' '700 draw' '1001 win' '-1 loss' '7e2 win'; do
        is "$said" "failed: a match's result is not as agreed" \
            "$(driver "$mine" "$enter" "${row[@]}" "5 u8:0 u8:19 ${said% *}" "5 u8:0 u8:16 ${said#* }" '7 u8:0' 8)"
    done
    is 'twice' "$malformed" "$(driver "$mine" "$enter" "$enter")"
    is 'another answer' "failed: another answer was handed in to the match $id" "$(driver "$mine" "70 quiz $task $(printf '%064d' 8) u32:0")"
    is 'not ended' '|' "$(sql 'SELECT result, result_id FROM matches')"
    # Whatever is said of a trajectory that was not sent
    is 'its own' done "$(driver "$mine" "$enter" "${row[@]}" '5 u8:0 u8:19 700' '5 u8:0 u8:16 win' '7 u8:0' '72 u8:1' 8 73)"
    is ended 'win|16|0||RESULT' "$(sql 'SELECT result, elo_change, verified, trajectory, result_id FROM matches')"
    intact
}

@test "an answer to a match can wait in the queue: its time is that of its coming" {
    weak=()
    "$ASSAY" doctor --quiet 2> /dev/null || weak=(--allow-weak-limits)
    start
    status=0
    "$ASSAY" submit --json --store "$db" --agent bob --match "$id" "$work/task" "$work/won.json" > "$work/job.json" 2> "$work/errors" || status=$?
    refused match.not_owner
    is 'nothing of it' '0|0' "$(sql 'SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM files)')"
    "$ASSAY" submit --quiet --store "$db" --agent ann --match "$id" "$work/task" "$work/won.json"
    sql "UPDATE matches SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = '$id'" 2> "$work/refusal" && return 1
    submitted=$(sql "SELECT submitted_at FROM matches WHERE id = '$id'")
    [ -n "$submitted" ]
    status=0
    "$ASSAY" submit --quiet --store "$db" --agent ann --match "$id" "$work/task" "$work/lost.json" 2> "$work/errors" || status=$?
    refused match.answered
    "$ASSAY" worker --quiet --until-empty "${weak[@]}" --store "$db"
    match show "$id"
    is match "win 1016 $submitted" "$(of result) $(of elo_after) $(sql "SELECT submitted_at FROM matches WHERE id = '$id'")"
    is job 'done' "$(sql 'SELECT state FROM jobs')"
    status=0
    "$ASSAY" submit --quiet --store "$db" --agent ann --match "$id" "$work/task" "$work/won.json" 2> "$work/errors" || status=$?
    refused match.ended
    intact
}

@test "an answer whose job was cancelled can be handed in again, as it was, and its time stays" {
    weak=()
    "$ASSAY" doctor --quiet 2> /dev/null || weak=(--allow-weak-limits)
    start
    "$ASSAY" submit --quiet --store "$db" --agent ann --match "$id" "$work/task" "$work/won.json"
    submitted=$(sql "SELECT submitted_at FROM matches WHERE id = '$id'")
    "$ASSAY" queue --quiet --store "$db" cancel "$(sql 'SELECT id FROM jobs')"
    status=0
    "$ASSAY" submit --quiet --store "$db" --agent ann --match "$id" "$work/task" "$work/lost.json" 2> "$work/errors" || status=$?
    refused match.answered
    "$ASSAY" submit --quiet --store "$db" --agent ann --match "$id" "$work/task" "$work/won.json"
    "$ASSAY" worker --quiet --until-empty "${weak[@]}" --store "$db"
    match show "$id"
    is match "win $submitted" "$(of result) $(sql "SELECT submitted_at FROM matches WHERE id = '$id'")"
    is results 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    intact
}
