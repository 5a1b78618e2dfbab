#!/usr/bin/env bats
# assay shell: a look around where a suite or a submission runs.

load common

setup() {
    setup_work
    cd "$work" || return
    chmod 755 .
    mkdir -p submission
    echo 'echo hello from the submission' > submission/main.sh
}

# inside [OPTIONS…]: a shell that is given what we are given to read
inside() {
    status=0
    timeout 60 "$ASSAY" shell "${weak[@]}" "$@" task submission > said 2> errors || status=$?
}

# run_inside OPTION… -- CMD…
run_inside() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    status=0
    timeout 60 "$ASSAY" shell "${weak[@]}" "${options[@]}" task submission "$@" > said 2> errors < /dev/null || status=$?
}

@test "the suite's cell: tests, submission and the environment of the suite" {
    task good
    inside <<< 'ls /tests /agent_output; echo "$ASSAY_TASK $ASSAY_SEED"; exit 7'
    is exit 7 "$status"
    is said "/agent_output:
main.sh

/tests:
suite
test 0" "$(cat said)"
    grep -q 'in the cell of the suite' errors
    grep -q 'the suite runs: /tests/suite good' errors
}

@test "the submission's cell has neither tests nor truth" {
    task good
    mkdir task/truth
    inside --cell submission <<< 'pwd; ls; ls /tests /truth /results; sh main.sh'
    is said "/agent_output
main.sh
hello from the submission" "$(cat said)"
    is 'what is missing' 3 "$(grep -c 'No such file' errors)"
}

@test "a command instead of a shell, with its standard error and its status" {
    task good
    run_inside --cell submission -- sh -c 'echo out; echo err >&2; exit 3'
    is exit 3 "$status"
    is said out "$(cat said)"
    is errors err "$(cat errors)"
    run_inside --quiet -- no-such-program
    is exit 127 "$status"
    is why 'assay: no-such-program: No such file or directory' "$(cat errors)"
    run_inside -- sh -c 'kill -TERM $$'
    is exit 143 "$status"
}

@test "the shell of a suite with a broker reaches the submission's cells" {
    script_task < /dev/null
    inside <<< '$ASSAY_EXEC -- sh main.sh'
    is said 'hello from the submission' "$(cat said)"
}

@test "a case: its input, what is expected, and its command" {
    mkdir -p task/tests
    printf '3 4\n' > task/tests/s1.in
    printf '7\n' > task/tests/s1.out
    cat > task/task.json <<'END'
{"schema": "assay.task/1", "name": "test", "scoring": {"mode": "container"},
 "cases": {"groups": [{"name": "sums", "points": 1,
    "each": {"stdin": "tests/*.in", "stdout": "{stem}.out", "command": ["sh", "main.sh"]}}]}}
END
    inside --case sums/s1 <<< 'cat /case/input /case/expected; ls /tests'
    is said '3 4
7' "$(cat said)"
    grep -q 'in the cell of the submission' errors
    grep -q 'the case runs: sh main.sh' errors
    inside --case sums/s2 < /dev/null
    is exit 2 "$status"
    grep -q 'the task has no case sums/s2' errors
    inside --case sums/s1 --cell suite <<< 'ls /tests'
    is said 's1.in
s1.out' "$(cat said)"
}

@test "what was built is there, and what failed to build is said" {
    task good '"build": {"command": ["sh", "build.sh"]},'
    echo 'touch built' > submission/build.sh
    inside --cell submission <<< 'ls'
    is said 'build.sh
built
main.sh' "$(cat said)"
    echo 'exit 5' > submission/build.sh
    inside --cell submission <<< 'ls'
    is exit 0 "$status"
    grep -q 'build.failed: the build exited with status 5' errors
}

@test "much to read and much to write, at once" {
    task good
    head -c 3000000 /dev/zero | tr '\0' x > much
    status=0
    timeout 60 "$ASSAY" shell "${weak[@]}" task submission -- cat < much > said 2> errors || status=$?
    is exit 0 "$status"
    cmp much said
}

@test "a task that runs nothing has a submission's cell only" {
    mkdir -p task
    echo '{"schema": "assay.task/1", "name": "test", "scoring": {"rubric": [{"name": "a", "weight": 100}]}}' > task/task.json
    inside < /dev/null
    is exit 2 "$status"
    grep -q 'this task has no suite' errors
    inside --cell submission <<< 'sh main.sh'
    is said 'hello from the submission' "$(cat said)"
}

@test "limits other than time are the task's" {
    task good '"limits": {"wall": "100ms", "pids": 20},'
    inside <<< 'sleep 0.3; for i in $(seq 40); do sleep 1 & done; echo out'
    # Where it is only polled for, the shell may be refused a process first.
    [ ${#weak[@]} -gt 0 ] && grep -q 'Cannot fork' errors || is exit 137 "$status"
    is said '' "$(cat said)"
}

@test "a submission that is refused is told, and there is no shell" {
    task good
    mkfifo submission/fifo
    inside <<< 'echo here'
    is exit 3 "$status"
    is said '' "$(cat said)"
    grep -q '^assay: archive.special_file: ' errors
}

@test "a terminal: the cell has one of its own, with Ctrl-C and the size of the window" {
    command -v python3 > /dev/null || skip "needs python3 for a terminal"
    task good
    python3 - "$ASSAY" "${weak[@]}" > said <<'END'
import fcntl, os, pty, select, signal, struct, sys, termios, time
pid, master = pty.fork()
if pid == 0:
    os.environ["TERM"] = "vt100"
    os.execv(sys.argv[1], [sys.argv[1], "shell"] + sys.argv[2:] + ["task", "submission"])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
seen, sent, end = b"", 0, time.time() + 50
steps = [(b"# ", b"until [ \"$(stty size)\" = \"44 88\" ]; do :; done; sh -c 'echo $TERM; exec sleep 100'\n"), (b"vt100\r\n", b"\x03"),
         (b"# ", b"echo stopped $?\n"), (b"stopped 130", b"exit 9\n")]
at = 0
while time.time() < end:
    if sent < len(steps) and steps[sent][0] in seen[at:]:
        at = len(seen)
        if sent == 0:
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 88, 0, 0))
        os.write(master, steps[sent][1])
        sent += 1
    if select.select([master], [], [], 0.2)[0]:
        try:
            seen += os.read(master, 4096)
        except OSError:
            break
else:
    os.kill(pid, signal.SIGKILL)  # it says what it said until now
print(seen.decode())
print("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
    for line in vt100 'stopped 130' 'status 9'; do
        grep -q "^$line" said || { cat said >&2 && return 1; }
    done
}

@test "a signal ends it, also when nobody takes what it prints" {
    task good
    mkfifo out
    "$ASSAY" shell "${weak[@]}" task submission -- yes > out 2> errors 3>&- &
    exec 4< out
    # Until the pipe is full.
    python3 -c 'import fcntl, struct, termios
while struct.unpack("i", fcntl.ioctl(4, termios.FIONREAD, bytes(4)))[0] < 60000: pass'
    kill -TERM $!
    status=0
    wait $! || status=$?
    exec 4<&-
    is exit 130 "$status"
    nothing_left
}
