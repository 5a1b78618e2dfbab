#!/usr/bin/env bats
# Random trees, packed by the tools that people have, become the same trees again.

setup() {
    build=${ASSAY_BUILD:-$BATS_TEST_DIRNAME/../../build}
    work=$(mktemp -d "${TMPDIR:-/tmp}/assay-property.XXXXXX")
    cd "$work" || return
    export LC_ALL=C.UTF-8
}

teardown() {
    chmod -R u+rwx "$work" 2> /dev/null || true
    rm -rf "$work"
}

# What is there: kind, whether it can be executed, path, target, content.
listing() {
    (cd "$1" && find . -mindepth 1 \( -type f -perm -u+x -printf 'x %P\0' -o -type f -printf 'f %P\0' -o \
        -printf '%y %P -> %l\0' \) | sort -z &&
        find . -type f -print0 | sort -z | xargs -0r sha256sum)
}

# same WHAT: the archive ./archive holds the tree ./source
same() {
    mkdir tree
    "$build/tests/unpack-driver" -e 10000 "$build/assay-unpack" archive tree > answers || {
        echo "seed $seed, $1: $(tail -1 answers)" >&2
        return 1
    }
    listing tree > got
    if ! cmp -s want got; then
        echo "seed $seed, $1: another tree" >&2
        diff -a want got | head -5 >&2
        return 1
    fi
    chmod -R u+rwx tree && rm -r tree
}

# each_tree FUNCTION: for some trees, named by their seeds; ASSAY_SEEDS="1 2 3" chooses others
each_tree() {
    for seed in ${ASSAY_SEEDS:-$(seq $((RANDOM)) 1 $((RANDOM + 40000)) | head -12)}; do
        rm -rf source && mkdir source
        (cd source && "$BATS_TEST_DIRNAME/../programs/random-tree.pl" "$seed")
        listing source > want
        "$1"
    done
}

by_tar() {
    for format in gnu pax ustar; do
        tar --format=$format -cf archive -C source . 2> /dev/null || continue # ustar cannot have all names
        same "tar --format=$format"
    done
}

by_bsdtar() {
    for format in pax ustar gnutar; do
        bsdtar --format=$format -cf archive -C source . 2> /dev/null || continue
        same "bsdtar --format=$format"
    done
    bsdtar --format=zip -cf archive -C source .
    same 'bsdtar --format=zip'
}

by_zip() {
    rm -f archive
    (cd source && zip -qry ../archive.zip .) && mv archive.zip archive
    same zip
    (cd source && zip -qry0 - .) > archive
    same 'zip to a pipe'
}

by_compression() {
    tar -cf plain -C source .
    for compress in gzip 'gzip -1' bzip2 xz 'xz -9' zstd 'zstd -19' 'zstd --fast'; do
        # shellcheck disable=SC2086 # a command with its options
        $compress -c < plain > archive 2> /dev/null
        same "$compress"
    done
}

as_directory() {
    mkdir tree
    "$build/tests/unpack-driver" -e 10000 "$build/assay-unpack" source tree > answers
    listing tree > got
    cmp want got
    rm -r tree
}

@test "tar" {
    each_tree by_tar
}

@test "bsdtar, also as zip" {
    each_tree by_bsdtar
}

@test "zip" {
    each_tree by_zip
}

@test "each compression" {
    each_tree by_compression
}

@test "directories" {
    each_tree as_directory
}
