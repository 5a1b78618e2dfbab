#!/usr/bin/env bats
# The helpers lock themselves in. A hook, linked in for these tests only, plays a helper that was
# taken over right after that and tries to get out (tests/takeover/hook.c).

load common

setup() {
    setup_work
    mkdir "$work/tree"
    printf '{"score": 1, "pass": true}' > "$work/input"
}

# attempt HELPER WHAT [MODE]: the helper's exit status, and what it could write to its answer
attempt() {
    status=0
    "$ASSAY_BUILD/tests/helper-driver" "$ASSAY_BUILD/tests/takeover-$1" "$2" \
        "$work/input" "$work/tree" "${@:3}" > "$work/answer" || status=$?
}

# Killed for the system call (159 = 128 + SIGSYS), or the call failed.
refused() {
    attempt "$@"
    if [ "$status" -ne 159 ] && ! grep -q "^$2: refused" "$work/answer"; then
        echo "$1, $2: exit status $status, answer: $(cat "$work/answer")" >&2
        return 1
    fi
}

attempts='open-host write-host list-host connect socket exec fork signal-parent trace-parent
          read-parent-memory mount namespace io-uring exec-memory chmod-host link-host
          hard-link-host touch-host make-device make-block-device set-id set-id-by-name'

@test "a taken-over assay-score can do nothing but answer" {
    for what in $attempts open-tree; do refused score "$what"; done
    attempt score speak
    is exit 0 "$status"
    grep -q '^speak: done' "$work/answer"
}

@test "a taken-over assay-unpack can do nothing beyond its tree" {
    for what in $attempts make-whiteout; do refused unpack "$what"; done
    attempt unpack open-tree
    grep -q '^open-tree: done' "$work/answer"
    # Its tree is its root: ".." leads nowhere else.
    attempt unpack leave-tree
    is 'the tree' 'assay-takeover planted' "$(ls "$work/tree" | xargs)"
    is 'what lies beside it' 'absent' "$([ -e "$work/assay-takeover" ] && echo there || echo absent)"
}

@test "a taken-over assay-unpack for layers can do nothing beyond its tree either" {
    for what in $attempts; do refused unpack "$what" layer; done
    attempt unpack make-whiteout layer
    grep -q '^make-whiteout: done' "$work/answer"
    is 'the tree' 'whiteout' "$(ls "$work/tree" | xargs)"
}

@test "a helper has the descriptors it needs and no other" {
    # A program that lists its descriptors, as an error of its own, stands in for the helpers.
    mkdir "$work/bin"
    task good
    submission
    for fd in 7 8 9; do eval "exec $fd< /dev/null"; done
    for helper in assay-unpack assay-score; do
        rm -f "$work/bin"/*
        cp "$ASSAY_BUILD"/assay "$ASSAY_BUILD"/assay-* "$work/bin/"
        cp "$ASSAY_BUILD/tests/list-descriptors" "$work/bin/$helper"
        "$work/bin/assay" run --quiet "${weak[@]}" "$work/task" "$work/submission.tar.gz" \
            2> "$work/$helper" || true
    done
    grep -qF '[0 file, 1 socket, 2 /dev/null]' "$work/assay-score"
    grep -qF '[0 file, 1 socket, 2 /dev/null, 3 tree]' "$work/assay-unpack"
}

@test "a helper that dies, says nothing or says nonsense ends the evaluation, nothing else" {
    mkdir "$work/bin"
    task good
    submission
    # An archive that brings the unpacker down is rejected; nothing brings the scorer down but us.
    for helper in assay-unpack assay-score; do
        [ $helper = assay-score ] && exit=4 code=internal || { exit=3 code=archive.unreadable; }
        for fault in dies nothing nonsense endless slow; do
            rm -f "$work/bin"/*
            cp "$ASSAY_BUILD"/assay "$ASSAY_BUILD"/assay-* "$work/bin/"
            cp "$ASSAY_BUILD/tests/faulty-$fault" "$work/bin/$helper"
            status=0
            "$work/bin/assay" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" \
                > "$work/result.json" 2> "$work/errors" || status=$?
            is "exit of $helper that $fault" $exit "$status"
            grep -q "^assay: $code" "$work/errors"
        done
    done
}

@test "what a taken-over assay-unpack says of an image is bounded, and shown escaped" {
    mkdir "$work/bin"
    cp "$ASSAY_BUILD"/assay "$ASSAY_BUILD"/assay-* "$work/bin/"
    cp "$ASSAY_BUILD/tests/faulty-image" "$work/bin/assay-unpack"
    status=0
    "$work/bin/assay" image load "$work/input" 2> "$work/errors" || status=$?
    is status 4 "$status"
    grep -qFx 'assay: warning: \x1b[31mred: a\x0ab' "$work/errors"
    grep -q '^assay: image.too_large: .*replaces too many directories' "$work/errors"
    is 'left in incoming' '' "$(ls "$ASSAY_STATE/images/incoming")"
}

@test "a taken-over runner gets no more of the host through cells than anyone may read" {
    for how in owned bind debug network late file show; do
        is "$how" refused "$("$ASSAY_BUILD/tests/cell-driver" "$ASSAY_BUILD/assay-cell" $how)"
    done
    is view '1 done' "$("$ASSAY_BUILD/tests/cell-driver" "$ASSAY_BUILD/assay-cell" view)"
}

@test "a supervisor that is kept forgets all that the runner before had" {
    diff - <("$ASSAY_BUILD/tests/cell-driver" "$ASSAY_BUILD/assay-cell" keep) << 'END'
who named a tree: 1 done
the next, that tree: refused
the next, that network: refused
who names it again: 1 done
closed with its cell: yes
the next one came: closed
after one that does not end: 2 done
without its keeper: 2 done
END
}

@test "a missing helper is named" {
    mkdir "$work/bin"
    cp "$ASSAY_BUILD"/assay "$work/bin/"
    task good
    submission
    run -4 "$work/bin/assay" run "$work/task" "$work/submission.tar.gz"
    [[ $output == *assay-cell* ]]
}

@test "no shell is started, and only our own programs are" {
    if ! strace -o /dev/null true 2> /dev/null; then
        skip 'strace may not trace here'
    fi
    task good
    submission
    strace -f -qq -s 200 -e trace=execve,execveat -o "$work/trace" \
        "$ASSAY" run --json "${weak[@]}" "$work/task" "$work/submission.tar.gz" > "$work/result.json" \
        2> "$work/errors" || true
    is status graded "$(field .status)"
    # pid, then the call; what was executed is the first word of its argv. The suite itself is not
    # ours, and what an ordinary user's tracer cannot read of it is left out.
    is programs 'assay assay-cell assay-score assay-unpack' \
        "$(sed -n 's/.*exec[a-z]*(.*\["\([^"]*\)".*= 0$/\1/p' "$work/trace" | sed 's#.*/##' | sort -u | grep -vx suite | xargs)"
}

@test "a helper that is asked by nobody ends by itself" {
    for helper in assay-score assay-unpack 'assay-cell serve' 'assay-cell keep' 'assay-cell exec'; do
        # shellcheck disable=SC2086
        timeout 10 "$ASSAY_BUILD"/$helper < /dev/null > "$work/answer" 2>&1 3>&- || status=$?
        [ "$status" -ne 124 ]
    done
}
