#!/usr/bin/env bats
# assay exec: one command in a cell, its status passed on as a shell would.

load common

setup() {
    setup_work
}

cell() {
    "$ASSAY" exec "${weak[@]}" "$@"
}

@test "the command's status is passed on" {
    run -0 cell host -- true
    run -1 cell host -- false
    run -7 cell host -- sh -c 'exit 7'
}

@test "128+n for signals, 126 not executable, 127 not found" {
    run -139 cell host -- sh -c 'kill -SEGV $$'
    run -126 cell host -- /etc/passwd
    run -127 cell host -- no-such-command
    is words 1 "$(grep -c '^assay: usage: no-such-command: cannot be executed in the cell: No such file' <<< "$output")"
}

@test "124 for time limits, 137 for the others" {
    run -124 cell --limit wall=200ms host -- sleep 60
    run -124 cell --limit cpu=200ms host -- sh -c 'while :; do :; done'
    run -137 cell --limit memory=24MiB host -- sh -c 'x=$(yes)'
    # Where processes are only counted by polling, a shell may give up before it is seen.
    [ ${#weak[@]} -gt 0 ] || run -137 cell --limit pids=10 host -- sh -c 'while :; do sleep 60 & done'
}

@test "a command that fails on a full disk, in bytes or in files, is at its limit" {
    run -137 cell --report "$work/report" --limit disk=1MiB host -- dd if=/dev/zero of=/tmp/big bs=64K
    is limit limit.disk "$(jq -r .limit "$work/report")"
    run -137 cell --report "$work/report" --limit inodes=100 host -- \
        sh -c 'for i in $(seq 1000); do : > /tmp/$i || exit 1; done'
    is limit limit.disk "$(jq -r .limit "$work/report")"
    run -0 cell --limit disk=1MiB host -- sh -c 'dd if=/dev/zero of=/tmp/big bs=64K; rm /tmp/big'
}

@test "what follows IMAGE is the command's, whatever it looks like" {
    run -0 cell host echo --quiet -- --help
    [ "$output" = '--quiet -- --help' ]
}

@test "long command lines work, too long ones are refused" {
    run -0 cell host -- sh -c 'echo ${#1}' sh "$(head -c 40000 /dev/zero | tr '\0' x)"
    [ "$output" = 40000 ]
    run -2 cell host -- true "$(head -c 100000 /dev/zero | tr '\0' x)"
    # shellcheck disable=SC2046 # many words
    run -2 cell host -- true $(seq 5000)
}

@test "a cell that is at its limit is not beyond it" {
    run -0 cell --limit pids=1 host -- sleep 0.2
}

@test "125 when Assay fails, 2 for wrong usage" {
    run -125 cell --workdir /nowhere host -- true
    run -2 cell host
    run -2 cell --limit memory=much host -- true
    run -2 cell --limit nonsense=1 host -- true
    run -125 cell other-image -- true
    run -2 cell --limit output=1KiB host -- true
    run -2 cell host -- true < /
}

@test "standard input and output are the caller's" {
    run -0 --separate-stderr cell host -- cat <<< 'through'
    [ "$output" = through ]
}

@test "environment: a clean one, and what --env adds" {
    SECRET=1 run -0 cell --env GIVEN=2 host -- env
    [[ $output == *GIVEN=2* && $output != *SECRET* ]]
    run -0 cell --env HOME=/tmp host -- env
    [ "$(grep -c ^HOME= <<< "$output")" -eq 1 ]
}

@test "--report tells how it ended and what it used" {
    cell --report "$work/report" --timing host -- sh -c 'exit 3' || true
    [ "$(jq -c '[.exit, .signal, .limit]' "$work/report")" = '[3,null,null]' ]
    [ "$(jq '.setup_us > 0 and .wall_ms >= 0 and .memory_peak != 0' "$work/report")" = true ]
    cell --report "$work/report" --limit wall=100ms host -- sleep 60 || true
    [ "$(jq -c '[.exit, .signal, .limit]' "$work/report")" = '[null,null,"limit.wall"]' ]
}

@test "the runner becomes the supervisor: no process stands between" {
    "$ASSAY" exec "${weak[@]}" host -- sleep 60 3>&- &
    local caller=$! first
    until first=$(pgrep -P "$caller"); do :; done
    is 'the process that was assay' 'assay-cell exec ' "$(tr '\0' ' ' < "/proc/$caller/cmdline")"
    kill -TERM "$caller"
    wait "$caller" || true
    wait_gone "$first"
}

@test "a command outlives the shell that started it in the background" {
    sh -c '"$@" & echo $!' sh "$ASSAY" exec "${weak[@]}" --report "$work/report" host -- sleep 1 \
        > "$work/pid" 3>&-
    wait_gone "$(cat "$work/pid")"
    is exit 0 "$(jq .exit "$work/report")"
}

@test "--bind shows a directory or file, :ro read-only, with the caller's rights" {
    mkdir -m 700 "$work/bound"
    echo one > "$work/bound/file"
    run -0 cell --bind "$work/bound:/in/here:ro" --bind "$work/bound/file:/in/file:ro" host -- \
        cat /in/here/file /in/file
    is content $'one\none' "$output"
    run -1 cell --bind "$work/bound:/here:ro" host -- touch /here/new
    run -0 cell --bind "$work/bound:/here" host -- sh -c 'echo two > /here/new'
    is 'what the cell wrote' two "$(cat "$work/bound/new")"
    is 'and who owns it' "$(id -u)" "$(stat -c %u "$work/bound/new")"
    run -2 cell --bind "$work/bound" host -- true
    run -2 cell --bind "$work/bound:here" host -- true
    run -2 cell --bind "$work/nowhere:/here" host -- true
}

@test "--bind follows no link of what is bound, and cannot reach beside it" {
    mkdir -p "$work/outer" "$work/elsewhere" "$work/inner"
    ln -s "$work/elsewhere" "$work/outer/b"
    run -125 cell --bind "$work/outer:/a" --bind "$work/inner:/a/b/c" host -- true
    is 'made beside' '' "$(ls "$work/elsewhere")"
    echo secret > "$work/secret"
    ln -s "$work/secret" "$work/outer/null"
    run cell --bind "$work/outer:/dev" host -- cat /proc/sysrq-trigger
    [[ $output != *secret* ]]
}

@test "--stdin and --stdout take files" {
    echo text > "$work/in"
    run -0 cell --stdin "$work/in" --stdout "$work/out" host -- tr a-z A-Z
    is output TEXT "$(cat "$work/out")"
    run -2 cell --stdin "$work" host -- true
}

@test "--user runs the command under other ids" {
    is_root || grep -q 'sub-ids' <("$ASSAY" doctor) || skip 'this user has one id only'
    run -0 cell --user 7:8 host -- id -u
    is uid 7 "$output"
    run -0 cell --user 7:8 host -- id -g
    is gid 8 "$output"
    run -2 cell --user root host -- true
    run -2 cell --user 70000 host -- true
}

@test "--trace-denied names each denied call, once; --profile debug allows what debuggers need" {
    run -0 --separate-stderr cell --trace-denied host -- sh -c 'mount -t tmpfs x /tmp; umount /proc; true'
    [[ $stderr == *'denied: mount (EPERM): mounts'* ]]
    [ "$(grep -c 'denied: mount ' <<< "$stderr")" -eq 1 ]
    run -0 --separate-stderr cell --trace-denied --profile debug \
        --bind "$ASSAY_BUILD/tests:/programs:ro" host -- /programs/probe
    [[ $stderr != *'denied: ptrace'* && $stderr == *'denied: unknown call 1000 (ENOSYS)'* ]]
    run -2 cell --profile none host -- true
    run -127 cell --timing --report "$work/report" host -- no-such-command
    is 'setup of what never ran' null "$(jq .setup_us "$work/report")"
}

@test "--timing lists each step of the set-up" {
    cell --report "$work/report" --timing host -- true
    [ "$(jq '.done_us | (.namespaces, .network, .mounts // 1, .view, .enter, .rights, .exec) > 0' "$work/report" | sort -u)" = true ]
}

@test "background processes do not outlive the command" {
    run -0 cell host -- sh -c 'setsid sleep 4711 & exit 0'
    run -1 pgrep -f 'sleep 4711'
}

@test "network: loopback only, and it is up" {
    run -0 cell host -- cat /proc/net/dev
    is interfaces 1 "$(echo "$output" | grep -c ':')"
    [[ $output == *lo:* ]]
}

@test "two cells share no file, abstract socket or shared memory" {
    run -0 cell host -- sh -c 'echo token > /tmp/t && echo token > /dev/shm/t'
    run -0 cell host -- sh -c 'ls /tmp /dev/shm'
    [[ $output != *t$'\n'* ]]
    [ "$(cell host -- readlink /proc/self/ns/ipc)" != "$(readlink /proc/self/ns/ipc)" ]
    [ "$(cell host -- readlink /proc/self/ns/net)" != "$(readlink /proc/self/ns/net)" ]
}

@test "too few descriptors are said, and nothing stays" {
    for most in {10..40}; do
        status=0
        prlimit --nofile=$most timeout 20 "$ASSAY" exec "${weak[@]}" host -- true 2> "$work/errors" || status=$?
        [ $status -eq 0 ] || is "exit with $most" 125 $status
        [ $status -eq 0 ] || is 'lines' 1 "$(wc -l < "$work/errors")"
    done
    is 'exit with 40' 0 $status
    "$ASSAY" exec "${weak[@]}" host -- true
}

@test "a report that cannot be written is an error" {
    status=0
    "$ASSAY" exec "${weak[@]}" --report /dev/full host -- true 2> "$work/errors" || status=$?
    is exit 125 $status
    grep -q 'cannot write the report' "$work/errors"
}

@test "root of a user namespace is an ordinary user" {
    unshare --user --map-root-user true 2> /dev/null || skip 'no user namespaces here'
    is ids '0 0 1' "$(unshare --user --map-root-user "$ASSAY" exec --allow-weak-limits host -- \
        cat /proc/self/uid_map | xargs)"
}
