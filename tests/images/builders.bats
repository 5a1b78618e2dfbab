#!/usr/bin/env bats
# What podman builds is loaded and run in each format that podman and skopeo write it in.

load common

setup() {
    is_root || skip 'podman build needs sub-ids where it is not root'
    setup_work
    setup_podman
    mkdir "$work/project"
    user=()
    cd "$work/project" || return
    cp "$images/busybox.tar" base.tar
    echo data > data
    tar --owner=1234 --group=1234 -cf more.tar data
}

teardown() {
    end_podman
}

built() { # NAME, of the Dockerfile on standard input
    cat > Dockerfile
    "${podman[@]}" build --quiet --network host --tag "$1" . > /dev/null
}

# runs FORM FILE: it is loaded from there, and is what was built
runs() {
    "$ASSAY" image load --quiet --name it "$2" || is "loading $1" good failed
    is "$1" $'1000\n/app\nvalue\ndata\nmade\n755 0:0\ngone' "$(in_image it sh -c 'id -u && pwd && echo $NAME &&
        cat data more/data 2> /dev/null | uniq && cat /made && stat -c "%a %u:%g" /made && test -e /bin/wget || echo gone')"
    is entrypoint '["/bin/sh","-c"]' "$("$ASSAY" image inspect it | jq -c .entrypoint)"
    "$ASSAY" image list --json | jq -r '.[].name' | xargs -n 1 "$ASSAY" image remove
    "$ASSAY" image gc --quiet
}

@test "an image on top of a recipe's, in every format" {
    built example.org/built:1 <<'END'
FROM oci-archive:base.tar
USER 0
COPY --chown=1000:1000 data /app/data
ADD more.tar /app/more
RUN rm /bin/wget && echo made > /made && chmod 600 /made
RUN chmod 6755 /made
USER 1000:1000
WORKDIR /app
ENV NAME=value
ENTRYPOINT ["/bin/sh", "-c"]
END
    for form in docker-archive oci-archive oci-dir docker-dir; do
        "${podman[@]}" save --quiet --format "$form" --output "$form" example.org/built:1
        runs "podman save --format $form" "$form"
    done
    for form in docker-archive:a.tar:example.org/built:1 oci-archive:b.tar:built oci:c:built dir:d; do
        skopeo copy --quiet oci-archive:oci-archive "$form"
        runs "skopeo copy to $form" "$(echo "$form" | cut -d: -f2)"
    done
    for how in gzip zstd; do
        skopeo copy --quiet --dest-compress-format $how oci-archive:oci-archive "oci-archive:$how.tar:built"
        runs "skopeo copy with $how" "$how.tar"
    done
}

@test "an image from scratch" {
    cp /bin/busybox .
    built scratch:1 <<'END'
FROM scratch
COPY busybox /bin/
USER 7:8
ENTRYPOINT ["/bin/busybox"]
END
    "${podman[@]}" save --quiet --format oci-archive --output it.tar scratch:1
    "$ASSAY" image load --quiet it.tar
    is ids $'7\n8' "$(in_image localhost/scratch:1 busybox sh -c 'busybox id -u && busybox id -g')"
}
