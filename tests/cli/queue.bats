#!/usr/bin/env bats
# The queue of a store: assay submit, assay worker, assay queue, assay rejudge.

# Both engines: queue-on-postgres.bats is this file by another name.

load common
load queue

@test "what is submitted is graded by a worker, as assay run grades it" {
    script_task '' <<< 'echo "{\"score\": 81.25, \"pass\": true}" > /results/score.json'
    submission
    grade
    submit --agent ann
    is exit 0 "$status"
    is state queued "$(field .state)"
    work --pull
    is jobs "done|$(field .submission_id)|1" "$(sql "SELECT state, submission_id, tries FROM jobs")"
    is results 'graded|81.25|pass|1|1' \
        "$(sql 'SELECT status, final_score, outcome, attempt, revision FROM evaluation_results')"
    is submission 'completed|1|ann' "$(sql 'SELECT status, evaluated, agent FROM submissions')"
    sql "SELECT result FROM evaluation_results" | jq -S 'del(.id, .phases, .usage, .isolation, .runner)' > "$work/queued"
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" |
        jq -S 'del(.id, .phases, .usage, .isolation, .runner)' > "$work/direct"
    diff "$work/direct" "$work/queued"
    intact
    nothing_left
}

@test "the intake looks at it first: what it warns of is said, what it rejects is not queued" {
    script_task '' <<< 'exit 0'
    submission
    submit
    is exit 0 "$status"
    is 'the first warning' SUBMISSION.md "$(field '.submission_warnings[0].field')"
    "$ASSAY" submit --store "$db" "$work/task" "$work/submission.tar.gz" > "$work/output" 2> "$work/errors"
    is 'the first line' 'assay: warning: SUBMISSION.md: ' "$(head -1 "$work/errors" | cut -c1-31)"
    echo garbage > "$work/submission.tar.gz"
    submit
    is exit 3 "$status"
    is lines 1 "$(wc -l < "$work/errors")"
    is submissions 1 "$(sql 'SELECT count(*) FROM submissions')"
}

@test "with --wait it ends as assay run does" {
    script_task '' <<< 'echo "{\"score\": 10, \"pass\": false}" > /results/score.json'
    submission
    start_worker
    submit --wait
    is exit 1 "$status"
    is 'graded, not passed' 'done graded fail 10.00' "$(field '"\(.state) \(.status) \(.outcome)"') $(grep -o '10\.00' "$work/result.json")"
}

@test "the same key gives the same answer, and no second job" {
    script_task '' <<< 'exit 0'
    submission
    submit --idempotency-key "it's; DROP TABLE jobs" --source-ip 192.0.2.1 --rate 1
    first=$(field .job_id)
    submit --idempotency-key "it's; DROP TABLE jobs" --source-ip 192.0.2.1 --rate 1
    is exit 0 "$status"
    is 'the same job' "$first true queued" "$(field '"\(.job_id) \(.repeated) \(.state)"')"
    work
    submit --idempotency-key "it's; DROP TABLE jobs" --source-ip 192.0.2.1 --rate 1
    is 'exit when it has ended' 0 "$status"
    is 'the same job, when it has ended' "$first true done error" "$(field '"\(.job_id) \(.repeated) \(.state) \(.status)"')"
    is jobs 1 "$(sql 'SELECT count(*) FROM jobs')"
    echo other > "$work/submission/main.txt"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    submit --idempotency-key "it's; DROP TABLE jobs" --source-ip 192.0.2.1
    is exit 6 "$status"
    grep -q '^assay: submit.key_used: ' "$work/errors"
}

@test "ten a minute from an address, and the eleventh is told when" {
    script_task '' <<< 'exit 0'
    submission
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        submit --source-ip 192.0.2.7
        is exit 0 "$status"
    done
    submit --source-ip 192.0.2.7
    is exit 6 "$status"
    grep -q '^assay: submit.rate_limit: .*retry_after_ms' "$work/errors"
    is 'soon' true "$(field '.retry_after_ms > 0 and .retry_after_ms <= 60000')"
    is jobs 10 "$(sql 'SELECT count(*) FROM jobs')"
    submit --source-ip 192.0.2.8
    is 'another address' 0 "$status"
    # The window slides: once the first is older than a minute, one more.
    sql "UPDATE arrivals SET at = at - 60000 WHERE at = (SELECT min(at) FROM arrivals)"
    submit --source-ip ::ffff:192.0.2.7
    is 'the same address, written as IPv6' 0 "$status"
    submit --source-ip 192.0.2.7
    is 'no second one' 6 "$status"
    # Those of a clock that was set back since are of no minute.
    sql 'UPDATE arrivals SET at = at + 86400000'
    submit --source-ip 192.0.2.7
    is 'after the clock was set back' 0 "$status"
    is arrivals 1 "$(sql 'SELECT count(*) FROM arrivals')"
}

@test "addresses of IPv6 count by their /64" {
    script_task '' <<< 'exit 0'
    submission
    submit --source-ip 2001:db8:1:2::1 --rate 2
    submit --source-ip 2001:db8:1:2:ffff::9 --rate 2
    is 'the second' 0 "$status"
    submit --source-ip 2001:db8:1:2:aaaa:bbbb:cccc:dddd --rate 2
    is 'the third of the /64' 6 "$status"
    submit --source-ip 2001:db8:1:3::1 --rate 2
    is 'another /64' 0 "$status"
    submit --source-ip 'localhost'
    is 'no address' 2 "$status"
}

@test "the limit is exact, however many submit at once" {
    script_task '' <<< 'exit 0'
    submission
    submit
    for i in 1 2 3 4 5 6 7 8; do
        (
            for _ in 1 2 3; do
                status=0
                "$ASSAY" submit --quiet --store "$db" --source-ip 192.0.2.9 "$work/task" \
                    "$work/submission.tar.gz" 2> /dev/null || status=$?
                echo "$status"
            done > "$work/ends.$i"
        ) &
    done
    wait
    is accepted 10 "$(cat "$work"/ends.* | grep -cx 0)"
    is refused 14 "$(cat "$work"/ends.* | grep -cx 6)"
    is jobs 11 "$(sql 'SELECT count(*) FROM jobs')"
}

@test "whoever waited for others of its address counts those" {
    script_task '' <<< 'exit 0'
    submission
    submit --source-ip 192.0.2.9
    hold_name 192.0.2.9
    submit --source-ip 192.0.2.9 --rate 2 &
    until name_is_waited_for; do :; done
    echo "INSERT INTO arrivals (address, at) VALUES ('192.0.2.9', $(date +%s%3N)); COMMIT;" >&7
    exec 7>&-
    wait
    is code submit.rate_limit "$(field .code)"
    is jobs 1 "$(sql 'SELECT count(*) FROM jobs')"
}

@test "who submits much, and a task that many submit to, keep nobody waiting" {
    script_task '' <<< 'exit 0'
    for i in 1 2 3 4; do
        submission_of "$i"
        submit --agent busy
    done
    submission_of 5
    submit --agent ann
    is 'the order of agents' 'busy ann busy busy busy' "$(order agent)"
    sql "UPDATE jobs SET state = 'cancelled'"
    for i in 6 7 8; do
        submission_of "$i"
        submit --agent "agent $i"
    done
    jq '.name = "other"' "$work/task/task.json" > "$work/new" && mv "$work/new" "$work/task/task.json"
    submission_of 9
    submit --agent 'agent 9'
    is 'the order of tasks' 'test other test test' "$(order task)"
}

@test "who comes back as soon as a job is done has had a turn, and so has what is tried again" {
    script_task '' <<< 'exit 0'
    for agent in busy busy ann; do
        submission_of "$agent $RANDOM"
        submit --agent "$agent"
    done
    sql "UPDATE jobs SET state = 'done' WHERE round = 0"
    submission_of 4
    submit --agent ann
    is 'the order after a turn' 'busy ann' "$(order agent)"
    sql "UPDATE jobs SET state = 'parked' WHERE state = 'queued'"
    for agent in eve dan; do
        submission_of "$agent"
        submit --agent "$agent"
    done
    operate retry --all
    is retried '2 queued again' "$(cat "$work/output")"
    is 'the order after a retry' 'eve dan busy ann' "$(order agent)"
}

@test "a task is graded as it was when it was submitted" {
    script_task '' <<< 'echo "{\"score\": 50, \"pass\": true}" > /results/score.json'
    mkdir -p "$work/task/truth/deep"
    echo secret > "$work/task/truth/deep/file"
    ln -s run "$work/task/tests/link"
    submission
    submit
    echo '#!/bin/sh' > "$work/task/tests/run"
    rm -r "$work/task/truth"
    work
    is score 50.00 "$(sql 'SELECT final_score FROM evaluation_results')"
    digest=$(sql 'SELECT task_sha256 FROM jobs')
    is digest "$digest" "$(sql 'SELECT task_sha256 FROM evaluation_results')"
    is 'what others may read of it' 700 "$(stat -c %a "$ASSAY_STATE/tasks")"
}

@test "a task that was changed where a worker had unpacked it grades nothing" {
    script_task '' <<< 'echo "{\"score\": 50, \"pass\": true}" > /results/score.json'
    submission
    submit
    work
    sed -i 's/50/99/' "$ASSAY_STATE"/tasks/*/tests/run
    submit --agent ann --tries 1
    work
    is job 'parked|infra.task_changed' "$(sql "SELECT state, code FROM jobs WHERE agent = 'ann'")"
    is results 50.00 "$(sql 'SELECT final_score FROM evaluation_results')"
    grep -q "remove it" <<< "$(sql "SELECT reason FROM jobs WHERE agent = 'ann'")"
}

@test "another task that lies for a moment where a worker had unpacked it grades nothing" {
    script_task '' <<< 'echo "{\"score\": 50, \"pass\": true}" > /results/score.json'
    submission
    submit
    work
    other=$work/other
    unpacked=$(echo "$ASSAY_STATE"/tasks/*)
    cp -a "$unpacked" "$other"
    sed -i 's/50/99/' "$other/tests/run"
    for i in $(seq 30); do
        submission_of "$i"
        submit --tries 90
    done
    # Fast enough to be between what a worker looks at and what its evaluation opens.
    python3 - "$unpacked" "$other" << 'END' &
import ctypes, sys, time
here, there = (name.encode() for name in sys.argv[1:])
libc = ctypes.CDLL(None)
for _ in range(400): # in the end each lies where it lay
    for pause in 0.0005, 0.0015:
        libc.renameat2(-100, here, -100, there, 2)
        time.sleep(pause)
END
    exchanger=$!
    work --retry-after 1ms
    wait "$exchanger"
    is results 50.00 "$(sql 'SELECT DISTINCT final_score FROM evaluation_results WHERE final_score IS NOT NULL')"
}

@test "a task that changes while it is stored is not stored" {
    script_task '' <<< 'exit 0'
    mkdir "$work/task/truth"
    truncate -s 100M "$work/task/truth/a-large-one"
    echo 0 > "$work/task/truth/z"
    submission
    (
        while [ ! -e "$work/stop" ]; do
            echo "$((i = ${i:-0} + 1))" > "$work/z"
            mv "$work/z" "$work/task/truth/z"
        done
    ) &
    submit
    touch "$work/stop"
    wait
    is exit 4 "$status"
    grep -q '^assay: infra.task_changed: ' "$work/errors"
    submit
    is 'exit when it stays' 0 "$status"
    work
    is job 'done' "$(state_of_jobs)"
}

@test "a damaged snapshot or archive is the store's fault, tried again, then parked with its reason" {
    script_task '' <<< 'exit 0'
    submission
    submit --tries 2
    sql "UPDATE file_parts SET bytes = substr(bytes, 2)"
    work --retry-after 1ms
    is job 'parked|2|infra.job_file' "$(sql 'SELECT state, tries, code FROM jobs')"
    is submission 'failed|0' "$(sql 'SELECT status, evaluated FROM submissions')"
    is tasks '' "$(ls "$ASSAY_STATE/tasks")"
    grep -q "^of file .* the store has" <<< "$(sql 'SELECT reason FROM jobs')"
}

@test "a job that takes longer than a job may is ended, tried again, and parked" {
    script_task '"limits": {"wall": "1h"},' <<< 'sleep 1000'
    submission
    submit --tries 2
    work --job-limit 300ms --retry-after 1ms
    is job 'parked|2|infra.job_limit' "$(sql 'SELECT state, tries, code FROM jobs')"
    nothing_left
}

@test "a job that does not end when it is told to is not waited for" {
    local token=1000$RANDOM
    script_task '' <<< "exec sleep $token"
    submission
    submit --tries 1
    start_worker --jobs 1 --until-empty --lease 1s --job-limit 3s
    until pgrep -f "^sleep $token\$" > /dev/null; do alive; done
    kill -STOP "$(pgrep -P "$worker" -x assay)"
    wait "$worker"
    is job 'parked|1|infra.job_limit' "$(sql 'SELECT state, tries, code FROM jobs')"
    sql "UPDATE jobs SET state = 'cancelled'"
    script_task '' <<< 'exit 0'
    submit
    work # sweeps what the killed one left
    nothing_left
}

@test "a worker keeps its supervisor for one job after the other, and replaces one that was killed" {
    script_task '' <<< 'echo "{\"score\": 50, \"pass\": true}" > /results/score.json'
    start_worker --jobs 1
    for i in 1 2 3; do
        submission_of "$i"
        submit --wait
        is 'exit of a submission' 0 "$status"
        supervisors[i]=$(pgrep -P "$worker" -x assay-cell)
        [ "$i" != 2 ] || kill -KILL "${supervisors[i]}"
    done
    is 'after the first' "${supervisors[1]}" "${supervisors[2]}"
    [ "${supervisors[2]}" != "${supervisors[3]}" ]
    is tries '1 1 1' "$(sql 'SELECT tries FROM jobs' | xargs)"
    end_workers
    nothing_left
}

@test "who reads a task for a worker, and may be taken over by it, has no descriptor of the worker's" {
    script_task '' <<< 'exit 0'
    submission
    submit --tries 1
    # A scorer that answers for long.
    mkdir "$work/bin"
    cp "$ASSAY_BUILD"/assay "$ASSAY_BUILD"/assay-* "$work/bin/"
    cp "$ASSAY_BUILD/tests/faulty-endless" "$work/bin/assay-score"
    ASSAY=$work/bin/assay start_worker --jobs 1 --until-empty
    sockets() { find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' | sort; }
    until reader=$(pgrep -P "$worker" -x assay | head -1) && [ -n "$(pgrep -P "${reader:-$$}" -x assay-cell)" ]; do alive; done
    is shared '' "$(comm -12 <(sockets "$worker") <(sockets "$reader"))"
    [ -n "$(sockets "$reader")" ]
}

@test "a task that was unpacked anew, after it was removed, is graded by" {
    script_task '' <<< 'echo "{\"score\": 50, \"pass\": true}" > /results/score.json'
    start_worker --jobs 1
    submission_of 1
    submit --wait
    rm -r "$ASSAY_STATE"/tasks/*
    submission_of 2
    submit --wait
    is exit 0 "$status"
    is tries '1 1' "$(sql 'SELECT tries FROM jobs' | xargs)"
}

@test "a submission's fault is a result like another, and not tried again" {
    script_task '' <<< 'exit 0'
    submission
    submit
    work
    is job 'done|1|suite.no_result' "$(sql 'SELECT state, tries, code FROM jobs')"
    is result 'error|suite' "$(sql 'SELECT status, class FROM evaluation_results')"
    is submission 'failed|0' "$(sql 'SELECT status, evaluated FROM submissions')"
}

@test "a worker that is killed loses its job to the next, and after the last try it is parked" {
    sleeping_task
    submission
    submit --tries 2
    for try in 1 2; do
        start_worker --lease 1s
        until [ "$(sql "SELECT count(*) FROM jobs WHERE state = 'running' AND tries = $try")" = 1 ]; do alive; done
        kill -9 "$worker"
        wait_gone "$worker"
        lapsed
    done
    work
    is job 'parked|2|infra.worker_lost' "$(sql 'SELECT state, tries, code FROM jobs')"
    is results 0 "$(sql 'SELECT count(*) FROM evaluation_results')"
    operate retry "$(sql 'SELECT id FROM jobs')"
    is exit 0 "$status"
    is 'queued again' 'queued|0|pending' \
        "$(sql 'SELECT j.state, tries, s.status FROM jobs j JOIN submissions s ON s.id = submission_id')"
}

@test "a worker that comes back too late is refused, and the job has one result" {
    sleeping_task 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission
    submit
    start_worker --lease 1s
    until [ "$(state_of_jobs)" = running ]; do alive; done
    store=$(pgrep -P "$worker" -x assay-store)
    kill -STOP "$worker" "$store"
    lapsed
    first=$worker
    until [ "$(sql "SELECT lease FROM jobs")" = 2 ]; do
        [ "$worker" != "$first" ] || start_worker
        alive
    done
    kill -CONT "$first" "$store"
    until [ "$(state_of_jobs)" = done ]; do alive; done
    is results '1|1' "$(sql 'SELECT count(*), max(attempt) FROM evaluation_results')"
    kill "$first"
    wait_gone "$first"
    is 'still one' 1 "$(sql 'SELECT count(*) FROM evaluation_results')"
    is 'of the second' 2 "$(sql 'SELECT tries FROM jobs')"
    intact
}

@test "SIGTERM lets end what is at work, and takes nothing more" {
    sleeping_task 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission
    submit
    submit --agent later
    start_worker --jobs 1
    until [ "$(sql "SELECT count(*) FROM jobs WHERE state = 'running'")" = 1 ]; do alive; done
    kill -TERM "$worker"
    status=0
    wait "$worker" || status=$?
    is exit 0 "$status"
    is jobs 'done 1 queued 1' "$(sql "SELECT state || ' ' || count(*) FROM jobs GROUP BY state ORDER BY state" | paste -sd ' ')"
    nothing_left
}

@test "the second signal gives back what is at work, without counting the try" {
    SLEEPS=60 sleeping_task
    submission
    submit
    start_worker
    until [ "$(state_of_jobs)" = running ] && [ -n "$(ls "$ASSAY_STATE/evaluations" 2> /dev/null)" ]; do alive; done
    end_now "$worker"
    wait "$worker" || true
    is job 'queued|0' "$(sql 'SELECT state, tries FROM jobs')"
    is results 0 "$(sql 'SELECT count(*) FROM evaluation_results')"
    nothing_left
}

@test "a paused queue gives nothing away; a drained one has nothing at work" {
    sleeping_task 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission
    submit
    operate pause
    is exit 0 "$status"
    start_worker
    submit --agent ann
    is 'nothing runs' 'queued 2' "$(sql "SELECT state || ' ' || count(*) FROM jobs GROUP BY state")"
    operate status --json
    is status 'true 2' "$(jq -r '"\(.paused) \(.queued)"' "$work/output")"
    operate resume
    until [ "$(sql "SELECT count(*) FROM jobs WHERE state = 'running'")" -gt 0 ]; do alive; done
    operate drain
    is exit 0 "$status"
    is 'nothing runs' 0 "$(sql "SELECT count(*) FROM jobs WHERE state = 'running'")"
}

@test "who drains a queue that somebody resumes meanwhile is told so, and leaves it at that" {
    script_task '' <<< 'exit 0'
    submission
    submit
    sql "UPDATE jobs SET state = 'running', tries = 1, lease = 1, lease_until = $(date +%s%3N) + 3600000"
    operate drain &
    until [ "$(sql 'SELECT paused FROM queue')" = 1 ]; do kill -0 $!; done
    "$ASSAY" queue resume --quiet --store "$db" > /dev/null
    wait $!
    grep -q 'resumed meanwhile' "$work/errors"
    is paused 0 "$(sql 'SELECT paused FROM queue')"
}

@test "what a dead worker had is not waited for when the queue is drained" {
    script_task '' <<< 'exit 0'
    submission
    submit
    sql "UPDATE jobs SET state = 'running', tries = 1, lease = 1, lease_until = 1"
    operate drain
    is exit 0 "$status"
    operate resume
    work
    is job 'done|2' "$(sql 'SELECT state, tries FROM jobs')"
}

@test "a job that waits can be cancelled; one that has ended stays as it is" {
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission
    submit
    job=$(field .job_id)
    operate cancel "$job"
    is exit 0 "$status"
    is job 'cancelled' "$(state_of_jobs)"
    operate cancel "$job"
    is 'the second time' 2 "$status"
    submit --agent ann
    work
    for change in "state = 'queued'" "result_id = NULL" "task = 'other'" "archive_sha256 = 'x'"; do
        refuses "UPDATE jobs SET $change WHERE state = 'done'"
    done
    refuses "DELETE FROM jobs"
}

@test "a submission stays what its last result says when it is not graded again after all" {
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission
    submit --tries 1
    work
    rejudge --task test
    submit
    operate cancel "$(field .job_id)"
    is 'while another waits' 'pending|0' "$(sql 'SELECT status, evaluated FROM submissions')"
    operate cancel "$(sql "SELECT id FROM jobs WHERE state = 'queued'")"
    is 'after it' 'completed|1|1' "$(sql 'SELECT status, evaluated, count(completed_at) OVER () FROM submissions')"
    rejudge --task test
    is 'queued once more' '1 queued again' "$(cat "$work/output")"
    forge 'DELETE FROM file_parts'
    work
    is parked 1 "$(sql "SELECT count(*) FROM jobs WHERE state = 'parked'")"
    is 'after that' 'completed|1' "$(sql 'SELECT status, evaluated FROM submissions')"
}

@test "what is in the queue can be listed, whatever it is named" {
    script_task '' <<< 'exit 0'
    submission
    submit --agent "it's \"ann\" %s"
    operate list
    grep -qF "it's \"ann\" %s" "$work/output"
    operate list --json
    is listed "queued 1 0 5 it's \"ann\" %s" \
        "$(jq -r '.jobs[0] | "\(.state) \(input_line_number > 0 | if . then 1 else 0 end) \(.tries) \(.most_tries) \(.agent)"' "$work/output")"
    operate list --json --state done
    is 'none is done' '[]' "$(jq -c .jobs "$work/output")"
}

@test "grading again makes new rows, by the task of then or by another version" {
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission
    submit --agent ann
    work
    rejudge --task nothing
    is 'no such task' 2 "$status"
    rejudge --task test
    is exit 0 "$status"
    is queued '1 queued again' "$(cat "$work/output")"
    rejudge --task test
    is 'while it waits' 2 "$status"
    work
    cp -R "$work/task" "$work/mended"
    sed -i 's/60/70/' "$work/mended/tests/run"
    rejudge --result "$(sql 'SELECT id FROM evaluation_results WHERE attempt = 2')" --with "$work/mended"
    is exit 0 "$status"
    work
    is results '1|60.00 2|60.00 3|70.00' \
        "$(sql 'SELECT attempt, final_score FROM evaluation_results ORDER BY number' | paste -sd ' ')"
    is 'one submission' 1 "$(sql 'SELECT count(*) FROM submissions')"
    intact
    sed -i 's/"test"/"other"/' "$work/mended/task.json"
    rejudge --task test --with "$work/mended"
    is 'by another task' 2 "$status"
    grep -q 'is task other' "$work/errors"
    rejudge --infra --with "$work/mended"
    is 'nothing of the other task' 2 "$status"
    is jobs 3 "$(sql 'SELECT count(*) FROM jobs')"
}

@test "all with a fault of the machines are graded again, and no others" {
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission_of 1
    submit
    work
    submission_of 2
    submit --tries 1
    sql "UPDATE file_parts SET bytes = substr(bytes, 2) WHERE sha256 = (SELECT archive_sha256 FROM jobs WHERE state = 'queued')"
    work
    is parked 1 "$(sql "SELECT count(*) FROM jobs WHERE state = 'parked'")"
    rejudge --infra
    is queued '1 queued again' "$(cat "$work/output")"
}

@test "an archive can be erased, and a person: scores and chain stay" {
    script_task '' <<< 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission
    submit --agent ann --source-ip 192.0.2.1
    work
    sql "DELETE FROM file_parts; DELETE FROM files;
         UPDATE submissions SET agent = NULL, source_ip = NULL; UPDATE jobs SET agent = NULL; DELETE FROM arrivals"
    intact
    is score 60.00 "$(sql 'SELECT final_score FROM evaluation_results')"
    [ "$engine" = postgres ] || ! grep -q ann "$db"
    rejudge --task test
    work
    is 'it cannot be graded again' 'infra.job_file' "$(sql "SELECT code FROM jobs WHERE state IN ('parked', 'waiting') ")"
}

@test "a worker shows what it does: in a file, and to Prometheus" {
    SLEEPS=60 sleeping_task
    submission
    submit
    start_worker --jobs 3 --status-file "$work/status" --metrics "$work/metrics"
    until jq -e '.running | length == 1' "$work/status" > /dev/null 2>&1; do alive; done
    is status 'assay.worker/1 working 3 test' "$(jq -r '"\(.schema) \(.state) \(.jobs) \(.running[0].task)"' "$work/status")"
    until grep -qx 'assay_worker_running 1' "$work/metrics" 2> /dev/null; do alive; done
    grep -qx 'assay_queue_jobs{state="running"} 1' "$work/metrics"
    end_workers
    is 'its last word' stopping "$(jq -r .state "$work/status")"
    start_worker --metrics 0
    port=''
    until [ -n "$port" ]; do
        alive
        port=$(listening_port "$worker")
    done
    exec 5<> "/dev/tcp/127.0.0.1/$port"
    printf 'GET /metrics HTTP/1.1\r\n\r\n' >&5
    timeout 20 cat <&5 > "$work/answer"
    exec 5>&-
    grep -q '^assay_worker_places ' "$work/answer"
}

@test "a task that cannot be stored is the task's fault, not the submission's" {
    script_task '' <<< 'exit 0'
    mkdir "$work/task/truth"
    mkfifo "$work/task/truth/pipe"
    submission
    submit
    is 'exit with a pipe' 2 "$status"
    rm "$work/task/truth/pipe"
    echo secret > "$work/task/truth/file"
    chmod 0 "$work/task/truth/file"
    submit
    is 'exit with what cannot be read' 2 "$status"
    grep -q '^assay: task.unsafe: .*truth: file: cannot be read' "$work/errors"
}

@test "what cannot be is refused in words" {
    long=$(printf '1%.0s' {1..2000})
    script_task '' <<< 'exit 0'
    submission
    while IFS='|' read -r arguments exit words; do
        status=0
        # shellcheck disable=SC2086
        (cd "$work" && "$ASSAY" $arguments) > "$work/output" 2> "$work/errors" || status=$?
        is "exit of $arguments" "$exit" "$status"
        grep -q -- "$words" "$work/errors" || is "$arguments" "$words" "$(cat "$work/errors")"
    done << END
submit|2|needs a task and an archive
submit --store $db task nothing.tar.gz|2|nothing.tar.gz
submit --store $db task submission|2|give an archive of it
submit --store $db nothing submission.tar.gz|2|nothing
submit --store $db --rate x task submission.tar.gz|2|--rate x
submit --store $db --tries 0 task submission.tar.gz|2|--tries 0
submit --store $db --llm-score 101 task submission.tar.gz|2|--llm-score 101
submit --store $nowhere task submission.tar.gz|4|infra.store
worker task|2|takes no tasks
worker --lease 1ms|2|--lease 1ms
worker --jobs 0|2|--jobs 0
worker --store $db --metrics 70000|2|--metrics 70000
queue --store $db nothing|2|needs status
queue --store $db retry|2|needs a job
queue --store $db retry nobody|2|no such job
rejudge --store $db|2|needs --task
submit --store $db --source-ip $long task submission.tar.gz|2|--source-ip 111
submit --store $db --match $long task submission.tar.gz|2|--match 111
submit --store $db --seed $long task submission.tar.gz|2|--seed 111
submit --store $db --llm-score 1.$long task submission.tar.gz|2|--llm-score 1.111
queue --store $db cancel $long|2|no job has such an id
queue --store $db retry $long|2|no job has such an id
queue --store $db list $long|2|no job has such an id
queue --store $db list nobody|2|no such job
queue --store $db list --state wait|2|--state wait
rejudge --store $db --task $long$long$long$long|2|--task 111
rejudge --store $db --result $long|2|--result 111
END
    for operation in cancel retry list; do
        operate "$operation" ''
        is "exit of $operation without an id" 2 "$status"
    done
    rejudge --task ''
    is 'exit of rejudge without a name' 2 "$status"
}

# entry KIND PATH TEXT: of a snapshot, as hexadecimal digits
entry() {
    python3 -c 'import sys, struct
kind, path, text = (part.encode() for part in sys.argv[1:])
print((kind + struct.pack("<I", len(path)) + path + struct.pack("<Q", len(text)) + text).hex(), end="")' "$@"
}

@test "a forged snapshot makes nothing outside of its folder" {
    script_task '' <<< 'exit 0'
    submission
    submit --tries 1
    mkdir "$work/aim"
    line=$(printf 'assay.snapshot/1\n' | od -An -v -tx1 | tr -d ' \n')
    folder=$(entry d tests '')
    for forged in "$(entry f ../evil x)" "$folder$(entry f tests/../../evil x)" "$(entry f "$work/aim/evil" x)" \
        "$(entry l link "$work/aim")$(entry f link/evil x)" "$(entry l link "$work/aim")$(entry d link/evil '')" \
        "$(entry d .. '')" "$(entry p pipe x)" "$(entry f half xxxx | head -c 20)"; do
        bytes="X'$line$forged'"
        [ "$engine" = sqlite ] || bytes="'\\x$line$forged'"
        sql "UPDATE file_parts SET bytes = $bytes WHERE sha256 = (SELECT task_sha256 FROM jobs)"
        sql "UPDATE files SET size = $((${#line} / 2 + ${#forged} / 2)) WHERE sha256 = (SELECT task_sha256 FROM jobs)"
        work
        is state parked "$(state_of_jobs)"
        is 'made elsewhere' '' "$(find "$work" -name 'evil*')$(ls -A "$work/aim")"
        is tasks '' "$(ls "$ASSAY_STATE/tasks")"
        operate retry --all
    done
}
