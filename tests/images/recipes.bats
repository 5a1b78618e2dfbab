#!/usr/bin/env bats
# The images that `make images` builds: the same each time, and fit for what they are named after.

load common

recipes=$BATS_TEST_DIRNAME/../../images/recipes

setup() {
    setup_work
    mkdir "$work/project"
    user=()
    is_root || user=(--user 0) # for others an ordinary user needs sub-ids
}

# loaded NAME: the image of a recipe, in the store of this test
loaded() {
    "$ASSAY" image load --quiet "$images/$1.tar"
}

@test "the same packages make the same bytes, whatever the umask and the hour" {
    is_root || skip 'an ordinary user may have no sub-ids to build with'
    for name in busybox python; do
        "$recipes/build" "$recipes/$name" "$work/1.tar" > said
        (umask 077 && TZ=Asia/Tokyo "$recipes/build" "$recipes/$name" "$work/2.tar") | diff said -
        cmp "$work/1.tar" "$work/2.tar"
        rm "$work"/[12].tar
    done
}

@test "skopeo knows the same digest" {
    for image in "$images"/*.tar; do
        is "of $image" "$(tar -xOf "$image" ./index.json | jq -r '.manifests[0].digest')" \
            "$(skopeo inspect --format '{{.Digest}}' "oci-archive:$image")"
    done
}

@test "busybox: a shell and its commands, a directory to write in" {
    loaded busybox
    is output 'HELLO in /work' "$(in_image assay/busybox sh -c 'echo hello > file && tr a-z A-Z < file | tr -d "\n" && echo " in $PWD"')"
    is_root || skip 'the ids of an ordinary user are one'
    is ids 'uid=1000(user) gid=1000(user)' "$(in_image assay/busybox id | cut -d' ' -f1,2)"
}

@test "python: pytest says what passes and what fails" {
    cat > "$work/project/test_sum.py" <<'END'
import sqlite3, ssl, zlib

def test_right():
    assert sum([1, 2, 3]) == 6

def test_wrong():
    assert sum([]) == 1
END
    loaded python
    status=0
    in_image assay/python python3 -m pytest -q -p no:cacheprovider /project > "$work/output" || status=$?
    is status 1 "$status"
    grep -q '^1 failed, 1 passed' "$work/output"
    is 'encoding' utf-8 "$(in_image assay/python python3 -c 'import locale; print(locale.getpreferredencoding().lower())')"
}

@test "c: make builds a program, which runs" {
    printf 'program: /project/program.c\n\tgcc -O2 -Wall -Werror -o $@ $<\n' > "$work/project/Makefile"
    printf '#include <math.h>\n#include <stdio.h>\nint main(void)\n{\n\treturn printf("%%g\\n", sqrt(2)) < 0;\n}\n' > "$work/project/program.c"
    loaded c
    is output 1.41421 "$(in_image assay/c sh -c 'make -s -f /project/Makefile && ./program')"
}

@test "node: a script with a worker and a subprocess" {
    cp "$BATS_TEST_DIRNAME/../languages/threads.js" "$work/project/"
    loaded node
    is output 'worker 42, child 3, tree false' "$(in_image assay/node node /project/threads.js)"
}
