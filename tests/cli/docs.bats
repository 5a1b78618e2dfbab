#!/usr/bin/env bats
# The documentation is true: its commands run, and what it names exists.

load common

setup() {
    setup_work
    root=$here/../..
}

@test "every command in the README's and the documents' code blocks works" {
    mkdir -p "$work/clone/build" "$work/clone/docs"
    cp -R "$examples" "$root/docs/templates" "$work/clone/docs/"
    # Where only weak limits can be had, the reader is told to accept them.
    printf '#!/bin/sh\nverb=$1; shift\ncase $verb in run | exec | shell | batch | verify | worker) set -- "$verb" %s "$@" ;; *) set -- "$verb" "$@" ;; esac\nexec "%s" "$@"\n' \
        "${weak[*]}" "$ASSAY" > "$work/clone/build/assay"
    chmod +x "$work/clone/build/assay"
    sed -n 's/^    \$ //p' "$root/README.md" "$root"/docs/*.md > "$work/commands"
    [ "$(wc -l < "$work/commands")" -ge 8 ]
    cd "$work/clone"
    while read -r command; do
        status=0
        bash -c "$command" > "$work/output" 2>&1 < /dev/null || status=$?
        case $command in *doctor*) [ "$status" -eq 4 ] && status=0 ;; esac
        if [ "$status" -ne 0 ]; then
            echo "$command: exit status $status" >&2
            cat "$work/output" >&2
            return 1
        fi
    done < "$work/commands"
    is 'score of the sample' 96 "$(jq -r .exact.score result.json)"
}

@test "the sample solutions score what their expect.json says" {
    "$ASSAY" verify "${weak[@]}" "$examples/palindrome" > "$work/output" || { cat "$work/output" >&2 && return 1; }
    is warnings 0 "$(grep -c ^warning "$work/output")"
}

@test "the documents show the examples as they are" {
    for file in spec.json record.json; do
        sed 's/^/    /' "$examples/scoring/$file" > "$work/shown"
        python3 -c 'import sys; sys.exit(open(sys.argv[1]).read() not in open(sys.argv[2]).read())' "$work/shown" "$root/docs/scoring.md"
    done
    sed 's/^/    /' "$root/docs/templates/workflow/solutions/good/workflow.json" > "$work/shown"
    python3 -c 'import sys; sys.exit(open(sys.argv[1]).read() not in open(sys.argv[2]).read())' "$work/shown" "$root/docs/workflow.md"
}

@test "the man page names every verb and option" {
    for verb in $("$ASSAY" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        grep -q "^\.B assay $verb" "$root/docs/assay.1"
        for option in $("$ASSAY" "$verb" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
            grep -qF -- "${option//-/\\-}" "$root/docs/assay.1" || {
                echo "$verb $option is not in the man page" >&2
                return 1
            }
        done
    done
}

@test "the man page of assay-exec names every option" {
    for option in $("$ASSAY_BUILD/assay-exec" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
        grep -qF -- "${option//-/\\-}" "$root/docs/assay-exec.1"
    done
}

@test "the tests that the threat model names exist" {
    for file in $(grep -o '[a-z_-]*\.bats\|test_[a-z_]*\.c' "$root/docs/threat-model.md" | sort -u); do
        [ -e "$here/$file" ] || [ -e "$here/../unit/$file" ] || {
            echo "$file does not exist" >&2
            return 1
        }
    done
}

@test "an installed Assay finds its helpers, and uninstall leaves nothing" {
    [ -e "$root/Makefile" ] || skip 'this is an installed copy already'
    make --no-print-directory -s -C "$root" install DESTDIR="$work/root" PREFIX=/opt/assay BUILD="$(realpath "$ASSAY_BUILD")"
    "$work/root/opt/assay/bin/assay" doctor --quiet || [ $? -eq 4 ]
    [ -x "$work/root/opt/assay/libexec/assay/assay-cell" ]
    [ -e "$work/root/opt/assay/share/doc/assay/task.schema.json" ]
    "$work/root/opt/assay/bin/assay" init --quiet "$work/new"
    "$work/root/opt/assay/bin/assay" verify "${weak[@]}" --quiet "$work/new"
    make --no-print-directory -s -C "$root" uninstall DESTDIR="$work/root" PREFIX=/opt/assay
    is 'files left' '' "$(find "$work/root" -type f)"
}
