#!/usr/bin/env bats
# assay batch: many submissions, a result each.

load common

setup() {
    setup_work
    cd "$work" || return
    mkdir subs
    # What is in the file `score` is the score; "wait" is a suite that never ends.
    script_task << 'END'
score=$(cat /agent_output/score)
[ "$score" != wait ] || exec sleep 600
[ "$score" != infra ] || exit 1
[ "$score" -ge 70 ] && pass=true || pass=false
echo "{\"score\": $score, \"pass\": $pass}" > /results/score.json
END
}

# sub NAME SCORE: a submission in the folder
sub() {
    mkdir -p "$work/made"
    echo "$2" > "$work/made/score"
    tar -C "$work/made" -czf "$work/subs/$1" score
}

# batch [OPTIONS…] [FILES…]
batch() {
    status=0
    "$ASSAY" batch "${weak[@]}" "$work/task" "$@" > "$work/output" 2> "$work/errors" || status=$?
}

# result NAME PATH
result() {
    jq -r "$2" "results/$1.json"
}

@test "a folder: each entry is graded, and has its result, whatever it is" {
    sub ann.tar.gz 80
    sub bob.tgz 30
    mkdir subs/carl
    echo 100 > subs/carl/score
    echo '{"x": 1}' > subs/dora.json
    echo nonsense > subs/emil.zip
    touch subs/.DS_Store
    batch subs
    is exit 4 "$status" # dora has no file `score`, and the suite fails
    is 'names' 'ann bob carl dora emil' "$(basename -s .json results/*.json | xargs)"
    is ann 80 "$(result ann .score)"
    is bob fail "$(result bob .outcome)"
    is carl 100 "$(result carl .score)"
    is dora error "$(result dora .status)"
    is emil archive.unsupported "$(result emil .code)"
    is 'schema' assay.result/1 "$(result ann .schema)"
    is lines 6 "$(wc -l < output)"
    grep -qx 'ann: pass 80.00' output
    grep -qx 'bob: fail 30.00' output
    grep -q '^emil: rejected archive.unsupported: ' output
    is summary '3 of 5 graded: 2 passed, 1 not passed; 1 rejected; 1 without a score for other reasons' "$(tail -n 1 output)"
    is 'left behind' '' "$(find results -name '*.new')"
    nothing_left
}

@test "the exit status tells whether all were graded" {
    sub ann.tar.gz 80
    sub bob.tar.gz 0
    batch subs
    is 'all graded' 0 "$status"
    echo nonsense > subs/emil.zip
    batch subs
    is 'one rejected' 1 "$status"
    sub fred.tar.gz infra
    batch subs
    is 'one without a score' 4 "$status"
    batch "subs/ann.tar.gz" subs/emil.zip --results others
    is 'files' 1 "$status"
    is 'results of files' 'ann emil' "$(basename -s .json others/*.json | xargs)"
}

@test "several at a time give the same as one at a time" {
    for i in $(seq 12); do sub "s$i.tar.gz" $((i * 8)); done
    batch subs --jobs 1 --csv one.csv
    is exit 0 "$status"
    is 'order of one at a time' "$(cd subs && printf '%s\n' * | LC_ALL=C sort | sed 's/\.tar\.gz//')" "$(sed '$d; s/:.*//' output)"
    batch subs --jobs 5 --csv five.csv --results five
    is exit 0 "$status"
    is 'the tables, without times' "$(sed 's/,[0-9]*\r$//' one.csv)" "$(sed 's/,[0-9]*\r$//' five.csv)"
    for name in results/*.json; do
        is "$name" "$(jq -S 'del(.id, .phases, .usage)' "$name")" "$(jq -S 'del(.id, .phases, .usage)' "five/${name##*/}")"
    done
    nothing_left
}

@test "names with newlines, quotes, dashes and formulas; the table is safe to open" {
    local names=('-dash' $'new\nline' 'quo"te' '=1+2' '@at' 'com,ma' $'not\xffutf8' 'a b' '%41' '-')
    for name in "${names[@]}"; do sub "./$name.tar.gz" 80; done
    batch subs --csv all.csv
    is "exit ($(cat errors))" 0 "$status"
    for name in "${names[@]}"; do is "$name" 80 "$(jq .score "./results/$name.json")"; done
    batch subs --csv again.csv --resume
    is 'kept' 10 "$(grep -c '(from before)$' output)"
    is 'the same table' '' "$(diff all.csv again.csv)"
    python3 - <<'END'
import csv
with open("all.csv", newline="") as file:
    rows = list(csv.DictReader(file))
names = sorted(row["name"] for row in rows)
want = sorted(["'-dash", "new\nline", 'quo"te', "'=1+2", "'@at", "com,ma", "not\ufffdutf8", "a b", "%41", "'-"])
assert names == want, names
assert list(rows[0]) == "name,status,outcome,score,test_score,llm_score,code,reason,sha256,ms".split(",")
assert {row["score"] for row in rows} == {"80.00"} and all(len(row["sha256"]) == 64 for row in rows)
END
    cd subs
    "$ASSAY" batch "${weak[@]}" --results ../others -- "$work/task" "-dash.tar.gz"
}

@test "resume: what was graded is kept, what changed or is missing is graded again" {
    sub ann.tar.gz 80
    sub bob.tar.gz 30
    sub carl.tar.gz 50
    echo nonsense > subs/emil.zip
    batch subs
    is exit 1 "$status"
    local before
    before=$(result ann .id)
    sub bob.tar.gz 90
    rm results/carl.json
    sub dora.tar.gz 70
    batch subs --resume --json --csv all.csv
    is exit 1 "$status"
    is 'what is kept' 'ann emil' "$(jq -r '.submissions[] | select(.kept).name' output | xargs)"
    is ann "$before" "$(result ann .id)"
    is bob 90 "$(result bob .score)"
    is 'all are in the table' 6 "$(wc -l < all.csv)"
    is summary '{"submissions":5,"graded":4,"passed":3,"not_passed":1,"pending":0,"rejected":1,"ungradable":0,"errors":0,"kept":2}' "$(jq -c .summary output)"
    batch subs
    [ "$(result ann .id)" != "$before" ] # without --resume all are new
}

@test "resume: what failed by this machine's fault is graded again" {
    sub ann.tar.gz 80
    sub bob.tar.gz 30
    batch subs
    is exit 0 "$status"
    # As the journal has it after a run on a machine in trouble.
    sed -i '/^bob\t/ s/\tgraded\t1\t-\tfail\t30.00\t30.00\t/\terror\t4\tinfra.memory\t-\t-\t-\t/' results/batch.log
    grep -q infra.memory results/batch.log
    batch subs --resume --json
    is kept ann "$(jq -r '.submissions[] | select(.kept).name' output)"
    is bob 30 "$(result bob .score)"
    is exit 0 "$status"
}

@test "interrupted: says how to go on, and goes on" {
    sub a.tar.gz 80
    sub b.tar.gz wait
    sub c.tar.gz 90
    "$ASSAY" batch "${weak[@]}" --jobs 1 --csv all.csv task subs > output 2> errors 3>&- &
    local batch=$!
    until [ -e results/b.json.new ]; do kill -0 "$batch"; done
    kill -TERM "$batch"
    status=0
    wait "$batch" || status=$?
    is exit 130 "$status"
    is 'lines' 1 "$(wc -l < errors)"
    grep -q '^assay: interrupted: 1 of 3 .*--resume' errors
    is 'results' a.json "$(cd results && ls -- *.json*)"
    is 'no half table' '' "$(ls all.csv* 2> /dev/null)"
    nothing_left
    sub b.tar.gz 60
    batch subs --resume
    is exit 0 "$status"
    grep -qx 'a: pass 80.00 (from before)' output
}

@test "killed: its evaluations end with it, and the next one goes on" {
    sub a.tar.gz 80
    sub b.tar.gz wait
    "$ASSAY" batch "${weak[@]}" --jobs 1 task subs > output 2> errors 3>&- &
    local batch=$!
    until [ -e results/b.json.new ] && [ -n "$(ls "$ASSAY_STATE/evaluations" 2> /dev/null)" ]; do kill -0 "$batch"; done
    kill -KILL "$batch"
    wait "$batch" || true
    until [ -z "$(ls "$ASSAY_STATE/evaluations")" ]; do :; done
    sub b.tar.gz 60
    printf 'b\t12' >> results/batch.log # a line that was being written
    batch subs --resume
    is "exit ($(cat errors))" 0 "$status"
    grep -qx 'a: pass 80.00 (from before)' output
    is 'left behind' '' "$(find results -name '*.new')"
    is b 60 "$(result b .score)"
}

@test "a journal that a batch did not write is refused" {
    sub ann.tar.gz 80
    batch subs
    cp results/batch.log good.log
    local line
    line=$(tail -n 1 good.log)
    for bad in "${line/graded/passed}" "${line/80.00/8e1}" "${line/ann/..\/ann}" "${line/pass/maybe}" "$line	x" "${line%	*}" "${line/-/}" \
        "${line/-/%4}" "${line/-/%00}" "${line/ann/%zz}"; do
        { cat good.log && printf '%s\n' "$bad"; } > results/batch.log
        batch subs --resume
        is "exit for $bad" 2 "$status"
        grep -q 'batch.log, line 3' errors
    done
    printf 'assay-batch/1\tother\n' > results/batch.log
    batch subs --resume
    is 'of another task' 2 "$status"
    grep -q 'of the task other' errors
    head -c 100 /dev/zero > results/batch.log
    batch subs --resume
    is zeros 2 "$status"
    rm results/batch.log
    mkfifo results/batch.log
    batch subs
    is fifo 2 "$status"
    rm results/batch.log
    ln -s "$work/elsewhere" results/batch.log
    batch subs
    is link 2 "$status"
    [ ! -e elsewhere ]
}

@test "two batches do not write to one place" {
    sub a.tar.gz wait
    "$ASSAY" batch "${weak[@]}" task subs > output 2> errors 3>&- &
    local batch=$!
    until [ -e results/a.json.new ]; do kill -0 "$batch"; done
    batch subs
    is exit 2 "$status"
    grep -q 'another batch is at work there' errors
    kill -TERM "$batch"
    wait "$batch" || true
    nothing_left
}

@test "links in a folder are not followed, other things are not submissions" {
    sub ann.tar.gz 80
    ln -s ann.tar.gz subs/bob.tar.gz
    mkfifo subs/carl
    batch subs
    is exit 4 "$status"
    grep -q '^bob: error submission.missing: .*is a link' output
    grep -q '^carl: error submission.missing: .*neither' output
    is ann 80 "$(result ann .score)"
    batch subs/bob.tar.gz # which names it
    is exit 0 "$status"
}

@test "usage: what cannot be meant" {
    sub ann.tar.gz 80
    sub ann.tgz 80
    batch subs
    is 'two of one name' 2 "$status"
    grep -q 'both would have the result ann.json' errors
    mkdir nothing
    batch nothing
    is 'an empty folder' 2 "$status"
    batch missing
    is 'no such file' 2 "$status"
    batch
    is 'no submission' 2 "$status"
    for options in '--jobs 0' '--jobs 1000' '--jobs x' '--seed x' '--results /dev/null' '--csv /nonexistent/x.csv'; do
        # shellcheck disable=SC2086 # a list of words
        batch subs/ann.tgz $options
        is "$options" 2 "$status"
    done
    echo '{"schema": "assay.task/1"}' > task/task.json
    batch subs/ann.tgz
    is 'an invalid task' 2 "$status"
    is 'problems, once' 1 "$(grep -c 'task.json:1:.*name' errors)"
    [ ! -e results/ann.json ]
}

@test "a task that cannot be evaluated here ends the batch" {
    task good '"limits": {"network": "outbound"},'
    submission
    batch submission.tar.gz
    is exit 2 "$status"
    grep -q task.not_permitted errors
    nothing_left
}

@test "a hybrid task waits for its judge" {
    cp -R "$examples/palindrome" hybrid
    tar -C hybrid/solutions/good --exclude=expect.json -czf subs/good.tar.gz .
    status=0
    "$ASSAY" batch "${weak[@]}" hybrid subs > output || status=$?
    is exit 5 "$status"
    grep -q '^good: pending judge.pending' output
}

@test "the seed is what the suite gets" {
    script_task << 'END'
echo "{\"score\": $ASSAY_SEED, \"pass\": true}" > /results/score.json
END
    sub ann.tar.gz 0
    batch subs --seed 42
    is exit 0 "$status"
    is score 42 "$(result ann .score)"
}

@test "quiet, JSON, and a results directory among the submissions" {
    sub ann.tar.gz 80
    cd subs
    batch . --quiet
    is output '' "$(cat ../output)"
    batch . --json
    is 'submissions' ann "$(jq -r '.submissions[].name' ../output)"
    is 'schema' assay.batch/1 "$(jq -r .schema ../output)"
    is 'result' ann.json "$(jq -r '.submissions[].result' ../output)"
}

@test "a terminal has one line that changes" {
    command -v script > /dev/null || skip 'script (Debian: bsdutils) is not installed'
    sub ann.tar.gz 80
    echo nonsense > subs/emil.zip
    TERM=xterm NO_COLOR=1 script -qec "'$ASSAY' batch ${weak[*]} task subs" /dev/null > output < /dev/null || true
    grep -q $'\r\x1b\\[K.*at work' output
    is 'colours' 0 "$(grep -c $'\x1b\\[1m' output)"
    grep -q '1 of 2 graded: 1 passed' output
    TERM=xterm script -qec "'$ASSAY' batch ${weak[*]} task subs" /dev/null > output < /dev/null || true
    grep -q $'\x1b\\[1m' output
}

@test "as root: results are the caller's, evaluations are not root's" {
    is_root || skip 'needs root'
    sub ann.tar.gz 80
    mkdir -m 700 private
    cp -R subs task private/
    cd private
    status=0
    "$ASSAY" batch task subs > ../output 2> ../errors || status=$?
    is "exit ($(cat ../errors))" 0 "$status"
    is owner 0 "$(stat -c %u results/ann.json)"
}
