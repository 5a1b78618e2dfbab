# Stores of both kinds for tests. A file's name says which: `engine` is sqlite or postgres, and `db` the store's URL.

# shellcheck source=tests/cli/postgres.bash
load postgres

case $BATS_TEST_FILENAME in *postgres*) engine=postgres ;; *) engine=sqlite ;; esac

# What a file does not say otherwise, after it loaded this one.
setup_file() {
    stores_start
}
teardown_file() {
    stores_end
}
setup() {
    setup_store
}

stores_start() {
    [ "$engine" = sqlite ] || postgres_start
}

stores_end() {
    [ "$engine" = sqlite ] || postgres_stop
}

# A store that nothing was stored in yet, where it can be made; `another` of them, and one that cannot be: `nowhere`.
setup_store() {
    setup_work
    if [ "$engine" = sqlite ]; then
        db=$work/results.db another=$work/another.db nowhere=$work/nowhere/results.db
    else
        base=test_$BATS_TEST_NUMBER
        db=postgresql:///$base another=postgresql:///another_$BATS_TEST_NUMBER nowhere=postgresql:///nowhere
        psql -Xq -d postgres -c "CREATE DATABASE $base" -c "CREATE DATABASE another_$BATS_TEST_NUMBER"
    fi
}

# sql STATEMENT…: the store as its own shell shows it, to its owner
sql() {
    if [ "$engine" = sqlite ]; then
        sqlite3 -cmd '.timeout 20000' "$db" "$@"
    else
        psql_all psql -XqAt -v ON_ERROR_STOP=1 -d "$db" -- "$@"
    fi
}

# psql_all COMMAND… -- STATEMENT…: one after the other, with the store's tables by their names
psql_all() {
    local command=()
    while [ "$1" != -- ]; do command+=("$1") && shift; done
    shift
    printf '%s;\n' 'SET search_path = assay' "$@" | "${command[@]}" -f -
}

# refuses STATEMENT: the database does, to its owner, whatever is switched off before
refuses() {
    local first='SELECT'
    [ "$engine" = postgres ] || first='PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF'
    if sql "$first; $1" > "$work/refusal" 2>&1; then
        echo "done: $1" >&2
        return 1
    fi
}

# forge STATEMENT…: with every trigger away meanwhile, as only who owns the database can
forge() {
    if [ "$engine" = sqlite ]; then
        sql "SELECT sql || ';' FROM sqlite_schema WHERE type = 'trigger'" > "$work/make"
        sql "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema WHERE type = 'trigger'" > "$work/drop"
        sql < "$work/drop"
        sql "$@"
        sql < "$work/make"
    else
        local tables='evaluation_results evaluation_dimensions rubric_criteria submissions store jobs matches rating_history workflow_scores' off=() on=()
        for table in $tables; do
            off+=("ALTER TABLE $table DISABLE TRIGGER ALL")
            on+=("ALTER TABLE $table ENABLE TRIGGER ALL")
        done
        for table in $tables; do
            for rule in update delete truncate; do on+=("ALTER TABLE $table ENABLE ALWAYS TRIGGER ${table}_no_$rule"); done
        done
        psql_all as_superuser -d "$db" -- "${off[@]}" "$@" "${on[@]}"
    fi
}

# keep_store, restore_store: all of it as it was then
keep_store() {
    if [ "$engine" = sqlite ]; then
        cp "$db" "$work/good.db"
    else
        psql -Xq -d postgres -c "CREATE DATABASE ${base}_good TEMPLATE $base"
    fi
}
restore_store() {
    if [ "$engine" = sqlite ]; then
        cp "$work/good.db" "$db"
    else
        psql -Xq -d postgres -c "DROP DATABASE $base WITH (FORCE)" -c "CREATE DATABASE $base TEMPLATE ${base}_good"
    fi
}

# set_version NUMBER: of its tables
set_version() {
    if [ "$engine" = sqlite ]; then sql "PRAGMA user_version = $1"; else sql "UPDATE schema_version SET number = $1"; fi
}

# hold_store: nobody else can use it, until `exec 7>&-; wait`
hold_store() {
    if [ "$engine" = sqlite ]; then
        hold 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE'
    else
        hold 'BEGIN; LOCK TABLE evaluation_results IN ACCESS EXCLUSIVE MODE'
    fi
}

# hold_name NAME: nobody else locks that, until `exec 7>&-; wait`; others wait for it at once when name_is_waited_for
hold_name() {
    if [ "$engine" = sqlite ]; then
        hold 'BEGIN IMMEDIATE'
    else
        hold "BEGIN; SELECT pg_advisory_xact_lock(16755, $(fnv1a "$1"))"
    fi
}
name_is_waited_for() {
    if [ "$engine" = sqlite ]; then
        sleep 0.3
    else
        [ "$(sql "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")" != 0 ]
    fi
}

# fnv1a TEXT: its hash as PostgreSQL's integer
fnv1a() {
    local hash=2166136261 i
    for ((i = 0; i < ${#1}; i++)); do
        hash=$((((hash ^ $(printf '%d' "'${1:i:1}")) * 16777619) & 0xffffffff))
    done
    echo $((hash - (hash >> 31 << 32)))
}

# hold STATEMENTS: a shell of the store that has done them, and does what is written to descriptor 7 until that is closed
hold() {
    local shell=(sqlite3 "$db") first=
    [ "$engine" = sqlite ] || shell=(psql -XqAt -d "$db") first='SET search_path = assay; '
    mkfifo "$work/statements"
    "${shell[@]}" < "$work/statements" > "$work/said" &
    exec 7> "$work/statements"
    echo "$first$1; SELECT 'locked';" >&7
    until grep -q locked "$work/said"; do :; done
}

# rubric_task SCORE: a suite that gives each of two criteria that score
rubric_task() {
    script_task '' << END
echo '{"score": $1, "pass": true, "breakdown": {"Speed": $1, "Size": 5}, "notes": "ok"}' > /results/score.json
END
    jq '.scoring.rubric = [{name: "Speed", description: "fast", weight: 60}, {name: "Size", weight: 40}]' \
        "$work/task/task.json" > "$work/new" && mv "$work/new" "$work/task/task.json"
}

# results WORDS…: of `assay results`
results() {
    status=0
    "$ASSAY" results "$db" "$@" > "$work/output" 2> "$work/errors" || status=$?
}

# found WHERE WHAT: `verify` says so, and that it is not intact
found() {
    results verify
    is exit 1 "$status"
    grep -qF -- "$1: $2" "$work/output" || is "$1" "$2" "$(cat "$work/output")"
}

# stored ID COLUMN: of a result
stored() {
    sql "SELECT $2 FROM evaluation_results WHERE id = '$1'"
}

# driver MODE FRAME…: what assay-store answers to somebody who speaks its frames
driver() {
    local mode=$1
    shift
    timeout 20 "$here/../programs/store-driver.py" "$ASSAY_BUILD/assay-store" "$mode" "$db" "$ASSAY_STATE/store/key" "$@"
}
