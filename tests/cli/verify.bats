#!/usr/bin/env bats
# assay image verify and export: what is in the store is what was loaded, byte for byte, or it is said
# what is not.

load common
load layout

setup() {
    setup_work
    cd "$work" || return
    mkdir -p base/bin base/etc app/app
    cp /bin/busybox base/bin/
    ln -s busybox base/bin/sh
    for number in 1 2 3 4 5; do echo "$number" > app/app/$number; done
    ln app/app/1 app/app/again
    ln -s 1 app/app/link
    mkfifo app/app/pipe
    : > app/app/.wh.gone
    mkdir app/etc
    : > app/etc/.wh..wh..opq
}

teardown() { # folders that only the unpacker can empty
    rm -f "$ASSAY_STATE"/images/images/*
    "$ASSAY" image gc --quiet
}

loaded() { # the image `it` of both
    layout oci it:1 base app
    "$ASSAY" image load --quiet oci
    id=$("$ASSAY" image inspect it:1 | jq -r .id)
    layer=$ASSAY_STATE/images/layers/$("$ASSAY" image inspect it:1 | jq -r '.layers[1]')
    [ -w "$layer/tree/app" ] || skip 'the files of layers belong to ids that only root may act for'
}

verified() { # [IMAGE]: status and what is said
    status=0
    "$ASSAY" image verify "$@" > said 2> errors || status=$?
}

good() {
    verified "$@"
    is status 0 "$status" || { cat said >&2 && return 1; }
    is 'lines not good' '' "$(grep -v '  good$' said)"
}

damaged() { # TEXT: is what verify says of the image
    verified
    is status 4 "$status"
    grep -q '^assay: image.corrupt: ' errors
    is said "${id:0:12}  layer $(basename "$layer" | cut -c 1-12): $1" "$(grep -v '  good$' said | head -1)"
}

# Take it out of the store and load it again: that mends it.
mended() {
    status=0
    "$ASSAY" image verify --remove > said 2> errors || status=$?
    is 'status of --remove' 4 "$status"
    "$ASSAY" image load --quiet oci
    good
    is images 1 "$(grep -c good said)"
    nothing_coming
}

@test "what was loaded is good; nothing is left of looking" {
    good
    is 'an empty store' '' "$(cat said)"
    layout oci it:1 base app
    "$ASSAY" image load --quiet oci
    good
    is said "$("$ASSAY" image inspect it:1 | jq -r '.id[0:12]')  good" "$(cat said)"
    good it:1
    is quiet '' "$("$ASSAY" image verify --quiet)"
    nothing_coming
    status=0
    "$ASSAY" image verify other 2> errors || status=$?
    is 'of an image that is not there' 4 "$status"
    grep -q '^assay: image.missing: ' errors
}

@test "a file that differs is named, and what differs; loading again mends it" {
    while IFS='|' read -r how says; do
        loaded
        (cd "$layer/tree/app" && eval "$how")
        damaged "$says"
        mended
    done <<'END'
dd of=3 conv=notrunc status=none <<< x|app/3: has another content
echo 33 > 3|app/3: has 3 bytes instead of 2
rm 3|app/3: is missing
rm 3; mkdir 3|app/3: is no regular file
chmod 600 3|app/3: has another mode
touch -d @5 3|app/3: has another time
touch new|app/new: is not in the layer
mkdir new; touch -d @1 .|app/new: is not in the layer
touch -d @5 .|app: has another time
chmod 700 .|app: has another mode
ln -sf 2 link|app/link: leads elsewhere
rm link|app/link: is missing
rm again; cp -p 1 again|app/again: is no hard link to what it was
rm pipe; touch pipe|app/pipe: is no pipe
rm gone|app/gone: is missing
rm gone; touch gone|app/gone: is no whiteout
rm -r ../etc|etc: is missing
END
}

@test "a name too many is found where the time of its directory was put back" {
    loaded
    touch "$layer/tree/app/new" && touch -d @1 "$layer/tree/app"
    damaged 'app/new: is not in the layer'
    mended
}

@test "owners" {
    is_root || skip 'only root may give files away'
    loaded
    chown 12345 "$layer/tree/app/3"
    damaged 'app/3: has another owner'
    mended
    chown -h 12345 "$layer/tree/app/link"
    damaged 'app/link: has another owner'
    mended
}

@test "skeleton, list of opaque directories: damaged, cut, gone" {
    while IFS='|' read -r how says; do
        loaded
        (cd "$layer" && eval "$how")
        verified
        is status 4 "$status"
        grep -qE "layer [0-9a-f]{12}: ($says)" said || is "after $how" "$says" "$(cat said)"
        mended
    done <<'END'
rm skeleton|its skeleton is missing
: > skeleton|its skeleton (ends too early|is damaged)
truncate -s 100 skeleton|its skeleton (ends too early|is damaged)
dd of=skeleton bs=1 seek=60 conv=notrunc status=none <<< xxxx|its 
rm opaque|the list of its opaque directories is another one
echo x >> opaque|the list of its opaque directories is another one
rm -r tree|its tree is missing
END
}

@test "each byte of a skeleton counts" {
    loaded
    cp "$layer/skeleton" skeleton
    gzip -dc < skeleton > plain
    size=$(stat -c %s skeleton)
    for ((at = 10; at < size; at += 1 + size / 40)); do
        printf '\125' | dd of="$layer/skeleton" bs=1 seek=$at conv=notrunc status=none
        # Some changes are none, such as zeros copied from other zeros.
        gzip -dc < "$layer/skeleton" > now 2> /dev/null && cmp -s now plain && continue
        verified
        is "status with byte $at changed" 4 "$status"
        cp skeleton "$layer/skeleton"
    done
    good
}

@test "a layer, a record, an image that is gone" {
    loaded
    mv "$layer" gone
    damaged 'is missing'
    "$ASSAY" image load --quiet oci
    good
    record=$ASSAY_STATE/images/images/$id
    size=$(stat -c %s "$record")
    cp "$record" record
    for at in 3 40 200 $((size / 2)) $((size - 1)); do
        printf '\1' | dd of="$record" bs=1 seek="$at" conv=notrunc status=none
        verified
        is "status with byte $at changed" 4 "$status"
        cp record "$record"
    done
    good
    cp "$record" "${record%????}0000"
    verified
    grep -q "^${id:0:12}  its record is that of another image" said
    rm "${record%????}0000" "$record"
    verified
    is status 4 "$status"
    grep -q '^it:1  names an image that is not there' said
    mended
}

@test "what a load that was killed left is no damage" {
    loaded
    mkdir -p "$ASSAY_STATE/images/incoming/01ARZ3NDEKTSV4RRFFQ69G5FAV/tree"
    good
}

# tars of the files in ./tree, in every format, and one that has some of them twice
every_tar() {
    truncate -s 300000 tree/holes
    echo x | dd of=tree/holes bs=1 seek=123456 conv=notrunc status=none
    truncate -s 9999 tree/'only a hole'
    ln tree/holes tree/'same holes'
    for format in v7 ustar gnu pax; do tar -H $format -C tree -cf "$1/$format" . 2> /dev/null || rm "$1/$format"; done
    tar -H gnu -S -C tree -cf "$1/gnu-sparse" .
    for version in 0.0 0.1 1.0; do tar -H pax -S --sparse-version=$version -C tree -cf "$1/pax-sparse-$version" .; done
    cp "$1/gnu" "$1/twice"
    find tree -type f -size -50k | sort | head -3 | while read -r file; do echo changed >> "$file"; done
    tar -H gnu -C tree -rf "$1/twice" .
}

@test "random layers, in every format of tar, are good, and come back byte for byte" {
    for seed in ${ASSAY_SEEDS:-1 2 3}; do
        rm -rf tars tree
        mkdir tars tree
        (cd tars && perl "$BATS_TEST_DIRNAME/../programs/random-layers.pl" "$seed")
        (cd tree && perl "$BATS_TEST_DIRNAME/../programs/random-tree.pl" "$seed")
        every_tar tars
        "$ASSAY_BUILD/tests/make-layer" 'x:path=folder/{200}' f:short:content Z:zeros:100000 c:null h:hard:zeros f:zeros:new > tars/odd
        "$ASSAY_BUILD/tests/make-layer" f:a:one h:b:a f:a:two h:c:b > tars/replaced
        layout_of_tars oci it:1 tars/*
        "$ASSAY" image load --quiet oci 2> /dev/null
        good it:1 || is "with seed $seed" good "$(cat said)"
        "$ASSAY" image export --force it:1 out.tar
        rm -rf out && mkdir out && tar -C out -xf out.tar
        for tar in tars/*; do cmp "$tar" "out/blobs/sha256/$(digest "$tar")"; done
    done
}

@test "an export has the same id, layers and names, wherever it is loaded" {
    config='{"Env": ["A=b"], "Cmd": ["sh"]}' layout oci example.org/team/app:1 base app
    "$ASSAY" image load --quiet --name other:2 oci
    "$ASSAY" image export other:2 it.tar
    "$ASSAY" image export other:2 - | cmp - it.tar
    ls > after
    is 'left beside it' '' "$(grep 'it.tar.' after)"
    "$ASSAY" image list --json | jq "map(del(.loaded))" > before
    id=$("$ASSAY" image inspect other:2 | jq -r .id)
    ASSAY_STATE=$work/elsewhere "$ASSAY" image load --quiet it.tar
    ASSAY_STATE=$work/elsewhere "$ASSAY" image list --json | jq "map(del(.loaded))" | cmp - before
    ASSAY_STATE=$work/elsewhere "$ASSAY" image verify --quiet
    is layers "$(ls "$ASSAY_STATE/images/layers")" "$(ls elsewhere/images/layers)"
    mkdir layout && tar -C layout -xf it.tar
    is 'the configuration' "$id" "$(digest "layout/blobs/sha256/$id")"
    is 'as umoci lists it' 'example.org/team/app:1 other:2' "$(umoci list --layout layout | sort | tr '\n' ' ' | sed 's/ $//')"
    for form in oci-archive docker-archive; do
        is "the environment, by skopeo from $form" '["A=b"]' "$(skopeo inspect --config "$form:it.tar:other:2" | jq -c .config.Env)"
    done
    skopeo copy --quiet oci-archive:it.tar:other:2 dir:copied
}

@test "an export replaces no file unasked, and leaves nothing half" {
    loaded
    echo mine > it.tar
    status=0
    "$ASSAY" image export it:1 it.tar 2> errors || status=$?
    is status 2 "$status"
    is 'what was there' mine "$(cat it.tar)"
    rm "$layer/tree/app/3"
    status=0
    "$ASSAY" image export --force it:1 it.tar 2> errors || status=$?
    is 'status of a damaged layer' 4 "$status"
    grep -q '^assay: image.corrupt: .*app/3: is missing' errors
    is 'what was there' mine "$(cat it.tar)"
    [ ! -e it.tar.new ]
    nothing_coming
    mended
    "$ASSAY" image export --force it:1 it.tar
    tar -tf it.tar | grep -qx index.json
}

@test "an export replaces no device, link, pipe or directory" {
    loaded
    mkdir -p places/directory
    mkfifo places/pipe
    ln -s nowhere places/dangling
    ln -s ../it.tar places/link
    ! is_root || mknod places/null c 1 3
    for place in places/*; do
        before=$(stat -c '%F %i' "$place")
        run -2 --separate-stderr "$ASSAY" image export --force it:1 "$place"
        [[ $stderr == *"$place: is there already; only regular files"* ]]
        is "$place" "$before" "$(stat -c '%F %i' "$place")"
    done
    nothing_coming
}
