#!/usr/bin/env bats
# What users of graders complain about most: a test of that name for each.

load common

setup() {
    setup_work
    cd "$work" || return
}

pass='echo "{\"score\": 100, \"pass\": true}" > /results/score.json'

# suite [JSON members…] < SCRIPT: a task whose suite is that, and a submission
suite() {
    script_task "${1:-}"
    submission
}

@test "a run that hangs on a busy machine: many at once all end" {
    suite <<END
\$ASSAY_EXEC -- true
$pass
END
    for i in 1 2 3 4; do
        for _ in $(seq 40); do
            # Only a guard: one that hangs would hang for ever.
            timeout -s KILL 60 "$ASSAY" run --quiet "${weak[@]}" task submission.tar.gz || echo "failed: $?"
        done > "out.$i" 2>&1 3>&- &
    done
    wait
    is failures '' "$(cat out.*)"
    nothing_left
}
