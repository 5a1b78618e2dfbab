#!/usr/bin/env bats
# assay init: each template is a task that grades its own solutions.

load common
load layout

setup() {
    setup_work
    cd "$work" || return
}

# A result without what differs from run to run.
steady='del(.id, .phases, .usage, .build_check.ms, .tests[].duration_ms)'

# run_good: grade solutions/good as an archive, as a submitter would send it
run_good() {
    local judge=()
    mapfile -t judge < <(jq -r 'select(.llm_score) | "--llm-score", .llm_score' "$1/solutions/good/expect.json")
    tar -C "$1/solutions/good" --exclude=expect.json --sort=name --mtime=@0 --owner=0 --group=0 -cf good.tar .
    "$ASSAY" run --json "${weak[@]}" "${judge[@]}" "$1" good.tar | jq -S "$steady"
}

# works TEMPLATE: init, check, verify; $ASSAY_RERUNS (3) further runs of each give the same
works() {
    "$ASSAY" init --template "$1" "$1" > said
    grep -q "assay verify $1" said
    "$ASSAY" check "$1" > checked || { cat checked >&2 && return 1; }
    is 'warnings of check' 'the task is valid' "$(cat checked)"
    "$ASSAY" verify "${weak[@]}" --json "$1" > first || { cat first >&2 && return 1; }
    is 'warnings' '' "$(jq -r '.warnings[]' first)"
    is 'all met' true "$(jq .met first)"
    is 'right ones and wrong ones' 'true true' \
        "$(jq -r '[.solutions[] | select(.made_up | not).runs[0]] | map(.outcome == "pass" or .outcome == "win") | "\(any) \(all | not)"' first)"
    run_good "$1" > first-run
    for _ in $(seq "${ASSAY_RERUNS:-3}"); do
        "$ASSAY" verify "${weak[@]}" --json "$1" | diff first -
        run_good "$1" | diff first-run -
    done
    [ -s "$1/README.md" ]
    nothing_left
}

@test "answer-json" { works answer-json; }
@test "c-make" { works c-make; }
@test "codabench" { works codabench; }
@test "custom-script" { works custom-script; }
@test "evaluator" { works evaluator; }
@test "gradescope" { works gradescope; }
@test "harbor" { works harbor; }
@test "hybrid" { works hybrid; }
@test "io-cases" { works io-cases; }
@test "llm-rubric" { works llm-rubric; }

@test "node" {
    [ -x /usr/bin/node ] || skip 'node (Debian: nodejs) is not installed'
    works node
}

@test "prairielearn" { works prairielearn; }
@test "python-pytest" { works python-pytest; }
@test "workflow" { works workflow; }

@test "python-pytest finds the same without pytest" {
    "$ASSAY" init --template python-pytest one --quiet
    "$ASSAY" init --template python-pytest two --quiet
    sed -i 's/import pytest/import no_such_module/' two/tests/run
    grep -q no_such_module two/tests/run
    for task in one two; do "$ASSAY" verify "${weak[@]}" --json "$task" > "$task.json"; done
    diff one.json two.json
}

@test "straw-image, with the image, and without it" {
    "$ASSAY" init --template straw-image straw-image --quiet
    "$ASSAY" check straw-image
    run -4 "$ASSAY" verify "${weak[@]}" straw-image
    [[ $output == *image.missing* && $output == *'assay image load'* ]]
    rm -r straw-image
    mkdir -p base/bin base/etc
    cp /bin/busybox base/bin/
    for name in sh cat printf; do ln -s busybox "base/bin/$name"; done
    echo 'root:x:0:0::/:/bin/sh' > base/etc/passwd
    config='{"Env": ["PATH=/bin"]}' layout oci assay/busybox:latest base
    "$ASSAY" image load oci --quiet --name assay/busybox:latest
    works straw-image
}

@test "every template has a test here, a title, and no file that is missing" {
    "$ASSAY" init --list --json > list
    for name in $(jq -r '.[].name' list); do
        grep -q "works $name\b" "$here/init.bats" || { echo "$name has no test" >&2 && return 1; }
        "$ASSAY" init --json --template "$name" "new-$name" > made
        is "files of $name" "$(cd "new-$name" && find . -type f | sed 's/^..//' | LC_ALL=C sort)" "$(jq -r '.files[]' made | LC_ALL=C sort)"
    done
    is 'titles' 0 "$(jq '[.[] | select(.title == "")] | length' list)"
    "$ASSAY" init --list > list.txt
    is 'lines' "$(jq length list)" "$(wc -l < list.txt)"
}

@test "execute bits are kept, other rights are the caller's" {
    umask 027
    "$ASSAY" init new --quiet
    is 'a program' 750 "$(stat -c %a new/solutions/good/solution)"
    is 'a file' 640 "$(stat -c %a new/task.json)"
    is 'a folder' 750 "$(stat -c %a new/tests)"
}

@test "a directory that is there must be empty" {
    mkdir empty full
    "$ASSAY" init empty --quiet
    [ -e empty/task.json ]
    touch full/.hidden
    run -2 --separate-stderr "$ASSAY" init full
    [[ $stderr == *'not empty'* ]]
    is 'what was there' .hidden "$(ls -A full)"
    run -2 "$ASSAY" init empty
    run -2 "$ASSAY" init full/.hidden
    run -2 "$ASSAY" init no/such/parent
    run -2 --separate-stderr "$ASSAY" init other --template ../templates/io-cases
    [[ $stderr == *'--list'* ]]
    [ ! -e other ]
    run -2 "$ASSAY" init
    run -2 "$ASSAY" init --list other
}
