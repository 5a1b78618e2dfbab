#!/usr/bin/env bats
# Programs of the languages that people grade run unharmed in a cell: threads, subprocesses,
# temporary trees. Their compilers run outside; interpreters and the Java compiler inside.

load ../cli/common

sources=$BATS_TEST_DIRNAME

setup() {
    setup_work
    mkdir "$work/bin"
    cp "$sources"/threads* "$sources"/Threads.java "$work/bin/"
}

cell() {
    "$ASSAY" exec "${weak[@]}" --limit pids=200 --limit memory=2GiB --bind "$work/bin:/bin-under-test:ro" "$@"
}

@test "C with glibc, dynamic and static" {
    for link in -pie -static; do
        gcc -O1 $link -pthread -o "$work/bin/program" "$sources/threads.c"
        run -0 cell host -- /bin-under-test/program
        is "$link" '8 threads, child 3' "$output"
    done
}

@test "C with musl" {
    musl-gcc -O1 -static -o "$work/bin/program" "$sources/threads.c"
    run -0 cell host -- /bin-under-test/program
    is musl '8 threads, child 3' "$output"
}

@test "C compiled in the cell" {
    run -0 cell --limit wall=60s host -- sh -c 'cc -o /tmp/program -pthread /bin-under-test/threads.c && /tmp/program'
    is 'cc inside' '8 threads, child 3' "$output"
}

@test "gcc -fsanitize=address: faults in each profile, leaks in profile debug" {
    gcc -O1 -g -fsanitize=address -DLEAK -pthread -o "$work/bin/leaks" "$sources/threads.c"
    gcc -O1 -g -fsanitize=address -pthread -o "$work/bin/clean" "$sources/threads.c"
    run -0 --separate-stderr cell --profile debug host -- /bin-under-test/clean
    is clean '8 threads, child 3' "$output"
    run -1 --separate-stderr cell --profile debug host -- /bin-under-test/leaks
    [[ $stderr == *'detected memory leaks'* ]]
    # Without tracing the leak check cannot work: switched off, the rest does.
    run -0 cell --env ASAN_OPTIONS=detect_leaks=0 host -- /bin-under-test/leaks
    run --separate-stderr cell --trace-denied host -- /bin-under-test/clean
    [[ $stderr == *'denied: ptrace (EPERM)'* ]]
}

@test "Go" {
    GOCACHE=$work/go-cache GOPATH=$work/go GO111MODULE=off CGO_ENABLED=0 \
        go build -o "$work/bin/program" "$sources/threads.go"
    run -0 cell host -- /bin-under-test/program
    is Go '100 goroutines, child 3' "$output"
}

@test "Java, compiled and run in the cell" {
    run -0 --separate-stderr cell --limit wall=60s host -- java -Xmx256m /bin-under-test/Threads.java
    is Java '1000 in parallel, child 3' "$output"
}

@test "Node" {
    run -0 --separate-stderr cell host -- node /bin-under-test/threads.js
    is Node 'worker 42, child 3, tree false' "$output"
}

@test "Python" {
    run -0 --separate-stderr cell host -- /usr/bin/python3 /bin-under-test/threads.py
    is Python '8 threads, pool 285 child 3 terminal True' "$output"
}

@test "make, awk, perl, tar, git-like trees" {
    run -0 cell host -- sh -ec '
        cd /tmp && mkdir -p a/b/c && echo "all: ; @echo made" > Makefile && make
        awk "BEGIN { print 6 * 7 }"
        tar -cf t.tar a && rm -r a && tar -xf t.tar && ls -d a/b/c
        perl -e "print qq(perl\n)"'
    is output $'made\n42\na/b/c\nperl' "$output"
}
