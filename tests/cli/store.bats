#!/usr/bin/env bats
# Results in a store: assay run --store, assay batch --store, assay finalize --store, assay results.

# Both engines: store-on-postgres.bats is this file by another name.

load common
load stores

@test "the rows of an evaluation are the result that was printed" {
    rubric_task 80.5
    submission
    grade --store "$db" --agent ann
    is exit 0 "$status"
    id=$(field .id)
    is score '80.50|80.5' "$(stored "$id" 'final_score, final_score_number')"
    is exact '161/2' "$(stored "$id" final_score_exact)"
    is test_score 80.50 "$(stored "$id" test_score)"
    is llm_score '' "$(stored "$id" llm_score)"
    is mode container "$(stored "$id" eval_mode)"
    is 'the attempt' '1|1' "$(stored "$id" 'attempt, revision')"
    is 'digests' "$(field '.task.sha256 + "|" + .submission.sha256')" "$(stored "$id" 'task_sha256, archive_sha256')"
    is 'pass data' '{"Speed":80.5,"Size":5} ok true 0 null' \
        "$(stored "$id" eval_pass_data | jq -r '[(.breakdown | tojson), .notes, .suite_pass, .exit, .verdict] | map(tostring) | join(" ")')"
    cmp <(stored "$id" result | sed '$d') "$work/result.json"
    is dimensions "1|Speed|test|60|80.5
2|Size|test|40|5" "$(sql "SELECT position, name, source, weight, score FROM evaluation_dimensions WHERE result_id = '$id'")"
    is rubric 'Speed|fast|60|test
Size||40|test' "$(sql "SELECT c.name, c.description, c.weight, c.source FROM rubric_criteria c
        JOIN evaluation_results r USING (rubric_sha256) WHERE r.id = '$id' ORDER BY position")"
    is submission 'test|ann|completed|1|1' \
        "$(sql "SELECT task, agent, status, evaluated, CASE WHEN completed_at IS NULL THEN 0 ELSE 1 END FROM submissions")"
}

@test "graded is completed; pending stays pending; rejected and error are failed, without a score" {
    task good
    submission
    grade --store "$db"
    is graded 'graded|completed|1' "$(sql 'SELECT r.status, s.status, s.evaluated FROM evaluation_results r JOIN submissions s ON s.id = submission_id')"
    echo '{"schema": "assay.task/1", "name": "waits", "scoring": {"rubric": [{"name": "a", "weight": 100}]}}' > "$work/task/task.json"
    grade --store "$db"
    is exit 5 "$status"
    is pending 'pending|pending|0||judge' \
        "$(sql "SELECT r.status, s.status, evaluated, s.completed_at, class FROM evaluation_results r JOIN submissions s ON s.id = submission_id WHERE r.task = 'waits'")"
    echo nonsense > "$work/submission.tar.gz"
    grade --store "$db"
    is exit 3 "$status"
    is rejected 'rejected|failed|0||submission|archive.unsupported' \
        "$(sql "SELECT r.status, s.status, evaluated, final_score, class, code FROM evaluation_results r JOIN submissions s ON s.id = submission_id ORDER BY number DESC LIMIT 1")"
    task sleeps '"limits": {"wall": "200ms"},'
    submission
    grade --store "$db"
    is exit 4 "$status"
    is error 'error|failed|0||limit|limit.wall' \
        "$(sql "SELECT r.status, s.status, evaluated, final_score, class, code FROM evaluation_results r JOIN submissions s ON s.id = submission_id ORDER BY number DESC LIMIT 1")"
    results verify
    is exit 0 "$status"
}

@test "the same submission of the same agent gets the next attempt, others their first" {
    task good
    submission
    for expected in 1 2 3; do
        grade --store "$db" --agent ann
        is attempt "$expected" "$(field .attempt)"
        is 'the row' "$expected" "$(stored "$(field .id)" attempt)"
    done
    grade --store "$db" --agent bob
    is "another agent's" 1 "$(field .attempt)"
    grade --store "$db"
    is "nobody's" 1 "$(field .attempt)"
    submission other.txt
    grade --store "$db" --agent ann
    is 'of another archive' 1 "$(field .attempt)"
    is submissions 4 "$(sql 'SELECT count(*) FROM submissions')"
    grade
    is 'without a store' 1 "$(field .attempt)"
}

@test "what is stored is complete, whoever the report is for" {
    script_task '"visibility": {"tests": "hidden"},' <<< \
        'echo "{\"score\": 70, \"pass\": true, \"tests\": [{\"name\": \"secret\", \"passed\": true}]}" > /results/score.json'
    submission
    grade --store "$db" --for submitter
    is exit 0 "$status"
    is printed '[]' "$(field '.tests | tojson')"
    is stored secret "$(stored "$(field .id)" result | jq -r .tests[0].name)"
    is 'pass data' secret "$(stored "$(field .id)" eval_pass_data | jq -r .tests[0].name)"
}

@test "the database itself refuses to change a result" {
    rubric_task 50
    submission
    grade --store "$db" --agent ann
    for table in evaluation_results evaluation_dimensions rubric_criteria submissions store; do
        refuses "DELETE FROM $table"
        refuses "INSERT INTO $table SELECT * FROM $table"
    done
    refuses "UPDATE evaluation_results SET final_score = '99'"
    refuses "UPDATE evaluation_dimensions SET score = '99'"
    refuses "UPDATE rubric_criteria SET weight = 1"
    refuses "UPDATE submissions SET agent = 'bob'"
    refuses "UPDATE submissions SET archive_sha256 = NULL"
    refuses "UPDATE submissions SET id = 'another'"
    refuses "UPDATE store SET key_mac = ''"
    results verify
    is exit 0 "$status"
    is output 'intact: 1 results of 1 submissions' "$(cat "$work/output")"
}

@test "verify names what was changed by who may drop triggers" {
    rubric_task 50
    submission
    for _ in 1 2 3; do grade --store "$db" --agent ann; done
    id=$(field .id)
    second=$(sql 'SELECT id FROM evaluation_results WHERE number = 2')
    keep_store
    changed='this result or one of its dimensions was changed, or it was added behind our back'

    forge "UPDATE evaluation_results SET final_score = '99.00' WHERE id = '$second'"
    found "$second" "$changed"
    is 'and nothing else' 2 "$(wc -l < "$work/output")"

    restore_store
    forge "UPDATE evaluation_dimensions SET score = '99' WHERE result_id = '$second' AND position = 2"
    found "$second" "$changed"

    restore_store
    forge "DELETE FROM evaluation_dimensions WHERE result_id = '$second' AND position = 2"
    found "$second" "$changed"

    restore_store
    forge "DELETE FROM evaluation_dimensions WHERE result_id = '$second'" "DELETE FROM evaluation_results WHERE id = '$second'"
    found 'number 2' 'this result was removed'
    found "$id" 'the result before it, of the same submission, was removed'

    restore_store
    forge "INSERT INTO evaluation_results (number, id, submission_id, attempt, revision, task, archive_sha256, agent_mac,
            completed_at, status, eval_mode, scale, final_score, eval_pass_data, result, mac)
        SELECT 4, 'forged', submission_id, 4, 1, task, archive_sha256, agent_mac, completed_at, status, eval_mode, scale,
            '100.00', eval_pass_data, result, mac FROM evaluation_results WHERE number = 3"
    found forged "$changed"

    restore_store
    forge "UPDATE rubric_criteria SET weight = 50"
    found "$id" "the rubric's criteria were changed"

    restore_store
    forge "UPDATE submissions SET agent = 'bob'"
    found "$id" 'its submission was given to another agent'

    restore_store
    sql "DROP TRIGGER evaluation_results_no_update$([ "$engine" = sqlite ] || echo ' ON evaluation_results')"
    found evaluation_results_no_update 'this table or rule of the database is not as it was made'

    for change in "status = 'failed'" "completed_at = '2020-01-01T00:00:00.000Z'" "completed_at = NULL"; do
        restore_store
        forge "UPDATE submissions SET $change"
        found "$(sql 'SELECT id FROM submissions')" "the submission's status or time is not that of its last result"
    done

    restore_store
    forge "INSERT INTO submissions SELECT 'added', task, archive_sha256, 'bob', source_ip, received_at, status, evaluated, completed_at FROM submissions"
    found added 'the submission has no result'

    restore_store
    forge "INSERT INTO rubric_criteria VALUES ('added', 1, 'Charm', NULL, 100, 'llm')"
    found added 'there are criteria that no result was graded by'
}

@test "a head that was kept elsewhere tells that the last results were removed" {
    task good
    submission
    grade --store "$db"
    grade --store "$db"
    results head
    head=$(cat "$work/output")
    [[ $head =~ ^2:[0-9a-f]{64}$ ]]
    grade --store "$db"
    results verify --head "$head"
    is 'with more results' 0 "$status"
    forge 'DELETE FROM evaluation_results WHERE number > 1' \
        'UPDATE submissions SET completed_at = (SELECT completed_at FROM evaluation_results)'
    results verify
    is 'without a head' 0 "$status"
    results verify --head "$head"
    is exit 1 "$status"
    grep -qx 'head: it is of 2 results, and there are 1: some were removed' "$work/output"
    grade --store "$db"
    results verify --head "$head"
    is 'when others took their place' 1 "$status"
    grep -qx 'head: the results until then are not those that it was of' "$work/output"
    results verify --head 2:12
    is usage 2 "$status"
}

@test "an agent that is erased leaves scores and chain intact" {
    task good
    submission
    grade --store "$db" --agent ann
    sql "UPDATE submissions SET agent = NULL, source_ip = NULL"
    results verify
    is exit 0 "$status"
    is score 80.00 "$(sql 'SELECT final_score FROM evaluation_results')"
}

@test "twenty at once: every row is there, attempts have no gaps" {
    task good
    submission
    for i in $(seq 20); do
        "$ASSAY" run --json "${weak[@]}" --store "$db" --agent ann "$work/task" "$work/submission.tar.gz" \
            > "$work/result.$i" 2> "$work/errors.$i" &
    done
    wait
    is 'what was said' '' "$(cat "$work"/errors.*)"
    is attempts "$(seq 20)" "$(jq .attempt "$work"/result.* | sort -n)"
    is rows "$(jq -r '"\(.attempt)|\(.id)"' "$work"/result.* | sort -n)" \
        "$(sql 'SELECT attempt, id FROM evaluation_results ORDER BY attempt')"
    results verify
    is exit 0 "$status"
}

@test "a batch stores each of its results" {
    task good
    mkdir "$work/subs"
    for name in a b c; do
        submission "$name.txt"
        mv "$work/submission.tar.gz" "$work/subs/$name.tar.gz"
    done
    "$ASSAY" batch "${weak[@]}" --quiet --store "$db" --agent ann --results "$work/out" "$work/task" "$work/subs"
    is ids "$(jq -r .id "$work"/out/*.json | sort)" "$(sql 'SELECT id FROM evaluation_results ORDER BY id')"
    results verify
    is exit 0 "$status"
}

@test "a batch whose results cannot be stored says so of each, and --resume grades it again" {
    task good
    mkdir "$work/subs"
    submission
    cp "$work/submission.tar.gz" "$work/subs/a.tar.gz"
    batch() {
        status=0
        "$ASSAY" batch "${weak[@]}" --store "$db" --results "$work/out" "$@" "$work/task" "$work/subs" \
            > "$work/output" 2> "$work/errors" || status=$?
    }
    grade --store "$db"
    sql 'ALTER TABLE evaluation_results RENAME COLUMN reason TO why'
    batch
    is exit 4 "$status"
    grep -q 'infra.store' "$work/output"
    [ ! -e "$work/out/a.json" ]
    sql 'ALTER TABLE evaluation_results RENAME COLUMN why TO reason'
    batch --resume
    is exit 0 "$status"
    is attempt 2 "$(jq .attempt "$work/out/a.json")"
    db=$nowhere batch
    is 'with no store at all' 4 "$status"
    is 'nothing was graded' '' "$(cat "$work/output")"
}

@test "a store that cannot be opened: nothing runs, and it says why" {
    task good
    submission
    grade --store "$nowhere"
    is exit 4 "$status"
    grep -q '^assay: infra.store: ' "$work/errors"
    is 'no result' 0 "$(wc -c < "$work/result.json")"
    db=$another results list
    is 'exit of list without a store' 4 "$status"
    grade --store "$db"
    set_version 99
    grade --store "$db"
    is 'exit with a newer one' 4 "$status"
    grep -q 'a newer Assay made this store' "$work/errors"
    results list
    is 'exit of list' 4 "$status"
}

@test "a result that cannot be stored is printed all the same; nothing of it stays" {
    task good
    submission
    grade --store "$db"
    sql 'ALTER TABLE evaluation_dimensions RENAME TO elsewhere' 'ALTER TABLE evaluation_results RENAME COLUMN reason TO why'
    submission other.txt
    grade --store "$db"
    is exit 4 "$status"
    is status graded "$(field .status)"
    grep -q '^assay: infra.store: the result was not stored: ' "$work/errors"
    is submissions 1 "$(sql 'SELECT count(*) FROM submissions')"
    nothing_left
}

@test "the key is made once, for its owner alone, outside of the database" {
    task good
    submission
    grade --store "$db"
    is 'mode of the key' 600 "$(stat -c %a "$ASSAY_STATE/store/key")"
    is 'the key in the database' 0 "$(sql 'SELECT * FROM store' 'SELECT * FROM evaluation_results' | grep -cF "$(cat "$ASSAY_STATE/store/key")")"
    ASSAY_STORE_KEY=$work/key grade --store "$another"
    is exit 0 "$status"
    [ -s "$work/key" ]
    ASSAY_STORE_KEY=$work/key results verify
    is 'with the key of another store' 4 "$status"
    grep -q 'is not the key of this store' "$work/errors"
    chmod 640 "$ASSAY_STATE/store/key"
    results verify
    is 'a key for others' 4 "$status"
    rm "$ASSAY_STATE/store/key"
    grade --store "$db"
    is 'without the key' 4 "$status"
    [ ! -e "$ASSAY_STATE/store/key" ]
}

@test "list and show give what was stored; a result that is not there is named" {
    task good
    submission
    grade --store "$db" --agent ann
    results list
    grep -qx "$(stored "$(field .id)" completed_at)  $(field .id)  graded        80.00  test, ann, attempt 1" "$work/output"
    results list --json
    is 'as JSON' "$(field .id) graded 80 ann 1" \
        "$(jq -r '.results[] | "\(.id) \(.status) \(.score) \(.agent) \(.attempt)"' "$work/output")"
    results show "$(field .id)"
    cmp "$work/output" "$work/result.json"
    results show nothing
    is exit 2 "$status"
    results verify --json
    is 'as JSON' 'true 1 1 0' "$(jq -r '"\(.intact) \(.results) \(.submissions) \(.problems | length)"' "$work/output")"
    for words in '' 'show' 'list more' 'head --head x' 'change x'; do
        # shellcheck disable=SC2086 # words
        results $words
        is "exit of '$words'" 2 "$status"
    done
}

@test "list says nothing to a terminal that somebody wrote into the database" {
    task good
    submission
    grade --store "$db" --agent ann
    if [ "$engine" = sqlite ]; then
        chr=char unchecked='PRAGMA ignore_check_constraints = ON'
    else
        chr=chr unchecked='SELECT'
        sql 'ALTER TABLE evaluation_results DROP CONSTRAINT evaluation_results_status_check' \
            'ALTER TABLE evaluation_results DROP CONSTRAINT evaluation_results_check'
    fi
    for column in id completed_at status code task; do
        forge "$unchecked" "UPDATE evaluation_results SET $column = 'x' || $chr(27) || '[31m' || $chr(10) || 'y'"
        results list
        is "exit with $column" 0 "$status"
        is 'a line' 1 "$(wc -l < "$work/output")"
        run ! grep -q $'\e' "$work/output"
    done
    forge "UPDATE submissions SET agent = $chr(27) || $chr(10)"
    results list
    is 'with the agent' 1 "$(wc -l < "$work/output")"
}

@test "one result with texts without end does not keep the others from being listed" {
    task good
    submission
    grade --store "$db"
    say=("3 test 00" "5 u8:0 u8:17 llm" "6 u8:0 u8:18 u64:100" "5 u8:0 u8:24 {}" "5 u8:0 u8:25 {}" "5 u8:0 u8:12 graded")
    long=$(printf 'ü%.0s' {1..5000})
    # As an assay that was taken over says them.
    is answer done "$(driver append "${say[@]}" "5 u8:0 u8:14 $long" '7 u8:0' 8 | tail -n 1)"
    results verify
    is 'exit of verify' 0 "$status"
    results list
    is exit 0 "$status"
    is lines 2 "$(wc -l < "$work/output")"
    forge "UPDATE submissions SET agent = '$(printf 'x%.0s' {1..5000})'"
    results list
    is 'lines with an agent without end' 2 "$(wc -l < "$work/output")"
}

@test "numbers that were never stored are the store's fault, not a program's" {
    task good
    submission
    grade --store "$db" --agent ann
    keep_store
    for change in 'number = 9223372036854775807' 'attempt = 9223372036854775807' 'attempt = -7'; do
        restore_store
        forge "UPDATE evaluation_results SET $change"
        grade --store "$db" --agent ann
        is exit 4 "$status"
        grep -q '^assay: infra.store: the result was not stored: its results were changed' "$work/errors"
    done
}

@test "agents with any printable name; control characters and endless names are refused" {
    task good
    submission
    for agent in "x'); DROP TABLE submissions; --" '%n%s%1$s' '-leading' '"quoted"' 'ünïcödé'; do
        grade --store "$db" "--agent" "$agent"
        is "exit of $agent" 0 "$status"
        is agent "$agent" "$(sql 'SELECT agent FROM submissions ORDER BY received_at DESC LIMIT 1')"
    done
    for agent in '' $'a\nb' $'a\e[31m' $'\xff' "$(printf 'x%.0s' {1..65536})"; do
        grade --store "$db" --agent "$agent"
        is exit 2 "$status"
    done
    grade --agent ann
    is 'an agent without a store' 2 "$status"
    results verify
    is exit 0 "$status"
}

@test "without --store nothing of it is started" {
    task good
    submission
    mkdir "$work/programs"
    for program in "" -cell -exec -unpack -score; do
        cp "$ASSAY_BUILD/assay$program" "$work/programs/"
    done
    ASSAY=$work/programs/assay
    grade
    is exit 0 "$status"
    grade --store "$db"
    is 'exit with a store' 4 "$status"
    grep -q '^assay: infra.helper_missing: ' "$work/errors"
}

@test "who took assay over can append one result, and neither read nor change another" {
    task good
    submission
    grade --store "$db"
    before=$(sql 'SELECT * FROM evaluation_results')
    refused='failed: the store was sent a malformed frame'
    begin='3 test 00'
    # STORE_LIST, STORE_SHOW, STORE_VERIFY, STORE_HEAD, and what there is not
    for frame in 9 "11 $(field .id)" '13 x' 16 20 0; do
        is "answer to $frame" "ready
$refused" "$(driver append "$frame")"
        is "answer to $frame, later" "ready
attempt
$refused" "$(driver append "$begin" "$frame")"
    done
    # a second one; a commit without a row, a row without its columns, one of the store's own columns
    is 'a second begin' "ready
attempt
$refused" "$(driver append "$begin" "$begin")"
    is 'no row' "ready
attempt
$refused" "$(driver append "$begin" 8)"
    is 'an empty row' 'failed: the store: ' \
        "$(driver append "$begin" '7 u8:0' 8 | tail -n 1 | sed 's/\(the store: \).*/\1/')"
    for column in 0 1 2 3 4 5 6 7 8 9 10 26 27 255; do
        is "column $column" "ready
attempt
$refused" "$(driver append "$begin" "5 u8:0 u8:$column x")"
    done
    is 'a table that there is not' "ready
attempt
$refused" "$(driver append "$begin" '5 u8:3 u8:1 x')"
    is 'to append while reading' "ready
$refused" "$(driver read "$begin")"
    is 'what is there' "$before" "$(sql 'SELECT * FROM evaluation_results')"
    is submissions 1 "$(sql 'SELECT count(*) FROM submissions')"
    results verify
    is exit 0 "$status"
}

@test "a death in between: nothing of it stays, the next one is stored" {
    task good
    submission
    grade --store "$db"
    long=$(printf 'x%.0s' {1..100000})
    say=("3 test 00" "5 u8:0 u8:12 graded" "5 u8:0 u8:17 llm" "6 u8:0 u8:18 u64:100")
    for column in 24 25; do say+=("5 u8:0 u8:$column $long"); done
    # The socket ends before the commit: as it does when assay is killed.
    is 'without a commit' 'ready
attempt' "$(driver append "${say[@]}" '7 u8:0')"
    is rows 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    is submissions 1 "$(sql 'SELECT count(*) FROM submissions')"
    is 'with a commit' 'ready
attempt
done' "$(driver append "${say[@]}" '7 u8:0' 8)"
    is rows 2 "$(sql 'SELECT count(*) FROM evaluation_results')"
    grade --store "$db"
    is exit 0 "$status"
    results verify
    is exit 0 "$status"
}

@test "a signal ends the waiting for a store that others use" {
    task good
    submission
    grade --store "$db"
    hold_store
    "$ASSAY" run "${weak[@]}" --store "$db" "$work/task" "$work/submission.tar.gz" 7>&- > "$work/output" 2> "$work/errors" &
    run=$!
    until store=$(pgrep -P "$run" -x assay-store); do :; done
    kill -TERM "$run"
    status=0
    wait "$run" || status=$?
    is exit 130 "$status"
    wait_gone "$store"
    exec 7>&-
    wait
    is rows 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    nothing_left
}

# waits [OPTIONS…]: a stored result without a verdict: of a suite that gives 80, of a rubric of both
waits() {
    task good
    jq '.scoring = {mode: "hybrid", test_weight: 60, llm_weight: 40, rubric: [{name: "Works", weight: 60, source: "test"},
        {name: "Style", weight: 30}, {name: "Docs", weight: 10}]}' "$work/task/task.json" > "$work/new"
    mv "$work/new" "$work/task/task.json"
    cat > "$work/verdict.json" << END
{"criteria": [{"name": "Docs", "score": 100, "reasoning": "d"}, {"name": "Style", "score": 50, "reasoning": "s"}], "summary": "so-so"}
END
    submission
    grade --store "$db" "$@"
    is exit 5 "$status"
    old=$(field .id)
}

# finalize ID OPTIONS…: of the store, into result.json
finalize() {
    status=0
    "$ASSAY" finalize --json --store "$db" "$@" > "$work/result.json" 2> "$work/errors" || status=$?
}

# parts ID: its rows of evaluation_dimensions
parts() {
    sql "SELECT position, name, source, weight, score, reasoning FROM evaluation_dimensions WHERE result_id = '$1' ORDER BY position"
}

@test "finalize --store: the next revision, as a run with that verdict would have stored it" {
    waits --agent ann
    before=$(sql "SELECT * FROM evaluation_results")
    unscored=$(parts "$old")
    finalize "$old" --llm-score "$work/verdict.json"
    is exit 0 "$status"
    id=$(field .id)
    is 'the place' "1|2|$old" "$(stored "$id" 'attempt, revision, supersedes')"
    is 'as printed' "2 $old" "$(field '"\(.revision) \(.supersedes)"')"
    cmp <(stored "$id" result | sed '$d') "$work/result.json"
    is submission 'completed|1|1' "$(sql 'SELECT status, evaluated, CASE WHEN completed_at IS NULL THEN 0 ELSE 1 END FROM submissions')"
    is 'the old row' "$before" "$(sql "SELECT * FROM evaluation_results WHERE number = 1")"
    is 'its parts' "$unscored" "$(parts "$old")"
    results verify
    is 'exit of verify' 0 "$status"
    grade --store "$db" --agent ann --llm-score "$work/verdict.json"
    same='submission_id, task, task_sha256, archive_sha256, agent_mac, rubric_sha256, status, class, code, reason, outcome, eval_mode,
        scale, final_score, final_score_exact, test_score, llm_score, llm_reasoning'
    is 'as graded at once' "$(stored "$(field .id)" "$same")" "$(stored "$id" "$same")"
    is 'with parts' "$(parts "$(field .id)")" "$(parts "$id")"
    # the check of a build is for a judge that is asked
    data='del(.tests[].duration_ms, .build_check) | .verdict.criteria |= sort_by(.name)'
    is 'with data' "$(stored "$(field .id)" eval_pass_data | jq -S "$data")" "$(stored "$id" eval_pass_data | jq -S "$data")"
    results verify
    is 'exit of verify' 0 "$status"
}

@test "finalize --store with a number, also when later attempts were stored and the agent was erased" {
    waits --agent ann
    grade --store "$db" --agent ann
    sql 'UPDATE submissions SET agent = NULL'
    finalize "$old" --llm-score 90
    is exit 0 "$status"
    id=$(field .id)
    is 'the row' '1|2|graded|84.00|90.00|' "$(stored "$id" 'attempt, revision, status, final_score, llm_score, llm_reasoning')"
    is 'the data' 90 "$(stored "$id" eval_pass_data | jq .verdict.score)"
    results list
    grep -q "  $id  graded        84.00  test, attempt 1, revision 2$" "$work/output"
    results verify
    is 'exit of verify' 0 "$status"
    is output 'intact: 3 results of 1 submissions' "$(cat "$work/output")"
    grade --store "$db" --llm-score 90
    is parts "$(parts "$(field .id)")" "$(parts "$id")"
    forge "UPDATE evaluation_results SET supersedes = 'another' WHERE number = 3"
    found "$id" 'this result or one of its dimensions was changed, or it was added behind our back'
}

@test "finalize --store of dimensions: each has its row" {
    task good
    jq '.scoring = {scheme: "dimensions", dimensions: [
        {name: "correctness", weight: 0.5, source: "suite"}, {name: "methodology", weight: 0.5, source: "judge", criterion: "Style"}]}' \
        "$work/task/task.json" > "$work/new"
    mv "$work/new" "$work/task/task.json"
    submission
    grade --store "$db"
    is exit 5 "$status"
    finalize "$(field .id)" --llm-score 71
    is exit 0 "$status"
    id=$(field .id)
    grade --store "$db" --llm-score 71
    same='final_score, final_score_exact, scale, outcome'
    is 'as graded at once' "$(stored "$(field .id)" "$same")" "$(stored "$id" "$same")"
    is 'with parts' "$(parts "$(field .id)")" "$(parts "$id")"
}

@test "what is superseded, or waits for nothing, is final; what is not there is named" {
    waits
    finalize "$old" --llm-score 90
    new=$(field .id)
    for id in "$old" "$new"; do
        finalize "$id" --llm-score 80
        is "exit of $id" 6 "$status"
        grep -q '^assay: result.final: ' "$work/errors"
        is 'no result' '' "$(cat "$work/result.json")"
    done
    finalize nothing --llm-score 80
    is 'exit of nothing' 2 "$status"
    is rows 2 "$(sql 'SELECT count(*) FROM evaluation_results')"
    db=$nowhere finalize "$old" --llm-score 80
    is 'exit without a store' 4 "$status"
    echo '{"criteria": [], "summary": ""}' > "$work/verdict.json"
    grade --store "$db"
    finalize "$(field .id)" --llm-score "$work/verdict.json"
    is 'exit of a bad verdict' 4 "$status"
    is rows 3 "$(sql 'SELECT count(*) FROM evaluation_results')"
}

@test "a result that cannot be stored is not finalized: it still waits, and can be once it is possible" {
    waits
    sql 'ALTER TABLE evaluation_dimensions RENAME COLUMN reasoning TO why'
    finalize "$old" --llm-score 90
    is exit 4 "$status"
    grep -q '^assay: infra.store: the result was not stored: ' "$work/errors"
    is 'no result' '' "$(cat "$work/result.json")"
    is 'rows and status' '1|pending' "$(sql 'SELECT (SELECT count(*) FROM evaluation_results), status FROM submissions')"
    sql 'ALTER TABLE evaluation_dimensions RENAME COLUMN why TO reasoning'
    finalize "$old" --llm-score 90
    is 'exit afterwards' 0 "$status"
    finalize "$old" --llm-score nowhere.json
    is 'exit without a verdict' 2 "$status"
}

@test "eight finalize the same result at once: one does, the others are told that it is final" {
    waits
    for i in $(seq 8); do
        {
            status=0
            "$ASSAY" finalize --quiet --store "$db" "$old" --llm-score "$i" 2> "$work/errors.$i" || status=$?
            echo "$status" > "$work/status.$i"
        } &
    done
    wait
    is rows 2 "$(sql 'SELECT count(*) FROM evaluation_results')"
    is told 7 "$(cat "$work"/errors.* | grep -c '^assay: result.final: ')"
    is 'exit statuses' 7 "$(cat "$work"/status.* | grep -cx 6)"
    results verify
    is 'exit of verify' 0 "$status"
}

@test "who took assay over while it finalizes can write the next revision of that result alone" {
    waits
    refused='failed: the store was sent a malformed frame'
    begin() {
        driver "append:$old" '3 u32:0 u32:0' "$@"
    }
    is 'a submission of its own' "ready
$refused" "$(driver "append:$old" '3 test 00')"
    is 'another rubric' "ready
attempt
$refused" "$(begin '5 u8:2 u8:2 x')"
    is 'no score' "ready
attempt
$refused" "$(begin '5 u8:0 u8:12 rejected' '7 u8:0' 8)"
    is 'what stays' "ready
attempt
done" "$(begin '5 u8:0 u8:11 forged' '5 u8:0 u8:12 graded' '5 u8:0 u8:17 llm' '5 u8:0 u8:21 1.00' '6 u8:0 u8:18 u64:7' \
        '5 u8:0 u8:24 {}' '5 u8:0 u8:25 {}' '7 u8:0' 8)"
    columns='submission_id, attempt, task, task_sha256, archive_sha256, eval_mode, scale, test_score'
    is 'the row' "$(stored "$old" "$columns")" "$(stored RESULT "$columns")"
    is again "ready
failed: the result $old is superseded by RESULT already" "$(begin)"
    results verify
    is 'exit of verify' 0 "$status"
}

