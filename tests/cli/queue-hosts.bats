#!/usr/bin/env bats
# Two hosts and a server: network namespaces with addresses of their own, so that one host can be cut off.

load common
load queue

engine=postgres

# namespace: a network of its own, held by the process $made
namespace() {
    setpriv --pdeathsig KILL -- unshare --net sleep infinity > /dev/null 2>&1 3>&- &
    made=$!
    until [ "$(readlink "/proc/$made/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do :; done
}

# wire NAME PID NUMBER: a cable from that host, 10.77.NUMBER.2, to the server, 10.77.NUMBER.1
wire() {
    ip link add "$1" netns "$2" type veth peer name "$1" netns "$server"
    nsenter --net="/proc/$2/ns/net" ip address add "10.77.$3.2/24" dev "$1"
    nsenter --net="/proc/$server/ns/net" ip address add "10.77.$3.1/24" dev "$1"
    nsenter --net="/proc/$2/ns/net" ip link set "$1" up
    nsenter --net="/proc/$server/ns/net" ip link set "$1" up
}

setup_file() {
    is_root || return 0
    namespace
    server=$made
    export server POSTGRES_NET=/proc/$server/ns/net
    stores_start
}

teardown_file() {
    is_root || return 0
    stores_end
    kill "$server"
}

setup() {
    is_root || skip 'makes networks, which needs root'
    setup_queue
    hosts=()
}

teardown() {
    is_root || return 0
    end_workers
    for host in "${hosts[@]}"; do kill "$host"; done
}

# start_host NUMBER: a host of its own with a worker, as $host and $worker
start_host() {
    namespace
    host=$made
    hosts+=("$host")
    wire "host$1" "$host" "$1"
    mkdir -p "$work/host$1"
    ASSAY_STATE=$work/host$1 ASSAY_STORE_KEY=$work/state/store/key nsenter --net="/proc/$host/ns/net" -- \
        "$ASSAY" worker "${weak[@]}" --store "postgresql://owner@10.77.$1.1/$base" --jobs 2 --lease 2s \
        3>&- > "$work/host$1.said" 2>> "$work/worker.errors" &
    worker=$!
    workers+=("$worker")
}

@test "a host that is cut off: its jobs are finished elsewhere, and its late results are refused" {
    sleeping_task 'echo "{\"score\": 60, \"pass\": true}" > /results/score.json'
    submission_of 1
    submit
    submission_of 2
    submit
    start_host 1
    first=$host first_worker=$worker
    until [ "$(sql "SELECT count(*) FROM jobs WHERE state = 'running'")" = 2 ]; do alive; done
    nsenter --net="/proc/$first/ns/net" ip link set host1 down
    start_host 2
    until [ "$(sql "SELECT count(*) FROM jobs WHERE state = 'done'")" = 2 ]; do alive; done
    is 'tries, and results' '2|2' "$(sql 'SELECT max(tries), (SELECT count(*) FROM evaluation_results) FROM jobs')"
    is 'who did them' 1 "$(sql "SELECT count(DISTINCT worker) FROM jobs")"
    by=$(sql "SELECT DISTINCT worker FROM jobs")
    nsenter --net="/proc/$first/ns/net" ip link set host1 up
    # It hears of it when it hands in a result, or when it says that it is still there: whichever comes first.
    until [ "$(grep -cE 'infra.lease_lost|interrupted' "$work/host1.said")" = 2 ]; do kill -0 "$first_worker"; done
    is 'results still' '2|1' "$(sql 'SELECT count(*), max(attempt) FROM evaluation_results')"
    is 'and theirs' "$by" "$(sql "SELECT DISTINCT worker FROM jobs")"
    # The first is a worker like another again.
    end_now "$worker"
    submission_of 3
    submit
    until [ "$(sql "SELECT count(*) FROM jobs WHERE state = 'done'")" = 3 ]; do kill -0 "$first_worker"; done
    is 'by the first' 1 "$(sql "SELECT count(*) FROM jobs WHERE worker LIKE '%:$first_worker'")"
    for each in host1 host2; do is "work left on $each" '' "$(ls "$work/$each/evaluations")"; done
    intact
}
