#!/usr/bin/env bats
# Stores that are files: what is true of SQLite's alone. What is true of each store is in store.bats.

load common
load stores

@test "the database itself refuses to replace a row" {
    rubric_task 50
    submission
    grade --store "$db" --agent ann
    for table in evaluation_results evaluation_dimensions rubric_criteria submissions store; do
        refuses "INSERT OR REPLACE INTO $table SELECT * FROM $table"
        refuses "REPLACE INTO $table SELECT * FROM $table"
    done
    columns='number, id, submission_id, attempt, revision, task, agent_mac, completed_at, status, eval_mode, scale, eval_pass_data, result, mac'
    for key in "1, 'new', submission_id, 9" "9, id, submission_id, 9" "9, 'new', submission_id, 1"; do
        refuses "INSERT OR REPLACE INTO evaluation_results ($columns) SELECT $key, revision, task, agent_mac, completed_at,
            status, eval_mode, scale, eval_pass_data, result, mac FROM evaluation_results"
        grep -q 'never changed' "$work/refusal"
    done
    refuses "UPDATE OR REPLACE evaluation_results SET id = 'new'"
    results verify
    is exit 0 "$status"
    is output 'intact: 1 results of 1 submissions' "$(cat "$work/output")"
}

@test "verify names texts that go on behind a NUL" {
    task good
    submission
    grade --store "$db" --agent ann
    id=$(field .id)
    keep_store
    forge "UPDATE submissions SET agent = agent || char(0) || 'bob'"
    found "$id" 'its submission was given to another agent'
    results list
    is 'lines of list' 1 "$(wc -l < "$work/output")"
    restore_store
    forge "UPDATE evaluation_results SET mac = mac || char(0) || 'x' WHERE id = '$id'"
    found "$id" 'this result or one of its dimensions was changed, or it was added behind our back'
}

@test "a score that is no number does not keep the others from being listed" {
    task good
    submission
    grade --store "$db"
    is answer done "$(driver append "3 test 00" "5 u8:0 u8:17 llm" "6 u8:0 u8:18 u64:100" "5 u8:0 u8:24 {}" "5 u8:0 u8:25 {}" \
        "5 u8:0 u8:12 graded" "5 u8:0 u8:19 1;x" '7 u8:0' 8 | tail -n 1)"
    results verify
    is 'exit of verify' 0 "$status"
    results list --json
    is 'as JSON' '80 1;x' "$(jq -r '.results | map(.score) | join(" ")' "$work/output")"
}

@test "a full disk: nothing of it stays, the next one is stored" {
    task good
    submission
    grade --store "$db"
    long=$(printf 'x%.0s' {1..100000})
    say=("3 test 00" "5 u8:0 u8:12 graded" "5 u8:0 u8:17 llm" "6 u8:0 u8:18 u64:100")
    for column in 24 25; do say+=("5 u8:0 u8:$column $long"); done
    is 'with a limit of its files' 'ready
attempt
failed: the store: ' "$(ulimit -f 100; driver append "${say[@]}" '7 u8:0' 8 | sed 's/: the store: .*/: the store: /')"
    is rows 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    is submissions 1 "$(sql 'SELECT count(*) FROM submissions')"
    is 'when there is room' 'ready
attempt
done' "$(driver append "${say[@]}" '7 u8:0' 8)"
    is rows 2 "$(sql 'SELECT count(*) FROM evaluation_results')"
    results verify
    is exit 0 "$status"
}

@test "a file that is none of a store's, and URLs that are none" {
    task good
    submission
    for url in "sqlite:$work" "$work/task/task.json"; do
        grade --store "$url"
        is "exit with $url" 4 "$status"
        grep -q '^assay: infra.store: ' "$work/errors"
    done
    for url in '' mysql://ann:secret@localhost/assay; do
        grade --store "$url"
        is "exit with '$url'" 2 "$status"
        run ! grep -q secret "$work/errors"
    done
    [ ! -e "$nowhere" ]
    grade --store "$db"
    is 'mode of the store' 600 "$(stat -c %a "$db")"
    is owner "$(id -u)" "$(stat -c %u "$db")"
}

@test "verify names a rule or an index that was added, and leaves tables and views of one's own alone" {
    task good
    submission
    grade --store "$db"
    keep_store
    sql "CREATE TABLE mine (a)" "CREATE VIEW best AS SELECT max(final_score_number) FROM evaluation_results"
    results verify
    is exit 0 "$status"
    for added in "TRIGGER added BEFORE INSERT ON evaluation_results BEGIN SELECT RAISE(IGNORE); END" \
        "INDEX added ON evaluation_results (id, final_score)"; do
        restore_store
        sql "CREATE $added"
        found added 'this table or rule of the database is not as it was made'
    done
}

@test "verify names an index that says something else than its table" {
    task good
    submission
    grade --store "$db" --agent ann
    # Of an index without rows: the next result would be a first attempt again.
    edit() { sql 'PRAGMA writable_schema = ON' "UPDATE sqlite_schema SET sql = $1 WHERE name = 'submissions_same'"; }
    edit "sql || ' WHERE task IS NULL'"
    sql 'REINDEX submissions_same'
    edit "replace(sql, ' WHERE task IS NULL', '')"
    found "the database's file" 'wrong # of entries in index submissions_same'
}

@test "a store is a file of its own: no device, no pipe; none is made at the other end of a link" {
    task good
    submission
    mkdir "$work/place"
    mkfifo "$work/place/pipe"
    ln -s "$work/elsewhere" "$work/place/link"
    ln -s /dev/null "$work/place/device"
    for name in pipe device link; do
        grade --store "$work/place/$name"
        is "exit with a $name" 4 "$status"
        is 'no result' 0 "$(wc -c < "$work/result.json")"
        timeout 20 "$ASSAY" results "$work/place/$name" list 2> "$work/errors" || status=$?
        is "exit of list with a $name" 4 "$status"
    done
    [ ! -e "$work/elsewhere" ]
    is 'nothing else was made' 'device link pipe' "$(ls "$work/place" | xargs)"
    # A link to a store that is there leads to it.
    grade --store "$db"
    ln -s "$db" "$work/place/other"
    grade --store "$work/place/other"
    is exit 0 "$status"
    is rows 2 "$(sql 'SELECT count(*) FROM evaluation_results')"
}

@test "what somebody else put beside a store, or links to, is not written to" {
    task good
    submission
    grade --store "$db"
    echo mine > "$work/victim"
    for end in -wal -shm -journal; do
        ln "$work/victim" "$db$end"
        grade --store "$db"
        is "exit with $end" 4 "$status"
        results list
        is "exit of list with $end" 4 "$status"
        rm "$db$end"
    done
    is victim mine "$(cat "$work/victim")"
    if is_root; then
        : > "$work/empty"
        ln -s "$work/empty" "$work/link"
        chown -h 61234 "$work/link"
        grade --store "$work/link"
        is 'exit with a link' 4 "$status"
        is size 0 "$(wc -c < "$work/empty")"
    fi
    grade --store "$db"
    is exit 0 "$status"
}

@test "sqlite: alone is the machine's own store" {
    task good
    submission
    grade --store sqlite:
    is exit 0 "$status"
    db=$ASSAY_STATE/store/results.db
    is rows 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    "$ASSAY" results sqlite: verify
}

@test "a statement that a database lets run for ever ends with who asked for it" {
    task good
    submission
    grade --store "$db"
    keep_store
    endless='WITH RECURSIVE x (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT count(*) FROM x'
    for change in "CREATE TRIGGER endless AFTER INSERT ON evaluation_results BEGIN SELECT ($endless); END" \
        "ALTER TABLE store RENAME TO old; CREATE VIEW store AS SELECT ($endless) AS key_mac"; do
        restore_store
        sql "$change"
        "$ASSAY" run "${weak[@]}" --store "$db" "$work/task" "$work/submission.tar.gz" > "$work/output" 2> "$work/errors" &
        run=$!
        until store=$(pgrep -P "$run" -x assay-store); do :; done
        # It computes, and waits no more for what it is told.
        until [ "$(awk '{print $14}' "/proc/$store/stat")" -gt 20 ]; do :; done
        kill -KILL "$run"
        wait "$run" || true
        wait_gone "$store"
    done
}
