# What the tests of assay-unpack expect of unpack-driver, whose output and status `run` has kept.

fail_with() {
    echo "${archive_kind:-}: $*" >&2
    return 1
}

accepted() {
    [ "$status" -eq 0 ] || fail_with "refused: $output"
}

refused_as() { # CODE [TEXT]
    [ "$status" -eq 1 ] || fail_with "not refused: $output"
    [[ $output == *"error $1 "*"${2:-}"* ]] || fail_with "not $1 ${2:-}: $output"
}
