# A store with a queue in it, its workers, and what its own shell sees of it.

# shellcheck source=tests/cli/stores.bash
load stores

setup() {
    setup_queue
}
teardown() {
    end_workers
}

setup_queue() {
    setup_store
    workers=()
}

# submit [OPTIONS…]: the answer is in $work/result.json
submit() {
    status=0
    "$ASSAY" submit --json --store "$db" "$@" "$work/task" "$work/submission.tar.gz" \
        > "$work/result.json" 2> "$work/errors" || status=$?
}

# submission_of CONTENT: one that no other is
submission_of() {
    mkdir -p "$work/submission"
    echo "$1" > "$work/submission/main.txt"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
}

# work [OPTIONS…]: until the queue is empty
work() {
    status=0
    "$ASSAY" worker "${weak[@]}" --quiet --until-empty --store "$db" "$@" 2> "$work/errors" || status=$?
    is 'exit of the worker' 0 "$status"
}

# start_worker [OPTIONS…]: in the background, as $worker
start_worker() {
    "$ASSAY" worker "${weak[@]}" --quiet --store "$db" "$@" 3>&- 2>> "$work/worker.errors" &
    worker=$!
    workers+=("$worker")
}

# The last worker is: else there is nothing to wait for.
alive() {
    kill -0 "$worker" || { cat "$work/worker.errors" >&2 && return 1; }
}

# end_now PID: tell a worker until it is gone, so more than once
end_now() {
    while [ -n "$(tr -d '\0' 2> /dev/null < "/proc/$1/cmdline")" ]; do kill -TERM "$1" 2> /dev/null || true; done
}

# All that this test started, told twice: now, not when their jobs have ended.
end_workers() {
    local each
    for each in "${workers[@]}"; do
        kill -CONT "$each" 2> /dev/null || true
        end_now "$each"
        wait "$each" 2> /dev/null || true
    done
    workers=()
}

# Leases of one second are over, and time may pass for nobody else.
lapsed() {
    local now="CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    [ "$engine" = sqlite ] || now='extract(epoch FROM clock_timestamp()) * 1000'
    until [ "$(sql "SELECT count(*) FROM jobs WHERE lease_until > $now")" = 0 ]; do :; done
}

# sleeping_task [COMMAND]: its suite takes a moment longer than a lease
sleeping_task() {
    script_task '' << END
sleep ${SLEEPS:-3}
${1:-exit 0}
END
}

state_of_jobs() {
    sql 'SELECT state FROM jobs'
}

# order COLUMN: of the jobs as they will be taken
order() {
    sql "SELECT $1 FROM jobs WHERE state = 'queued' ORDER BY round, place, id" | paste -sd ' '
}

operate() {
    status=0
    "$ASSAY" queue --store "$db" "$@" > "$work/output" 2> "$work/errors" || status=$?
}

rejudge() {
    status=0
    "$ASSAY" rejudge --store "$db" "$@" > "$work/output" 2> "$work/errors" || status=$?
}

intact() {
    "$ASSAY" results "$db" verify > "$work/output" || { cat "$work/output" >&2 && return 1; }
}

# listening_port PID: where that process waits for connections
listening_port() {
    local inode
    for inode in $(find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' 2> /dev/null | grep -o '[0-9]*'); do
        awk -v inode="$inode" '$10 == inode && $4 == "0A" { split($2, at, ":"); print strtonum("0x" at[2]) }' /proc/net/tcp 2> /dev/null ||
            python3 - "$inode" << 'END'
import sys
for line in open("/proc/net/tcp"):
    part = line.split()
    if part[9] == sys.argv[1] and part[3] == "0A":
        print(int(part[1].split(":")[1], 16))
END
    done
}
