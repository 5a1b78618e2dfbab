#!/usr/bin/env bats
# assay run with a task whose image is a container image.

load common
load layout

setup() {
    setup_work
    cd "$work" || return
    mkdir -p base/bin base/etc base/home/tester app/app
    cp /bin/busybox base/bin/
    for name in sh cat id env pwd; do ln -s busybox "base/bin/$name"; done
    printf '%s\n' 'root:x:0:0::/root:/bin/sh' 'tester:x:1000:100::/home/tester:/bin/sh' > base/etc/passwd
    # shellcheck disable=SC2016 # for the shell inside
    printf '%s\n' '#!/bin/sh' 'echo "$* $(id -u):$(id -g) $PWD $HOME $FROM $TZ"' \
        '[ -r /submission/main.txt ] && score=$((40 + $#))' \
        'echo "{\"score\": $score, \"pass\": true}" > /results/score.json' > app/app/grade
    chmod 755 app/app/grade
    submission
    mkdir -p task/tests
}

# task_of IMAGE [SUITE]
task_of() {
    echo "{\"schema\": \"assay.task/1\", \"name\": \"test\", \"image\": \"$1\",
        \"scoring\": {\"scheme\": \"blend\", \"mode\": \"container\"}, \"suite\": ${2:-{\}}}" > task/task.json
}

# load_image CONFIG
load_image() {
    config=$1 layout oci grader base app
    "$ASSAY" image load oci --quiet
}

output() {
    field .logs.stdout.head
}

@test "without a command of the task the image runs what it is for, with its own environment, directory and user" {
    user=tester ids=1000:100 home=/home/tester
    is_root || [ ${#weak[@]} -eq 0 ] || user=0 ids=0:0 home=/root
    load_image "{\"Entrypoint\": [\"/app/grade\", \"one\"], \"Cmd\": [\"two\"], \"WorkingDir\": \"/app\", \"User\": \"$user\",
        \"Env\": [\"PATH=/bin\", \"FROM=image\"]}"
    task_of grader
    grade
    is score 42 "$(field .score)"
    is output "one two $ids /app $home image UTC" "$(output)"
    is ref grader "$(field .image.ref)"
    is id "$("$ASSAY" image inspect grader | jq -r .id)" "$(field .image.id)"
    is digest "$("$ASSAY" image inspect grader | jq -r .ref_digest)" "$(field .image.ref_digest)"
}

@test "the task's command and environment are stronger than the image's" {
    load_image '{"Entrypoint": ["/bin/false"], "Env": ["PATH=/bin", "FROM=image", "HOME=/nowhere"]}'
    task_of grader '{"command": ["sh", "/app/grade", "a", "b", "c"], "env": {"FROM": "task"}}'
    grade
    is score 43 "$(field .score)"
    is output 'a b c 0:0 / /nowhere task UTC' "$(output)"
}

@test "an image that is not there, or runs nothing, ends with a reason" {
    task_of nowhere:1
    grade
    is status 4 "$status"
    is code image.missing "$(field .code)"
    is class infra "$(field .class)"
    load_image '{}'
    task_of grader
    grade
    is status 4 "$status"
    is code image.unsupported "$(field .code)"
    load_image '{"Cmd": ["/app/missing"]}'
    grade
    is status 4 "$status"
    is code suite.not_found "$(field .code)"
}
