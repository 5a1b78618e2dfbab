#!/usr/bin/env bats
# What submissions get of an image: its lowest layers, without what only the suite may know.

load common
load layout

setup() {
    setup_work
    cd "$work" || return
    mkdir -p base/bin base/etc base/usr/bin app/tests/deep app/opt/grader app/results app/data
    cp /bin/busybox base/bin/
    for name in sh cat ls find env mkdir rm; do ln -s busybox "base/bin/$name"; done
    echo 'what is right' > app/tests/deep/1.out
    echo 'the answers' > app/opt/grader/answers
    printf '#!/bin/sh\n' > app/opt/grader/run.sh
    chmod +x app/opt/grader/run.sh
    ln -s ../../opt/grader/run.sh base/usr/bin/grade
    ln -s opt/grader app/link
}

# load_image [CONFIG] LAYER…: as `it`
load_image() {
    config=$1 layout oci it "${@:2}"
    "$ASSAY" image load oci --quiet
}

# seen [OPTIONS…]: the files below the places that matter, as a cell with these options sees them
seen() {
    "$ASSAY" exec "${weak[@]}" --workdir / "$@" it -- sh -c 'find tests results opt srv data link usr/bin 2> /dev/null' | sort | tr '\n' ' '
}

# task_with IMAGE [FILE CONTENT…]: declares that as submission.image; files of the task
task_with() {
    rm -rf task && mkdir -p task/tests task/truth
    echo "{\"schema\": \"assay.task/1\", \"name\": \"test\", \"image\": \"it\", \"scoring\": {\"mode\": \"container\"},
        \"suite\": {\"command\": [\"sh\"]}, \"submission\": {\"image\": $1}}" > task/task.json
    shift
    for (( ; $# > 0; )); do
        mkdir -p "task/$(dirname "$1")"
        echo "$2" > "task/$1"
        shift 2
    done
}

@test "places are hidden, with those of the contract and what links lead to; everything else stays" {
    load_image '{}' base app
    is 'the whole image' 'data link opt opt/grader opt/grader/answers opt/grader/run.sh results tests tests/deep tests/deep/1.out usr/bin usr/bin/grade ' "$(seen)"
    is 'one file' 'data link opt opt/grader opt/grader/run.sh usr/bin usr/bin/grade ' "$(seen --hide /opt/grader/answers)"
    is 'by a link' 'data opt usr/bin usr/bin/grade ' "$(seen --hide /link)"
    is 'behind a link' 'data link opt opt/grader opt/grader/run.sh usr/bin usr/bin/grade ' "$(seen --hide /link/answers)"
    is 'several' 'link opt usr/bin ' "$(seen --hide /opt/grader --hide /data --hide /usr/bin/grade)"
    is 'one in the other' 'data usr/bin usr/bin/grade ' "$(seen --hide /opt --hide /opt/grader --hide /link)"
    is 'the whole image again' 'what is right' "$("$ASSAY" exec "${weak[@]}" it -- cat /tests/deep/1.out)"
    nothing_coming
}

@test "what is hidden stays hidden, whatever the cell does" {
    load_image '{}' base app
    # shellcheck disable=SC2016 # for the shell inside
    run -0 "$ASSAY" exec "${weak[@]}" --hide /opt/grader it -- sh -c '
        mkdir /tests /opt/grader && ls -A /tests /opt/grader && rm -r /opt && mkdir -p /opt/grader && ls -A /opt/grader
        find bin etc opt tests usr -name answers -o -name 1.out'
    is output "$(printf '%s\n' '/opt/grader:' '' '/tests:' | sort)" "$(echo "$output" | sort)"
    ! is_root || is 'what the store has of it' 'c /opt/grader c /results c /tests d /opt ' \
        "$(find "$ASSAY_STATE/images/layers/$(mask)/tree" -mindepth 1 -printf '%y /%P\n' | sort | tr '\n' ' ')"
}

# The layer of a view that no image has.
mask() {
    comm -23 <(ls "$ASSAY_STATE/images/layers") <("$ASSAY" image inspect it | jq -r '.layers[]' | sort)
}

@test "the scripts of ENTRYPOINT and CMD are hidden, tools are not" {
    load_image '{"Entrypoint": ["/bin/sh", "/opt/grader/run.sh"], "Env": ["PATH=/bin"]}' base app
    is 'an argument' 'data link opt opt/grader opt/grader/answers usr/bin usr/bin/grade ' "$(seen --layers 2)"
    load_image '{"Cmd": ["grade"], "Env": ["PATH=/usr/bin:/bin"]}' base app
    is 'along PATH, a link' 'data link opt opt/grader opt/grader/answers usr/bin ' "$(seen --layers 2)"
    load_image '{"Cmd": ["/bin/sh", "-c", "cd /opt/grader && exec ./run.sh >log"]}' base app
    is 'a line' 'data link opt opt/grader opt/grader/answers usr/bin usr/bin/grade ' "$(seen --layers 2)"
    load_image '{"Cmd": ["/bin/sh", "-c", "grade"], "Env": ["PATH=/usr/bin:/bin"]}' base app
    is 'a line of one word' 'data link opt opt/grader opt/grader/answers usr/bin ' "$(seen --layers 2)"
    load_image '{"Cmd": ["env", "grade"], "Env": ["PATH=/usr/bin:/bin"]}' base app
    is 'behind another program' 'data link opt opt/grader opt/grader/answers usr/bin ' "$(seen --layers 2)"
    load_image '{"Cmd": ["/bin/sh", "-c", "(/opt/grader/run.sh)>/results/log"]}' base app
    is 'between brackets' 'data link opt opt/grader opt/grader/answers usr/bin usr/bin/grade ' "$(seen --layers 2)"
    load_image '{"Entrypoint": ["sh"], "Cmd": ["run.sh"], "WorkingDir": "/link"}' base app
    is 'in WORKDIR' 'data link opt opt/grader opt/grader/answers usr/bin usr/bin/grade ' "$(seen --layers 2)"
}

@test "the lowest layers, with what they replace" {
    mkdir -p first/data/a second/data third/data
    echo 1 > first/data/one
    echo 2 > second/data/two
    echo 3 > third/data/three
    touch second/data/.wh..wh..opq
    ln -s /bin base/data
    load_image '{}' base first second third second
    is all 'data data/two usr/bin usr/bin/grade ' "$(seen)"
    is four 'data data/three data/two usr/bin usr/bin/grade ' "$(seen --layers 4)"
    is three 'data data/two usr/bin usr/bin/grade ' "$(seen --layers 3)"
    is two 'data data/a data/one usr/bin usr/bin/grade ' "$(seen --layers 2)"
    is one 'data usr/bin usr/bin/grade ' "$(seen --layers 1)"
    run -2 "$ASSAY" exec --layers 6 it -- true
    [[ $output == *'5 layers, not 6'* ]] || return 1
    for wrong in 0 x 1x 1000; do
        run -2 "$ASSAY" exec --layers $wrong it -- true
    done
    run -2 "$ASSAY" exec --hide a/b it -- true
    run -2 "$ASSAY" exec --hide /a/../b it -- true
    run -2 "$ASSAY" exec --hide /a host -- true
}

@test "check refuses an image that shows submissions a file of tests/ or truth/, under any name" {
    mkdir -p app/srv/.cache/a
    cp app/tests/deep/1.out app/srv/.cache/a/b
    : > app/srv/empty
    load_image '{}' base app
    task_with '{"from": "suite"}' tests/x/expected 'what is right' truth/t 'the answers' tests/same 'what is right'
    : > task/tests/empty
    run -2 "$ASSAY" check task
    is 'each of them' "$(printf '%s\n' \
        'task/task.json:2:54: submission.image: shows submissions /opt/grader/answers, which has the content of truth/t; hide it' \
        'task/task.json:2:54: submission.image: shows submissions /srv/.cache/a/b, which has the content of tests/same; hide it')" \
        "$(echo "$output" | sort)"
    is 'as JSON' '[false,2,2,"submission.image"]' \
        "$("$ASSAY" check --json task | jq -c '[.valid, (.errors | length), .errors[0].line, .errors[0].key]')"
    task_with '{"from": "suite", "hide": ["/srv/.cache", "/link"]}' tests/x/expected 'what is right' truth/t 'the answers'
    run -0 "$ASSAY" check task
    is hidden 'the task is valid' "$output"
    task_with '{"from": "suite", "layers": 1}' tests/x/expected 'what is right' truth/t 'the answers'
    run -0 "$ASSAY" check task
    task_with '"it"' truth/t 'the answers'
    run -2 "$ASSAY" check task
    [[ $output == *'/opt/grader/answers'* ]] || return 1
    nothing_coming
}

@test "check reads a task that only its owner may read; many files; a few of the many are named" {
    mkdir app/many
    for i in $(seq 5100); do echo "$i" > "app/many/$i"; done
    load_image '{}' base app
    task_with '{"from": "suite"}'
    cp -R app/many task/tests/private
    chmod -R go= task
    chmod 700 task
    run -2 "$ASSAY" check task
    is lines 21 "${#lines[@]}"
    [[ ${lines[20]} =~ 'shows submissions at least '[0-9]+' more such files' ]] || return 1
    task_with '{"from": "suite", "hide": ["/many"]}'
    cp -R app/many task/tests/private
    run -0 "$ASSAY" check task
}

@test "check warns of places that are not there, directories that the command names, an image that is not here" {
    load_image '{"Cmd": ["sh", "-c", "cd /opt/grader; ls /data"]}' base app
    task_with '{"from": "suite", "hide": ["/data", "/no/such/place"]}'
    for _ in 1 2; do
        run -0 "$ASSAY" check task
        [[ $output == *'submission.image: /no/such/place: is not in the image'* ]] || return 1
        [[ $output == *"submission.image: /opt/grader: is a directory that the image's command names"* ]] || return 1
        [[ $output != *'/data: '* ]] || return 1
    done
    # shellcheck disable=SC2016 # for the shell inside
    load_image '{"Cmd": ["sh", "-c", "exec $RUN"], "Env": ["RUN=/opt/grader/run.sh"]}' base app
    run -0 "$ASSAY" check task
    [[ $output == *"\$RUN: is in the image's command, and may name a script"* ]] || return 1
    task_with '"elsewhere:1"'
    run -0 "$ASSAY" check task
    [[ $output == *'not on this machine'* ]] || return 1
    task_with '{"from": "suite", "layers": 9}'
    run -2 "$ASSAY" check task
    [[ $output == *'2 layers, not 9'* ]] || return 1
    task_with '"it"'
    ln -s /etc task/truth/etc
    run -2 "$ASSAY" check task
    [[ $output == *'truth/etc'* ]] || return 1
}

@test "check hides what the suite of the task runs" {
    load_image '{}' base app
    task_with '{"from": "suite"}' truth/t '#!/bin/sh'
    run -2 "$ASSAY" check task
    [[ $output == *'/opt/grader/run.sh, which has the content of truth/t'* ]] || return 1
    sed -i 's|"command": \["sh"\]|"command": ["sh", "/opt/grader/run.sh"]|' task/task.json
    run -0 "$ASSAY" check task
}

@test "gc keeps the masks of images that are there; verify finds a mask that shows more, and it is made anew" {
    load_image '{}' base app
    is masked 'data link opt usr/bin usr/bin/grade ' "$(seen --hide /opt/grader)"
    "$ASSAY" image gc --quiet
    is 'layers after gc' 3 "$(layers_there)"
    run -0 "$ASSAY" image verify
    mask=$(mask)
    if is_root; then
        rm "$ASSAY_STATE/images/layers/$mask/tree/opt/grader"
    else # whose the files of layers are, depends
        rm "$ASSAY_STATE/images/layers/$mask/skeleton"
    fi
    run -4 "$ASSAY" image verify
    [[ $output == *"view "*"layer ${mask:0:12}"* ]] || return 1
    run -4 "$ASSAY" image verify --remove
    is 'made anew' 'data link opt usr/bin usr/bin/grade ' "$(seen --hide /opt/grader)"
    run -0 "$ASSAY" image verify
    "$ASSAY" image remove it
    "$ASSAY" image gc --quiet
    is 'layers of no image' 0 "$(layers_there)"
    is 'views of no image' '' "$(ls "$ASSAY_STATE/images/views")"
}

@test "hostile images: links in circles and to the root, names and commands without bound" {
    ln -s /tests base/tests
    ln -s b base/results
    ln -s results base/b
    mkdir -p "base/srv/$(printf '\n')x"
    load_image '{"Entrypoint": ["/tests", "../../../../bin/sh", "//", ".", ""], "WorkingDir": "/results/../.."}' base
    is circles 'b srv srv/x usr/bin usr/bin/grade ' "b $(seen --hide /srv/none)"
    rm base/tests
    ln -s / base/tests
    load_image '{}' base
    run -127 "$ASSAY" exec "${weak[@]}" --hide /none it -- /bin/sh
    rm base/tests
    load_image "{\"Cmd\": [\"$(printf 'x %.0s' {1..5000})\"]}" base
    run -125 "$ASSAY" exec "${weak[@]}" --hide /none it -- /bin/sh
    [[ $output == *image.unsupported*4096* ]] || return 1
}

@test "hostile images: links and commands that would keep us busy, and whose caller is gone" {
    long=$(printf 'a/../%.0s' {1..700})
    mkdir base/a
    for i in $(seq 0 38); do ln -s "$long/l$((i + 1))" "base/l$i"; done
    load_image "{\"Env\": [\"PATH=$(printf '/l0:%.0s' {1..60})\"], \"Cmd\": [\"sh\", \"-c\", \"$(printf 'x%d ' {1..3000})\"]}" base
    run -125 "$ASSAY" exec "${weak[@]}" --hide /none it -- /bin/sh
    [[ $output == *'more links to follow than anyone needs'* ]] || return 1
    nothing_coming
}

@test "two layers that replace the same directory; masks that are the same" {
    mkdir -p base/data/a one/data two/data
    echo 1 > one/data/x
    echo 2 > two/data/y
    touch one/data/.wh..wh..opq two/data/.wh..wh..opq
    load_image '{}' base one two
    is both 'data data/y usr/bin usr/bin/grade ' "$(seen)"
    is first 'data data/x usr/bin usr/bin/grade ' "$(seen --layers 2)"
}

@test "one view at once by several" {
    load_image '{}' base app
    for i in 1 2 3 4; do
        "$ASSAY" exec "${weak[@]}" --hide /opt it -- ls /opt 2> "out$i" &
    done
    wait
    for i in 1 2 3 4; do
        grep -q 'No such file' "out$i" || { cat "out$i" >&2; return 1; }
    done
    nothing_coming
    is views 1 "$(find "$ASSAY_STATE/images/views" -type f | wc -l)"
}
