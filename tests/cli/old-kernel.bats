#!/usr/bin/env bats
# Kernels, and containers' filters, that lack calls which newer ones have: each is taken away in turn
# (tests/programs/without.c).

load common

setup() {
    setup_work
}

# without CALLS [EXEC OPTIONS…] -- COMMAND…
without() {
    local calls=$1
    shift
    "$ASSAY_BUILD/tests/without" "$calls" "$ASSAY" exec "${weak[@]}" "$@"
}

@test "cells work without openat2, clone3, close_range, landlock or pidfd signals" {
    mkdir "$work/tree"
    for calls in openat2 clone3 close_range landlock_create_ruleset pidfd_open,pidfd_send_signal \
        openat2,clone3,close_range,landlock_create_ruleset,pidfd_open,pidfd_send_signal; do
        echo "without $calls"
        run -7 without "$calls" --bind "$work/tree:/a/tree:ro" host -- sh -c 'ls -d /a/tree && exit 7'
        run -124 without "$calls" --limit wall=200ms host -- sleep 60
        run -0 --separate-stderr without "$calls" host -- ls /proc/self/fd
        is 'descriptors of the command, and of ls itself' 4 "$(wc -l <<< "$output")"
    done
}

@test "a whole evaluation works without all of them" {
    task good
    submission
    status=0
    "$ASSAY_BUILD/tests/without" \
        openat2,clone3,close_range,landlock_create_ruleset,pidfd_open,pidfd_send_signal \
        "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" \
        > "$work/result.json" 2> "$work/errors" || status=$?
    is exit 0 "$status"
    is status graded "$(field .status)"
}

@test "without the calls that mount by descriptor: refused, and says so" {
    for call in fsopen fsconfig fsmount open_tree move_mount mount_setattr; do
        run -125 without "$call" host -- true
        echo "without $call: $output"
        [[ $output == *'infra.cell: '*'Function not implemented'*'assay doctor'* ]]
    done
}
