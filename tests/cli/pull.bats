#!/usr/bin/env bats
# assay image pull, from a registry on this machine.

load common
load layout

setup() {
    for program in skopeo docker-registry ss; do
        command -v $program > /dev/null || skip "needs $program"
    done
    setup_work
    cd "$work" || return
    export HOME=$work/home
    mkdir -p home/.config/containers base/bin
    echo '{"default": [{"type": "insecureAcceptAnything"}]}' > home/.config/containers/policy.json
    cp /bin/busybox base/bin/
    ln -s busybox base/bin/cat
    echo 'pulled' > base/file
    export XDG_RUNTIME_DIR=$work # where skopeo looks for credentials
    registry
    layout oci it base
    push oci it:1
    digest=$(jq -r '.manifests[0].digest' oci/index.json)
}

teardown() {
    [ -z "${registry:-}" ] || kill "$registry"
}

# registry [CONFIGURATION]: starts one; its address is $there
registry() {
    cat > registry.yml <<END
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: "127.0.0.1:0"}
${1:-}
END
    docker-registry serve registry.yml > registry.log 2>&1 3>&- &
    registry=$!
    there=
    until [ -n "$there" ]; do
        kill -0 $registry || fail_with "$(cat registry.log)"
        there=$(ss -Hltnp | sed -n "s/.* \(127.0.0.1:[0-9]*\) .*pid=$registry,.*/\1/p")
    done
}

push() { # LAYOUT NAME [OPTIONS…]
    skopeo --tmpdir "$work" copy -q --dest-tls-verify=false "${@:3}" "oci:$1:it" "docker://$there/$2"
}

pull() { # [OPTIONS…] REF; the exit status is in $status
    status=0
    "$ASSAY" image pull --tls-verify=false "$@" > said 2> errors || status=$?
}

refused_as() { # CODE TEXT
    is status 4 "$status"
    tail -n 1 errors | grep -q "^assay: $1: .*$2" || is "the error ($1, $2)" '' "$(cat errors)"
    nothing_fetched
}

nothing_fetched() {
    nothing_coming
    is 'left in pulls' '' "$(ls -A "$ASSAY_STATE/pulls")"
}

# A skopeo that has copied everything and does not end; its pid is in the file `copied`.
slow_skopeo() {
    mkdir -p slow
    cat > slow/skopeo <<END
#!/bin/sh
[ "\$1" = copy ] || exec $(command -v skopeo) "\$@"
$(command -v skopeo) "\$@"
echo \$\$ > $work/copying && mv $work/copying $work/copied
exec sleep 1000
END
    chmod +x slow/skopeo
}

pull_slowly() { # in the background; returns when everything is copied
    rm -f copied
    slow_skopeo
    PATH=$work/slow:$PATH "$ASSAY" image pull --tls-verify=false "$there/it:1" > said 2> errors 3>&- &
    pulling=$!
    until [ -s copied ]; do kill -0 $pulling; done
    [ -n "$(find "$ASSAY_STATE/pulls" -name manifest.json)" ]
}

in_image() { # IMAGE COMMAND…
    "$ASSAY" exec "${weak[@]}" "$1" -- "${@:2}"
}

@test "a tag is pulled, with a warning that names its digest; the image is found by both" {
    pull --name mine "$there/it:1"
    is status 0 "$status"
    grep -qx "assay: warning: $there/it:1 can be moved to another image; to pin this one: $there/it@$digest" errors
    grep -q 'Copying blob' errors
    id=$("$ASSAY" image inspect "$there/it:1" | jq -r .id)
    is said "sha256:$id $there/it:1 mine" "$(cat said)"
    is digest "${digest#*:}" "$("$ASSAY" image inspect mine | jq -r .ref_digest)"
    is 'by the digest' "$id" "$("$ASSAY" image inspect "$there/it@$digest" | jq -r .id)"
    is content pulled "$(in_image "$there/it:1" cat /file)"
    nothing_fetched
}

@test "a digest is pulled without a warning, and is the image's name" {
    pull --quiet "docker://$there/it@$digest"
    is status 0 "$status"
    is said '' "$(cat said errors)"
    is list "$there/it@$digest" "$("$ASSAY" image list --quiet | sed 's/.*  //')"
    is content pulled "$(in_image "$there/it@$digest" cat /file)"
    # A tag beside a digest says nothing.
    pull "$there/it:none@$digest"
    is status 0 "$status"
    is list "$there/it@$digest" "$("$ASSAY" image list --quiet | sed 's/.*  //')"
    "$ASSAY" image remove "$there/it@$digest"
    is list '' "$("$ASSAY" image list)"
}

@test "of an index this machine's image is taken, and the index's digest noted" {
    architecture=s390x layout other it base
    cp other/blobs/sha256/* oci/blobs/sha256/
    jq -c -s '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: [
        (.[0].manifests[0] | del(.annotations) + {platform: {os: "linux", architecture: "s390x"}}),
        (.[1].manifests[0] | del(.annotations) + {platform: {os: "linux", architecture: "amd64"}})]}' \
        other/index.json oci/index.json > index
    index=sha256:$(sha256sum < index | cut -d' ' -f1)
    jq -n -c --arg digest "$index" --argjson size "$(stat -c %s index)" '{schemaVersion: 2, manifests: [
        {mediaType: "application/vnd.oci.image.index.v1+json", digest: $digest, size: $size,
         annotations: {"org.opencontainers.image.ref.name": "it"}}]}' > oci/index.json
    mv index "oci/blobs/sha256/${index#*:}"
    push oci multi:1 --all
    pull "$there/multi:1"
    is status 0 "$status"
    grep -q "to pin this one: $there/multi@$index\$" errors
    is digest "${index#*:}" "$("$ASSAY" image inspect "$there/multi:1" | jq -r .ref_digest)"
    is architecture amd64 "$("$ASSAY" image inspect "$there/multi@$index" | jq -r .architecture)"
    is content pulled "$(in_image "$there/multi:1" cat /file)"
    # The index is kept as it came.
    grep -qF "$(cat "oci/blobs/sha256/${index#*:}")" "$ASSAY_STATE"/images/images/*
    push other foreign:1
    pull "$there/foreign:1"
    refused_as image.not_found 'linux/s390x'
}

@test "a tag that is moved is another image; the old one stays by its digest" {
    pull "$there/it:1"
    pull "$there/it@$digest"
    echo 'moved' > base/file
    layout oci it base
    push oci it:1
    is content pulled "$(in_image "$there/it:1" cat /file)"
    pull "$there/it:1"
    is content moved "$(in_image "$there/it:1" cat /file)"
    is content pulled "$(in_image "$there/it@$digest" cat /file)"
}

@test "what is not there, and what cannot be reached" {
    pull "$there/it:2"
    refused_as image.not_found "$there/it:2: skopeo: .*manifest unknown"
    pull "$there/nothing:1"
    refused_as image.not_found 'manifest unknown'
    pull "$there/it@sha256:$(printf '%064d' 0)"
    refused_as image.not_found 'manifest unknown'
    kill "$registry"
    wait "$registry" || true
    registry=
    pull "$there/it:1"
    refused_as image.pull_failed "$there/it:1: skopeo: .*refused"
    is list '' "$("$ASSAY" image list)"
}

@test "a registry without a certificate is refused unless it is permitted" {
    status=0
    "$ASSAY" image pull "$there/it:1" 2> errors || status=$?
    refused_as image.pull_failed HTTPS
    status=0
    "$ASSAY" image pull --tls-verify=perhaps "$there/it:1" 2> errors || status=$?
    is status 2 "$status"
}

@test "a registry that gives something else than the digest names is refused" {
    hex=${digest#*:}
    data=registry/docker/registry/v2/blobs/sha256/${hex:0:2}/$hex/data
    sed -i 's/schemaVersion": 2/schemaVersion":  2/' "$data"
    pull "$there/it@$digest"
    refused_as image.digest_mismatch 'the registry gave'
    is list '' "$("$ASSAY" image list)"
}

@test "a layer that was damaged on the way is refused" {
    largest=$(find registry -name data -size +100k)
    printf '\377\377\377\377' | dd of="$largest" bs=1 seek=300000 conv=notrunc 2> /dev/null
    pull "$there/it:1"
    refused_as image.digest_mismatch 'Digest did not match'
    is layers 0 "$(layers_there)"
    is list '' "$("$ASSAY" image list)"
}

@test "a name with a digest is only given to what has it" {
    for name in "$there/it@sha256:$(printf '%064d' 0)" "other@$digest"; do
        layout named "$name" base
        status=0
        "$ASSAY" image load named --quiet 2> errors || status=$?
        case $name in
        other*) is "status for $name" 0 "$status" ;;
        *) refused_as image.invalid 'the digest of another image' ;;
        esac
    done
    is list "other@$digest" "$("$ASSAY" image list --quiet | sed 's/.*  //')"
}

@test "what skopeo copied must be what the reference meant" {
    mkdir lying
    printf '#!/bin/sh\nif [ "$1" = inspect ]; then echo "{}"; else exec %s copy %s "$3"; fi\n' \
        "$(command -v skopeo)" "--src-tls-verify=false docker://$there/it:1" > lying/skopeo
    chmod +x lying/skopeo
    PATH=$work/lying:$PATH pull "$there/it:1"
    refused_as image.digest_mismatch 'reference.json'
}

@test "without skopeo the package is named" {
    PATH=$work pull debian
    refused_as image.pull_failed 'skopeo.*apt-get install skopeo'
}

@test "what is no reference is refused before anything is asked" {
    for reference in '' -x --help/it .. Debian it: it:-x it:. 'it x' it@sha256:0 it@md5:0 "it@$digest@$digest" \
        a//b example.org/ http://example.org/it "$(printf 'x%.0s' {1..200})"; do
        pull -- "$reference"
        is "status for $reference" 2 "$status"
        grep -q '^assay: usage: ' errors
    done
}

@test "credentials are the caller's" {
    kill "$registry"
    echo 'one:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a' > passwords # "secret"
    registry "auth: {htpasswd: {realm: test, path: $work/passwords}}"
    pull "$there/it:1"
    refused_as image.pull_failed 'authentication required'
    echo secret | skopeo login --tls-verify=false --authfile "$work/auth.json" -u one --password-stdin "$there" > login
    REGISTRY_AUTH_FILE=$work/auth.json pull "$there/it:1"
    is status 0 "$status"
}

@test "while skopeo writes, the directory is its caller's alone" {
    pull_slowly
    is pulls "$(id -u) 755" "$(stat -c '%u %a' "$ASSAY_STATE/pulls")"
    is 'the directory' "$(id -u) 700" "$(stat -c '%u %a' "$ASSAY_STATE"/pulls/*)"
    kill "$(cat copied)"
    wait $pulling || true
    nothing_fetched
}

@test "root pulls into no state directory of somebody else" {
    is_root || skip 'only root has to'
    mkdir "$ASSAY_STATE"
    chown 65534 "$ASSAY_STATE"
    pull "$there/it:1"
    is status 4 "$status"
    grep -q '^assay: infra.state: .*not ours alone' errors
    "$ASSAY" image load oci --quiet
}

@test "a signal ends skopeo and the pull, and nothing is left" {
    pull_slowly
    kill -TERM $pulling
    status=0
    wait $pulling || status=$?
    is status 130 "$status"
    grep -q '^assay: interrupted: ' errors
    wait_gone "$(cat copied)"
    nothing_fetched
    is list '' "$("$ASSAY" image list)"
}

@test "a pull that was killed ends skopeo; the next load removes what it left, and leaves living ones alone" {
    pull_slowly
    kill -KILL $pulling
    wait $pulling || true
    wait_gone "$(cat copied)"
    left=$(ls "$ASSAY_STATE/pulls")
    [ -n "$left" ]
    pull_slowly
    living=$(ls "$ASSAY_STATE/pulls" | grep -v "$left")
    "$ASSAY" image load oci --quiet
    is 'left in pulls' "$living" "$(ls "$ASSAY_STATE/pulls")"
    nothing_coming
    kill "$(cat copied)"
    wait $pulling || true
    nothing_fetched
}

@test "a pull that is killed at any point leaves nothing for long" {
    for delay in 00 02 04 06 08 10 12 15 20; do
        "$ASSAY" image pull --tls-verify=false --quiet "$there/it:1" 2> errors 3>&- &
        sleep 0.$delay
        kill -KILL $! 2> /dev/null || true
        wait $! || true
        pull "$there/it:1"
        is "status after $delay" 0 "$status"
        is "content after $delay" pulled "$(in_image "$there/it:1" cat /file)"
        "$ASSAY" image remove "$there/it:1"
        "$ASSAY" image gc --quiet
        nothing_fetched
    done
}

# A task whose suite is in that image, and a submission to it; the registry needs no certificate.
task_of_image() {
    mkdir -p task/tests submission
    cat > home/.config/containers/registries.conf <<END
[[registry]]
location = "$there"
insecure = true
END
    cat > task/tests/run <<'END'
#!/bin/busybox sh
echo "{\"score\": 100, \"pass\": true, \"notes\": \"$(cat /file)\"}" > /results/score.json
END
    chmod 755 task/tests/run
    cat > task/task.json <<END
{"schema": "assay.task/1", "name": "test", "image": "$there/it:1",
 "scoring": {"mode": "container"}, "suite": {"command": ["/tests/run"]}}
END
    touch submission/main.txt
    chmod 755 .
}

@test "run --pull fetches what the task needs and the machine lacks, and nothing twice" {
    task_of_image
    graded() { # [OPTIONS…]
        status=0
        "$ASSAY" run --json "${weak[@]}" "$@" task submission > result.json 2> errors || status=$?
    }
    graded
    is 'exit without --pull' 4 "$status"
    is code image.missing "$(jq -r .code result.json)"
    graded --pull
    is exit 0 "$status"
    is notes pulled "$(jq -r .notes result.json)"
    kill "$registry"
    wait_gone "$registry"
    registry=
    graded --pull
    is 'exit when the image is there' 0 "$status"
}

@test "worker --pull tries again where the registry was away, and fetches nothing once it has the image" {
    task_of_image
    mkdir away
    cat > away/skopeo <<END
#!/bin/sh
[ ! -e $work/gone ] || { echo 'no route to host' >&2; exit 1; }
echo \$\$ >> $work/asked
exec $(command -v skopeo) "\$@"
END
    chmod +x away/skopeo
    touch gone
    tar -C submission -czf submission.tar.gz .
    queued() { "$ASSAY" submit --quiet --store queue.db --tries 100 task submission.tar.gz 2>> errors; }
    sql() { sqlite3 -cmd '.timeout 20000' queue.db "$@"; }
    queued
    PATH=$work/away:$PATH "$ASSAY" worker --pull --quiet "${weak[@]}" --store queue.db --until-empty --retry-after 1ms 3>&- &
    until [ "$(sql 'SELECT tries FROM jobs')" -gt 1 ]; do kill -0 $!; done
    rm gone
    wait $!
    is state done "$(sql 'SELECT state FROM jobs')"
    is score 100.00 "$(sql 'SELECT final_score FROM evaluation_results')"
    rm asked
    echo more > submission/more.txt
    tar -C submission -czf submission.tar.gz .
    queued
    PATH=$work/away:$PATH "$ASSAY" worker --pull --quiet "${weak[@]}" --store queue.db --until-empty 3>&-
    is 'jobs that are done' 2 "$(sql "SELECT count(*) FROM jobs WHERE state = 'done'")"
    is 'asked of the registry' absent "$([ -e asked ] && echo asked || echo absent)"
}

@test "worker --pull fetches images for tasks whose turn comes soon, while others are graded" {
    task_of_image
    tar -C submission -czf submission.tar.gz .
    mkdir -p long/tests
    printf '#!/bin/sh\nsleep 1000\n' > long/tests/run
    chmod 755 long/tests/run
    echo '{"schema": "assay.task/1", "name": "long", "scoring": {"mode": "container"}, "limits": {"wall": "20s"},
        "suite": {"command": ["/tests/run"]}}' > long/task.json
    "$ASSAY" submit --quiet --store queue.db --agent ann long submission.tar.gz 2>> errors
    "$ASSAY" submit --quiet --store queue.db --agent bob task submission.tar.gz 2>> errors
    "$ASSAY" worker --pull --quiet "${weak[@]}" --store queue.db --jobs 1 3>&- &
    until "$ASSAY" image list | grep -q "$there/it:1"; do kill -0 $!; done
    is 'what waits for its turn' 'queued test' "$(sqlite3 -separator ' ' queue.db "SELECT state, task FROM jobs WHERE state <> 'running'")"
    while [ -n "$(tr -d '\0' 2> /dev/null < "/proc/$!/cmdline")" ]; do kill -TERM $! 2> /dev/null || true; done
    wait $!
}
