# Making images of directories, and looking into the store.

digest() {
    sha256sum < "$1" | cut -d' ' -f1
}

put() { # LAYOUT FILE: moves it there, and prints what a descriptor says of it
    local sum
    sum=$(digest "$2")
    printf '"digest": "sha256:%s", "size": %s' "$sum" "$(stat -c %s "$2")"
    mkdir -p "$1/blobs/sha256"
    mv "$2" "$1/blobs/sha256/$sum"
}

# layout DIRECTORY NAME LAYER…: an OCI layout with an image of these directories; $config,
# $architecture and $owner say more
layout() {
    local to=$1 name=$2 layer tars=()
    shift 2
    for layer in "$@"; do
        tars+=("layer${#tars[@]}.tar")
        tar --sort=name --owner="${owner:-0}" --group="${owner:-0}" --mtime=@1 -C "$layer" -cf "${tars[-1]}" .
    done
    layout_of_tars "$to" "$name" "${tars[@]}"
    rm "${tars[@]}"
}

# layout_of_tars DIRECTORY NAME TAR…: the same of tar files
layout_of_tars() {
    local to=$1 name=$2 layers='' diffs='' layer
    shift 2
    rm -rf "$to"
    for layer in "$@"; do
        diffs="$diffs, \"sha256:$(digest "$layer")\""
        gzip -nc "$layer" > layer.tar.gz
        layers="$layers, {\"mediaType\": \"application/vnd.oci.image.layer.v1.tar+gzip\", $(put "$to" layer.tar.gz)}"
    done
    echo "{\"architecture\": \"${architecture:-amd64}\", \"os\": \"linux\", \"config\": ${config:-{\}},
        \"rootfs\": {\"type\": \"layers\", \"diff_ids\": [${diffs#,}]}}" > config
    echo "{\"schemaVersion\": 2, \"layers\": [${layers#,}], \"config\":
        {\"mediaType\": \"application/vnd.oci.image.config.v1+json\", $(put "$to" config)}}" > manifest
    echo "{\"schemaVersion\": 2, \"manifests\": [{\"mediaType\": \"application/vnd.oci.image.manifest.v1+json\",
        $(put "$to" manifest), \"annotations\": {\"org.opencontainers.image.ref.name\": \"$name\"}}]}" > "$to/index.json"
    echo '{"imageLayoutVersion": "1.0.0"}' > "$to/oci-layout"
}

layers_there() {
    find "$ASSAY_STATE/images/layers" -mindepth 1 -maxdepth 1 | wc -l
}

nothing_coming() {
    is 'left in incoming' '' "$(ls -A "$ASSAY_STATE/images/incoming")"
}
