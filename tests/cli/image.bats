#!/usr/bin/env bats
# assay image, and cells of what it loads.

load common
load layout

setup() {
    setup_work
    cd "$work" || return
    mkdir -p base/bin base/etc app/app
    cp /bin/busybox base/bin/
    for name in sh cat ls id env pwd sleep; do ln -s busybox "base/bin/$name"; done
    echo 'tester:x:1000:1000::/:/bin/sh' > base/etc/passwd
    echo 'the app' > app/app/file
    digits='[0-9a-f]\{64\}'
}

in_image() { # IMAGE COMMAND…
    "$ASSAY" exec "${weak[@]}" "$1" -- "${@:2}"
}

@test "an image is loaded from a directory or an archive, listed, inspected, and run" {
    config='{"Env": ["PATH=/bin", "FROM=image"], "Cmd": ["sh"], "WorkingDir": "/app", "User": "1000:1000"}' \
        layout oci example.org/team/app:1 base app
    tar -C oci -cf oci.tar .
    "$ASSAY" image load oci.tar > said
    grep -qx "sha256:$digits example.org/team/app:1" said
    id=$(cut -d: -f2 said | cut -d' ' -f1)
    is 'from the directory' "$(cat said)" "$("$ASSAY" image load oci)"
    is list "${id:0:12} example.org/team/app:1" "$("$ASSAY" image list --quiet | awk '{ print $1, $NF }')"
    is 'list as JSON' "$id" "$("$ASSAY" image list --json | jq -r '.[] | select(.name == "example.org/team/app:1").id')"
    is layers 2 "$("$ASSAY" image inspect "${id:0:10}" | jq '.layers | length')"
    is user 1000:1000 "$("$ASSAY" image inspect "sha256:$id" | jq -r .user)"
    nothing_coming
    if is_root || [ ${#weak[@]} -eq 0 ]; then
        is ids 'uid=1000(tester) gid=1000' "$(in_image example.org/team/app:1 id)"
    fi
    config='{}' layout plain plain base app
    "$ASSAY" image load plain > /dev/null
    is 'a name without tag' 'the app' "$(in_image plain cat /app/file)"
    is 'its own files' tester "$(in_image plain cat /etc/passwd | cut -d: -f1)"
    is 'what it writes' 'the app' "$(in_image plain sh -c 'echo x > /app/file' && in_image plain cat /app/file)"
}

@test "files keep their owners, where there are ids for them" {
    mkdir -m 700 app/app/closed
    mkfifo app/app/pipe
    ln -s file app/app/link
    owner=1000 layout oci it base app
    "$ASSAY" image load oci --quiet
    kept=1000
    [ "$(in_image it cat /proc/self/uid_map | awk '{ print $3 }')" -gt 1000 ] || kept=0
    ! is_root || is 'ids for root' 1000 $kept
    is owners "$kept:$kept " "$(in_image it sh -c 'cd /app; busybox stat -c %u:%g . closed file link pipe' | sort -u | tr '\n' ' ')"
    if [ $kept -eq 1000 ]; then
        "$ASSAY" exec "${weak[@]}" --user 1000:1000 it -- sh -c 'echo mine > /app/closed/new && rm /app/file'
        "$ASSAY" exec "${weak[@]}" --user 1001:1000 it -- sh -c '! ls /app/closed 2> /dev/null'
    fi
    owner=4000000 layout oci it base app
    "$ASSAY" image load oci --quiet
    is 'owners beyond all ids' 0:0 "$(in_image it busybox stat -c %u:%g /app/file)"
    for id in $("$ASSAY" image list --json | jq -r '.[] | select(.name == null).id') it; do "$ASSAY" image remove "$id"; done
    "$ASSAY" image gc --quiet
    is 'left after gc' 0 "$(layers_there)"
}

@test "a file may be compressed as a whole, and come from a pipe" {
    layout oci it base app
    tar -C oci -cf oci.tar .
    for compress in 'gzip -1' 'zstd -q' 'xz -0' bzip2; do
        $compress < oci.tar > compressed
        "$ASSAY" image load compressed > said
        grep -qx "sha256:$digits it" said
        nothing_coming
    done
    id=$("$ASSAY" image inspect it | jq -r .id)
    for file in oci.tar compressed; do
        "$ASSAY" image remove it
        # shellcheck disable=SC2002 # a pipe is meant
        is 'from a pipe' "sha256:$id it" "$(cat $file | "$ASSAY" image load -)"
        is 'from standard input' "sha256:$id it" "$("$ASSAY" image load - < $file)"
        nothing_coming
    done
    gzip compressed
    status=0
    "$ASSAY" image load compressed.gz 2> errors || status=$?
    is status 4 "$status"
    grep -q '^assay: image.compressed: ' errors
    head -c 5000 compressed.gz > cut
    status=0
    "$ASSAY" image load cut 2> errors || status=$?
    is status 4 "$status"
    grep -q '^assay: image.damaged: ' errors
    nothing_coming
}

@test "list tells what images take, what they share, and which are in use" {
    head -c 300000 /dev/zero > app/zeros
    layout one one base
    layout two two base app
    for image in one two; do "$ASSAY" image load $image --quiet; done
    base=$(($(stat -c %s base/bin/busybox) + $(stat -c %s base/etc/passwd)))
    sizes() { "$ASSAY" image list --json | jq -c "map(select(.name == \"$1\"))[0] | [.bytes, .shared_bytes, .in_use]"; }
    is one "[$base,$base,false]" "$(sizes one)"
    is two "[$((base + 300008)),$base,false]" "$(sizes two)"
    "$ASSAY" image list | head -1 | grep -q '^ID  *SIZE  *SHARED  *LOADED  *NAME'
    "$ASSAY" image list | grep 'two$' | grep -qF "$(date +%Y-%m-%d)"
    mkfifo end
    in_image two sh -c 'echo started; cat' < end > output &
    exec 4> end
    until grep -q started output 2> /dev/null; do sleep 0.01; done
    is two "[$((base + 300008)),$base,true]" "$(sizes two)"
    is one "[$base,$base,true]" "$(sizes one)"
    exec 4>&-
    wait
    is two "[$((base + 300008)),$base,false]" "$(sizes two)"
}

@test "environment and directory: the image's, under what the command line says" {
    config='{"Env": ["PATH=/bin", "A=image", "B=image", "TZ=Asia/Tokyo"], "WorkingDir": "/app"}' layout oci it base app
    "$ASSAY" image load oci --quiet
    "$ASSAY" exec "${weak[@]}" --env B=ours it -- env > env
    for line in A=image B=ours TZ=Asia/Tokyo LANG=C.UTF-8; do grep -qx $line env; done
    is directory /app "$(in_image it pwd)"
    is 'another directory' /etc "$("$ASSAY" exec "${weak[@]}" --workdir /etc it -- pwd)"
}

@test "names: further ones, the same for another image, references that mean nothing" {
    layout oci one base
    "$ASSAY" image load --name other:2 oci --quiet
    is names 'one other:2' "$("$ASSAY" image list --quiet | sed 's/.*  //' | tr '\n' ' ' | sed 's/ $//')"
    old=$("$ASSAY" image inspect one | jq -r .id)
    layout oci one base app
    "$ASSAY" image load oci --quiet
    [ "$old" != "$("$ASSAY" image inspect one | jq -r .id)" ]
    is 'the other name' "$old" "$("$ASSAY" image inspect other:2 | jq -r .id)"
    layout oci docker.io/library/debian:latest base
    "$ASSAY" image load oci --quiet
    in_image debian sh -c :
    for name in two ../one one:1 sha256:00000000 "${old:0:5}" %6Fne ''; do
        status=0
        in_image "$name" true 2> errors || status=$?
        [ "$status" -eq 125 ] || [ "$status" -eq 2 ] || is "status for $name" 125 "$status"
    done
    status=0
    in_image two true 2> errors || status=$?
    is status 125 "$status"
    grep -q '^assay: image.missing: .*two' errors
}

@test "an image without a name is listed; a name like an id, or like host, is refused" {
    layout oci x base
    jq 'del(.manifests[].annotations)' oci/index.json > index && mv index oci/index.json
    "$ASSAY" image load oci > said
    id=$(cut -d: -f2 said)
    is list "${id:0:12}  <no name>" "$("$ASSAY" image list --quiet | sed 's/  .*  /  /')"
    is 'list as JSON' null "$("$ASSAY" image list --json | jq -c '.[0].name')"
    in_image "$id" sh -c :
    "$ASSAY" image remove "$id"
    is list '' "$("$ASSAY" image list)"
    for name in "$id" "sha256:$id" "${id:0:9}" host; do
        layout oci "$name" base
        status=0
        "$ASSAY" image load oci 2> errors || status=$?
        is "status for $name" 4 "$status"
        status=0
        "$ASSAY" image load --name "$name" oci 2> errors || status=$?
        is "status for $name" 4 "$status"
    done
    is list '' "$("$ASSAY" image list)"
}

@test "an id is an id, whatever name another image has" {
    layout oci good:1 base
    "$ASSAY" image load oci --quiet
    id=$("$ASSAY" image inspect good:1 | jq -r .id)
    for name in "docker.io/library/sha256:$id" "docker.io/library/$id:latest" "${id:0:12}:latest" "localhost/$id"; do
        layout oci "$name" base app
        "$ASSAY" image load oci --quiet
        for reference in "sha256:$id" "$id" "${id:0:12}" "sha256:${id:0:8}"; do
            is "$reference beside $name" "$id" "$("$ASSAY" image inspect "$reference" | jq -r .id)"
        done
        is "$name itself" 'the app' "$(in_image "$name" cat /app/file)"
        "$ASSAY" image remove "$name"
    done
    is 'what is left' good:1 "$("$ASSAY" image list --json | jq -r '.[].name')"
}

@test "a name with control characters is refused" {
    layout oci x base
    for name in $'a\nb' $'a\e[31mb' $'a\x7f'; do
        run -4 "$ASSAY" image load --name "$name" oci
    done
    is list '' "$("$ASSAY" image list)"
}

@test "a layer that comes twice is one" {
    mkdir nothing
    layout oci it base nothing app nothing
    "$ASSAY" image load oci --quiet
    is content 'the app' "$(in_image it cat /app/file)"
    is layers 3 "$(layers_there)"
}

@test "remove knows the same names as exec; the image goes with its last name" {
    layout oci docker.io/library/debian:latest base
    "$ASSAY" image load --name other oci --quiet
    "$ASSAY" image remove debian
    is list other "$("$ASSAY" image list --quiet | sed 's/.*  //')"
    "$ASSAY" image remove other
    is list '' "$("$ASSAY" image list)"
}

@test "an image that is loaded while its last name is removed is there" {
    if ! strace -o /dev/null true 2> /dev/null; then
        skip 'strace may not trace here'
    fi
    layout oci it base
    "$ASSAY" image load --quiet oci
    strace -f -o trace -e trace=unlinkat -e inject=unlinkat:delay_enter=300000:when=2 "$ASSAY" image remove it &
    remove=$!
    while [ -L "$ASSAY_STATE/images/names/it" ]; do :; done
    "$ASSAY" image load --quiet oci
    wait $remove
    in_image it sh -c :
    "$ASSAY" image verify --quiet
}

@test "gc waits for no load, and takes nothing from one" {
    layout oci it base app
    "$ASSAY" image load oci --quiet
    "$ASSAY" image remove it
    status=0
    flock --shared "$ASSAY_STATE/images/incoming" "$ASSAY" image gc 2> errors || status=$?
    is status 4 "$status"
    grep -q 'being loaded' errors
    is layers 2 "$(layers_there)"
}

@test "layers are shared; gc removes what no image has and no cell uses" {
    layout oci one base app
    layout oci2 two base
    "$ASSAY" image load oci --quiet
    "$ASSAY" image load oci2 --quiet
    is layers 2 "$(layers_there)"
    "$ASSAY" image gc --quiet
    is layers 2 "$(layers_there)"
    "$ASSAY" image remove one
    "$ASSAY" image gc --quiet
    is 'layers without the first image' 1 "$(layers_there)"
    mkfifo gate
    in_image two cat < gate > /dev/null &
    cell=$!
    exec 7> gate
    until pgrep -P $cell > /dev/null; do sleep 0.05; done
    "$ASSAY" image remove two
    "$ASSAY" image gc --quiet
    is 'layers while a cell uses them' 1 "$(layers_there)"
    exec 7>&-
    wait $cell
    is said 'layers removed: 1' "$("$ASSAY" image gc)"
    nothing_coming
}

@test "a file that is not what its digests say is refused, and leaves nothing" {
    layout oci it base app
    largest=$(ls -S oci/blobs/sha256/* | head -1)
    # In the middle, where only the checksum sees it; the size is the same.
    printf '\377\377\377\377' | dd of="$largest" bs=1 seek=300000 conv=notrunc 2> /dev/null
    status=0
    "$ASSAY" image load oci 2> errors || status=$?
    is status 4 "$status"
    grep -q '^assay: image\.' errors
    "$ASSAY" image gc --quiet # the other layer was good
    is layers 0 "$(layers_there)"
    is list '' "$("$ASSAY" image list)"
    nothing_coming
    echo nonsense > file
    status=0
    "$ASSAY" image load file 2> errors || status=$?
    is status 4 "$status"
}

shows() { # PATH…: in the image `it`, a line each
    in_image it sh -c 'for path; do echo "$path $(busybox stat -c "%F %a" "$path" 2> /dev/null || echo none)"; done' - "$@"
}

@test "a directory that replaces one of lower layers shows its own content alone" {
    mkdir -p base/dir/deep/deeper base/other middle/dir/added opaque/dir/deep top/dir/deep
    touch base/dir/file base/dir/deep/file base/dir/deep/deeper/file base/dir/'odd
name' middle/dir/added/file base/other/file
    chmod 750 middle/dir/added
    echo own > opaque/dir/own
    touch opaque/dir/.wh..wh..opq top/dir/deep/late
    layout oci it base middle opaque top
    "$ASSAY" image load oci --quiet
    is 'what is there' '/dir: deep own /dir/deep: late /other: file' \
        "$(in_image it sh -c 'busybox ls -1 /dir /dir/deep /other' | xargs)"
    is 'own content' own "$(in_image it cat /dir/own)"
    is 'layers in the store, with the mask' 5 "$(layers_there)"
    # What the mask hides depends on what lies below it.
    layout oci it middle opaque
    "$ASSAY" image load --name other oci --quiet
    is 'layers in the store' 6 "$(layers_there)"
    nothing_coming
}

@test "directories that replace others: of nothing, of a link, in each other, below whiteouts, the root" {
    mkdir -p base/a/b/c base/real base/gone/x base/not
    touch base/a/1 base/a/b/2 base/a/b/c/3 base/real/file base/gone/x/4
    ln -s real base/link
    mkdir -p one/new one/a/b one/link one/gone one/not
    touch one/new/.wh..wh..opq one/a/.wh..wh..opq one/a/b/.wh..wh..opq one/link/.wh..wh..opq one/gone/.wh.x
    rmdir base/not && echo file > base/not
    touch one/not/.wh..wh..opq
    mkdir -p two/gone && touch two/gone/.wh..wh..opq two/gone/y
    layout oci it base one two
    "$ASSAY" image load oci --quiet
    is 'what is there' '/new directory 755
/a/1 none
/a/b directory 755
/a/b/2 none
/link directory 755
/link/file none
/real/file regular empty file 644
/gone/x none
/gone/y regular empty file 644
/not directory 755' "$(shows /new /a/1 /a/b /a/b/2 /link /link/file /real/file /gone/x /gone/y /not)"
    mkdir -p whole/bin
    cp base/bin/busybox whole/bin/
    for name in sh cat; do ln -s busybox "whole/bin/$name"; done
    touch whole/.wh..wh..opq
    layout oci it base whole
    "$ASSAY" image load oci --quiet
    is 'after all was replaced' '/bin/sh regular file 755
/bin/ls none
/app none
/real none' "$(shows /bin/busybox /bin/ls /app /real | sed s,busybox,sh,)"
}

@test "USER by name or number, as the image's own files say" {
    config='{}' layout oci it base
    printf '%s\n' 'root:x:0:0::/:' '# nothing' 'short:x:5' 'tester:x:1000:100:a:b:c' 'big:x:70000:1::/:' '7:x:77:78::/:' \
        'tester:x:9:9::/:' > base/etc/passwd
    printf '%s\n' 'staff:x:50:tester' 'users:x:100:' > base/etc/group
    while read -r user ids; do
        config="{\"User\": \"$user\"}" layout oci it base
        "$ASSAY" image load oci --quiet
        if is_root || [ "$ids" = 0:0 ] || [ ${#weak[@]} -eq 0 ]; then
            is "ids of $user" "$ids" "$(in_image it sh -c 'echo $(id -u):$(id -g)')"
        fi
    done << 'TABLE'
root 0:0
0 0:0
tester 1000:100
1000 1000:100
tester:staff 1000:50
tester:0 1000:0
1234 1234:0
1234:users 1234:100
7 77:78
:staff 0:50
tester: 1000:100
TABLE
}

@test "users are looked for behind links of the image, in regular files of the image alone" {
    mkdir -p base/usr/share upper/etc
    mv base/etc base/usr/etc
    ln -s usr/etc base/etc
    echo 'later:x:5:5::/:' > base/usr/share/accounts
    ln -s /usr/share/../share/accounts base/usr/etc/link
    rm base/usr/etc/passwd && ln -s /etc/link base/usr/etc/passwd
    config='{"User": "later"}' layout oci it base
    "$ASSAY" image load oci --quiet
    is user 5 "$("$ASSAY" image inspect it | jq .uid)"
    rm -r base/etc && mkdir base/etc
    for passwd in /etc/passwd passwd ../../../../etc/passwd /proc/self/root/etc/passwd nowhere "$(printf %0300d 0)"; do
        ln -sf "$passwd" base/etc/passwd
        config='{"User": "daemon"}' layout oci it base
        "$ASSAY" image load oci --quiet
        is "user of $passwd" null "$("$ASSAY" image inspect it | jq .uid)"
    done
    rm base/etc/passwd
    mkfifo base/etc/passwd
    config='{"User": "daemon"}' layout oci it base
    "$ASSAY" image load oci > /dev/null 2> errors
    grep -q '^assay: warning: its USER names `daemon`' errors
    is 'as another' / "$("$ASSAY" exec "${weak[@]}" --user 0 it -- pwd)"
}

@test "links and replaced directories a thousand folders down cost no minutes" {
    deep=$(printf 'd/%.0s' {1..980})
    mkdir -p "base/$deep" "app/$deep"
    ln -sf "/${deep}0" base/etc/passwd
    for ((n = 0; n < 30; n++)); do ln -s "/$deep$((n + 1))" "base/$deep$n"; done
    echo 'deep:x:5:6::/home:' > "base/${deep}30"
    for ((n = 0; n < 20; n++)); do
        mkdir "base/${deep}s$n" "app/${deep}s$n"
        touch "base/${deep}s$n/old" "app/${deep}s$n/.wh..wh..opq"
    done
    config='{"User": "deep"}' layout oci it base app
    timeout 120 "$ASSAY" image load --quiet oci
    is USER '[5,6]' "$("$ASSAY" image inspect it | jq -c '[.uid, .gid]')"
    is 'what is replaced' '' "$("$ASSAY" exec "${weak[@]}" --user 0 it -- ls "/${deep}s0" "/${deep}s19" | grep old)"
}

@test "USER and WORKDIR that are none" {
    ln -s /proc/self/fd base/fds
    while read -r status code user directory; do
        config="{\"User\": \"$user\", \"WorkingDir\": \"$directory\"}" layout oci it base
        "$ASSAY" image load oci --quiet
        got=0
        in_image it sh -c 'pwd && ls /proc/1/root/proc/1/root' > output 2> errors < /dev/null || got=$?
        is "status for $user in $directory" "$status" "$got"
        grep -q "^assay: $code: " errors
    done << 'TABLE'
125 image.unsupported -1 /
125 image.unsupported 4294967296 /
125 image.unsupported 0:70000 /
125 image.unsupported 1:2:3 /
125 image.unsupported nobody /
125 image.unsupported 0:nobody /
125 image.unsupported 0 etc
125 usage 0 /nowhere
125 usage 0 /fds/3
125 usage 0 /proc/self/fd/3
TABLE
}

@test "whiteouts in a layer hide what lower layers have" {
    mkdir -p without/app
    touch without/app/.wh.file without/.wh.etc
    layout oci it base app without
    "$ASSAY" image load oci --quiet
    is app '' "$(in_image it ls /app)"
    is etc 'hostname hosts resolv.conf' "$(in_image it ls /etc | tr '\n' ' ' | sed 's/ $//')"
}

@test "two loads of one image at once, and one that was killed at any point" {
    layout oci it base app
    "$ASSAY" image load oci --quiet &
    "$ASSAY" image load oci --quiet
    wait $!
    is layers 2 "$(layers_there)"
    for delay in 0 1 2 3 5 7 10 15 20 30; do
        "$ASSAY" image remove it && "$ASSAY" image gc --quiet
        "$ASSAY" image load oci --quiet &
        sleep 0.0$delay
        kill -KILL $! 2> /dev/null || true
        wait $! || true
        "$ASSAY" image load oci --quiet
        is "content after $delay" 'the app' "$(in_image it cat /app/file)"
        nothing_coming
    done
}

@test "what an image says of itself may have megabytes, its command and environment less" {
    many() { # BYTES: so many, as pieces of 10000
        head -c "$1" /dev/zero | tr '\0' x | fold -w 10000
    }
    config=$(many 3000000 | jq -Rcn '{Labels: ([inputs] | to_entries | map({key: "k\(.key)", value}) | from_entries)}')
    layout oci large:1 base
    "$ASSAY" image load --quiet oci
    in_image large:1 sh -c :
    "$ASSAY" image verify --quiet
    id=$("$ASSAY" image inspect large:1 | jq -r .id)
    "$ASSAY" image export large:1 - | ASSAY_STATE=$work/elsewhere "$ASSAY" image load - > said
    is 'what comes back' "sha256:$id large:1" "$(cat said)"
    config=$(many 600000 | jq -Rcn '{Env: ([inputs] | to_entries | map("k\(.key)=\(.value)"))}')
    layout oci large:2 base
    status=0
    "$ASSAY" image load oci 2> errors || status=$?
    is status 4 "$status"
    grep -q '^assay: image.invalid: .*Env together have more than 512 KiB' errors
    nothing_coming
}

@test "nobody else reaches the files of images, which may be set-id when they are made" {
    mkdir -p "$ASSAY_STATE/images"
    chmod 755 "$ASSAY_STATE" "$ASSAY_STATE/images" # as an older version left it
    layout oci it base
    "$ASSAY" image load --quiet oci
    is mode 700 "$(stat -c %a "$ASSAY_STATE/images")"
    ! is_root || run -2 setpriv --reuid 65534 --clear-groups ls "$ASSAY_STATE/images/layers"
    in_image it sh -c :
}

@test "a deep directory that many layers replace costs seconds" {
    for n in 1 2 3 4; do
        perl -e 'my ($n) = @ARGV; my $deep = "a/" x 900; print "$deep$n-$_/.wh..wh..opq\n$deep$n-$_/f\n" for 1 .. 300' $n |
            sed 's/^/f:/' > entries
        mapfile -t list < entries
        "$ASSAY_BUILD/tests/make-layer" "${list[@]}" > "deep$n.tar"
    done
    tar -C base -cf base.tar .
    layout_of_tars oci it base.tar deep1.tar deep2.tar deep3.tar deep4.tar
    timeout 60 "$ASSAY" image load --quiet oci
}

@test "a file that does not tell the digest that an image was pinned by leaves it" {
    layout oci it base app
    "$ASSAY" image load --quiet oci
    pin=$("$ASSAY" image inspect it | jq -r .ref_digest)
    "$ASSAY" exec "${weak[@]}" "x@sha256:$pin" -- /bin/sh -c :
    mkdir -p archive
    id=$("$ASSAY" image inspect it | jq -r .id)
    cp "oci/blobs/sha256/$id" "archive/$id.json"
    layers=''
    for digest in $(jq -r '.layers[].digest' "oci/blobs/sha256/$pin" | cut -d: -f2); do
        gunzip -c "oci/blobs/sha256/$digest" > "archive/$digest.tar"
        layers="$layers, \"$digest.tar\""
    done
    echo "[{\"Config\": \"$id.json\", \"RepoTags\": [\"again:1\"], \"Layers\": [${layers#,}]}]" > archive/manifest.json
    tar -C archive -cf archive.tar .
    "$ASSAY" image load --quiet archive.tar
    is id "$id" "$("$ASSAY" image inspect again:1 | jq -r .id)"
    "$ASSAY" exec "${weak[@]}" "x@sha256:$pin" -- /bin/sh -c :
}
