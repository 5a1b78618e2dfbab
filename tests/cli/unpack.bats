#!/usr/bin/env bats
# assay-unpack by itself: good archives become the right tree, hostile ones are refused with the
# right code, and nothing beside the tree changes either way.

load unpacker

setup() {
    build=${ASSAY_BUILD:-$BATS_TEST_DIRNAME/../../build}
    work=$(mktemp -d "${TMPDIR:-/tmp}/assay-unpack.XXXXXX")
    cd "$work" || return
    mkdir canary tree
    echo secret > canary/file
    ln -s file canary/link
    mkfifo canary/pipe
    snapshot > "$work/before"
}

teardown() {
    chmod -R u+rwx "$work" 2> /dev/null || true
    rm -rf "$work"
}

snapshot() {
    (cd "$work/canary" && find . -printf '%p %m %u %n %s %T@ %l\n' | sort && cat file)
}

make_archive() { # KIND or -z KIND, to ./archive
    "$build/tests/make-archive" "$@" > archive
}

unpack() { # options of the driver, for ./archive into ./tree
    run "$build/tests/unpack-driver" "$@" "$build/assay-unpack" archive tree
    snapshot | cmp - before
}

remove() {
    "$build/tests/unpack-driver" -R "$build/assay-unpack" tree
    [ -z "$(ls -A tree)" ]
}

tree() { # what is there: path, kind and mode of each, target of links
    (cd tree && find . -mindepth 1 -printf '%P %y %m %l\n' | sed 's/ *$//' | LC_ALL=C sort)
}

# Each kind of the table on standard input, as tar and, where the row says so, as zip.
each_refused() {
    while read -r code forms archive_kind name; do
        for form in ${forms//,/ }; do
            if [ "$form" = zip ]; then
                make_archive -z "$archive_kind"
            else
                make_archive "$archive_kind"
            fi
            unpack
            refused_as "$code" "$name"
            remove
        done
    done
}

@test "a tar archive becomes its tree" {
    make_archive good
    unpack
    accepted
    [ "$(tree)" = "run f 755
src d 755
src/a.c f 644
src/b.c l 777 a.c" ]
    [ "$(cat tree/src/a.c)" = "int a;" ]
    [[ $output == *"done entries=4 bytes=17 "* ]]
}

@test "a zip archive becomes its tree" {
    make_archive -z good
    unpack
    accepted
    [ "$(tree)" = "run f 755
src d 755
src/a.c f 644
src/b.c l 777 a.c" ]
}

@test "each compression is read, by content and not by name" {
    make_archive good
    mv archive plain
    for compress in gzip bzip2 xz zstd; do
        "$compress" -c < plain > archive
        unpack
        accepted
        [ "$(tree | wc -l)" -eq 4 ]
        remove
    done
}

@test "tar dialects with long and foreign names are read" {
    name="$(printf 'd%.0s' {1..90})/$(printf 'e%.0s' {1..80})caf$(printf '\303\251')"
    mkdir -p "in/${name%/*}"
    echo x > "in/$name"
    for dialect in gnu pax ustar; do
        tar --format=$dialect -C in -cf archive .
        unpack
        accepted
        [ "$(cat "tree/$name")" = x ]
        remove
    done
}

@test "a common top folder is named, and required files are looked for below it" {
    make_archive common-root
    unpack -s -r a -r sub/top/b
    accepted
    [[ $output == *" root=top" ]]
    remove
    unpack -r a
    refused_as archive.required_file_missing "a: "
    remove
    unpack -s -r top/a
    refused_as archive.required_file_missing "top/a: "
}

@test "junk of operating systems is left out" {
    make_archive junk
    unpack
    accepted
    [ "$(tree)" = "a f 644" ]
}

@test "a folder may come twice, dots are harmless" {
    make_archive repeated-folder
    unpack
    accepted
    remove
    make_archive harmless-dots
    unpack
    accepted
    [ "$(tree)" = "a d 755
a/b f 644" ]
}

@test "unsafe names are refused and named" {
    each_refused << 'TABLE'
archive.unsafe_path tar,zip dotdot            ../x
archive.unsafe_path tar,zip dotdot-inside     a/../../x
archive.unsafe_path tar,zip dotdot-last       a/..
archive.unsafe_path tar,zip dotdot-backslash  ..\x
archive.unsafe_path tar,zip absolute          /x
archive.unsafe_path tar,zip two-slashes       //x
archive.unsafe_path tar,zip slash-dot         /.
archive.unsafe_path tar,zip drive             C:x
archive.unsafe_path tar,zip drive-backslash   C:
archive.unsafe_path tar,zip empty-name
archive.unsafe_path tar,zip file-as-root      ./.
archive.unsafe_path tar,zip link-as-root      .
TABLE
}

@test "bad names are refused and named, escaped" {
    each_refused << 'TABLE'
archive.bad_name tar,zip newline              a\x0ab
archive.bad_name tar,zip escape               a\x1b[2Jb
archive.bad_name tar,zip bidi                 a\xe2\x80\xaetxt.sh
archive.bad_name tar     invalid-utf8         a\xffb
archive.bad_name tar     overlong-utf8        a\xc0\xafb
archive.bad_name tar     unmarked-name        caf\x82
archive.bad_name zip     wrongly-marked-name
archive.bad_name tar,zip long-component       aaa
archive.bad_name tar,zip long-path            aaa
archive.bad_name tar,zip deep-path            d/d
TABLE
}

@test "two names that are one on some system are refused" {
    each_refused << 'TABLE'
archive.name_collision tar,zip same-twice              a:
archive.name_collision tar,zip same-twice-dots         a:
archive.name_collision tar,zip differ-in-case          makefile:
archive.name_collision tar,zip folders-differ-in-case  SRC/b:
archive.name_collision tar,zip differ-in-form          caf
archive.name_collision tar,zip differ-in-fold          STRASSE:
archive.name_collision tar,zip file-then-folder        a/b:
archive.name_collision tar,zip folder-then-file        a:
archive.name_collision tar,zip write-onto-link         l:
archive.name_collision tar,zip folder-to-link          d:
archive.name_collision tar,zip link-to-folder          d:
TABLE
}

@test "links out of the tree are refused" {
    each_refused << 'TABLE'
archive.link_escape tar,zip link-absolute       l: a link to `/etc/passwd`
archive.link_escape tar,zip link-out            l:
archive.link_escape tar,zip link-out-deep       a/b/l:
archive.link_escape tar,zip link-down-up        a/l:
archive.link_escape tar,zip link-chain          c:
archive.link_escape tar,zip link-empty          l:
archive.link_escape tar,zip write-through-link  l/x:
archive.link_escape tar     hard-out            l:
archive.link_escape tar     hard-absolute       l:
archive.link_escape tar     hard-later          l:
archive.link_escape tar     hard-to-link        h:
archive.link_escape tar     hard-through-link   h:
archive.link_escape tar     hard-to-folder      h:
archive.link_escape tar     hard-to-itself      h:
archive.damaged     tar     hard-with-data      b:
TABLE
}

@test "links inside the tree are kept" {
    make_archive link-inside
    unpack
    accepted
    [ "$(readlink tree/a/b/up)" = ../../d ]
    [ "$(cat tree/l)" = c ]
}

@test "links out can be left out, with a warning" {
    make_archive link-out
    unpack -d
    refused_as archive.empty
    [[ $output == *"warning l: left out"* ]]
}

@test "a link that leaves the common top folder is judged after stripping" {
    make_archive link-leaves-top
    unpack
    accepted
    remove
    unpack -s
    refused_as archive.link_escape top/l:
    remove
    unpack -s -d
    accepted
    [[ $output == *"warning top/l: left out"* ]]
    [ "$(ls tree/top)" = a ]
}

@test "a hard link becomes a file of its own" {
    make_archive hard
    unpack
    accepted
    [ "$(cat tree/d/b)" = body ]
    [ "$(stat -c '%h %a' tree/d/b)" = "1 755" ]
    [[ $output == *" bytes=8 "* ]]
}

@test "devices and pipes are refused" {
    each_refused << 'TABLE'
archive.special_file tar,zip fifo          f:
archive.special_file zip     socket        s:
archive.special_file tar,zip char-device   null:
archive.special_file tar,zip block-device  sda:
TABLE
}

@test "modes, owners and attributes are ours" {
    make_archive modes
    unpack
    accepted
    [ "$(tree)" = "d d 755
d/suid f 755
open f 644
secret f 644" ]
    [ "$(stat -c %u tree/d/suid)" = "$(id -u)" ]
    remove
    make_archive strange-attributes
    unpack
    accepted
    [ "$(tree)" = "a f 644" ]
}

@test "limits count what is really written" {
    make_archive big-file
    unpack -b 8388608
    accepted
    remove
    unpack -b 8388607
    refused_as archive.too_large "big: "
    remove
    make_archive good
    unpack -b 17 -e 4
    accepted
    remove
    unpack -b 16
    refused_as archive.too_large
    remove
    unpack -e 3
    refused_as archive.too_many_entries
}

@test "bombs end at the limit" {
    make_archive big-file
    for compress in gzip bzip2 xz zstd; do
        "$compress" -c < archive > bomb
        run "$build/tests/unpack-driver" -b 1000000 "$build/assay-unpack" bomb tree
        refused_as archive.too_large "big: "
        [ "$(du -sk tree | cut -f1)" -lt 2000 ]
        remove
    done
    make_archive big-junk
    unpack -b 1000000
    refused_as archive.too_large ".DS_Store: "
    remove
    make_archive hard
    unpack -b 7
    refused_as archive.too_large "d/b: "
    remove
    each_refused << 'TABLE'
archive.too_many_entries tar,zip many-entries
archive.too_many_entries tar,zip many-folders
archive.too_large        tar     sparse-8gib   sparse:
archive.damaged          tar     declared-8eib
archive.damaged          tar     negative-size
archive.damaged          tar     endless-pax
archive.damaged          zip     declared-huge
TABLE
}

@test "holes of a sparse file count and read as zeros" {
    make_archive sparse-1mib
    unpack -b 1048575
    refused_as archive.too_large "sparse: "
    remove
    unpack -b 1048576
    accepted
    [ "$(stat -c %s tree/sparse)" -eq 1048576 ]
    [ "$(tr -d '\0' < tree/sparse)" = headtail ]
}

@test "headers that are no entries are not counted" {
    make_archive global-pax
    unpack -e 1
    accepted
    [[ $output == *"done entries=1 "* ]]
}

@test "a zip archive that contradicts itself is refused" {
    each_refused << 'TABLE'
archive.damaged     zip bad-crc             a:
archive.damaged     zip sizes-differ        a:
archive.damaged     zip names-differ        b:
archive.damaged     zip overlap             a:
archive.damaged     zip unicode-name-differs a:
archive.damaged     zip unicode-name-ascii  two names
archive.damaged     zip unicode-name-of-other belong
archive.damaged     zip unicode-name-twice  three names
archive.damaged     zip folder-with-data    folder with content
archive.damaged     zip miscounted          entries
archive.damaged     zip zip64-names-differ  b:
archive.damaged     zip zip64-overlap       a:
archive.damaged     zip zip64-ends-differ   contradicts
archive.unsupported zip encrypted           a:
archive.unsupported zip strongly-encrypted  encrypted
archive.unsafe_path zip nul-in-name         a
TABLE
}

@test "a zip archive is judged before anything is written" {
    make_archive -z bad-after-good
    unpack
    refused_as archive.unsafe_path ../bad:
    [ -z "$(ls -A tree)" ]
}

@test "zip names without the UTF-8 mark are code page 437, with a warning" {
    make_archive -z unmarked-name
    unpack
    accepted
    [[ $output == *"warning caf"*"code page 437"* ]]
    [ "$(ls tree)" = "$(printf 'caf\303\251')" ]
}

@test "zip archives with second names and 64-bit numbers are read" {
    make_archive -z unicode-name
    unpack
    accepted
    [ "$(ls tree)" = "$(printf 'caf\303\251')" ]
    remove
    make_archive -z zip64
    unpack
    accepted
    [ "$(cat tree/a)" = body ]
    remove
    make_archive -z long-comment # with what looks like the end of an archive, again and again
    unpack
    accepted
    [[ $output != *"behind its end"* ]]
    [ "$(cat tree/a)" = body ]
}

# Instead of an archive, the directory ./folder.
unpack_folder() {
    run "$build/tests/unpack-driver" "$@" "$build/assay-unpack" folder tree
    snapshot | cmp - before
}

digest() {
    [[ $output =~ digest=([0-9a-f]{64}) ]] && echo "${BASH_REMATCH[1]}"
}

@test "a directory becomes its tree, and has a digest that tells what was in it" {
    mkdir -p folder/src/empty
    echo 'int a;' > folder/src/a.c
    ln -s a.c folder/src/b.c
    ln folder/src/a.c folder/src/c.c
    install -m 4700 /dev/null folder/run
    echo junk > folder/.DS_Store
    unpack_folder
    accepted
    [ "$(tree)" = "run f 755
src d 755
src/a.c f 644
src/b.c l 777 a.c
src/c.c f 644
src/empty d 755" ]
    first=$(digest)
    remove
    cp -r folder other && rm -r folder && mv other folder
    unpack_folder
    is_same=$(digest)
    [ "$first" = "$is_same" ]
    remove
    chmod -x folder/run
    unpack_folder
    [ "$first" != "$(digest)" ]
    # As written in images/folder.h.
    rm -r folder && mkdir folder && printf hi > folder/a
    remove
    unpack_folder
    [ "$(digest)" = "$(printf 'fa\0\2\0\0\0\0\0\0\0hi' | sha256sum | cut -d' ' -f1)" ]
}

@test "a directory is judged by the rules for archives" {
    while read -r code make; do
        rm -rf folder && mkdir folder && echo a > folder/a
        (cd folder && eval "$make")
        unpack_folder -e 20 -b 1000000
        archive_kind=$make refused_as "$code"
        remove
    done << 'TABLE'
archive.special_file mkfifo pipe
archive.link_escape ln -s ../canary out
archive.link_escape ln -s /etc/passwd out
archive.link_escape mkdir d && ln -s ../../canary d/out
archive.name_collision touch A
archive.bad_name touch "$(printf 'new\nline')"
archive.bad_name touch "$(printf 'bad\377')"
archive.unsafe_path touch 'a\b'
archive.too_many_entries touch $(seq 30)
archive.too_many_entries mkdir d e && touch d/$(seq -s ' d/' 15) e/$(seq -s ' e/' 15)
archive.too_large head -c 2000000 /dev/zero > big
archive.too_large truncate -s 2000000 sparse
TABLE
    rm -rf folder && mkdir folder && echo a > folder/a && echo b > folder/b
    chmod 000 folder/b
    if [ "$(id -u)" -ne 0 ]; then
        unpack_folder
        refused_as submission.unreadable b:
        remove
    fi
    rm -rf folder && mkdir -p folder/empty
    unpack_folder
    refused_as archive.empty
}

@test "what a build left behind is judged by the same rules while it is taken over" {
    mkdir -p left/out && echo a > left/out/program && ln -s program left/out/link
    run "$build/tests/unpack-driver" -C "$build/assay-unpack" left tree
    accepted
    [[ $output == "done entries=3 bytes=2 "* ]]
    [ "$(tree | wc -l)" -eq 3 ]
    remove
    while read -r make; do
        rm -rf left && mkdir left
        (cd left && eval "$make")
        run "$build/tests/unpack-driver" -C -d -b 1000000 "$build/assay-unpack" left tree
        archive_kind=$make refused_as build.unsafe_output
        remove
    done << 'TABLE'
mkfifo pipe
ln -s ../canary/file out
ln -s /etc/passwd out
ln -s /etc/passwd .DS_Store
mkdir __MACOSX && touch __MACOSX/a __MACOSX/A
touch a A
touch "$(printf 'bad\377')"
truncate -s 2000000 sparse
TABLE
}

@test "a JSON answer is a submission of one file" {
    for text in '{"answer": 42}' ' [1]' "$(printf '\357\273\277{}')"; do
        printf %s "$text" > archive
        unpack
        accepted
        [ "$(tree)" = 'answer.json f 644' ]
        cmp archive tree/answer.json
        remove
    done
    printf '{"padding": "%2000s"}' > archive
    unpack -b 1000
    refused_as archive.too_large
}

@test "no file, no submission" {
    each_refused << 'TABLE'
archive.empty tar,zip empty
archive.empty tar,zip only-folders
TABLE
    : > archive
    unpack
    refused_as archive.empty
}

@test "a truncated archive is called so" {
    make_archive big-file
    for compress in cat gzip bzip2 xz zstd; do
        "$compress" < archive > whole
        size=$(stat -c %s whole)
        head -c $((size / 2)) whole > half
        run "$build/tests/unpack-driver" "$build/assay-unpack" half tree
        archive_kind=$compress refused_as archive.truncated
        remove
    done
    make_archive -z good
    head -c 150 archive > half
    mv half archive
    unpack
    refused_as archive.truncated
}

@test "a tar archive that is cut off between two entries is truncated" {
    make_archive good
    for blocks in 1 3; do
        head -c $((blocks * 512)) archive > half
        run "$build/tests/unpack-driver" "$build/assay-unpack" half tree
        refused_as archive.truncated 'end mark'
        remove
    done
}

# Change the byte at OFFSET from the end.
spoil() { # FILE OFFSET
    perl -e 'open(my $f, "+<", $ARGV[0]) or die; seek($f, -$ARGV[1], 2); read($f, my $c, 1);
             seek($f, -$ARGV[1], 2); print $f chr(ord($c) ^ 1);' "$@"
}

@test "checksums of compressed data are verified" {
    make_archive good
    while read -r offset compress; do
        $compress < archive > spoiled
        spoil spoiled "$offset"
        run "$build/tests/unpack-driver" "$build/assay-unpack" spoiled tree
        archive_kind=$compress refused_as archive.damaged
        remove
    done << 'TABLE'
8 gzip
4 bzip2
40 xz
4 zstd --check
TABLE
}

@test "compressed data in several parts are one archive, padding is nothing" {
    make_archive good
    head -c 1000 archive > first
    tail -c +1001 archive > second
    for compress in gzip bzip2 xz zstd; do
        { $compress < first; $compress < second; head -c 1024 /dev/zero; } > parts
        run "$build/tests/unpack-driver" "$build/assay-unpack" parts tree
        archive_kind=$compress accepted
        [[ $output != *warning*behind* ]] || fail_with "warned: $output"
        [ "$(tree | wc -l)" -eq 4 ]
        remove
    done
}

@test "what stands behind the end is left out, with a warning; a heap of it is refused" {
    make_archive good
    { gzip < archive; echo garbage; } > with-garbage
    { cat archive; echo garbage; } > plain-with-garbage
    make_archive -z good
    { cat archive; echo garbage; } > zip-with-garbage
    make_archive good
    for file in with-garbage plain-with-garbage zip-with-garbage; do
        run "$build/tests/unpack-driver" "$build/assay-unpack" $file tree
        accepted
        [[ $output == *"warning "*"behind its end"* ]] || fail_with "no warning: $output"
        remove
    done
    { cat archive; head -c 200000000 /dev/zero; } | gzip -1 > bomb
    run "$build/tests/unpack-driver" "$build/assay-unpack" bomb tree
    refused_as archive.damaged 'more than 1 MiB'
}

@test "windows beyond 64 MiB are refused, the largest ordinary ones are not" {
    make_archive good
    cp archive plain
    xz -9 < plain > archive
    unpack
    accepted
    remove
    xz --lzma2=dict=256MiB < plain > archive
    unpack
    refused_as archive.window_too_large
    head -c 140000000 /dev/zero | cat plain - | zstd -q --long=27 -1 > archive
    unpack
    refused_as archive.window_too_large
}

@test "what is not tar or zip is never parsed, and named" {
    while IFS='|' read -r start what; do
        { printf %b "$start"; head -c 40000 /dev/zero; } > archive
        unpack
        archive_kind=$what refused_as archive.unsupported "$what"
    done << 'TABLE'
Rar!\0032\0007\0001\0000|RAR
7z\0274\0257\0047\0034|7-Zip
MSCF|cabinet
xar!|xar
#mtree\n|mtree
070701|cpio
!<arch>\n|ar archive
garbage|not a tar or zip
TABLE
    { head -c 32769 /dev/zero; printf CD001; head -c 4096 /dev/zero; } > archive
    unpack
    refused_as archive.unsupported "ISO 9660"
}

@test "compression inside compression is refused" {
    make_archive good
    gzip -c < archive | gzip -c > twice
    mv twice archive
    unpack
    refused_as archive.unsupported "more than once"
    for _ in {1..30}; do
        gzip -c < archive > again
        mv again archive
    done
    unpack
    [ "$status" -eq 1 ]
}

@test "required files must be regular and no larger than allowed" {
    make_archive good
    unpack -r run:10 -r src/a.c
    accepted
    remove
    unpack -r run:9
    refused_as archive.required_file_too_large "run: "
    remove
    unpack -r nothing
    refused_as archive.required_file_missing "nothing: "
    remove
    unpack -r src/b.c
    refused_as archive.required_file_missing "src/b.c: not a regular file"
    remove
    unpack -r src
    refused_as archive.required_file_missing "src: not a regular file"
}

@test "patterns must match as many files as the task asks for" {
    mkdir -p in/top/src/deep && touch in/top/{README,src/a.c,src/deep/b.c,src/deep/c.h}
    ln -s a.c in/top/src/link.c
    tar -cf archive -C in top
    while read -r found pattern; do
        unpack -s -p "$pattern:$found"
        accepted
        remove
        unpack -s -p "$pattern:$((found + 1))"
        refused_as archive.required_file_missing "$pattern: matches $found files"
        remove
    done << 'TABLE'
2 src/**/*.c
1 src/*.c
1 README
4 **
0 top/**
TABLE
}

@test "SUBMISSION.md is found in any letter case, its sections reported" {
    mkdir in
    printf '# What I Built\n\nhow to run\n---\n## TRADEOFFS\n' > in/submission.MD
    tar -cf archive -C in submission.MD
    unpack
    accepted
    [[ $output == *"done "*" sections=0x23 submission_md=1 "* ]]
    [[ $output == *"warning SUBMISSION.md: What I Built, How To Run, Architecture, What Works, Known Limitations, Tradeoffs: missing or empty"* ]]
    remove
    printf '# What I Built\na thing\n\nhow to run\n---\nmake\n' > in/submission.MD
    tar -cf archive -C in submission.MD
    unpack
    accepted
    [[ $output == *"section 0 a thing"*"section 1 make"*"done "* ]]
    [[ $output == *"warning SUBMISSION.md: Architecture, What Works, Known Limitations, Tradeoffs: missing"* ]]
    remove
    make_archive good
    unpack
    accepted
    [[ $output == *"warning SUBMISSION.md: missing"*"submission_md=0"* ]]
}

@test "removing clears what is deep and forbidden, and nothing else" {
    mkdir -p "tree/$(printf 'd/%.0s' {1..200})" tree/a/b/c
    ln -s ../canary tree/a/link
    chmod 000 tree/a/b tree/a
    remove
    snapshot | cmp - before
}
