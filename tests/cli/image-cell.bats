#!/usr/bin/env bats
# Cells whose root is an image: its layers, as the store has them, with the cell's own files over
# them. What an image puts where a cell needs something of its own is hidden, never followed.

load common

images=1878982656 # the id that root's files in layers have where Assay is started as root

setup() {
    setup_work
    mkdir -p "$work/1/bin"
    cp /bin/busybox "$work/1/bin/"
    "$work/1/bin/busybox" --list | grep -v busybox | while read -r name; do ln -s busybox "$work/1/bin/$name"; done
    chmod 755 "$work" "$work/1"
}

# in_image LAYERS… -- COMMAND…: names of directories in $work
in_image() {
    local layers=()
    while [ "$1" != -- ]; do
        layers+=("$work/$1")
        shift
    done
    ! is_root || chown -R $images:$images "${layers[@]}"
    "$ASSAY_BUILD/tests/image-cell" "$ASSAY_BUILD/assay-cell" "${layers[@]}" "$@"
}

@test "a cell's root is its image, and what it writes is its own" {
    echo old > "$work/1/file"
    is content old "$(in_image 1 -- cat /file)"
    # shellcheck disable=SC2016 # for the shell inside
    is 'after writing' 'new 0 0' "$(in_image 1 -- sh -c 'echo new > /file; mkdir /made && mv /made /bin/moved && rm /bin/ls &&
        echo $(cat /file) $(stat -c "%u %g" /file)')"
    is 'on disk' old "$(cat "$work/1/file")"
    is 'on disk' "$(echo bin file)" "$(ls "$work/1" | tr '\n' ' ' | sed 's/ $//')"
    is 'status of the command' 7 "$(in_image 1 -- sh -c 'exit 7' || echo $?)"
}

@test "higher layers hide lower ones: files, whiteouts, other types" {
    mkdir -p "$work/2/dir" "$work/3" "$work/1/dir" "$work/1/becomes-file"
    echo 1 | tee "$work/1/a" "$work/1/dir/gone" > "$work/1/becomes-dir"
    echo 2 | tee "$work/2/a" > "$work/2/becomes-file"
    mkdir "$work/2/becomes-dir"
    mknod "$work/2/dir/gone" c 0 0
    is content 2 "$(in_image 1 2 -- cat /a)"
    is content 1 "$(in_image 2 1 -- cat /a)"
    is kinds 'directory regular file' "$(in_image 1 2 -- stat -c %F /becomes-dir /becomes-file | tr '\n' ' ' | sed 's/ $//')"
    is 'gone' '' "$(in_image 1 2 -- ls /dir)"
}

@test "as many layers as builders make" {
    is 'the highest' 21 "$(layers_up_to 21)"
    is 'the highest' 136 "$(layers_up_to 136)" # 128 of them
}

layers_up_to() { # NUMBER: what a file has that each of the layers 10 to NUMBER has its own of
    for ((i = 10; i <= $1; i++)); do mkdir -p "$work/$i" && echo "$i" > "$work/$i/top"; done
    # shellcheck disable=SC2046 # numbers
    in_image 1 $(seq 10 "$1") -- cat /top
}

@test "while a cell runs, the supervisor holds no layers of its image" {
    is_root || skip 'the descriptors of the supervisor are root'"'"'s to see'
    mkdir "$work/2" "$work/3"
    mkfifo "$work/in" "$work/out"
    chown $images:$images "$work"/[123]
    "$ASSAY_BUILD/tests/image-cell" "$ASSAY_BUILD/assay-cell" "$work"/[123] -- sh -c 'echo here; read -r end' \
        < "$work/in" > "$work/out" 3>&- &
    local driver=$! word
    exec 7> "$work/in" 8< "$work/out"
    read -r word <&8
    is 'the cell says' here "$word"
    is 'layers held' '' "$(find "/proc/$(pgrep -P "$driver")/fd" -lname "$work/[123]")"
    echo >&7
    wait "$driver"
}

@test "devices, /proc and /tmp are the cell's, whatever the image has there" {
    mkdir "$work/victim"
    for name in dev proc tmp etc; do ln -s "$work/victim" "$work/1/$name"; done
    check='test -c /dev/null && echo x > /dev/null && test -d /proc/1 && test ! -e /proc/1/root/proc/1/x &&
        echo x > /tmp/x && grep -q cell /etc/hosts && test ! -L /dev && test ! -L /tmp && echo good'
    is 'links there' good "$(in_image 1 -- sh -c "$check")"
    rm "$work/1"/{dev,proc,tmp,etc}
    mkdir -p "$work/2"/{dev,proc/1,tmp,etc}
    ln -s /proc/1/root "$work/2/dev/pts"
    ln -s ../etc "$work/2/dev/shm"
    echo fake | tee "$work/2/dev/null" "$work/2/proc/cpuinfo" "$work/2/etc/hosts" > "$work/2/tmp/y"
    is 'other things there' good "$(in_image 1 2 -- sh -c "$check")"
    in_image 1 2 -- test -c /dev/pts/ptmx
    rm -rf "$work/2"
    for name in dev proc tmp etc; do echo file > "$work/1/$name"; done
    is 'files there' good "$(in_image 1 -- sh -c "$check")"
    is 'left alone' '' "$(ls "$work/victim")"
}

@test "nothing in an image has set-id rights" {
    is 'nosuid' yes "$(in_image 1 -- sh -c 'grep -q "^[^ ]* / overlay [^ ]*nosuid" /proc/mounts && echo yes')"
}

@test "no directory of the host but one of images becomes a layer" {
    is_root || skip 'an ordinary user can show only what is its own'
    mkdir "$work/2" && echo secret > "$work/2/secret"
    chown -R $images:$images "$work/1"
    status=0
    "$ASSAY_BUILD/tests/image-cell" "$ASSAY_BUILD/assay-cell" "$work/1" "$work/2" -- cat /secret || status=$?
    is refused 99 "$status"
}
