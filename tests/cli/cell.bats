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
    # A single-id map makes one errno another; a signal to pid 1 may pass, but the kernel drops it.
    # As root a cell may change /usr for itself.
    jq -j .logs.stdout.head "$work/result.json" |
        sed 's/^setuid(1000): EINVAL$/setuid(1000): EPERM/; s/^kill(1): done$/kill(1): EPERM/
            s/^write(\/usr): EROFS$/write(\/usr): done/' \
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

@test "what a cell changes in /usr is gone with it" {
    is_root || skip 'as an ordinary user /usr is read-only'
    run -0 "$ASSAY" exec "${weak[@]}" host -- sh -c 'rm -r /usr/share/doc && mkdir /usr/share/doc &&
        touch /usr/share/doc/mine /usr/bin/mine && ls /usr/share/doc'
    is 'the remade directory' mine "$output"
    [ -e /usr/share/doc ] && [ ! -e /usr/share/doc/mine ] && [ ! -e /usr/bin/mine ]
    run -1 "$ASSAY" exec "${weak[@]}" host -- test -e /usr/bin/mine
}

@test "what only the host's root may read in /usr stays closed" {
    is_root || skip 'nothing in /usr is another user'"'"'s'
    mkdir -p /usr/local/share/assay-test-$$
    echo secret > /usr/local/share/assay-test-$$/key
    chmod 600 /usr/local/share/assay-test-$$/key
    run "$ASSAY" exec "${weak[@]}" host -- sh -c "cat /usr/local/share/assay-test-$$/key;
        chmod 644 /usr/local/share/assay-test-$$/key; cat /usr/local/share/assay-test-$$/key;
        mv /usr/local/share/assay-test-$$/key /tmp/key; cat /tmp/key"
    rm -r /usr/local/share/assay-test-$$
    [[ $output != *secret* ]]
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

@test "cells of one evaluation wait for memory, first come, first served" {
    diff - <("$ASSAY_BUILD/tests/cell-driver" "$ASSAY_BUILD/assay-cell" total) << 'END'
3 waits
1 done
3 done
5 waits
5 failed
6 failed
2 done
4 done
END
}

@test "more cells than there are descriptors for wait" {
    is 'cells that slept' 20 "$(ulimit -n 300 && "$ASSAY_BUILD/tests/cell-driver" "$ASSAY_BUILD/assay-cell" crowd)"
}

# stop_undertaker CALLER: of the supervisor that it started; one that shares its namespaces twice in a row
stop_undertaker() {
    local supervisor='' pid seen=''
    until supervisor=$(pgrep -P "$1" -x assay-cell); do :; done
    while kill -0 "$1" 2> /dev/null; do
        for pid in $(pgrep -P "$supervisor" -x assay-cell); do
            [ "$(readlink "/proc/$pid/ns/pid")" = "$(readlink /proc/self/ns/pid)" ] || continue
            [ "$pid" = "$seen" ] && kill -STOP "$pid" && return
            seen=$pid
        done
    done
    return 1
}

# cases COUNT SHELL-COMMAND [MEMBERS]: a task of such cases
cases() {
    jq -nc --argjson n "$1" --arg command "$2" "{schema: \"assay.task/1\", name: \"many\", scoring: {mode: \"container\"}${3:+, $3},
        cases: [range(\$n) | {name: tostring, command: [\"sh\", \"-c\", \$command], stdout: \"\"}]}" > "$work/task/task.json"
}

@test "an undertaker that is stopped holds nothing: no descriptors that others need" {
    cases 1000 true
    (ulimit -n 1024 && exec "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz") > "$work/result.json" 3>&- &
    local caller=$!
    stop_undertaker "$caller"
    wait "$caller"
    is status graded "$(field .status)"
    # Where there are few, there is none to be stopped.
    (ulimit -n 300 && exec "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz") > "$work/result.json" 3>&- &
    caller=$!
    run -1 stop_undertaker "$caller"
    wait "$caller"
    is status graded "$(field .status)"
}

@test "memory of a cell that is gone is free before the next one is given it, also when its undertaker is stopped" {
    megabytes() { sed -n 's/^Shmem: *\([0-9]*\)[0-9]\{3\} kB$/\1/p' /proc/meminfo; }
    cases 40 'head -c 50000000 /dev/zero > /tmp/x' 'limits: {cpus: 1, memory: "64MiB", total_memory: "128MiB"}, submission: {limits: {memory: "100MiB"}}'
    local before most=0 now
    before=$(megabytes)
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/result.json" 3>&- &
    local caller=$!
    stop_undertaker "$caller"
    while kill -0 "$caller" 2> /dev/null; do
        now=$(megabytes)
        [ "$now" -le "$most" ] || most=$now
    done
    wait "$caller"
    is status graded "$(field .status)"
    # All together wrote 2 GB; other programs of the machine have files of this kind, too.
    [ $((most - before)) -lt 1000 ] || { echo "$((most - before)) MB" && return 1; }
}

@test "as root a cell gets no block of ids that another one has, wherever that one's groups are" {
    is_root || skip "an ordinary user has no blocks of ids"
    # A /run of its own, in which all numbers but 7 are taken.
    unshare --mount --propagation private sh -c '
        mount -t tmpfs none /run && mkdir /run/assay && : > /run/assay/slots || exit 1
        exec perl -e '\''
            open(my $slots, "+<", "/run/assay/slots") or die;
            foreach my $range ([0, 7], [8, 0]) { # start, length (0: all that follow)
                fcntl($slots, 6, pack("ssx4qqlx4", 1, 0, @$range, 0)) or die "lock: $!";
            }
            system(@ARGV);
        '\'' "$@"
    ' sh "$ASSAY_BUILD/assay" exec "${weak[@]}" host -- cat /proc/self/uid_map > "$work/map"
    read -r inside outside count < "$work/map"
    is 'the eighth block' "0 $((0x70000000 + 8 * 65536)) 65536" "$inside $outside $count"
}

@test "root without all of its rights makes no cell, and says what it lacks" {
    is_root || skip "an ordinary user has none of them"
    for right in setgid setpcap mknod sys_chroot; do
        status=0
        setpriv --bounding-set "-$right" --inh-caps "-$right" \
            "$ASSAY_BUILD/assay" exec --allow-weak-limits host -- true 2> "$work/errors" || status=$?
        is "exit without $right" 125 $status
        grep -q "^assay: infra.cell: root lacks CAP_${right^^}: give it that" "$work/errors"
    done
}

@test "where /etc is a link, the cell gets views all the same, never the host's own" {
    is_root || skip "the one view of the whole root is made as root"
    mkdir "$work/root"
    # A machine of its own: its root is a tmpfs, /etc leads elsewhere by an absolute link.
    unshare --mount --propagation private sh -ec '
        mount -t tmpfs none "$1" && cd "$1"
        mkdir -p usr proc dev sys run tmp old build real/etc/alternatives
        for link in bin sbin lib lib64; do cp -a /$link . ; done
        mount --rbind /dev dev && mount --rbind /sys sys && mount --bind /usr usr
        mount -t proc proc proc && mount --bind "$2" build
        ln -s /real/etc etc
        echo host > real/etc/alternatives/file && chmod 666 real/etc/alternatives/file
        chmod 1777 real/etc/alternatives
        pivot_root . old && cd / && umount -l old
        /build/assay exec --allow-weak-limits host -- \
            sh -c "cat /etc/alternatives/file; echo changed > /etc/alternatives/file; echo > /etc/alternatives/new" || true
        cat /real/etc/alternatives/file; ls /real/etc/alternatives
    ' sh "$work/root" "$ASSAY_BUILD" > "$work/output" 2> "$work/errors"
    diff - "$work/output" << 'END'
host
host
file
END
}
