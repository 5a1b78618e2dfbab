#!/usr/bin/env bats
# assay-unpack by itself with layers of images: they become directories for an overlay file system,
# digests are those of the bytes, hostile layers are refused, and nothing beside the tree changes.

load unpacker

setup() {
    build=${ASSAY_BUILD:-$BATS_TEST_DIRNAME/../../build}
    work=$(mktemp -d "${TMPDIR:-/tmp}/assay-layer.XXXXXX")
    cd "$work" || return
    mkdir canary tree
    echo secret > canary/file
    ln -s file canary/link
    snapshot > "$work/before"
}

teardown() {
    chmod -R u+rwx "$work" 2> /dev/null || true
    rm -rf "$work"
}

snapshot() {
    (cd "$work/canary" && find . -printf '%p %m %u %n %s %T@ %l\n' | sort && cat file)
}

layer() { # entries (tests/programs/make-layer.c), to ./blob
    "$build/tests/make-layer" "$@" > blob
}

unpack() { # options of the driver, for ./blob into ./tree
    run "$build/tests/unpack-driver" -L "$@" "$build/assay-unpack" blob tree
    snapshot | cmp - before
}

remove() {
    "$build/tests/unpack-driver" -W -R "$build/assay-unpack" tree
    [ -z "$(ls -A tree)" ]
}

tree() { # what is there: path, kind and mode of each, target of links
    (cd tree && find . -mindepth 1 -printf '%P %y %m %l\n' | sed 's/ *$//' | LC_ALL=C sort)
}

listing() { # DIRECTORY: all of it that is kept
    (cd "$1" && find . ! -type l -printf '%P %y %m %n %T@ %s\0' -o -printf '%P %y %T@ %l\0' | sort -z &&
        find . -type f -print0 | sort -z | xargs -0r sha256sum)
}

# becomes ENTRIES: what ./tree is then, a line each
becomes() {
    layer "$@"
    unpack
    accepted
    tree > got
    diff -u - got || fail_with "of $*"
    remove
}

# Each row: what the refusal says, then the entries.
each_refused() {
    while IFS='|' read -r says entries; do
        local row=()
        for entry in $entries; do row+=("$(printf %b "$entry")"); done
        layer "${row[@]}"
        unpack
        refused_as "${code:-image.layer_invalid}" "$says"
        remove
    done
}

says() {
    printf '%s\n' "${lines[@]}" | grep -qxF -- "$1" || fail_with "no \"$1\": $output"
}

silent_about() {
    ! printf '%s\n' "${lines[@]}" | grep -q "^$1" || fail_with "there is \"$1\": $output"
}

digests() { # of FILE and of its plain bytes
    says "done digest=$(sha256sum < "$1" | cut -d' ' -f1) diff_id=$(sha256sum < "$2" | cut -d' ' -f1) ${3:-entries=2 bytes=4}"
}

@test "both digests are those of the bytes, in each compression" {
    layer d:d f:d/a:body
    mv blob plain
    for compress in cat gzip 'gzip -9' zstd 'zstd -19'; do
        $compress < plain > blob
        unpack
        accepted
        digests blob plain
        remove
    done
}

@test "several members and frames are one stream, frames that say nothing are none" {
    layer d:d f:d/a:body
    mv blob plain
    head -c 700 plain > first
    tail -c +701 plain > second
    for compress in gzip zstd; do
        { $compress < first; $compress < second; $compress < /dev/null; } > blob
        unpack
        accepted
        digests blob plain
        remove
    done
    { zstd < first; printf '\x50\x2a\x4d\x18\x04\0\0\0note'; zstd < second; } > blob
    unpack
    accepted
    digests blob plain
}

@test "padding behind the end mark is a part of the plain bytes" {
    layer d:d f:d/a:body
    { cat blob; head -c 20000 /dev/zero; } > plain
    for compress in cat gzip; do
        $compress < plain > blob
        unpack
        accepted
        digests blob plain
        remove
    done
    { cat plain; echo garbage; } > blob
    unpack
    accepted
    says 'warning : what stood behind its end was left out'
    digests blob blob
}

@test "an empty layer is one" {
    head -c 1024 /dev/zero > plain
    for compress in cat gzip; do
        $compress < plain > blob
        unpack
        accepted
        digests blob plain 'entries=0 bytes=0'
    done
}

@test "a blob may stand inside of a file, or in a file of a directory" {
    layer d:d f:d/a:body
    mv blob plain
    { head -c 3000 /dev/urandom > random && tar -rf plain random; } 2> /dev/null
    gzip < plain > whole
    for blob in whole plain; do
        length=$(stat -c %s $blob)
        { head -c 777 /dev/urandom; cat $blob; head -c 70000 /dev/urandom; } > blob
        unpack -o 777 -l "$length"
        accepted
        digests $blob plain 'entries=3 bytes=3004'
        remove
        unpack -o 777 -l 1000
        refused_as image.damaged
        remove
        unpack -o 777 -l 1000000
        if [ $blob = whole ]; then
            refused_as image.layer_invalid 'stands behind'
        else
            refused_as image.damaged 'too early'
        fi
        remove
    done
    mkdir -p in/blobs/sha256
    cp whole in/blobs/sha256/abc
    ln -s abc in/blobs/sha256/link
    mkfifo in/pipe
    rm blob && mv in blob
    unpack -m blobs/sha256/abc
    accepted
    digests whole plain 'entries=3 bytes=3004'
    remove
    for member in blobs/sha256/none blobs/sha256/link blobs pipe ../canary/file /etc/passwd ''; do
        unpack -m "$member"
        refused_as image.damaged "$member"
    done
}

@test "what stands behind the compressed data is refused, be it zeros" {
    layer d:d f:d/a:body
    mv blob plain
    for compress in gzip zstd; do
        for behind in 'garbage!' '\0\0\0\0\0\0\0\0' '\x1f'; do
            { $compress < plain; printf %b "$behind"; } > blob
            unpack
            refused_as image.layer_invalid 'stands behind'
            remove
        done
    done
}

@test "what is cut off is damaged" {
    layer d:d f:d/a:body
    mv blob plain
    for compress in cat gzip zstd; do
        $compress < plain > whole
        size=$(stat -c %s whole)
        for length in $((size / 2)) $((size - 1025)); do
            [ "$length" -gt 0 ] || continue
            head -c "$length" whole > blob
            unpack
            refused_as image.damaged
            remove
        done
    done
    layer d:d f:d/a:body cut
    unpack
    refused_as image.damaged 'end mark'
    remove
    : > blob
    unpack
    refused_as image.damaged
}

@test "checksums are verified" {
    layer d:d f:d/a:body
    mv blob plain
    while read -r offset compress; do
        $compress < plain > blob
        perl -e 'open(my $f, "+<", "blob") or die; seek($f, -$ARGV[0], 2); read($f, my $c, 1);
                 seek($f, -$ARGV[0], 2); print $f chr(ord($c) ^ 1);' "$offset"
        unpack
        refused_as image.damaged
        remove
    done << 'TABLE'
8 gzip
4 zstd --check
TABLE
}

@test "what is no layer is refused" {
    layer d:d
    mv blob plain
    for compress in bzip2 xz 'gzip -c -' 'zip -q - plain'; do
        case $compress in
        'gzip -c -') gzip < plain | gzip > blob ;;
        zip*) "$build/tests/make-archive" -z good > blob ;;
        *) $compress < plain > blob ;;
        esac
        unpack
        refused_as image.layer_invalid
    done
    echo '{}' > blob
    unpack
    refused_as image.layer_invalid
    head -c 5000 /dev/urandom > blob
    unpack
    refused_as image.layer_invalid
    head -c 140000000 /dev/zero | zstd -q --long=27 -1 > blob
    unpack
    refused_as image.too_large 'farther than 32 MiB'
}

@test "a tree comes out as tar makes it" {
    mkdir -p source/deep/er source/empty source/"$(printf 'l%.0s' {1..120})"/"$(printf 'm%.0s' {1..200})"
    cd source
    echo a > a && chmod 4755 a && chmod 4750 a
    echo b > deep/b && chmod 0640 deep/b
    head -c 300000 /dev/urandom > deep/er/big && chmod 0444 deep/er/big
    (cd l*/m* && touch "$(printf 'n%.0s' {1..250})")
    ln deep/b deep/er/hard && ln a z
    ln -s /etc/passwd deep/absolute && ln -s ../../../out deep/out && ln -s nowhere dangling
    ln dangling hard-to-link
    mkfifo pipe && chmod 622 pipe
    touch "$(printf 'bad\377')" 'back\slash' "$(printf 'new\nline')" C:x Makefile makefile
    mkdir sticky && chmod 1777 sticky
    mkdir closed && touch closed/inside && chmod 0500 closed
    truncate -s 1000000 sparse && echo x >> sparse && truncate -s 3000000 sparse
    touch -h -d '2001-02-03 04:05:06.123456789' a deep/absolute pipe deep/er
    touch -d '1969-12-31 00:00:00' makefile
    chmod 0755 .
    touch -d '2002-02-03 04:05:06.5' . deep
    cd ..
    for how in '--format=gnu' '--format=pax' '--format=gnu --sparse' '--format=pax --sparse'; do
        # shellcheck disable=SC2086
        tar $how -cf blob -C source .
        mkdir other
        tar -xpf blob -C other
        chmod u-s other/a other/z
        listing other > want
        unpack
        accepted
        listing tree > got
        cmp want got || diff -a <(tr '\0' '\n' < want) <(tr '\0' '\n' < got) | fail_with "$how: $(cat)"
        remove
        chmod -R u+rwx other && rm -r other
    done
}

@test "modes and times are kept, set-id bits never" {
    becomes d0700:d f0000:d/none f7777:d/all f4755:suid f2755:sgid d6777:d/dirs d7000:d/none-either << 'TREE'
d d 700
d/all f 1777
d/dirs d 777
d/none f 0
d/none-either d 1000
sgid f 755
suid f 755
TREE
    layer d0755:./ x:mtime=1234567890.123456789 f:a x:mtime=-5.5 f:b l:l:nowhere d0:d f:d/x
    unpack
    accepted
    [ "$(stat -c %.9Y tree/a)" = 1234567890.123456789 ]
    [[ $(stat -c %Y tree/b) == -[56] ]]
    [ "$(stat -c '%a %Y' tree tree/d tree/l | xargs)" = '755 1000000000 0 1000000000 777 1000000000' ]
}

@test "the layer's root gets mode and time, and stays open to all, since others open it" {
    layer d0:. f:a d0:/
    unpack
    accepted
    [ "$(stat -c '%a %Y' tree)" = '755 1000000000' ]
    remove
    for entry in f:.:x l:./:x p:./. h:/:a; do
        layer f:a "$entry"
        unpack
        refused_as image.layer_invalid "root"
        remove
    done
}

@test "names: leading slashes and dots are stripped, any byte is fine" {
    becomes f:/a f://b f:./c f:/././/d f:././e/./f "f:g\\h" f:C:x d:/i/ "$(printf 'f:Make')" f:make << 'TREE'
C f 644
Make f 644
a f 644
b f 644
c f 644
d f 644
e d 755
e/f f 644
g\h f 644
i d 755
make f 644
TREE
    layer "$(printf 'f:a\nb')" "$(printf 'f:c\377d')" "$(printf 'x:path=e\377f')" f:x
    unpack
    accepted
    [ "$(tree | LC_ALL=C wc -l)" -eq 4 ]
    [ -e "tree/$(printf 'e\377f')" ]
}

@test "names that leave the root, or fit nowhere, are refused" {
    each_refused << 'TABLE'
`..`|f:../x
`..`|f:/..
`..`|f:a/../../x
`..`|f:a/../b
`..`|d:..
`..`|d:a/..
`..`|l:../x:y
`..`|p:../x
`..`|c:../x
`..`|f:../.wh.x
`..`|f:a/../.wh..wh..opq
longer than 255|x:path={256} f:x
longer than 255|x:path=a/{256}/b f:x
TABLE
    layer x:path='{255}' f:x x:path='d/.wh.{255}' f:x
    unpack
    accepted
    [ "$(find tree -type c -printf '%f' | wc -c)" -eq 255 ]
    remove
    layer x:path="$(printf 'd/%.0s' {1..10})$(printf '%0254d/%.0s' {1..32})" f:x
    unpack
    refused_as image.layer_invalid 'longer than 4095'
    "$build/tests/make-archive" deep-path > blob
    unpack
    refused_as image.layer_invalid
    layer d:"$(printf 'd/%.0s' {1..40})" x:path="$(printf 'd/%.0s' {1..999})x" f:x
    unpack
    accepted
    remove
    layer x:path="$(printf 'd/%.0s' {1..1000})x" f:x
    unpack
    refused_as image.layer_invalid 'more than 1000 folders'
}

@test "missing parents are made, never through a link or a file" {
    becomes f:a/b/c d0700:a << 'TREE'
a d 700
a/b d 755
a/b/c f 644
TREE
    each_refused << 'TABLE'
l is a symbolic link|l:l:canary f:l/x
l is a symbolic link|l:l:../canary f:l/file
l is a symbolic link|l:l:/ d:l/tmp/x
l is a symbolic link|l:l:d d:d f:l/x/y
l is a symbolic link|l:l:../canary h:l/x:l
l is a symbolic link|l:l:. f:l/.wh.x
folder and something else|l:l:/ f:l/.wh..wh..opq
l is a symbolic link|d:d l:d/l:.. f:d/l/x/.wh..wh..opq
folder and something else|l:l:/ f:.wh.l d:l
f is no folder|f:f f:f/x
f is no folder|f:f f:f/.wh.x
folder and something else|f:f f:f/.wh..wh..opq
p is no folder|p:p f:p/x
TABLE
}

@test "the later of two entries wins, but a folder stays one" {
    becomes f0600:a:one f0640:a:other l:b:x f:b:file f:c:file l:c:y p:d f:d f:e:e h:f:e f:e:new d0700:g f:g/x d0711:g << 'TREE'
a f 640
b f 644
c l 777 y
d f 644
e f 644
f f 644
g d 711
g/x f 644
TREE
    layer f:a:one h:b:a f:a:other l:l:../canary/file f:l:mine
    unpack
    accepted
    [ "$(cat tree/a tree/b tree/l)" = 'otheronemine' ]
    remove
    each_refused << 'TABLE'
folder and something else|d:d f:d
folder and something else|f:d/x f:d
folder and something else|f:d d:d
folder and something else|l:d:x d:d
folder and something else|d:d l:d:x
folder and something else|f:a d:d h:d:a
folder and something else|p:d d:d
TABLE
}

@test "links may lead anywhere, and are kept" {
    becomes l:a:/etc/passwd l:b:../../../x l:c/d:. l:e:a << 'TREE'
a l 777 /etc/passwd
b l 777 ../../../x
c d 755
c/d l 777 .
e l 777 a
TREE
    each_refused << 'TABLE'
link to nothing|l:a
TABLE
}

@test "hard links are to what the layer has already" {
    layer f0600:d/a:body h:b:d/a h:/e/c:./d//a l:l:/etc/passwd h:m:l
    unpack
    accepted
    [ "$(stat -c '%h %a' tree/d/a tree/b tree/e/c | sort -u)" = '3 600' ]
    [ "$(readlink tree/m)" = /etc/passwd ]
    [ "$(stat -c %h tree/l)" = 2 ]
    [[ $output == *"entries=7 bytes=4"* ]]
    remove
    each_refused << 'TABLE'
`..`|h:a:../canary/file
no file or link|h:a:/etc/passwd
no file or link|h:a:b f:b
no file or link|h:a:a
no file or link|f:a h:a:a
no file or link|d:d h:a:d
no file or link|h:a:.
no file or link|p:p h:a:p
no file or link|c:c h:a:c
no file or link|l:l:../canary h:a:l/file
no file or link|l:l:d f:d/x h:a:l/x
TABLE
    "$build/tests/make-archive" hard-with-data > blob
    unpack
    refused_as image.layer_invalid 'content of its own'
}

@test "devices are dropped and counted, 0:0 is not taken for a whiteout; pipes are kept" {
    becomes c:null b:sda c:dev/zero p0640:pipe f:a << 'TREE'
a f 644
pipe p 640
TREE
    says 'warning : 3 devices or sockets were left out'
    # What hides a name goes on doing so when the layer's own is dropped.
    becomes f:.wh.null c:null << 'TREE'
null c 0
TREE
}

@test "a whiteout is a device 0:0 of that name" {
    layer d0755:d f:d/.wh.x f:.wh.y f:new/deep/.wh.z 'f:.wh. ' f:.wh.a:content l:.wh.l:x h:.wh.h:nothing f:.wh...x
    unpack
    accepted
    [ "$(tree)" = '  c 0
..x c 0
a c 0
d d 755
d/x c 0
h c 0
l c 0
new d 755
new/deep d 755
new/deep/z c 0
y c 0' ]
    [ "$(stat -c '%t:%T' tree/y tree/d/x | sort -u)" = 0:0 ]
    [ "$(stat -c %Y tree/d)" = 1000000000 ]
    silent_about opaque
}

@test "a whiteout counts for lower layers alone, wherever it stands" {
    for entries in 'f:.wh.a f:a' 'f:a f:.wh.a' 'f:.wh.a f:a f:.wh.a' 'f:x f:.wh.a h:a:x' 'f:.wh.a l:a:x'; do
        # shellcheck disable=SC2086
        layer $entries
        unpack
        accepted
        silent_about opaque
        [ -z "$(find tree -type c)" ] && [ -n "$(find tree -name a)" ] || fail_with "$entries: $(tree)"
        remove
    done
    for entries in 'f:.wh.d d0700:d' 'd0700:d f:.wh.d' 'd0700:d f:d/x f:.wh.d' 'f:.wh.d f:d/x d0700:d'; do
        # shellcheck disable=SC2086
        layer $entries
        unpack
        accepted
        says 'opaque d'
        [ -z "$(find tree -type c)" ] && [ "$(stat -c %a tree/d)" = 700 ]
        remove
    done
    layer f:.wh.d f:d/.wh.x
    unpack
    accepted
    says 'opaque d'
    [ "$(tree)" = 'd d 755
d/x c 0' ]
}

@test "opaque directories are told, wherever the mark stands" {
    for entries in 'd0700:d f:d/.wh..wh..opq f:d/x' 'f:d/x f:d/.wh..wh..opq d0700:d' 'f:d/.wh..wh..opq f:d/x f:.wh.d d0700:d'; do
        # shellcheck disable=SC2086
        layer $entries
        unpack
        accepted
        [ "$(printf '%s\n' "${lines[@]}" | grep -c '^opaque d$')" -eq 1 ]
        [ "$(tree)" = 'd d 700
d/x f 644' ]
        remove
    done
    layer f:.wh..wh..opq f:a/b/.wh..wh..opq
    unpack
    accepted
    says 'opaque '
    says 'opaque a/b'
    [ "$(tree)" = 'a d 755
a/b d 755' ]
}

@test "marks that hide nothing are refused, notes of aufs left out" {
    each_refused << 'TABLE'
hides nothing|f:.wh.
hides nothing|f:.wh..
hides nothing|f:.wh...
hides nothing|f:d/.wh.
hides nothing|f:d/.wh..
hides nothing|f:d/.wh...
inside a mark|f:.wh.a/b
inside a mark|f:d/.wh.a/b/c
TABLE
    becomes d:.wh..wh.plnk f:.wh..wh.plnk/1.2:data f:.wh..wh.aufs d:d/.wh..wh.orph f:.wh..wh. f:a f:.wh..wh..opq/x << 'TREE'
a f 644
TREE
}

@test "attributes are dropped but those of users, and of those what is the overlay's" {
    layer x:SCHILY.xattr.user.note=kept f0400:a x:SCHILY.xattr.user.d=kept d0500:d \
        x:SCHILY.xattr.user.overlay.opaque=y d:b x:SCHILY.xattr.user.overlay.overlay.redirect=/ f:c \
        x:SCHILY.xattr.security.capability=x f:e x:SCHILY.xattr.trusted.overlay.opaque=y d:f \
        x:SCHILY.xattr.system.posix_acl_access=x f:g x:SCHILY.fflags=immutable f:i \
        x:SCHILY.acl.access=user::rw-,group::r--,other::r--,user:0:rwx f:h
    unpack
    accepted
    chmod u+r tree/a
    tar --format=pax --xattrs --xattrs-include='*' -cf - tree |
        grep -ao 'SCHILY.xattr[a-z._]*=[a-z]*\|SCHILY.acl[a-z._]*' | LC_ALL=C sort > found || true
    [[ $output == *'attributes of files were left out'* ]] ||
        [ "$(xargs < found)" = 'SCHILY.xattr.user.d=kept SCHILY.xattr.user.note=kept' ] ||
        fail_with "$output, $(cat found)"
    [ "$(tree | cut -d' ' -f2,3 | LC_ALL=C sort | uniq -c | xargs)" = '1 d 500 2 d 755 1 f 400 5 f 644' ]
}

@test "limits count names and bytes, also of what is left out" {
    layer f:a/b/c:1234 f:d:12345678 h:e:d
    unpack -e 5 -b 12
    accepted
    remove
    unpack -e 4
    refused_as image.too_large
    remove
    unpack -b 11
    refused_as image.too_large 'd: '
    remove
    "$build/tests/make-archive" many-folders > blob
    unpack -e 1000
    refused_as image.too_large
    remove
    layer Z:.wh.a:100000 c:x Z:.wh..wh.note:100000
    unpack -b 200000
    accepted
    remove
    unpack -b 199999
    refused_as image.too_large
    "$build/tests/make-archive" sparse-8gib > blob
    unpack
    refused_as image.too_large sparse:
    remove
    for kind in declared-8eib negative-size endless-pax; do
        "$build/tests/make-archive" $kind > blob
        unpack
        refused_as image.damaged
        remove
    done
    head -c 100000000 /dev/zero | cat blob - | gzip > bomb
    layer d:d
    { cat blob; head -c 100000000 /dev/zero; } | gzip > bomb && mv bomb blob
    unpack
    refused_as image.damaged 'more than 1 MiB'
}

@test "the holes of a sparse file stay" {
    "$build/tests/make-archive" sparse-1mib > blob
    unpack
    accepted
    [ "$(stat -c %s tree/sparse)" -eq 1048576 ]
    [ "$(du -k tree/sparse | cut -f1)" -lt 100 ]
}

@test "the kernel takes what comes out for layers" {
    unshare -m true 2> /dev/null || skip 'only root mounts here'
    mkdir base view
    mkdir base/d && touch base/a base/d/inside base/gone
    layer f:.wh.gone f:d/.wh.inside f:d/new
    unpack
    accepted
    unshare -m sh -c 'mount -t overlay none -o lowerdir=tree:base view && find view | LC_ALL=C sort' > got ||
        skip 'no overlay file system here'
    [ "$(xargs < got)" = 'view view/a view/d view/d/new' ]
}

@test "each mode refuses the requests of the other" {
    layer f:a
    unpack -W
    refused_as internal.frame 'not a request'
    run "$build/tests/unpack-driver" -W "$build/assay-unpack" blob tree
    refused_as internal.frame 'not a request'
    run "$build/tests/unpack-driver" -W -R "$build/assay-unpack" tree
    accepted
}
