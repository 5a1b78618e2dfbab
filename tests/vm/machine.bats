#!/usr/bin/env bats
# The virtual machine is what the other tests there should meet.

load ../cli/common

setup() {
    setup_work
}

@test "control groups are those of version 2 alone" {
    is hierarchies 1 "$(wc -l < /proc/self/cgroup)"
    is version 2 "$("$ASSAY" doctor | sed -n 's/^ok  *cgroup  *version //p')"
}

@test "every limit can be held" {
    "$ASSAY" doctor --quiet
    is options '' "${weak[*]}"
}

@test "an ordinary user has no capability" {
    ! is_root || skip 'root has them all'
    is capabilities 0 "$(sed -n 's/^Cap[EIPA][a-z]*:\t0*\([0-9a-f]\)/\1/p' /proc/self/status | sort -u)"
}
