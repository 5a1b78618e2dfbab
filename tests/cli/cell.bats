#!/usr/bin/env bats
# What a process in a cell can see and do. The list is what tests/programs/probe.c reports.

load common

setup() {
    setup_work
    mkdir -p "$work/task/tests"
    cp "$ASSAY_BUILD/tests/probe" "$work/task/tests/"
    cat > "$work/task/task.json" <<'END'
{
    "schema": "assay.task/1",
    "name": "probe",
    "scoring": {"scheme": "blend", "mode": "container"},
    "suite": {"command": ["/tests/probe"]}
}
END
    submission
}

probe() {
    CALLER_SECRET=1 grade
    is code suite.no_result "$(field .code)"
    # A single-id map makes one errno another; landlock before ABI 6 lets a signal to pid 1 pass,
    # which the kernel then drops.
    jq -j .logs.stdout.head "$work/result.json" |
        sed 's/^setuid(1000): EINVAL$/setuid(1000): EPERM/; s/^kill(1): done$/kill(1): EPERM/' \
            > "$work/probe"
}

@test "every attempt of the probe is refused as the list says" {
    probe
    diff -u "$here/probe.expected" "$work/probe"
}

@test "a caller with a thousand descriptors, an odd umask and ignored signals leaks none of it" {
    (
        ulimit -n 2000 2> /dev/null || true
        for fd in $(seq 10 900); do eval "exec $fd< /dev/null"; done
        umask 0
        trap '' PIPE TERM CHLD
        probe
    )
    diff -u "$here/probe.expected" "$work/probe"
}

@test "ids: a block of the cell's own as root, else a single one, and the result says which" {
    grade
    if is_root; then
        is ids block "$(field .isolation.ids)"
    else
        is ids single "$(field .isolation.ids)"
    fi
}

@test "limits that this machine cannot hold: refused, unless the caller accepts it" {
    [ ${#weak[@]} -gt 0 ] || skip 'every limit can be enforced here'
    weak=()
    grade
    ends 4 error infra infra.weak_limits
}
