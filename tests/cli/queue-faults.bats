#!/usr/bin/env bats
# Workers that are killed, disks that are full: each job ends once, whatever dies meanwhile.

# Both engines: queue-faults-on-postgres.bats is this file by another name.

load common
load queue

teardown() {
    end_workers
    ! mountpoint -q "$work/small" || umount "$work/small"
}

# submit_many COUNT: each an archive of its own, four at a time
submit_many() {
    local i j
    submission
    for j in 0 1 2 3; do
        (
            for ((i = j; i < $1; i += 4)); do
                mkdir -p "$work/many/$i"
                echo "$i" > "$work/many/$i/main.txt"
                tar -C "$work/many/$i" -czf "$work/many/$i.tar.gz" .
                "$ASSAY" submit --quiet --tries 100 --agent "agent $((i % 7))" --store "$db" \
                    "$work/task" "$work/many/$i.tar.gz"
            done
        ) &
    done
    wait
}

count() {
    sql "SELECT count(*) FROM jobs WHERE state $1"
}

# each_once COUNT: every job has ended with one result, which is the only one of its attempt
each_once() {
    is 'jobs that are done' "$1" "$(count "= 'done'")"
    is results "$1" "$(sql 'SELECT count(*) FROM evaluation_results')"
    is 'results of a job each' "$1" \
        "$(sql 'SELECT count(DISTINCT r.id) FROM evaluation_results r JOIN jobs j ON j.result_id = r.id')"
    is 'attempts and revisions' '1|1' "$(sql 'SELECT max(attempt), max(revision) FROM evaluation_results')"
    is scores "$1" "$(sql "SELECT count(*) FROM evaluation_results WHERE final_score = '60.00'")"
    is archives "$1" "$(sql 'SELECT count(DISTINCT sha256) FROM files JOIN jobs ON archive_sha256 = sha256')"
    intact
}

# All connections are cut, wherever they are; and twice the server goes, the second time without a word.
trouble_server() {
    as_superuser -d postgres -c "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'assay'" > "$work/cut"
    if [ "$restarts" -lt 2 ] && [ "$(count "= 'done'")" -ge $((150 * restarts + 100)) ]; then
        if [ "$restarts" -eq 0 ]; then postgres_restart INT; else postgres_restart QUIT; fi
        restarts=$((restarts + 1))
    fi
}

# No group of a cell is left that these workers could have made.
no_cells() {
    local pid
    for pid in $(pgrep -x assay-cell || true); do
        ! tr '\0' '\n' < "/proc/$pid/environ" 2> /dev/null | grep -qx "ASSAY_STATE=$ASSAY_STATE"
    done
    nothing_left
}

@test "workers killed at random moments: 500 jobs, each ends once" {
    # Each long enough for some to be killed before all have ended.
    script_task '' <<< 'sleep 0.1; echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submit_many 500
    is queued 500 "$(count "= 'queued'")"
    pids=()
    for i in 0 1 2 3; do
        start_worker --jobs 1 --lease 1s
        pids[i]=$worker
    done
    killed=0
    restarts=0
    until [ "$(count "<> 'done'")" = 0 ]; do
        i=$((RANDOM % 4))
        # Some work for each before it is killed; when, is left to chance.
        next=$(($(count "= 'done'") + RANDOM % 10))
        until [ "$(count "= 'done'")" -ge "$next" ] || [ "$(count "= 'queued'")" = 0 ]; do alive; done
        [ "$(count "<> 'done'")" -gt 0 ] || break
        [ "$engine" = sqlite ] || trouble_server
        if [ "$(count "= 'queued'")" -gt 0 ]; then
            kill -9 "${pids[i]}"
            killed=$((killed + 1))
            start_worker --jobs 1 --lease 1s
            pids[i]=$worker
        fi
    done
    [ "$killed" -ge 5 ]
    [ "$engine" = sqlite ] || is 'restarts of the server' 2 "$restarts"
    each_once 500
    end_workers
    work # sweeps what those left that were killed
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    "$ASSAY" run --quiet "${weak[@]}" "$work/task" "$work/submission.tar.gz"
    no_cells
}

@test "evaluations and stores killed under their worker: each job ends once" {
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submit_many 60
    for ((round = 0; round < 8; round++)); do
        start_worker --jobs 2 --lease 1s --retry-after 1ms
        next=$(($(count "= 'done'") + 3))
        until [ "$(count "= 'done'")" -ge "$next" ] || [ "$(count "<> 'done'")" = 0 ]; do alive; done
        victim=$(pgrep -P "$worker" | shuf -n 1)
        [ -z "$victim" ] || kill -9 "$victim" 2> /dev/null || true
        next=$((next + 2))
        # Without its store a worker ends; without an evaluation it goes on.
        until [ "$(count "= 'done'")" -ge "$next" ] || [ "$(count "<> 'done'")" = 0 ] || ! alive 2> /dev/null; do :; done
        end_workers
    done
    until [ "$(count "<> 'done'")" = 0 ]; do
        work --lease 1s --retry-after 1ms
    done
    each_once 60
}

@test "an evaluation that was taken over can say nothing but its result, and keeps its worker from nothing" {
    script_task '' <<< 'exit 0'
    submission
    submit
    timeout 100 "$here/../programs/queue-driver.py" "$ASSAY_BUILD/assay-store" "$db" "$ASSAY_STATE/store/key" > "$work/output"
    malformed='the store was sent a malformed frame, renewed'
    other="what was graded is not what job $(field .job_id) is about, renewed"
    diff - "$work/output" << END
reads: $malformed
takes a job: $malformed
asks for a file: $malformed
cancels its job: $malformed
reads a match: $malformed
commits at once: $malformed
begins for another task: $other
begins for another archive: $other
begins twice: 4 $malformed
commits nothing: 4 $malformed
numbers its result: 4 $malformed
says that a lot follows: a frame is larger than agreed, renewed
says half a word: a frame ended before its end, renewed
sends a file along: a frame is larger than agreed, renewed
stay: waited for one at most, renewed
END
    is job 'running|0' "$(sql 'SELECT state, (SELECT count(*) FROM evaluation_results) FROM jobs')"
}

@test "what a killed worker had unpacked in part is removed, what another one unpacks now is not" {
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission
    submit
    left=01M7T3HP73C9XJ4RRTWKH6ZVDF used=01M7T3HP744BJ7SMN64NJ0D4WG
    mkdir -p "$ASSAY_STATE/tasks/$left/tests/deep" "$ASSAY_STATE/tasks/$used/tests"
    echo half > "$ASSAY_STATE/tasks/$left/tests/deep/file"
    exec 6< "$ASSAY_STATE/tasks/$used"
    flock 6
    work
    exec 6>&-
    is tasks "$used $(sql 'SELECT task_sha256 FROM jobs')" "$(ls "$ASSAY_STATE/tasks" | sort | paste -sd ' ')"
}

@test "a worker that can grade nothing rests, and does not use up the tries of all jobs" {
    script_task '' <<< 'exit 0'
    submit_many 6
    sql 'UPDATE jobs SET max_tries = 1'
    mkdir -p "$ASSAY_STATE"
    rm -rf "$ASSAY_STATE/tasks"
    touch "$ASSAY_STATE/tasks"
    start_worker --jobs 2 --retry-after 1m --status-file "$work/status"
    until [ "$(jq -r .state "$work/status" 2> /dev/null)" = resting ]; do
        alive
        [ "$(count "= 'queued'")" -gt 0 ]
    done
    is jobs 'parked 3 queued 3' "$(sql "SELECT state || ' ' || count(*) FROM jobs GROUP BY state" | paste -sd ' ')"
}

@test "a full disk: what is not stored is said, nothing is lost, and it goes on where there is room" {
    [ "$engine" = sqlite ] || skip "the disk of a server is the server's business"
    is_root || skip "mounts a small file system, which needs root"
    mkdir "$work/small"
    mount -t tmpfs -o size=3m none "$work/small"
    db=$work/small/queue.db
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submit_many 12
    head -c 100000000 /dev/zero > "$work/small/full" 2> /dev/null || true
    head -c 200000 /dev/urandom > "$work/submission/large"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    submit
    is exit 4 "$status"
    grep -q '^assay: infra.store: ' "$work/errors"
    status=0
    "$ASSAY" worker "${weak[@]}" --quiet --until-empty --lease 1s --store "$db" 2> "$work/errors" || status=$?
    is 'exit of the worker' 4 "$status"
    rm "$work/small/full"
    submit --tries 100
    is 'with room' 0 "$status"
    until [ "$(count "<> 'done'")" = 0 ]; do work --lease 1s; done
    each_once 13
}
