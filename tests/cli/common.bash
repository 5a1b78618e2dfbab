# Shared by the whole runs. Set by tests/check, with defaults for a single `bats tests/cli/X.bats`:
#   ASSAY         the program under test
#   ASSAY_BUILD   the build directory: helpers, and the test programs in tests/

bats_require_minimum_version 1.5.0
here=$BATS_TEST_DIRNAME
ASSAY_BUILD=${ASSAY_BUILD:-$here/../../build}
ASSAY=${ASSAY:-$ASSAY_BUILD/assay}
examples=$here/../../docs/examples

# A place that programs of any id may reach, with a state directory of its own.
setup_work() {
    work=$BATS_TEST_TMPDIR
    export ASSAY_STATE=$work/state
    # Cells of an ordinary user are only weakly limited where no cgroup is theirs.
    weak=()
    "$ASSAY" doctor --quiet 2> "$work/doctor.err" || weak=(--allow-weak-limits)
}

is_root() {
    [ "$(id -u)" -eq 0 ]
}

# task KIND [JSON members…]: a task whose suite behaves like that (tests/programs/suite.c)
task() {
    local kind=$1 more=${2:-}
    mkdir -p "$work/task/tests"
    cp "$ASSAY_BUILD/tests/suite" "$work/task/tests/"
    cat > "$work/task/task.json" <<END
{
    "schema": "assay.task/1",
    "name": "test",
    "scoring": {"scheme": "blend", "mode": "container"},
    ${more}
    "suite": {"command": ["/tests/suite", "$kind"]}
}
END
}

# script_task [JSON members…] < SCRIPT: a task whose suite is a shell script, with a broker
script_task() {
    mkdir -p "$work/task/tests"
    { echo '#!/bin/sh' && cat; } > "$work/task/tests/run"
    chmod +x "$work/task/tests/run"
    cat > "$work/task/task.json" <<END
{
    "schema": "assay.task/1",
    "name": "test",
    ${1:-}
    "scoring": {"scheme": "blend", "mode": "container"},
    "suite": {"command": ["/tests/run"], "broker": true},
    "submission": {"image": "host"${2:-}}
}
END
}

# submission [FILE…]: an archive of an empty file, or of these names
submission() {
    mkdir -p "$work/submission"
    [ $# -gt 0 ] || set -- main.txt
    for name in "$@"; do
        mkdir -p "$work/submission/$(dirname "$name")"
        echo "$name" > "$work/submission/$name"
    done
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
}

# grade [OPTIONS…]: run the task on the submission; the result is in $work/result.json
grade() {
    status=0
    "$ASSAY" run --json "${weak[@]}" "$@" "$work/task" "$work/submission.tar.gz" \
        > "$work/result.json" 2> "$work/errors" || status=$?
}

# field PATH: of the result
field() {
    jq -r "$1" "$work/result.json"
}

# is WHAT EXPECTED GOT: says what differed
is() {
    if [ "$2" != "$3" ]; then
        printf '%s: expected "%s", got "%s"\n' "$1" "$2" "$3" >&2
        [ ! -s "$work/errors" ] || sed 's/^/  /' "$work/errors" >&2
        return 1
    fi
}

# ends EXIT STATUS CLASS CODE: how the evaluation ended, and that it said so in one line
ends() {
    is exit "$1" "$status"
    is status "$2" "$(field .status)"
    is class "$3" "$(field .class)"
    is code "$4" "$(field .code)"
    is score null "$(field .score)"
    is 'lines of explanation' 1 "$(wc -l < "$work/errors")"
    grep -q "^assay: $4: " "$work/errors"
    [ -n "$(field .reason)" ] && [ -n "$(field .remedy)" ]
}

# wait_gone PID: until the process has ended; a zombie that nobody waits for has
wait_gone() {
    while [ -n "$(tr -d '\0' 2> /dev/null < "/proc/$1/cmdline")" ]; do :; done
}

# Nothing of an evaluation is left: no work directory, no group, no process of a cell.
nothing_left() {
    is 'work directories' '' "$(ls "$ASSAY_STATE/evaluations")"
}
