#!/usr/bin/env bats
# Cells with a way out, in a little world of network namespaces: one that plays the machine, where
# assay runs, and one that plays everything else. Nothing leaves it.
#
#   cell ── pasta ── machine 10.99.0.2 ── 10.99.0.1 world 203.0.113.7, 169.254.169.254

load common

setup() {
    setup_work
    command -v ip > /dev/null || skip 'no ip: apt-get install iproute2'
    [ -x /usr/bin/pasta ] || skip 'no pasta: apt-get install passt'
    [ -w /dev/net/tun ] || skip 'no /dev/net/tun that this user may open'
    wire=$ASSAY_BUILD/tests/wire
    make_world
}

teardown() {
    # shellcheck disable=SC2086 # a list of numbers
    [ -z "${started:-}" ] || kill -KILL $started 2> /dev/null || true
}

# hold VARIABLE COMMAND…: a process that keeps new namespaces alive; its pid
hold() {
    local own pid
    own=$(readlink /proc/self/ns/net)
    "${@:2}" sleep infinity 3>&- &
    pid=$!
    disown
    started="${started:-} $pid"
    until [ "$(readlink "/proc/$pid/ns/net")" != "$own" ] &&
        [ "$(tr -d '\0' < "/proc/$pid/cmdline")" = sleepinfinity ]; do
        [ -e "/proc/$pid" ] || skip 'this user cannot make network namespaces'
    done
    eval "$1=$pid"
}

# A user is root of these namespaces, and an ordinary user again where assay runs.
make_world() {
    local user=() name
    is_root || user=(-U --preserve-credentials)
    hold machine unshare ${user:+-U -r} --net --mount
    own_machine=(nsenter -t "$machine" "${user[@]}" --net --mount)
    hold world "${own_machine[@]}" unshare --net
    own_world=(nsenter -t "$world" "${user[@]}" --net)
    on_machine=("${own_machine[@]}" ${user:+unshare --user --map-user=61234 --map-group=61234})
    cell=("${on_machine[@]}" "$ASSAY" exec "${weak[@]}" --limit network=outbound
        --bind "$ASSAY_BUILD/tests:/programs:ro" host --)

    "${own_machine[@]}" ip link add wire type veth peer name wire netns "$world" ||
        skip 'no veth devices'
    for name in machine world; do
        local -n own=own_$name
        "${own[@]}" ip link set lo up
        "${own[@]}" ip link set wire up
    done
    "${own_machine[@]}" ip address add 10.99.0.2/24 dev wire
    "${own_machine[@]}" ip address add fd99::2/64 dev wire nodad
    "${own_machine[@]}" ip address add fe80::2/64 dev wire nodad
    "${own_machine[@]}" ip address add 10.98.0.5/32 dev lo
    "${own_machine[@]}" ip route add default via 10.99.0.1
    "${own_machine[@]}" ip -6 route add default via fd99::1
    "${own_world[@]}" ip address add 10.99.0.1/24 dev wire
    "${own_world[@]}" ip address add fd99::1/64 dev wire nodad
    "${own_world[@]}" ip address add fe80::99/64 dev wire nodad
    "${own_world[@]}" ip address add 203.0.113.7/32 dev lo
    "${own_world[@]}" ip address add 169.254.169.254/32 dev lo
    echo 'nameserver 127.0.0.1' > "$work/resolv.conf"
    "${own_machine[@]}" mount --bind "$work/resolv.conf" /etc/resolv.conf
    ! is_root || open_tun
}

# pasta is not root: the device must be as udev makes it, which not every machine has.
open_tun() {
    mknod -m 666 "$work/tun" c 10 200
    "${own_machine[@]}" mount --bind "$work/tun" /dev/net/tun
}

# serve machine|world ADDRESS PORT: until the end of the test
serve() {
    local -n own=own_$1
    local out="$work/serve-$1-$3"
    "${own[@]}" "$wire" serve "$2" "$3" > "$out" 3>&- &
    disown
    started="$started $!"
    until grep -q serving "$out"; do [ -e "/proc/$!" ] || return 1; done
}

# cell COMMAND…: in a cell with a network
cell() {
    "${cell[@]}" "$@"
}

# start COMMAND…: the same in the background, as far as pasta; the pids of supervisor and pasta
start() {
    "${cell[@]}" "$@" 3>&- &
    supervisor=$!
    disown
    started="$started $supervisor"
    until pasta=$(pgrep -P "$supervisor" -f '^pasta '); do
        [ -e "/proc/$supervisor" ] || return 1
    done
}

# closed PORT ADDRESS…: by TCP and UDP, by the routes and past them, all tried at once
closed() {
    run -0 cell sh -c '
        port=$1
        shift
        for address; do
            for way in "tcp $address $port" "udp $address $port"; do
                { /programs/wire reach $way && echo "$way"; } &
                { /programs/wire reach $way wire && echo "$way past the routes"; } &
            done
        done
        wait' sh "$@"
    is 'what was reached' '' "$output"
}

@test "a cell with a network reaches the world, by TCP, UDP and IPv6, and by name" {
    serve world 0.0.0.0 80
    serve world :: 81
    serve machine 127.0.0.1 53
    cell /programs/wire reach tcp 203.0.113.7 80
    cell /programs/wire reach udp 10.99.0.1 80
    cell /programs/wire reach tcp fd99::1 81
    cell /programs/wire reach udp fd99::1 81
    run -0 cell getent ahostsv4 example.org
    [[ $output == *203.0.113.7* ]]
}

@test "without it nothing is reached" {
    serve world 0.0.0.0 80
    serve machine 0.0.0.0 80
    for address in 10.99.0.1 203.0.113.7 10.99.0.2 127.0.0.1; do
        run -1 "${on_machine[@]}" "$ASSAY" exec "${weak[@]}" --limit network=none \
            --bind "$ASSAY_BUILD/tests:/programs:ro" host -- /programs/wire reach tcp $address 80
    done
    is devices 1 "$("${on_machine[@]}" "$ASSAY" exec "${weak[@]}" host -- grep -c : /proc/net/dev)"
    is resolvers '' "$("${on_machine[@]}" "$ASSAY" exec "${weak[@]}" host -- cat /etc/resolv.conf)"
}

@test "the machine itself is not reached, by none of its addresses" {
    serve machine :: 8080 # all of IPv4 too
    local own=(127.0.0.1 0.0.0.0 10.99.0.2 10.98.0.5 ::1 fd99::2 fe80::2%wire)
    for address in "${own[@]}"; do
        "${own_machine[@]}" "$wire" reach tcp "$address" 8080
    done
    # The last three: what pasta might take for the machine.
    closed 8080 "${own[@]}" ::ffff:10.98.0.5 10.99.0.1 192.0.0.8
}

@test "link-local addresses are not reached, among them that of cloud metadata" {
    serve world 0.0.0.0 80
    serve world :: 81
    "${own_machine[@]}" "$wire" reach tcp 169.254.169.254 80
    closed 80 169.254.169.254 224.0.0.1
    "${own_machine[@]}" "$wire" reach tcp fe80::99%wire 81
    closed 81 fe80::99%wire ff02::1%wire
}

@test "no port leads in" {
    start /programs/wire serve 0.0.0.0 9000 > "$work/serving"
    until grep -q serving "$work/serving"; do [ -e "/proc/$supervisor" ]; done
    run -1 "${own_machine[@]}" "$wire" reach tcp 127.0.0.1 9000
    run -1 "${own_world[@]}" "$wire" reach tcp 10.99.0.2 9000
}

@test "pasta ends with the cell, and with its supervisor" {
    mkfifo "$work/end"
    exec 4<> "$work/end"
    start cat < "$work/end" 4>&-
    exec 4>&-
    wait_gone "$supervisor"
    run -1 kill -0 "$pasta"

    start sleep infinity
    kill -KILL "$supervisor"
    wait_gone "$pasta"
}

@test "pasta is neither root nor anyone of the cell, and has rights in its namespace only" {
    start sleep infinity
    [ "$(readlink "/proc/$pasta/ns/user")" != "$(readlink /proc/self/ns/user)" ]
    [[ "$(sed -n 's/^CapBnd:\s*//p' "/proc/$pasta/status")" == 0000000000[02]01000 ]]
    is_root || return 0
    is 'its id' 65535 "$(($(sed -n 's/^Uid:\s*\([0-9]*\).*/\1/p' "/proc/$pasta/status") % 65536))"
    run -2 "$ASSAY" exec --user 65535 host -- true
}

@test "a cell whose network cannot be had is not made" {
    "${own_machine[@]}" ip route flush table main
    "${own_machine[@]}" ip -6 route flush table main
    run -125 --separate-stderr cell true
    [[ $stderr == 'assay: infra.network: '*passt* ]]
    "${own_machine[@]}" mount --bind /dev/null /usr/bin/pasta
    run -125 --separate-stderr cell true
    [[ $stderr == 'assay: infra.network: '*pasta*'apt-get install passt'* ]]
    run -2 "$ASSAY" exec --limit network=inbound host -- true
}

@test "run gives a network to tasks that ask for one, where the operator agrees" {
    task good '"limits": {"network": "outbound"},'
    cp "$wire" "$work/task/tests/"
    submission
    run -0 "$ASSAY" check "$work/task"
    run -2 --separate-stderr "$ASSAY" run "${weak[@]}" "$work/task" "$work/submission.tar.gz"
    [[ $stderr == 'assay: task.not_permitted: '*--allow-network* ]]
    is 'what ran' '' "$output"

    serve world 0.0.0.0 80
    jq '.suite.command = ["sh", "-c", "/tests/wire reach tcp 203.0.113.7 80 && echo \"{\\\"score\\\": 100, \\\"pass\\\": true}\" > /results/score.json"]' \
        "$work/task/task.json" > "$work/with" && mv "$work/with" "$work/task/task.json"
    "${on_machine[@]}" "$ASSAY" run --json --allow-network "${weak[@]}" "$work/task" \
        "$work/submission.tar.gz" > "$work/result.json" 2> "$work/errors"
    is network outbound "$(field .limits.network.value)"
    # Allowing what is not asked for changes nothing.
    task good
    grade --allow-network
    is network none "$(field .limits.network.value)"
}
