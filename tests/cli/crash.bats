#!/usr/bin/env bats
# Loads that are killed, or find no room on the disk: what is in the store is whole, and the same load
# then succeeds and leaves nothing behind. $ASSAY_KILLS is the number of loads to kill.

load common
load layout

kills=${ASSAY_KILLS:-40}

setup() {
    setup_work
    cd "$work" || return
    for layer in one two three; do
        mkdir -p $layer/$layer
        for number in $(seq 60); do head -c $((number * 400)) /dev/urandom > $layer/$layer/$number; done
        head -c 3000000 /dev/urandom > $layer/large
        : > $layer/$layer/.wh.gone
    done
    mkdir three/one
    : > three/one/.wh..wh..opq # needs a mask
    config='{"User": "1000:1000"}' layout oci it:1 one two three
}

fresh() {
    "$ASSAY" image list --json | jq -r '.[].name' | xargs -rn 1 "$ASSAY" image remove
    "$ASSAY" image gc --quiet
    is 'layers after gc' 0 "$(layers_there)"
}

good() { # WHEN
    "$ASSAY" image verify > said 2>&1 || { echo "$1: $(cat said)" >&2 && return 1; }
}

loads() { # WHEN
    "$ASSAY" image load --quiet oci 2> said || { echo "loading $1: $(cat said)" >&2 && return 1; }
    good "loaded $1"
    is "layers loaded $1" 4 "$(layers_there)"
    nothing_coming
}

children() { # PID: all processes below it
    local child
    for child in $(cat /proc/"$1"/task/*/children 2> /dev/null); do
        echo "$child"
        children "$child"
    done
}

# Kill the load with that pid; or one of the programs that it started, when there is one.
kill_some_of() { # PID WHICH
    local below victim=$1
    if [ "$2" -gt 0 ]; then
        mapfile -t below < <(children "$1")
        [ ${#below[@]} -eq 0 ] || victim=${below[$((RANDOM % ${#below[@]}))]}
    fi
    kill -KILL "$victim" 2> /dev/null || true
}

@test "a load that is killed, or whose programs are, at any moment" {
    loads 'for the first time'
    fresh
    started=${EPOCHREALTIME/./}
    "$ASSAY" image load --quiet oci
    took=$((${EPOCHREALTIME/./} - started))
    hits=0
    for ((i = 0; i < kills; i++)); do
        fresh
        "$ASSAY" image load --quiet oci > /dev/null 2>&1 &
        pid=$!
        moment=$((took * (RANDOM % 1000) / 1000))
        sleep "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))"
        kill_some_of $pid $((i % 3))
        wait $pid 2> /dev/null || hits=$((hits + 1))
        good "killed after $moment us"
        loads "again, killed after $moment us"
    done
    echo "$hits of $kills loads did not succeed"
    [ $((hits * 3)) -ge "$kills" ] # else they were over before
}

# full SIZE INODES: a load onto a disk with so much room, which is refused for want of it; then with room
full() {
    mount -t tmpfs -o "size=$1k,nr_inodes=$2,mode=755" none "$ASSAY_STATE"
    status=0
    "$ASSAY" image load --quiet oci 2> errors || status=$?
    if [ $status -ne 0 ]; then
        is "status with $1 KiB and $2 inodes" 4 $status
        grep -qE '^assay: infra[.](state|io): .*(: No space left on device|: the disk is full: .*)' errors ||
            { cat errors && return 1; }
        echo "$1 $2" >> refused
    fi
    mount -o remount,size=100m,nr_inodes=10000 "$ASSAY_STATE"
    good "with $1 KiB and $2 inodes"
    loads "with room, after $1 KiB and $2 inodes"
    umount "$ASSAY_STATE"
}

@test "a disk that is full, at any point of a load" {
    is_root || skip 'only root may mount a small disk'
    mkdir -p "$ASSAY_STATE"
    export -f full good loads is layers_there nothing_coming
    export ASSAY ASSAY_STATE
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount bash -eu -c '
        for size in 40 200 500 1000 2000 3000 3500 4000 5000 6000 7000 8000 9000 10000 10500 10600; do full $size 10000; done
        for inodes in 12 16 20 40 70 85 100 150 200; do full 100000 $inodes; done'
    [ "$(wc -l < refused)" -ge 20 ]
}
