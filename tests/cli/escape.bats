#!/usr/bin/env bats
# Programs that attack their cell (tests/escape): each tries a class of docs/threat-model.md for
# real. A line that starts with ESCAPED is an attack that worked.

load common
load layout

# An emulated processor is slower.
patience=${ASSAY_PATIENCE:-1}

# What works and is not held (docs/threat-model.md): a single file that --bind shows is the host's own.
# Before Linux 6.14 everybody may read a process's timers; pid 1 has none.
known=('lock on /common-file' 'byte locks on /common-file' 'notification of /common-file'
    'open(/proc/1/timers, read)')

# What an ordinary user's cells can do, since they run under that user's id (docs/threat-model.md,
# "What is not held"): talk through the host's own device nodes, and give a file that is the
# user's another mode or time.
of_the_user=(
    'lock on /dev/' 'byte locks on /dev/' 'notification of /dev/'
    'truncate(standard input)' # before Linux 6.2, whose landlock knows it
    'fchmod(standard input)' 'chmod(standard input)' 'futimens(standard input)'
)

setup() {
    setup_work
    limits=(--limit wall=$((20 * patience))s)
    ! is_root || of_the_user=()
    marker=assay-escape-$$-$BATS_TEST_NUMBER
    make_canary
    left_groups > "$work/groups"
    host > "$work/host"
}

teardown() {
    host > "$work/host.after"
    diff -u "$work/host" "$work/host.after"
    is 'processes left' '' "$(pgrep -f "$marker" || true)"
    is 'groups left' '' "$(new_groups)"
}

make_canary() {
    local c=$work/canary
    mkdir -p "$c/open" "$c/closed"
    echo secret-of-the-host > "$c/canary-file"
    echo mine > "$c/closed/file"
    cp /bin/true "$c/set-id"
    chmod 6755 "$c/set-id"
    ln -s canary-file "$c/link"
    ln -s / "$c/open/root"
    ln "$c/canary-file" "$c/open/hard"
    mkfifo "$c/fifo"
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$c/socket" 2> /dev/null ||
        perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un($ARGV[0])) or die' "$c/socket"
    chmod 700 "$c/closed"
    # Later than now: then our own looks do not move it.
    find "$c" -exec touch -h -a -d '+1 day' {} +
}

# What must be the same afterwards.
host() {
    find "$work/canary" -printf '%P %y %m %U:%G %s %n %A@ %T@ %C@ %l\n' | sort
    find "$work/canary" -type f -exec sha256sum {} + | sort
    cat /proc/self/mountinfo
}

# Groups of cells that no supervisor has locked.
left_groups() {
    local dir
    find /sys/fs/cgroup -type d -name 'assay-[0-9]*' -uid "$(id -u)" 2> /dev/null | sort | while read -r dir; do
        grep -q ":$(stat -c %i "$dir" 2> /dev/null) " /proc/locks || echo "$dir"
    done
}

# Those that were not there before, looked at twice: another's may be just made and not locked yet.
new_groups() {
    left_groups > "$work/groups.once"
    left_groups | comm -12 - "$work/groups.once" | comm -23 - "$work/groups"
}

# attack NAME [ARGUMENT…]: the lines are in $work/lines, the report in $work/report
attack() {
    status=0
    rm -f "$work/report"
    "$ASSAY" exec "${weak[@]}" "${limits[@]}" --report "$work/report" \
        --bind "$ASSAY_BUILD/tests/escape:/escape:ro" "${image:-host}" -- "/escape/$1" "${@:2}" \
        < "${input:-/dev/null}" > "$work/lines" 2> "$work/errors" || status=$?
}

# escapes FILE: the attacks that worked, without those that are known
escapes() {
    local line name
    grep -a ^ESCAPED "$1" | while read -r line; do
        for name in "${known[@]}" "${of_the_user[@]}"; do
            [[ $line != "ESCAPED $name"* ]] || continue 2
        done
        echo "$line"
    done
}

# nothing_worked LINES: the program came to its end, wrote at least so many lines, and no attack worked
nothing_worked() {
    is status 0 "$status"
    is escapes '' "$(escapes "$work/lines")"
    [ "$(wc -l < "$work/lines")" -ge "$1" ]
}

# ended_by LIMIT WHAT: a limit ended it, soon, and the next cell runs
ended_by() {
    is "$2: limit" "$1" "$(jq -r .limit "$work/report")"
    [ "$SECONDS" -le $((15 * patience)) ] || { echo "$2: took $SECONDS s" >&2 && return 1; }
    is "$2: processes left" '' "$(pgrep -f "$marker" || true)"
    "$ASSAY" exec "${weak[@]}" host -- true
}

# --- the cell ---------------------------------------------------------------------------------

@test "descriptors: three, none a directory, none opened again for more than it was given for" {
    cp "$work/canary/canary-file" "$work/input"
    grep -q '^ok   landlock' <("$ASSAY" doctor) || skip 'a file of the same user is open again without landlock'
    input=$work/input attack descriptors
    nothing_worked 20
    grep -q '^ESCAPED truncate' "$work/lines" || is input secret-of-the-host "$(cat "$work/input")"
}

@test "descriptors: also when the caller has the three closed, or a thousand open" {
    "$ASSAY" exec "${weak[@]}" --stdout "$work/lines" --bind "$ASSAY_BUILD/tests/escape:/escape:ro" \
        host -- /escape/descriptors <&- >&- 2>&-
    is escapes '' "$(grep -E '^ESCAPED.*(beyond|directory)' "$work/lines")"
    (
        ulimit -n 2000 2> /dev/null || true
        for fd in $(seq 10 900); do eval "exec $fd< /"; done
        input=$work/canary/canary-file attack descriptors
        is escapes '' "$(escapes "$work/lines")"
    )
}

@test "/proc: nothing of pid 1, no setting, no program of ours" {
    attack proc
    nothing_worked 50
}

@test "rights: no capability, id, limit, priority or clock to be won" {
    attack rights
    nothing_worked 40
}

@test "paths: no way above the root" {
    attack paths "$work/canary/canary-file"
    nothing_worked 30
}

@test "a directory bound for writing: no device, no way beside it" {
    mkdir -p "$work/bound/below"
    ln -s ../canary/canary-file "$work/bound/to-canary"
    limits+=(--bind "$work/bound:/bound" --bind "$work/bound/below:/below")
    attack bind
    nothing_worked 18
    is devices '' "$(find "$work/bound" -type b -o -type c)"
    is owners "$(id -u)" "$(find "$work/bound" -printf '%U\n' | sort -u)"
}

@test "system calls: i386 and x32 kill for every number; namespaces, mounts, kernel doors" {
    attack syscalls
    nothing_worked 100
}

@test "a terminal of the caller is neither typed into nor taken" {
    cat > "$work/in-terminal" <<END
"$ASSAY" exec ${weak[*]} --bind "$ASSAY_BUILD/tests/escape:/escape:ro" host -- /escape/syscalls
"$ASSAY" exec ${weak[*]} --bind "$ASSAY_BUILD/tests/escape:/escape:ro" host -- /escape/leaks
END
    script -qec "bash '$work/in-terminal'" /dev/null < /dev/null > "$work/lines" 2>&1
    grep -q '^TIOCSTI: refused' "$work/lines"
    grep -q '^a terminal: no' "$work/lines"
    is escapes '' "$(escapes "$work/lines")"
}

@test "leaks: limits, signals, environment, umask and directory of the caller" {
    (
        cd /usr
        umask 0
        trap '' PIPE TERM CHLD USR1
        ulimit -S -n 77 && ulimit -S -s 1234 && ulimit -S -d 7654321 && ulimit -S -v 7654321 && ulimit -S -f 4096
        SECRET=1 nice -n 3 env CALLER=1 "$ASSAY" exec "${weak[@]}" \
            --bind "$ASSAY_BUILD/tests/escape:/escape:ro" host -- /escape/leaks nofile=77 \
            stack=$((1234 * 1024)) data=$((7654321 * 1024)) as=$((7654321 * 1024)) fsize=$((4096 * 1024))
    ) > "$work/lines"
    status=0
    nothing_worked 100
}

# The same view is made in another way there.
@test "the cell of an image: paths, /proc, rights, system calls, descriptors" {
    mkdir -p "$work/base/usr" "$work/base/tmp" "$work/base/etc" "$work/upper/usr/lib"
    cd "$work"
    layout layers it base upper
    "$ASSAY" image load --quiet layers
    image=it attack paths "$work/canary/canary-file"
    nothing_worked 20
    image=it attack proc
    nothing_worked 50
    image=it attack rights
    nothing_worked 40
    image=it attack syscalls
    nothing_worked 100
    grep -q '^ok   landlock' <("$ASSAY" doctor) || return 0
    cp "$work/canary/canary-file" "$work/input"
    input=$work/input image=it attack descriptors
    nothing_worked 20
}

# --- exhaustion -------------------------------------------------------------------------------

@test "processes: bombs meet the pids limit" {
    limits=(--limit wall=3s --limit pids=32)
    for kind in fork-bomb thread-bomb zombies; do
        SECONDS=0
        attack processes "$kind" "$marker"
        ended_by limit.pids "$kind"
    done
    # Some of its processes at most are there at a time: it may as well burn until the cpu limit.
    limits+=(--limit cpu=1s)
    attack processes running-bomb "$marker"
    [[ $(jq -r .limit "$work/report") =~ ^limit\.(pids|cpu|wall)$ ]]
}

@test "processes: daemons, stopped, deaf and waiting ones end with the cell" {
    limits=(--limit wall=300ms --limit cpu=1s)
    for kind in stopped deaf unkillable sleep; do
        SECONDS=0
        attack processes "$kind" "$marker"
        ended_by limit.wall "$kind"
    done
    for kind in daemons burn-after-exit; do
        SECONDS=0
        attack processes "$kind" "$marker"
        is "$kind" 0 "$status"
        ended_by null "$kind"
    done
}

@test "time: spinning, in children too, and deaf to SIGXCPU: the cpu limit" {
    limits=(--limit wall=10s --limit cpu=300ms)
    for kind in spin ignore-xcpu burn-children; do
        SECONDS=0
        attack processes "$kind" "$marker"
        ended_by limit.cpu "$kind"
        [ "$(jq .cpu_ms "$work/report")" -ge 300 ]
    done
}

@test "memory that lies in a process: limit.memory" {
    limits=(--limit wall=$((5 * patience))s --limit memory=24MiB --limit files=20000)
    for kind in heap mmap shared sysv page-tables; do
        SECONDS=0
        attack memory "$kind" 72 "$marker"
        ended_by limit.memory "$kind"
    done
}

@test "memory that the kernel holds for a cell: limit.memory" {
    limits=(--limit wall=$((5 * patience))s --limit memory=24MiB --limit files=20000)
    for kind in tmpfs dev-shm unlinked memfd pipes unix msgq semaphores sockets; do
        SECONDS=0
        if [ ${#weak[@]} -eq 0 ]; then
            attack memory "$kind" 72 "$marker"
            ended_by limit.memory "$kind"
        else
            # Only polled for: what is not resident in a process is not seen. It goes with the cell.
            attack memory "$kind" 72 end "$marker"
            ended_by null "$kind"
        fi
    done
}

@test "memory of the page cache is reclaimed; POSIX queues are too small to matter" {
    limits=(--limit wall=10s --limit memory=24MiB)
    SECONDS=0
    attack memory page-cache 48 end "$marker"
    ended_by null page-cache
    [ ${#weak[@]} -gt 0 ] || [ "$(jq .memory_peak "$work/report")" -le $((24 << 20)) ]
    attack memory mqueue 24 end "$marker"
    ended_by null mqueue
    [ "$(sed -n 's/.*held \([0-9]*\) .*/\1/p' "$work/lines")" -le 64 ]
}

# Buffers of network sockets are counted by none, or by a limit of their own that makes sending wait:
# no code to expect (docs/threat-model.md, "What is not held"). They go with the cell.
@test "memory of network sockets is gone with the cell" {
    limits=(--limit wall=2s --limit memory=24MiB --limit files=4000)
    for kind in tcp udp; do
        SECONDS=0
        attack memory "$kind" 48 end "$marker"
        [[ $(jq -r .limit "$work/report") =~ ^(null|limit\.(memory|wall))$ ]]
        ended_by "$(jq -r .limit "$work/report")" "$kind"
    done
}

@test "disk: bytes, inodes and holes meet their limit inside" {
    limits=(--limit wall=10s --limit disk=4MiB --limit inodes=2000)
    for attempt in 'bytes 4194304' 'inodes 2000' 'sparse 4194304'; do
        SECONDS=0
        # shellcheck disable=SC2086 # a kind and a number
        attack disk $attempt
        nothing_worked 2
        ended_by null "$attempt"
    done
}

@test "disk: a tree 100000 deep, and directories that nobody may read, are gone with the cell" {
    limits=(--limit wall=$((20 * patience))s --limit memory=1GiB --limit inodes=300000)
    SECONDS=0
    attack disk deep 100000
    nothing_worked 1
    is depth 'depth: 100000 (as wanted)' "$(cat "$work/lines")"
    ended_by null deep
    attack disk unreadable 500
    is status 0 "$status"
    ended_by null unreadable
}

@test "core dumps go nowhere" {
    ulimit -c unlimited 2> /dev/null || true
    (cd "$work/canary/open" && attack processes dump-core "$marker" && is status 134 "$status")
    is 'core files' '' "$(find "$work" -name 'core*')"
}

@test "output: endless, one line of gigabytes, control characters, closed, unread" {
    mkdir -p "$work/task/tests"
    cp "$ASSAY_BUILD/tests/escape/output" "$work/task/tests/"
    submission
    for kind in flood one-line dirt closed; do
        cat > "$work/task/task.json" <<END
{"schema": "assay.task/1", "name": "output", "limits": {"wall": "20s", "output": "64KiB"},
 "scoring": {"scheme": "blend", "mode": "container"}, "suite": {"command": ["/tests/output", "$kind"]}}
END
        grade
        case $kind in
        flood | one-line) is "$kind" limit.output "$(field .code)" ;;
        *) is "$kind" suite.no_result "$(field .code)" ;;
        esac
        is "$kind: control characters in the result" '' "$(tr -d '\n' < "$work/result.json" | LC_ALL=C grep -ao '[[:cntrl:]]')"
        "$ASSAY" run "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/shown" 2>&1 || true
        is "$kind: control characters shown" '' "$(tr -d '\n' < "$work/shown" | LC_ALL=C grep -ao '[[:cntrl:]]')"
    done
    # What the command does not read is nobody's loss.
    head -c 10000000 /dev/zero | "$ASSAY" exec "${weak[@]}" host -- true
}

# kill_supervisor [OPTION…]: its cell must be gone, though nobody told it
kill_supervisor() {
    "$ASSAY" exec "${weak[@]}" "$@" --limit wall=$((20 * patience))s --bind "$ASSAY_BUILD/tests/escape:/escape:ro" host -- \
        /escape/processes sleep "$marker" 3>&- &
    local caller=$! first left
    until first=$(pgrep -P "$caller") && [ -n "$(pgrep -P "$first" -f /escape/processes)" ]; do :; done
    kill -KILL "$caller"
    wait "$caller" || true
    SECONDS=0
    while left=$(pgrep -f "$marker") && [ "$SECONDS" -le 2 ]; do :; done
    [ -z "$left" ] || kill -KILL "$first"
    wait_gone "$first"
    "$ASSAY" doctor --quiet 2> /dev/null || true
    is 'processes left' '' "$left"
}

@test "the supervisor killed: its cell dies, and the next start removes the group" {
    kill_supervisor
}

@test "the supervisor killed among many cells: what closes their mounts goes with it, and the evaluation says so" {
    mkdir -p "$work/task"
    jq -nc '{schema: "assay.task/1", name: "many", scoring: {mode: "container"},
        cases: [range(3000) | {name: tostring, command: ["true"], stdout: ""}]}' > "$work/task/task.json"
    submission
    "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/result.json" 2> "$work/errors" 3>&- &
    local caller=$! supervisor children
    until supervisor=$(pgrep -P "$caller" -x assay-cell) && children=$(pgrep -P "$supervisor") &&
        [ "$(wc -w <<< "$children")" -ge 2 ]; do kill -0 "$caller"; done
    kill -KILL "$supervisor"
    status=0
    wait "$caller" || status=$?
    ends 4 error infra infra.supervisor_lost
    for pid in $children; do wait_gone "$pid"; done
    "$ASSAY" doctor --quiet 2> /dev/null || true # which tidies up
}

@test "the supervisor killed at any moment: also a cell that was just being made is gone" {
    mkdir -p "$work/task"
    jq -nc '{schema: "assay.task/1", name: "many", scoring: {mode: "container"},
        cases: [range(3000) | {name: tostring, command: ["true"], stdout: ""}]}' > "$work/task/task.json"
    submission
    local rounds=$((patience > 1 ? 2 : 30)) # an emulator takes its time for each
    for ((i = 0; i < rounds; i++)); do
        "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > /dev/null 2>&1 3>&- &
        local caller=$! supervisor
        until supervisor=$(pgrep -P "$caller" -x assay-cell) && [ "$(pgrep -cP "$supervisor")" -ge 2 ]; do kill -0 "$caller"; done
        for ((n = RANDOM % 400; n > 0; n--)); do :; done # some moment
        kill -KILL "$supervisor" || true
        wait "$caller" || true
        # All of its processes are in its session until they execute a command.
        for ((n = 0; n < 500; n++)); do pgrep -r DRST -s "$supervisor" > /dev/null || break; done
        is 'left of the supervisor' '' "$(pgrep -r DRST -s "$supervisor" || true)"
    done
    "$ASSAY" doctor --quiet 2> /dev/null || true # which tidies up
}

@test "the supervisor killed: also the cell of another user" {
    is_root || skip 'this user has one id only'
    kill_supervisor --user 7:8
}

# --- between cells ----------------------------------------------------------------------------

token=0123456789abcdef0123456789abcdef

@test "a token does not pass to the next cell" {
    echo common > "$work/common"
    limits+=(--bind "$work/common:/common-file:ro")
    attack token send "$token"
    grep -q '^send: ready' "$work/lines"
    attack token receive "$token"
    nothing_worked 100
}

@test "a token does not pass between two cells at once" {
    echo common > "$work/common"
    limits+=(--bind "$work/common:/common-file:ro")
    "$ASSAY" exec "${weak[@]}" "${limits[@]}" --bind "$ASSAY_BUILD/tests/escape:/escape:ro" host -- \
        /escape/token send "$token" hold > "$work/sent" 3>&- &
    local sender=$!
    until grep -q '^send: ready' "$work/sent"; do :; done
    attack token receive "$token"
    kill "$sender"
    wait "$sender" || true
    nothing_worked 100
}
