#!/usr/bin/env bats
# assay-exec: what a suite calls of the submission runs in cells of its own.

load common

setup() {
    setup_work
}

# What the suite's script printed, once it was graded.
printed() {
    field .logs.stdout.head
}

pass='echo "{\"score\": 100, \"pass\": true}" > /results/score.json'

@test "a call runs in the submission's directory, passes bytes and the status on" {
    script_task << END
echo hello | \$ASSAY_EXEC -- cat
\$ASSAY_EXEC -- pwd
\$ASSAY_EXEC -- cat main.txt
\$ASSAY_EXEC -- sh -c 'echo to stderr >&2; exit 3'; echo "status \$?"
\$ASSAY_EXEC -- sh -c 'kill -9 \$\$'; echo "status \$?"
\$ASSAY_EXEC -- /nonexistent; echo "status \$?"
\$ASSAY_EXEC -- ./main.txt; echo "status \$?"
$pass
END
    submission
    grade
    is exit 0 "$status"
    is integrity brokered "$(field .isolation.integrity)"
    is printed 'hello
/agent_output
main.txt
status 3
status 137
status 127
status 126' "$(printed)"
    is 'standard error' 'to stderr' "$(field .logs.stderr.head)"
    is 'calls counted' 7 "$(field .usage.submission.cells)"
    nothing_left
}

@test "each call starts from the same clean tree, which it may change for itself" {
    script_task << END
\$ASSAY_EXEC -- sh -c 'echo changed > main.txt; touch new; mkdir d; rm -r d; cat main.txt'
\$ASSAY_EXEC -- sh -c 'cat main.txt; ls; ls /tmp'
$pass
END
    submission
    grade
    is printed 'changed
main.txt
main.txt' "$(printed)"
}

@test "limits of a call end it alone, with the status of timeout or of a limit" {
    script_task << END
e() { \$ASSAY_EXEC "\$@"; echo "status \$?"; }
e --timeout 200ms -- sleep 20
e --cpu 100ms -- sh -c 'while :; do :; done'
[ -n "${weak[*]}" ] && echo 'status 137' || e --memory 24MiB -- python3 -c 'x = b"a" * 100000000'
e --output 1KiB -- sh -c 'yes 2> /dev/null' | wc -c
e --output 1KiB -- head -c 1024 /dev/zero | wc -c
e --memory 8GiB -- true
$pass
END
    submission
    grade
    is exit 0 "$status"
    is printed 'status 124
status 124
status 137
1035
1033
status 125' "$(printed)"
}

@test "a report tells how a call ended" {
    script_task << END
\$ASSAY_EXEC --report /tmp/r -- sh -c 'exit 4'; cat /tmp/r
\$ASSAY_EXEC --report /tmp/r --timeout 100ms -- sleep 9; cat /tmp/r
\$ASSAY_EXEC --report /tmp/r -- sh -c 'kill -15 \$\$'; cat /tmp/r
$pass
END
    submission
    grade
    printed > "$work/reports"
    is exits '[4,null,null]' "$(jq -sc '[.[].exit]' "$work/reports")"
    is signals '[null,null,15]' "$(jq -sc '[.[].signal]' "$work/reports")"
    is limits '[null,"limit.wall",null]' "$(jq -sc '[.[].limit]' "$work/reports")"
    jq -e '.wall_ms >= 0 and .cpu_ms >= 0' "$work/reports" > /dev/null
}

@test "many bytes go through in both directions" {
    script_task << END
head -c 3000000 /dev/zero | tr '\0' x > /tmp/in
\$ASSAY_EXEC --output 8MiB -- cat < /tmp/in > /tmp/out; echo "status \$?"
cmp /tmp/in /tmp/out && echo same
\$ASSAY_EXEC --output 8MiB -- cat < /tmp/in | cmp - /tmp/in && echo same
cat /tmp/in | \$ASSAY_EXEC --output 8MiB -- cat >> /tmp/log; cmp /tmp/log /tmp/in && echo same
cat /tmp/in | \$ASSAY_EXEC -- head -c 5; echo
$pass
END
    submission
    sed -i 's/"name"/"limits": {"output": "16MiB"}, "name"/' "$work/task/task.json"
    grade
    is printed 'status 0
same
same
same
xxxxx' "$(printed)"
}

@test "calls at once, more than the memory of all cells allows: each is served" {
    script_task '"limits": {"total_memory": "1280MiB"},' << END
for i in 1 2 3 4 5 6 7 8 9 10; do
    \$ASSAY_EXEC --memory 128MiB -- echo \$i > /tmp/\$i &
done
wait
cat /tmp/1 /tmp/2 /tmp/3 /tmp/4 /tmp/5 /tmp/6 /tmp/7 /tmp/8 /tmp/9 /tmp/10 | xargs
$pass
END
    submission
    grade
    is printed '1 2 3 4 5 6 7 8 9 10' "$(printed)"
}

@test "a call that is killed takes its command with it; one that is left goes with the suite" {
    script_task << END
\$ASSAY_EXEC -- sleep 1000 & 
pid=\$!
until \$ASSAY_EXEC -- true; do :; done
kill \$pid; wait \$pid
echo "status \$?"
\$ASSAY_EXEC -- sleep 1000 > /dev/null 2>&1 &
$pass
END
    submission
    grade
    is exit 0 "$status"
    is printed 'status 143' "$(printed)"
    nothing_left
}

@test "a child that keeps the pipe open does not keep the call: it ends when its command does" {
    script_task << END
\$ASSAY_EXEC -- sh -c 'sleep 1000 & echo done'
$pass
END
    submission
    grade
    is printed 'done' "$(printed)"
    nothing_left
}

@test "descriptors of the suite stay in the suite: a command gets pipes alone" {
    script_task << END
echo secret > /tmp/secret
exec 7< /tmp/secret
mkfifo /tmp/fifo
\$ASSAY_EXEC -- sh -c 'for f in /proc/self/fd/*; do readlink \$f; done' < /tmp/secret | sed 's/[0-9]//g' | sort | uniq -c | sed 's/^ *//'
\$ASSAY_EXEC -- sh -c 'cat' < /tmp/secret
\$ASSAY_EXEC -- sh -c 'echo in > /proc/self/fd/0' < /tmp/secret 2> /dev/null
cat /tmp/secret
\$ASSAY_EXEC -- sh -c 'cat /proc/self/fd/1' > /results/out; echo "status \$?"
$pass
END
    submission
    grade
    is 'what is open' '3 pipe:[]' "$(printed | head -1)"
    is secret 'secret
secret' "$(printed | sed -n '2,3p' | sed 's/^1 .*//')"
}

@test "without a broker there is no assay-exec in the suite's cell, and no socket" {
    script_task << END
ls -d /run/assay; echo "exec is '\$ASSAY_EXEC'"
$pass
END
    sed -i 's/"broker": true/"broker": false/' "$work/task/task.json"
    submission
    grade
    is printed "exec is ''" "$(printed)"
    is integrity shared "$(field .isolation.integrity)"
}

@test "integrity is decided from the mounts: brokered needs both, isolated has no submission" {
    script_task <<< "$pass"
    submission
    grade
    is integrity brokered "$(field .isolation.integrity)"
    sed -i '/"submission"/d; s/"broker": true},/"broker": true}/' "$work/task/task.json"
    grade
    is integrity shared "$(field .isolation.integrity)"
    sed -i 's/"broker": true/"broker": true, "sees_submission": false/' "$work/task/task.json"
    grade
    is integrity isolated "$(field .isolation.integrity)"
}

@test "the suite reads the submission, and can neither change nor execute it" {
    script_task << END
/agent_output/program 2> /dev/null; echo "status \$?"
sh -c 'echo x >> /agent_output/program' 2> /dev/null || echo refused
\$ASSAY_EXEC -- ./program
$pass
END
    mkdir -p "$work/submission"
    printf '#!/bin/sh\necho ran\n' > "$work/submission/program"
    chmod +x "$work/submission/program"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    grade
    is printed 'status 126
refused
ran' "$(printed)"
}

@test "a submission's cell has no tests, no results, no truth, no socket" {
    script_task << END
\$ASSAY_EXEC -- sh -c 'ls -d /tests /results /run/assay /truth 2> /dev/null; env | cut -d= -f1 | sort | xargs'
$pass
END
    submission
    grade
    is printed 'HOME LANG PATH PWD' "$(printed)"
}

@test "submission.env and submission.limits are those of its cells" {
    script_task '' ', "env": {"A": "b"}, "limits": {"wall": "150ms"}' << END
\$ASSAY_EXEC -- sh -c 'echo \$A'
\$ASSAY_EXEC -- sleep 9; echo "status \$?"
$pass
END
    submission
    grade
    is printed 'b
status 124' "$(printed)"
}

@test "calls of a session share files and processes, one at a time; others see nothing of it" {
    script_task << END
e() { \$ASSAY_EXEC --session one "\$@"; }
e -- sh -c 'echo kept > file; sleep 1000 & echo \$! > pid; exit 5'; echo "status \$?"
e -- sh -c 'cat file; kill -0 \$(cat pid) && echo lives'
echo input | e -- cat
e -- /nonexistent; echo "status \$?"
e --report /tmp/r -- sh -c 'kill -9 \$\$'; echo "status \$?"; cat /tmp/r | tr -d '{' | cut -d, -f1,2
\$ASSAY_EXEC --session two -- ls
\$ASSAY_EXEC -- ls
for i in 1 2 3 4 5 6; do e -- sh -c "echo \$i >> order; echo \$i" > /dev/null & done; wait
e -- sh -c 'wc -l < order'
$pass
END
    submission
    grade
    is exit 0 "$status"
    is printed 'status 5
kept
lives
input
status 127
status 137
"exit": null, "signal": 9
main.txt
main.txt
6' "$(printed)"
    nothing_left
}

@test "sessions that hold all the memory there is: a further call is told so, and does not wait" {
    script_task '"limits": {"memory": "256MiB", "disk": "64MiB", "total_memory": "640MiB"},' << END
\$ASSAY_EXEC --session a --memory 192MiB -- true
\$ASSAY_EXEC --memory 192MiB -- echo fits
\$ASSAY_EXEC --session b --memory 192MiB -- echo fits
\$ASSAY_EXEC --memory 192MiB -- true 2>&1; echo "status \$?"
\$ASSAY_EXEC --session a --memory 192MiB -- echo still served
$pass
END
    submission
    grade
    is exit 0 "$status"
    is printed 'fits
fits
assay-exec: usage: memory: the suite and 2 sessions leave too little of limits.total_memory
status 125
still served' "$(printed)"
}

@test "a session that is ended by a limit says so from then on, and no other one is touched" {
    script_task '"limits": {"total_memory": "4GiB"},' << END
\$ASSAY_EXEC --session a -- touch x
\$ASSAY_EXEC --session b -- touch y
\$ASSAY_EXEC --session a --timeout 150ms -- sleep 100; echo "status \$?"
\$ASSAY_EXEC --session a -- ls 2>&1; echo "status \$?"
\$ASSAY_EXEC --session b -- ls y
\$ASSAY_EXEC --session b --cpu 100ms -- sh -c 'while :; do :; done'; echo "status \$?"
\$ASSAY_EXEC --session c -- true; \$ASSAY_EXEC --session c --memory 100MiB -- true 2>&1
for i in d e f g h; do \$ASSAY_EXEC --session \$i -- true || echo failed; done
\$ASSAY_EXEC --session i -- true 2>&1
$pass
END
    submission
    grade
    is exit 0 "$status"
    is printed "status 124
assay-exec: usage: session a was ended (limit.wall): its files and processes are gone
status 125
y
status 124
assay-exec: usage: memory: of session c, which its first call has said
assay-exec: usage: more than 8 sessions" "$(printed)"
    nothing_left
}

@test "the processor time of a call in a session is its own" {
    script_task << END
for i in 1 2 3 4; do
    \$ASSAY_EXEC --session a --cpu 600ms -- sh -c 'i=0; while [ \$i -lt 40000 ]; do i=\$((i+1)); done'; echo "status \$?"
done
$pass
END
    submission
    grade
    is printed 'status 0
status 0
status 0
status 0' "$(printed)"
}

@test "nonsense at the broker's socket ends its peer alone" {
    script_task << END
cat > /tmp/nonsense.py << PY
import os, socket, struct
def talk(data, fds=()):
    s = socket.socket(socket.AF_UNIX)
    s.connect('/run/assay/broker')
    try:
        if fds: socket.send_fds(s, [data], fds)
        else: s.sendall(data)
        s.settimeout(5)
        return s.recv(1000)[4:6]
    except OSError as e:
        return b'error'
frame = lambda t, payload, fds=0: struct.pack('<IHH', len(payload), t, fds) + payload
for data in [frame(9, b''), frame(1, b''), frame(1, b'x' * 100), struct.pack('<IHH', 1 << 30, 1, 0), frame(2, b''),
             frame(1, struct.pack('<QQQQ', 0, 0, 0, 0) + struct.pack('<I', 0) + struct.pack('<I', 0)),
             frame(1, struct.pack('<QQQQ', 0, 0, 0, 0) + struct.pack('<I', 0) + struct.pack('<I', 1 << 31)),
             frame(1, b'', 1), frame(1, b'')[:5] + os.urandom(50)]:
    assert talk(data) in (b'', b'error', b'\x05\x00'), data
r, w = os.pipe()
talk(frame(1, b'', 1), [r, w])
half = [socket.socket(socket.AF_UNIX) for _ in range(40)]
for s in half:
    s.connect('/run/assay/broker'); s.send(b'\x01\x00')
PY
python3 /tmp/nonsense.py && \$ASSAY_EXEC -- echo still served
$pass
END
    submission
    grade
    is exit 0 "$status"
    is printed 'still served' "$(printed)"
}

@test "assay-exec is small, static, and says what is wrong in one line" {
    [ "$(stat -c %s "$ASSAY_BUILD/assay-exec")" -lt 204800 ] || skip 'a build for debugging'
    run -125 "$ASSAY_BUILD/assay-exec" -- true
    [[ $output == 'assay-exec: infra.io: no broker'* ]]
    run -125 "$ASSAY_BUILD/assay-exec"
    [[ $output == *'no command'* ]]
    run -125 "$ASSAY_BUILD/assay-exec" --timeout never -- true
    [[ $output == *'--timeout never'* ]]
    run -125 "$ASSAY_BUILD/assay-exec" --nonsense x -- true
    [[ $output == *'no such option'* ]]
    run -0 "$ASSAY_BUILD/assay-exec" --help
    [[ $output == *--session* ]]
}

@test "a session whose daemon stops or kills what comes next: that is a call's end like any other" {
    script_task '"limits": {"total_memory": "8GiB"},' <<END
cat > /tmp/daemon.py <<PY
import os, sys
if os.fork() == 0:
    os.setsid()
    while os.getppid() != 1: pass
    while True: # all but itself and the first process
        try: os.kill(-1, int(sys.argv[1]))
        except OSError: pass
os._exit(0)
PY
for i in 1 2 3 4 5 6 7; do
    signal=\$((i < 7 ? 19 : 9))
    \$ASSAY_EXEC --session \$i -- python3 -c "\$(cat /tmp/daemon.py)" \$signal
    \$ASSAY_EXEC --session \$i --timeout 500ms -- sleep 1000; echo "status \$?"
done
$pass
END
    submission
    grade
    is exit 0 "$status"
    is printed 'status 124
status 124
status 124
status 124
status 124
status 124
status 137' "$(printed)"
}

@test "what a session's processes do between calls is held to its limits" {
    script_task '"limits": {"total_memory": "4GiB"},' <<END
cat > /tmp/bomb.py <<PY
import os, time
if os.fork() == 0:
    while os.getppid() != 1: pass
    while True:
        try:
            if os.fork() == 0: time.sleep(1000)
        except OSError: time.sleep(1000)
os._exit(0)
PY
cat > /tmp/eater.py <<PY
import os, time
if os.fork() == 0:
    while os.getppid() != 1: pass
    held = bytearray(os.urandom(1)) * (400 << 20)
    time.sleep(1000)
os._exit(0)
PY
for name in bomb eater; do
    \$ASSAY_EXEC --session \$name -- python3 -c "\$(cat /tmp/\$name.py)"
done
while \$ASSAY_EXEC --session bomb -- true 2> /dev/null; do :; done
\$ASSAY_EXEC --session bomb -- true 2>&1
# A daemon that the kernel kills for its memory is not what a later call ran.
i=0
while [ \$((i += 1)) -lt 1000 ] && \$ASSAY_EXEC --session eater --timeout 10s -- sh -c 'kill -0 -1' 2> /dev/null; do :; done
\$ASSAY_EXEC --session eater -- true > /dev/null 2>&1 || echo ended
\$ASSAY_EXEC -- echo others go on
$pass
END
    submission
    grade
    is exit 0 "$status"
    [[ $(printed) == 'assay-exec: usage: session bomb was ended (limit.'*'): its files and processes are gone
'*'others go on' ]] || { printed >&2; return 1; }
}

# The kernel refused it a process in between, when no command was looked at, and a place is free again: still over.
@test "a session that reached its limit of processes ends, also when it lets one go afterwards" {
    [ ${#weak[@]} -eq 0 ] || skip 'no kernel that tells of processes that it refused'
    script_task '"limits": {"total_memory": "4GiB"},' <<END
cat > /tmp/bomb.py <<PY
import os, signal, time
if os.fork() == 0:
    children = []
    while True:
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0: time.sleep(1000)
        children.append(child)
    for child in children[:3]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    open("/tmp/done", "w")
    time.sleep(1000)
while not os.path.exists("/tmp/done"): pass
os._exit(0)
PY
\$ASSAY_EXEC --session bomb -- python3 -c "\$(cat /tmp/bomb.py)" 2>&1
i=0
while [ \$((i += 1)) -lt 100 ] && \$ASSAY_EXEC --session bomb -- true 2> /dev/null; do :; done
echo "calls until the end: \$((i < 100))"
\$ASSAY_EXEC --session bomb -- true 2>&1
$pass
END
    submission
    grade
    is exit 0 "$status"
    grep -q 'calls until the end: 1' <<< "$(field .logs.stdout.head)" || is 'the session' ended "$(field .logs.stdout.head)"
    grep -q 'session bomb was ended (limit.pids)' <<< "$(field .logs.stdout.head)"
}

@test "a session's daemon that keeps the pipes of its call: neither that call nor a later one waits, or hears it" {
    script_task <<END
cat > /tmp/daemon.py <<PY
import os
if os.fork() == 0:
    os.write(1, b'early\n')
    while not os.path.exists('called'): pass
    while True:
        try: os.write(1, b'late')
        except OSError: pass
os._exit(0)
PY
\$ASSAY_EXEC --session a -- python3 -c "\$(cat /tmp/daemon.py)" | sort -u | grep -v early
\$ASSAY_EXEC --session a -- sh -c 'touch called; echo mine'
\$ASSAY_EXEC --session a -- sh -c 'exec >&- 2>&- <&-; exit 3'; echo "status \$?"
\$ASSAY_EXEC --session a -- echo mine
$pass
END
    submission
    grade
    is exit 0 "$status"
    is printed 'mine
status 3
mine' "$(printed)"
}

@test "input that is a directory, a socket, nothing, or the hidden file itself; output that is a result, closed or full" {
    script_task <<END
e() { timeout 20 \$ASSAY_EXEC "\$@"; echo "status \$?"; }
e -- cat < /tests
e -- cat <&-
python3 -c "
import socket, subprocess, os
a, b = socket.socketpair()
b.sendall(b'by a socket\n'); b.shutdown(socket.SHUT_WR)
print(subprocess.run([os.environ['ASSAY_EXEC'], '--', 'sh', '-c', 'cat; readlink /proc/self/fd/0 | cut -c 1-4'], stdin=a, stdout=subprocess.PIPE).stdout)
print(subprocess.run([os.environ['ASSAY_EXEC'], '--', 'true'], stdin=b).returncode)"
e -- sh -c 'echo x >> /proc/self/fd/0; echo tried' < /tests/run 2> /dev/null
e -- sh -c 'echo forged > /proc/self/fd/1; truncate -s 0 /proc/self/fd/1; echo tried' > /results/out 2> /dev/null
cat /results/out; rm /results/out
e -- echo lost >&- 2> /dev/null
e -- sh -c 'trap "" PIPE; echo full; exit 0' > /dev/full 2> /dev/null
$pass
END
    submission
    grade
    is exit 0 "$status"
    # What goes to its own output by another way comes out all the same.
    is printed "status 0
status 0
b'by a socket\\npipe\\n'
0
tried
status 0
tried
status 0" "$(printed | grep -v forged)"
}

@test "a call that fails for want of what the machine has is never a wrong answer: no score" {
    # Counts what it is not given as wrong, as suites do. Several at once need more descriptors than the suite alone.
    script_task << 'END'
score=100
for i in 1 2 3 4; do
    [ "$("$ASSAY_EXEC" -- echo right 2> /dev/null)" = right ] || score=0
done
printf '{"score": %d, "pass": true}\n' "$score" > /results/score.json
END
    submission
    ends=
    for most in $(seq 24 8 160); do
        status=0
        (ulimit -n "$most" && exec "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" \
            > "$work/result.json" 2> "$work/errors") || status=$?
        case $(field '"\(.status) \(.class) \(.exact.score)"') in
        'graded null 100') ends+=g ;;
        'error infra null') ends+=e ;;
        *) is "with $most descriptors" 'an error of the machine, or the score' "$(jq -c '[.status, .class, .code, .score]' "$work/result.json")" ;;
        esac
    done
    [[ $ends == e*g ]] || is 'ends' 'errors, then scores' "$ends"
    nothing_left
}
