#!/usr/bin/env bats
# A cell of an image sees the tree that umoci and podman make of it, but for set-id bits and for what is
# the cell's own: paths, kinds, modes, owners, sizes, times, links, content and attributes of users.
# SEEDS chooses the random images.

load common

seeds=${SEEDS:-1 2 3 4 5 6 7 8 9 10}

setup() {
    setup_work
    setup_podman
    cd "$work" || return
    lister=("$ASSAY_BUILD/tests/list-tree")
    tools=(by_umoci by_podman)
    unpack=(umoci unpack)
    is_root || as_user
}

teardown() {
    end_podman
    chmod -R u+rwx "$work" # an ordinary user removes it after that
}

# An ordinary user's files have one owner; podman needs sub-ids.
as_user() {
    lister+=(-o)
    tools=(by_umoci)
    unpack=(umoci unpack --rootless)
}

# list ROOT: as a cell's root can, without capabilities
list() {
    if is_root; then
        setpriv --inh-caps=-all --bounding-set=-all "${lister[@]}" "$1"
    else
        "${lister[@]}" "$1"
    fi
}

by_umoci() { # LAYOUT
    "${unpack[@]}" --image "$1:it" "$1.umoci" || return
    list "$1.umoci/rootfs"
    chmod -R u+rwx "$1.umoci"
    rm -rf "$1.umoci"
}

by_podman() { # LAYOUT
    local id
    id=$("${podman[@]}" pull --quiet "oci:$1:it") || return
    list "$("${podman[@]}" image mount "$id")"
    "${podman[@]}" image umount "$id" > /dev/null
    "${podman[@]}" rmi "$id" > /dev/null
}

in_cell() { # LAYOUT
    "$ASSAY" image load --quiet "$1" || return
    "$ASSAY" exec "${weak[@]}" --user 0 --workdir / --limit wall=120s \
        --bind "$ASSAY_BUILD/tests/list-tree:/tmp/list-tree:ro" it -- /tmp/list-tree "${lister[@]:1}" /
    "$ASSAY" image remove it
    "$ASSAY" image gc --quiet
}

# same LAYOUT WAY: that way sees it like a cell
same() {
    diff "$1.$2" "$1.in_cell" && return
    echo "$1: $2 (<) and a cell (>) differ" >&2
    return 1
}

# same_tree LAYOUT WAY…, with an image that is called "it"
same_tree() {
    local way
    for way in in_cell "${@:2}"; do $way "$1" > "$1.$way" || return; done
    [ "$(wc -l < "$1.in_cell")" -gt 3 ]
    for way in "${@:2}"; do same "$1" "$way"; done
}

layout_of() { # LAYOUT LAYER…, tar files
    umoci init --layout "$1"
    umoci new --image "$1:it"
    for layer in "${@:2}"; do
        umoci raw add-layer --image "$1:it" "$layer"
    done
}

@test "images of the recipes" {
    for image in "$images"/*.tar; do
        name=$(basename "$image" .tar)
        skopeo copy --quiet "oci-archive:$image" "oci:$name:it"
        same_tree "$name" "${tools[@]}"
        rm -rf "$name"
    done
}

@test "random layers" {
    for seed in $seeds; do
        mkdir "layers-$seed"
        (cd "layers-$seed" && "$BATS_TEST_DIRNAME/../programs/random-layers.pl" "$seed")
        layout_of "$seed" "layers-$seed"/*
        same_tree "$seed" "${tools[@]}"
    done
}

@test "a directory that is hidden and made again in one layer has nothing of the old one" {
    "$ASSAY_BUILD/tests/make-layer" d:./ d:etc d:a f:a/old:1 d:a/b f:a/b/c:1 > lower.tar
    "$ASSAY_BUILD/tests/make-layer" d:./ f:.wh.a: d:a f:a/new:2 d:a/b > upper.tar
    layout_of again lower.tar upper.tar
    same_tree again by_umoci # podman shows what the lower layer has
}
