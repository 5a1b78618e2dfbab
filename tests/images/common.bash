# Shared by the tests of images with other tools.

load ../cli/common

images=${ASSAY_BUILD:?}/images

# podman with a store of its own, below $work.
setup_podman() {
    podman=(podman --root "$work/podman/root" --runroot "$work/podman/run" --tmpdir "$work/podman/tmp"
        --storage-driver overlay --runtime runc --cgroup-manager cgroupfs)
}

end_podman() {
    [ ${#podman[@]} -gt 0 ] && [ -d "$work/podman" ] || return 0
    "${podman[@]}" image umount --all > /dev/null
    "${podman[@]}" rmi --all --force > /dev/null
}

# in_image IMAGE COMMAND…: with $work/project in the cell
in_image() {
    "$ASSAY" exec "${weak[@]}" "${user[@]}" --limit wall=60s --limit memory=1GiB --bind "$work/project:/project:ro" \
        "$1" -- "${@:2}"
}
