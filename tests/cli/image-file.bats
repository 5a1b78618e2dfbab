#!/usr/bin/env bats
# What assay-unpack says of files with container images: those that tools write, and those that lie.

setup() {
    build=${ASSAY_BUILD:-$BATS_TEST_DIRNAME/../../build}
    work=$(mktemp -d "${TMPDIR:-/tmp}/assay-image.XXXXXX")
    cd "$work" || return
    mkdir tree
    layer
}

teardown() {
    rm -rf "$work"
}

fail_with() {
    echo "$*" >&2
    return 1
}

look() { # [options of the driver] FILE
    run "$build/tests/unpack-driver" -I "${@:1:$#-1}" "$build/assay-unpack" "${@: -1}" tree
    [ -z "$(ls -A tree)" ]
}

says() { # LINE…: all of them, in any order
    [ "$status" -eq 0 ] || fail_with "refused: $output"
    for line in "$@"; do
        grep -qxF -- "$line" <<< "$output" || fail_with "not said: $line
$output"
    done
}

refused_as() { # CODE TEXT
    [ "$status" -eq 1 ] || fail_with "not refused: $output"
    [[ $output == *"error $1 "*"$2"* ]] || fail_with "not $1 $2: $output"
}

# --- making images -----------------------------------------------------------------------------

# A layer: ./layer.tar and ./layer.tar.gz
layer() {
    mkdir root
    echo hello > root/hello
    tar -C root -cf layer.tar .
    gzip -nk layer.tar
}

digest() {
    sha256sum < "$1" | cut -d' ' -f1
}

blob() { # FILE: into the layout
    mkdir -p layout/blobs/sha256
    cp "$1" "layout/blobs/sha256/$(digest "$1")"
}

descriptor() { # MEDIA FILE [MORE]
    jq -cn --arg media "application/vnd.$1" --arg digest "sha256:$(digest "$2")" \
        --argjson size "$(stat -c %s "$2")" "{mediaType: \$media, digest: \$digest, size: \$size} + ${3:-{\}}"
}

config() { # ARCHITECTURE [MORE]: ./config
    jq -cn --arg architecture "$1" --arg diff_id "sha256:$(digest layer.tar)" \
        "{os: \"linux\", architecture: \$architecture, created: \"2026-01-01T00:00:00Z\",
          config: {Entrypoint: [\"/bin/sh\", \"-c\"], Cmd: [\"echo\"], Env: [\"PATH=/bin\"], WorkingDir: \"/w\", User: \"1:0\"},
          rootfs: {type: \"layers\", diff_ids: [\$diff_id]}} * ${2:-{\}}" > config
}

manifest() { # [MORE]: ./manifest, of ./config and ./layer.tar.gz, all of them into the layout
    jq -cn --argjson config "$(descriptor oci.image.config.v1+json config)" \
        --argjson layer "$(descriptor oci.image.layer.v1.tar+gzip layer.tar.gz)" \
        "{schemaVersion: 2, config: \$config, layers: [\$layer]} * ${1:-{\}}" > manifest
    for file in config layer.tar.gz manifest; do blob "$file"; done
}

list() { # FILE DESCRIPTOR…: an index
    jq -cs '{schemaVersion: 2, manifests: .}' <<< "${*:2}" > "$1"
}

layout() { # DESCRIPTOR…
    echo '{"imageLayoutVersion": "1.0.0"}' > layout/oci-layout
    list layout/index.json "$@"
}

named() { # NAME [MORE]
    echo "{annotations: {\"org.opencontainers.image.ref.name\": \"$1\"}} + ${2:-{\}}"
}

one_image() { # an ordinary layout with the image "one"
    config amd64
    manifest
    layout "$(descriptor oci.image.manifest.v1+json manifest "$(named one)")"
}

pack() { # DIRECTORY FILE
    tar -C "$1" -cf "$2" -- $(ls -A "$1")
}

# What `docker save` wrote before version 25, with a layer that is a link to that of another image.
old_docker() {
    config amd64
    id=$(digest config)
    mkdir -p docker/aa docker/bb
    cp config "docker/$id.json"
    cp layer.tar docker/aa/layer.tar
    ln -s ../aa/layer.tar docker/bb/layer.tar
    touch docker/aa/json docker/bb/json
    jq -cn --arg config "$id.json" \
        '[{Config: $config, RepoTags: ["one:latest", "one:1"], Layers: ["bb/layer.tar"]}]' > docker/manifest.json
}

# What skopeo writes as `dir:`, of ./manifest, ./config and ./layer.tar.gz
flat() {
    rm -rf flat
    mkdir flat
    printf 'Directory Transport Version: 1.1\n' > flat/version
    cp manifest flat/manifest.json
    for file in config layer.tar.gz; do cp "$file" "flat/$(digest "$file")"; done
}

# The member that the answer tells is there where it says.
layer_is() { # FILE DIGEST
    read -r offset length <<< "$(sed -n 's/^layer [^ ]* \([0-9]*\) \([0-9]*\) .*/\1 \2/p' <<< "$output")"
    [ "$(tail -c "+$((offset + 1))" "$1" | head -c "$length" | sha256sum | cut -d' ' -f1)" = "$2" ] ||
        fail_with "no layer at $offset: $output"
}

# --- images that are fine ----------------------------------------------------------------------

@test "an OCI layout: a directory, and the same packed" {
    one_image
    hex=$(digest layer.tar.gz)
    expected=("image [one]" "ref_digest $(digest manifest)" "id $(digest config)" "architecture amd64"
        "created 2026-01-01T00:00:00Z" "entrypoint [/bin/sh] [-c]" "cmd [echo]" "env [PATH=/bin]"
        "workdir /w" "user 1:0" "blob manifest $(digest manifest) $(stat -c %s manifest)"
        "blob config $(digest config) $(stat -c %s config)" "images 1")
    look layout
    says "${expected[@]}" \
        "layer blobs/sha256/$hex 0 $(stat -c %s layer.tar.gz) $hex $(digest layer.tar) gzip"
    for format in gnu pax ustar v7; do
        tar -C layout --format="$format" -cf packed .
        look packed
        says "${expected[@]}"
        layer_is packed "$hex"
    done
}

@test "raw documents come whole, also long ones" {
    config amd64 '{history: [range(30000) | {created_by: "0123456789012345678901234567890123456789"}]}'
    manifest
    layout "$(descriptor oci.image.manifest.v1+json manifest)"
    mkdir kept
    look -B kept layout
    [ "$status" -eq 0 ]
    [ "$(grep -c "^blob config" <<< "$output")" -gt 1 ]
    for file in config manifest; do cmp "$file" "kept/$(digest "$file")"; done
}

@test "an old docker-archive, whose layer is a link inside" {
    old_docker
    pack docker packed
    look packed
    says 'image [one:latest] [one:1]' 'ref_digest ' "id $(digest config)" 'images 1'
    [[ $output == *"layer bb/layer.tar "*" - $(digest layer.tar) unknown"* ]]
    layer_is packed "$(digest layer.tar)"
}

@test "a new docker-archive is an OCI archive as well" {
    one_image
    jq -cn --arg config "blobs/sha256/$(digest config)" --arg layer "blobs/sha256/$(digest layer.tar.gz)" \
        '[{Config: $config, RepoTags: ["other:1"], Layers: [$layer]}]' > layout/manifest.json
    pack layout packed
    look packed
    says 'image [one]' "ref_digest $(digest manifest)"
    rm layout/index.json
    rm packed
    pack layout packed
    look packed
    says 'image [other:1]' 'ref_digest ' "id $(digest config)"
    [[ $output == *" $(digest layer.tar.gz) $(digest layer.tar) unknown"* ]]
}

@test "the machine's image of several, in an index below the index" {
    items=()
    for architecture in s390x amd64 arm64; do
        config "$architecture"
        manifest
        items+=("$(descriptor oci.image.manifest.v1+json manifest \
            "{platform: {os: \"linux\", architecture: \"$architecture\"}}")")
        cp config "config.$architecture"
    done
    config arm64 '{variant: "v8"}'
    manifest
    items+=("$(descriptor oci.image.manifest.v1+json manifest \
        '{platform: {os: "linux", architecture: "arm64", variant: "v8"}}')")
    echo attestation > other
    items+=("$(descriptor oci.image.manifest.v1+json other '{platform: {os: "unknown", architecture: "unknown"}}')")
    list index "${items[@]}"
    blob index
    layout "$(descriptor oci.image.index.v1+json index "$(named one)")"
    look layout
    says 'image [one]' "ref_digest $(digest index)" "id $(digest config.amd64)" 'images 1'
    look -a arm64 layout
    says "id $(digest config)" 'images 1'
    look -a riscv64 layout
    refused_as image.not_found 'no image for linux/riscv64; the file holds: one for linux/s390x, one for linux/amd64'
}

@test "one image of several by its name" {
    config amd64
    manifest
    first=$(descriptor oci.image.manifest.v1+json manifest "$(named first)")
    config amd64 '{author: "x"}'
    manifest
    layout "$first" "$(descriptor oci.image.manifest.v1+json manifest "$(named second)")"
    look layout
    says 'image [first]' 'image [second]' 'images 2'
    look -w second layout
    says 'image [second]' "id $(digest config)" 'images 1'
    look -w third layout
    refused_as image.not_found 'no image `third` for linux/amd64; the file holds: first, second'
}

@test "what does not belong into the environment is left out, with a warning" {
    config amd64 '{config: {Env: ["A=1", "B", "=C", "D\nE=1"]}}'
    manifest
    layout "$(descriptor oci.image.manifest.v1+json manifest)"
    look layout
    says 'warning Env: 3 entries left out that are not NAME=VALUE' 'env [A=1]' 'image'
}

@test "what umoci and skopeo write" {
    command -v umoci > /dev/null && command -v skopeo > /dev/null || skip 'needs umoci and skopeo'
    umoci init --layout made
    umoci new --image made:one
    umoci config --image made:one --config.entrypoint /bin/sh --config.env A=b --config.user 1:0
    umoci insert --rootless --image made:one root/hello /hello
    look made
    says 'image [one]' 'entrypoint [/bin/sh]' 'user 1:0' 'images 1'
    id=$(sed -n 's/^id //p' <<< "$output")
    for kind in oci-archive docker-archive; do
        skopeo --insecure-policy --tmpdir "$work" copy -q oci:made:one "$kind:$kind:test/one:1"
        look "$kind"
        says "id $id" 'entrypoint [/bin/sh]' 'user 1:0' 'images 1'
        [[ $output == *"test/one:1]"* ]]
        read -r _ _ _ _ digest diff_id _ <<< "$(grep '^layer ' <<< "$output")"
        if [ "$digest" = - ]; then digest=$diff_id; fi
        layer_is "$kind" "$digest"
    done
}

@test "a dir: of skopeo, and the same packed" {
    config amd64
    manifest
    flat
    pack flat packed
    for file in flat packed; do
        look $file
        says 'image' "ref_digest $(digest manifest)" "id $(digest config)" 'entrypoint [/bin/sh] [-c]' 'images 1' \
            "blob manifest $(digest manifest) $(stat -c %s manifest)" "blob config $(digest config) $(stat -c %s config)"
        [[ $output != *'blob index'* ]]
    done
    layer_is packed "$(digest layer.tar.gz)"
    look -w one flat
    refused_as image.not_found 'no image `one`'
}

@test "a dir: that was pulled: its reference meant the manifest, or an index with it" {
    config amd64
    manifest
    flat
    cp manifest flat/reference.json
    look flat
    says "ref_digest $(digest manifest)" 'images 1'
    [[ $output != *'blob index'* ]]
    cp config "config.s390x"
    list flat/reference.json "$(descriptor oci.image.manifest.v1+json config.s390x)" \
        "$(descriptor oci.image.manifest.v1+json manifest)"
    cp flat/reference.json index
    mkdir kept
    look -B kept flat
    says "ref_digest $(digest index)" "blob index $(digest index) $(stat -c %s index)" 'images 1'
    for file in index config manifest; do cmp "$file" "kept/$(digest "$file")"; done
}

@test "a dir: for another machine" {
    config s390x
    manifest
    flat
    look flat
    refused_as image.not_found 'the file holds: an image without a name for linux/s390x'
}

@test "what umoci and skopeo write as dir:" {
    command -v umoci > /dev/null && command -v skopeo > /dev/null || skip 'needs umoci and skopeo'
    umoci init --layout made
    umoci new --image made:one
    umoci insert --rootless --image made:one root/hello /hello
    look made
    id=$(sed -n 's/^id //p' <<< "$output")
    for format in oci v2s2; do
        skopeo --insecure-policy --tmpdir "$work" copy -q --format $format oci:made:one "dir:$work/$format"
        look $format
        says "ref_digest $(digest $format/manifest.json)" 'images 1'
        [ $format = v2s2 ] || says "id $id"
    done
}

# --- images that lie ---------------------------------------------------------------------------

@test "content that is not what its digest says" {
    one_image
    for file in manifest config; do
        cp -R layout changed
        sed -i 's/2/3/' "changed/blobs/sha256/$(digest "$file")"
        look changed
        refused_as image.digest_mismatch "blobs/sha256/$(digest "$file"): its content has the digest"
        echo >> "changed/blobs/sha256/$(digest "$file")"
        look changed
        refused_as image.digest_mismatch "bytes instead of $(stat -c %s "$file")"
        rm -r changed
    done
    echo >> "layout/blobs/sha256/$(digest layer.tar.gz)"
    look layout
    refused_as image.digest_mismatch "blobs/sha256/$(digest layer.tar.gz): has "
    old_docker
    echo >> "docker/$id.json"
    pack docker packed
    look packed
    refused_as image.digest_mismatch "$id.json"
}

@test "a dir: whose content is not what it says" {
    config amd64
    manifest
    for file in config layer.tar.gz; do
        flat
        echo >> "flat/$(digest "$file")"
        look flat
        refused_as image.digest_mismatch "$(digest "$file"): has "
        rm "flat/$(digest "$file")"
        look flat
        refused_as image.invalid "$(digest "$file"): "
    done
    flat
    sed -i 's/amd64/amd46/' "flat/$(digest config)"
    look flat
    refused_as image.digest_mismatch "$(digest config): its content has the digest"
    for other in "$(descriptor oci.image.manifest.v1+json config)" \
        "$(descriptor oci.image.manifest.v1+json manifest '{size: 1}')" \
        "$(descriptor oci.image.config.v1+json manifest)"; do
        flat
        list flat/reference.json "$other"
        look flat
        refused_as image.digest_mismatch 'neither what reference.json is nor what it names'
    done
    manifest '{annotations: {a: "b"}}'
    cp manifest flat/reference.json
    look flat
    refused_as image.digest_mismatch 'neither what reference.json is nor what it names'
}

@test "a dir: of what is not one image" {
    config amd64
    manifest
    flat
    list flat/manifest.json "$(descriptor oci.image.manifest.v1+json manifest)"
    look flat
    refused_as image.unsupported 'an index of images for several machines'
    echo '{"schemaVersion": 1, "name": "one", "fsLayers": []}' > flat/manifest.json
    look flat
    refused_as image.unsupported 'schemaVersion must be 2'
    echo '[]' > flat/manifest.json
    look flat
    refused_as image.invalid 'manifest.json: line 1, column 1'
    manifest '{manifests: []}'
    flat
    look flat
    refused_as image.invalid 'also has what only the other kind has'
    manifest '{mediaType: "application/vnd.oci.image.index.v1+json"}'
    flat
    look flat
    refused_as image.invalid 'mediaType is not that of a manifest'
    echo 2.0 > flat/version
    look flat
    refused_as image.unsupported 'version: must begin with'
}

@test "members that are missing" {
    one_image
    for file in manifest config layer.tar.gz; do
        mv "layout/blobs/sha256/$(digest "$file")" aside
        look layout
        refused_as image.invalid "blobs/sha256/$(digest "$file"): "
        mv aside "layout/blobs/sha256/$(digest "$file")"
    done
    rm layout/oci-layout
    look layout
    refused_as image.invalid oci-layout
    rm layout/index.json
    look layout
    refused_as image.unsupported 'neither index.json nor manifest.json'
    config amd64
    manifest '{layers: [{mediaType: "application/vnd.oci.image.layer.nondistributable.v1.tar",
        digest: ("sha256:" + "0" * 64), size: 1, urls: ["https://example.org/layer"]}]}'
    layout "$(descriptor oci.image.manifest.v1+json manifest)"
    look layout
    refused_as image.unsupported 'only at https://example.org/layer'
}

@test "documents that contradict each other" {
    while IFS='|' read -r code text in_config in_manifest; do
        rm -rf layout
        config amd64 "$in_config"
        manifest "$in_manifest"
        layout "$(descriptor oci.image.manifest.v1+json manifest)"
        look layout
        refused_as "$code" "$text"
    done << 'END'
image.invalid|has 0 diff_ids for 1 layers|{rootfs: {diff_ids: []}}|{}
image.invalid|has 1 diff_ids for 0 layers|{}|{layers: []}
image.invalid|also has what only the other kind has|{}|{manifests: []}
image.invalid|mediaType is not that of a manifest|{}|{mediaType: "application/vnd.oci.image.index.v1+json"}
image.invalid|lower-case hexadecimal|{}|{config: {digest: "sha256:../../../etc/passwd"}}
image.unsupported|a layer of a kind|{}|{layers: [{mediaType: "text/plain", digest: ("sha256:" + "0" * 64), size: 1}]}
image.unsupported|not the manifest of a container image|{}|{config: {mediaType: "application/vnd.cncf.helm.config.v1+json"}}
image.unsupported|"layers"|{rootfs: {type: "windows"}}|{}
image.not_found|for windows/amd64|{os: "windows"}|{}
END
}

@test "an index that is too deep, or too long" {
    one_image
    item=$(descriptor oci.image.manifest.v1+json manifest)
    for depth in 1 2 3 4 5; do
        list "index$depth" "$item"
        blob "index$depth"
        item=$(descriptor oci.image.index.v1+json "index$depth")
        layout "$item"
        look layout
        if [ "$depth" -le 4 ]; then says 'images 1'; else refused_as image.invalid 'more than 4 deep'; fi
    done
    jq -c '.manifests = [range(1001) as $i | .manifests[0]]' layout/index.json > long
    cp long layout/index.json
    look layout
    refused_as image.invalid 'index.json: line 1, column '
    jq -c '.manifests = [range(1000) as $i | .manifests[0]]' long > half
    blob half
    layout "$(descriptor oci.image.index.v1+json half)"
    look layout
    refused_as image.invalid 'more than'
}

@test "documents that are too long" {
    one_image
    head -c 5M /dev/zero | tr '\0' ' ' >> layout/index.json
    look layout
    refused_as image.invalid 'index.json: a document of more than 4 MiB'
    config amd64
    head -c 9M /dev/zero | tr '\0' ' ' >> config
    manifest
    layout "$(descriptor oci.image.manifest.v1+json manifest)"
    look layout
    refused_as image.invalid "blobs/sha256/$(digest config): a document of more than 8 MiB"
}

@test "names of a docker-archive that leave it" {
    for name in ../outside /etc/passwd aa/../../outside cc/layer.tar; do
        rm -rf docker packed
        old_docker
        mkdir -p docker/cc
        ln -s ../../outside docker/cc/layer.tar
        cp layer.tar outside
        jq -c --arg name "$name" '.[0].Layers = [$name]' docker/manifest.json > changed
        cp changed docker/manifest.json
        pack docker packed
        look packed
        refused_as image.invalid "$name"
    done
    look docker # a directory has no links inside
    refused_as image.invalid "$name"
}

@test "a directory whose members are links, pipes or directories" {
    for what in 'ln -s ../../../config' mkfifo mkdir; do
        one_image
        member=layout/blobs/sha256/$(digest config)
        rm "$member"
        $what "$member"
        look layout
        refused_as image.invalid "${member#layout/}"
        rm -r layout
    done
    one_image
    mv layout/blobs elsewhere
    ln -s ../elsewhere layout/blobs
    look layout
    refused_as image.invalid blobs/
}

@test "files that are no images, compressed, damaged or cut off" {
    one_image
    pack layout packed
    for compress in gzip xz zstd bzip2; do
        $compress -c < packed > compressed
        look compressed
        refused_as image.compressed "compressed with $compress"
    done
    : > empty
    look empty
    refused_as image.invalid 'empty'
    echo hello > text
    look text
    refused_as image.unsupported 'not a tar file'
    look layer.tar
    refused_as image.unsupported 'neither index.json'
    size=$(stat -c %s packed)
    for cut in 512 700 2000 $((size / 2)); do
        head -c "$cut" packed > short
        look short
        refused_as image.invalid 'cut off'
    done
    tar -C layout -rf packed index.json
    look packed
    refused_as image.invalid 'index.json: is in the file twice'
}
