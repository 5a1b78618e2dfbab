#!/usr/bin/env bats
# Stores in PostgreSQL: what is true of them alone. What is true of each store is in store.bats.

load common
load stores

# With the roles and the database that the documentation makes.
setup_file() {
    stores_start
    sed -n 's/^    =# //p' "$here/../../docs/store.md" > "$BATS_FILE_TMPDIR/commands"
    as_superuser -d postgres -f "$BATS_FILE_TMPDIR/commands"
}

# refused STATEMENT WHY [USER]: says the database to who has its shell
refused() {
    if PGUSER=${3:-owner} sql "$1" > "$work/refusal" 2>&1; then
        echo "done: $1" >&2
        return 1
    fi
    grep -q "$2" "$work/refusal" || is "$1" "$2" "$(cat "$work/refusal")"
}

@test "nobody changes, removes or empties a result, its owner and a superuser included" {
    rubric_task 50
    submission
    grade --store "$db" --agent ann
    for user in owner postgres; do
        for table in evaluation_results evaluation_dimensions rubric_criteria submissions store; do
            refused "DELETE FROM $table" 'never deleted from' "$user"
            refused "TRUNCATE $table CASCADE" 'never deleted from' "$user"
        done
        refused "UPDATE evaluation_results SET final_score = '99'" 'never changed' "$user"
        refused "INSERT INTO evaluation_results SELECT * FROM evaluation_results" 'cannot insert a non-DEFAULT value' "$user"
        refused "INSERT INTO rubric_criteria SELECT * FROM rubric_criteria ON CONFLICT (rubric_sha256, position) DO UPDATE SET weight = 1" \
            'never changed' "$user"
        refused "UPDATE submissions SET task = 'another'" 'stays the same' "$user"
    done
    # Nor by calling it the repetition of what was done elsewhere.
    refused "SET session_replication_role = replica; DELETE FROM evaluation_results" 'never deleted from' postgres
    results verify
    is exit 0 "$status"
}

@test "a worker's role adds results, and may do nothing else" {
    rubric_task 50
    submission
    "$ASSAY" results "$db" init
    export PGUSER=assay_worker
    grade --store "$db" --agent ann
    is exit 0 "$status"
    for table in evaluation_results evaluation_dimensions rubric_criteria submissions store; do
        for statement in "DELETE FROM $table" "TRUNCATE $table" "DROP TABLE $table" "ALTER TABLE $table DISABLE TRIGGER USER"; do
            refused "$statement" 'permission denied\|must be owner' assay_worker
        done
    done
    refused "UPDATE evaluation_results SET final_score = '99'" 'permission denied' assay_worker
    refused "UPDATE submissions SET agent = NULL" 'permission denied' assay_worker
    refused "UPDATE store SET key_mac = ''" 'permission denied' assay_worker
    refused "UPDATE schema_version SET number = 7" 'permission denied' assay_worker
    refused "CREATE TABLE assay.mine (a int)" 'permission denied' assay_worker
    is columns 'completed_at evaluated source_ip status' "$(sql "SELECT string_agg(column_name, ' ' ORDER BY column_name)
        FROM information_schema.column_privileges WHERE grantee = 'assay_worker' AND privilege_type = 'UPDATE'
        AND table_name = 'submissions'")"
    is rights 'INSERT SELECT' "$(sql "SELECT string_agg(DISTINCT privilege_type, ' ' ORDER BY privilege_type)
        FROM information_schema.table_privileges WHERE grantee = 'assay_worker' AND table_name IN
        ('evaluation_results', 'evaluation_dimensions', 'rubric_criteria', 'rating_history', 'workflow_scores', 'files')")"
    results verify
    is exit 0 "$status"
    # It can neither make a store.
    db=$another results init
    is 'exit of init' 4 "$status"
    grep -q 'permission denied' "$work/errors"
}

@test "others who may log in see nothing of a store" {
    task good
    submission
    grade --store "$db"
    as_superuser -d "$db" -c 'DROP ROLE IF EXISTS stranger' -c 'CREATE ROLE stranger LOGIN'
    for what in 'SELECT * FROM assay.evaluation_results' 'SELECT assay.never_changed()'; do
        refused "$what" 'permission denied' stranger
    done
}

@test "a row that a superuser forged is found, with every rule in its place" {
    task good
    submission
    grade --store "$db" --agent ann
    as_superuser -d "$db" -c "ALTER TABLE assay.evaluation_results DISABLE TRIGGER ALL" \
        -c "UPDATE assay.evaluation_results SET final_score = '99.00'" -c "ALTER TABLE assay.evaluation_results ENABLE TRIGGER ALL" \
        -c "ALTER TABLE assay.evaluation_results ENABLE ALWAYS TRIGGER evaluation_results_no_update" \
        -c "ALTER TABLE assay.evaluation_results ENABLE ALWAYS TRIGGER evaluation_results_no_delete" \
        -c "ALTER TABLE assay.evaluation_results ENABLE ALWAYS TRIGGER evaluation_results_no_truncate"
    found "$(field .id)" 'this result or one of its dimensions was changed, or it was added behind our back'
    is 'and nothing else' 2 "$(wc -l < "$work/output")"
}

@test "verify names a rule that is off, was changed or added, and leaves tables and views of one's own alone" {
    task good
    submission
    grade --store "$db"
    keep_store
    sql "CREATE TABLE mine (a int PRIMARY KEY)" "CREATE INDEX ON mine (a)" \
        "CREATE VIEW best AS SELECT max(final_score_number) FROM evaluation_results"
    results verify
    is exit 0 "$status"
    while IFS=: read -r name change; do
        restore_store
        PGUSER=postgres sql "$change"
        found "$name" 'this table or rule of the database is not as it was made'
        is "lines for $name" 2 "$(wc -l < "$work/output")"
    done << 'END'
evaluation_results_no_update:ALTER TABLE evaluation_results DISABLE TRIGGER evaluation_results_no_update
evaluation_results_no_delete:ALTER TABLE evaluation_results ENABLE TRIGGER evaluation_results_no_delete
submissions_no_truncate:ALTER TABLE submissions ENABLE REPLICA TRIGGER submissions_no_truncate
never_changed:CREATE OR REPLACE FUNCTION never_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN NEW; END'
rubric_criteria_no_update:DROP TRIGGER rubric_criteria_no_update ON rubric_criteria; CREATE TRIGGER rubric_criteria_no_update BEFORE UPDATE ON rubric_criteria FOR EACH ROW WHEN (OLD.weight > 100) EXECUTE FUNCTION never_changed(); ALTER TABLE rubric_criteria ENABLE ALWAYS TRIGGER rubric_criteria_no_update
evaluation_results_check:ALTER TABLE evaluation_results DROP CONSTRAINT evaluation_results_check
evaluation_results_submission_id_fkey:ALTER TABLE evaluation_results DROP CONSTRAINT evaluation_results_submission_id_fkey, ADD CONSTRAINT evaluation_results_submission_id_fkey FOREIGN KEY (submission_id) REFERENCES submissions (id) NOT VALID
submissions_same:UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'submissions_same'::regclass
store:ALTER TABLE store ALTER key_mac DROP NOT NULL
rubric_criteria:ALTER TABLE rubric_criteria ALTER weight TYPE numeric
evaluation_dimensions:ALTER TABLE evaluation_dimensions ENABLE ROW LEVEL SECURITY
submissions:CREATE TABLE others () INHERITS (submissions)
added:CREATE INDEX added ON evaluation_results (status, code)
added:CREATE RULE added AS ON INSERT TO evaluation_results DO INSTEAD NOTHING
added:CREATE TRIGGER added BEFORE INSERT ON evaluation_results FOR EACH ROW EXECUTE FUNCTION never_changed()
added:CREATE FUNCTION added() RETURNS int LANGUAGE sql AS 'SELECT 1'
added:ALTER TABLE submissions ADD CONSTRAINT added CHECK (agent <> 'bob')
END
}

@test "a server that is not there: nothing runs, and no message has a password" {
    task good
    submission
    for url in "postgresql://ann:se%2Fcret@/assay?host=$work&password=se%2Fcret" "postgres://ann:secret@/assay?host=$work" \
        "postgresql:///nowhere?password=secret" "postgresql://with_password:secret@/postgres"; do
        grade --store "$url"
        is "exit with $url" 4 "$status"
        grep -q '^assay: infra.store: --store: postgresql:///[a-z]*: no connection: ' "$work/errors"
        is 'no result' 0 "$(wc -c < "$work/result.json")"
        run ! grep -q 'cret' "$work/errors"
    done
    # What is none, or would be taken for another than was meant.
    for url in 'postgresql://ann:se/cret@host/db' 'postgresql://ann:se@cret@host/db' 'postgresql://ann:%zz-cret@host/db' \
        'postgresql://host/db?cret' 'postgresql://ann:se/cret@host:port:/db'; do
        grade --store "$url"
        is "exit with $url" 2 "$status"
        grep -q "^assay: usage: --store: the store's URL is not PostgreSQL's" "$work/errors"
        run ! grep -q 'cret' "$work/errors"
    done
}

@test "a signal ends the waiting for a server that does not answer" {
    task good
    submission
    python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print("listening", flush=True); time.sleep(600)' \
        "$work/.s.PGSQL.5432" > "$work/said" &
    server=$!
    until grep -q listening "$work/said"; do :; done
    "$ASSAY" run "${weak[@]}" --store "postgresql:///$base?host=$work&connect_timeout=300" "$work/task" "$work/submission.tar.gz" \
        > "$work/output" 2> "$work/errors" &
    run=$!
    until store=$(pgrep -P "$run" -x assay-store); do :; done
    kill -TERM "$run"
    status=0
    wait "$run" || status=$?
    kill "$server"
    is exit 130 "$status"
    wait_gone "$store"
    nothing_left
}

@test "a password comes from a file, the environment or the URL, and is not there any more when a submission is graded" {
    task sleeps
    submission
    psql -Xq -d postgres -c "DROP DATABASE $base" -c "CREATE DATABASE $base"
    as_superuser -d postgres -c "ALTER DATABASE $base OWNER TO with_password"
    unset PGUSER
    echo "*:*:*:with_password:se/cr\:et@" > "$work/passwords"
    chmod 600 "$work/passwords"
    PGPASSFILE=$work/passwords "$ASSAY" results "postgresql://with_password@/$base" init
    export PGPASSWORD=se/cr:et@
    for url in "postgresql://with_password:se%2Fcr%3Aet%40@/$base" "postgresql://with_password@/$base"; do
        "$ASSAY" run "${weak[@]}" --store "$url" "$work/task" "$work/submission.tar.gz" > "$work/output" 2> "$work/errors" &
        run=$!
        # The kernel shows the process's own words, as they are in its memory now.
        until grep -q 'postgresql:\*' "/proc/$run/cmdline" && ! grep -q 'cr[:%]' "/proc/$run/environ"; do
            [ -n "$(tr -d '\0' < "/proc/$run/cmdline")" ] || { cat "$work/errors" >&2 && return 1; }
        done
        run ! grep -q 'cr[:%]' "/proc/$run/cmdline"
        kill -TERM "$run"
        wait "$run" || true
    done
}

@test "a database that is not UTF-8 is refused" {
    psql -Xq -d postgres -c "DROP DATABASE $base" -c "CREATE DATABASE $base ENCODING 'LATIN1' TEMPLATE template0"
    results init
    is exit 4 "$status"
    grep -q "the database's encoding is LATIN1, and a store needs UTF8" "$work/errors"
}

@test "a computation that a database lets run for ever ends with who asked for it" {
    task good
    submission
    grade --store "$db"
    sql "CREATE FUNCTION public.endless() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN LOOP PERFORM 1; END LOOP; END'" \
        'CREATE TRIGGER endless BEFORE INSERT ON evaluation_results FOR EACH ROW EXECUTE FUNCTION public.endless()'
    "$ASSAY" run "${weak[@]}" --store "$db" "$work/task" "$work/submission.tar.gz" > "$work/output" 2> "$work/errors" &
    run=$!
    computing="SELECT count(*) FROM pg_stat_activity WHERE datname = '$base' AND application_name = 'assay'"
    until [ "$(sql "$computing AND state = 'active' AND query LIKE 'INSERT INTO evaluation_results%'")" -eq 1 ]; do :; done
    store=$(pgrep -P "$run" -x assay-store)
    kill -KILL "$run"
    wait "$run" || true
    wait_gone "$store"
    until [ "$(sql "$computing")" -eq 0 ]; do :; done
}

@test "list of many results needs no more memory than of one" {
    task good
    submission
    grade --store "$db" --agent ann
    # 200 MB of them.
    forge "INSERT INTO evaluation_results (number, id, submission_id, attempt, revision, task, archive_sha256, agent_mac, completed_at,
            status, code, eval_mode, scale, final_score, eval_pass_data, result, mac)
        SELECT n, n, submission_id, n, 1, task, archive_sha256, agent_mac, completed_at, status, repeat(md5(n::text), 3200), eval_mode,
            scale, final_score, eval_pass_data, repeat(md5(n::text), 3200), mac FROM evaluation_results, generate_series(2, 1000) n
            WHERE number = 1"
    (ulimit -v 60000 && "$ASSAY" results "$db" list) > "$work/output"
    is lines 1000 "$(wc -l < "$work/output")"
    status=0
    (ulimit -v 60000 && "$ASSAY" results "$db" verify) > "$work/output" 2> "$work/errors" || status=$?
    is 'exit of verify' 1 "$status"
    is problems 999 "$(grep -c 'was changed, or it was added' "$work/output")"
}

@test "the operator's commands in the documentation make a store, for a worker that is no owner" {
    "$ASSAY" results postgresql://assay@/assay init
    task good
    submission
    grade --store postgresql://assay_worker@/assay
    is exit 0 "$status"
    db=postgresql://assay_worker@/assay results verify
    is 'exit of verify' 0 "$status"
}

# --- the engine alone ----------------------------------------------------------------------------

# engine: tests/programs/engine-driver with the commands that come
engine() {
    timeout 60 "$ASSAY_BUILD/tests/engine-driver" "$db" append 3< /dev/null
}

# second: another one, told by descriptor 8; what it says is in $work/second
second() {
    mkfifo "$work/commands"
    engine < "$work/commands" > "$work/second" &
    driven=$!
    exec 8> "$work/commands"
}

# says LINE [TIMES]: the second one has said that
says() {
    until [ "$(grep -cx -- "$1" "$work/second")" -ge "${2:-1}" ]; do kill -0 "$driven"; done
}

@test "engine: values come back as they were, and rows while others are asked for" {
    # Whatever somebody set for the database.
    psql -Xq -d postgres -c "ALTER DATABASE $base SET bytea_output = escape" -c "ALTER DATABASE $base SET search_path = nowhere" \
        -c "ALTER DATABASE $base SET default_transaction_read_only = on"
    is bytes "00ff10
bytes." "$(engine <<< 'bytes 00ff10')"
    is rows "begin.
1|a|
2|b|
each." "$(engine <<< $'begin read\neach SELECT * FROM (VALUES (1, \'a\', NULL), (2, \'b\', NULL)) v (a, b, c)')"
    is 'a mistake' 'failed: the store: division by zero' "$(engine <<< 'run SELECT 1 / 0')"
    "$ASSAY" results "$db" init
}

@test "engine: a commit of what had failed is none" {
    is output 'begin.
failed: the store: division by zero
failed: the store: the transaction was taken back' "$(engine <<< $'begin\nrun SELECT 1 / 0\ncommit')"
}

@test "engine: a lock is of its name, until the end of the transaction" {
    second
    printf 'begin\nlock results\n' >&8
    says lock.
    is 'another name' 'begin.
lock.
commit.' "$(engine <<< $'begin\nlock schema\ncommit')"
    is 'the same' 'begin.
run.
failed: the store: canceling statement due to lock timeout' "$(engine <<< $'begin\nrun SET LOCAL lock_timeout = \'10ms\'\nlock results')"
    echo commit >&8
    says commit.
    is afterwards 'begin.
lock.
commit.' "$(engine <<< $'begin\nlock results\ncommit')"
    exec 8>&-
    wait "$driven"
}

@test "engine: who watches hears what is committed, also while asking for something" {
    second
    printf 'watch\nheard\nquiet\n' >&8
    says quiet
    engine <<< $'begin\nnotify\nrollback'
    printf 'run SELECT 1\nquiet\n' >&8
    says quiet 2
    engine <<< $'begin\nnotify\ncommit'
    printf 'wait\nheard\nquiet\n' >&8
    says quiet 3
    is told 1 "$(grep -cx told "$work/second")"
    # It arrives with the answer to a statement, and is not lost with it.
    printf 'begin\nlock results\n' >&8
    says lock.
    engine <<< $'begin\nnotify\ncommit'
    printf 'commit\nwait\n' >&8
    says told 2
    exec 8>&-
    wait "$driven"
}

@test "engine: the time is the server's" {
    before=$(date +%s)
    now=$(engine <<< now | head -n 1)
    [ "$((now / 1000))" -ge "$before" ]
    [ "$((now / 1000))" -le "$(date +%s)" ]
}

@test "engine: a connection that was lost is noticed, and made again, also with no right left" {
    second
    printf 'lock-in\nwatch\nheard\nquiet\nlost\n' >&8
    says there
    grep -qx lock-in. "$work/second"
    as_superuser -d postgres -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$base'" > "$work/ended"
    # First the server says why, then it hangs up; either may be heard alone.
    for times in 2 3; do
        printf 'wait\nheard\nlost\n' >&8
        says lost. "$times"
        if grep -qx lost "$work/second"; then break; fi
    done
    printf 'run SELECT 7\nagain\nlost\nrun SELECT 8\n' >&8
    says run.
    is 'a statement without a connection' 1 "$(grep -c '^failed: the store: ' "$work/second")"
    is 'there again' 'lost there' "$(grep -x 'lost\|there' "$work/second" | tail -n 2 | xargs)"
    # It watches as before; at first it looks for what it has not heard.
    printf 'wait\nheard\nquiet\n' >&8
    says quiet 2
    heard=$(grep -cx told "$work/second")
    engine <<< $'begin\nnotify\ncommit'
    echo wait >&8
    says told $((heard + 1))
    exec 8>&-
    wait "$driven"
}
