#!/usr/bin/env bats
# The JSON Schemas in docs/, which editors read, say what the readers of these documents say.

load common

setup() {
    setup_work
    docs=$here/../../docs
    programs=$here/../programs
}

# A schema and the reader's tables have the same keys, with the same choices and bounds.
same_keys() { # NAME
    "$ASSAY_BUILD/tests/list-keys" "$1" | sort > "$work/reader"
    jq -r --slurpfile task "$docs/task.schema.json" --arg name "$1" -f "$programs/schema-keys.jq" \
        "$docs/$1.schema.json" | sort > "$work/schema"
    [ "$(wc -l < "$work/reader")" -gt 10 ]
    is "$1: the reader has, and the schema has not" '' "$(comm -23 "$work/reader" "$work/schema")"
    is "$1: the schema has, and the reader has not" '' "$(comm -13 "$work/reader" "$work/schema")"
}

# validate SCHEMA FILE…: what it says of each, in $work/said
validate() {
    /usr/bin/python3 -c 'import jsonschema' 2> /dev/null || skip 'no python3-jsonschema'
    /usr/bin/python3 "$programs/validate.py" "$docs/$1.schema.json" "${@:2}" > "$work/said"
}

@test "the schema of task.json has every key of the reader, and no other" {
    same_keys task
}

@test "the schema of operator.json has every key of the reader, and no other" {
    same_keys operator
}

@test "the schema of expect.json has every key of the reader, and no other" {
    same_keys expect
}

@test "every key of a schema is described, and what it refers to is there" {
    for schema in "$docs"/*.schema.json; do
        jq -r '.. | objects | select(.additionalProperties == false) | .properties | to_entries[]
            | select(.value.description | not) | .key' "$schema" > "$work/bare"
        is "keys of ${schema##*/} without a description" '' "$(cat "$work/bare")"
        jq -r --slurpfile task "$docs/task.schema.json" '. as $root | .. | objects | .["$ref"]? // empty
            | . as $ref | split("#/definitions/")
            | select((if .[0] == "" then $root else $task[0] end).definitions[.[1]] | not) | $ref' \
            "$schema" > "$work/broken"
        is "references of ${schema##*/} to nothing" '' "$(cat "$work/broken")"
    done
}

@test "the tasks of templates and examples are valid, and what verify expects of their solutions" {
    validate task "$docs"/templates/*/task.json "$docs"/examples/*/task.json
    is 'not valid' '' "$(grep -v ': valid$' "$work/said")"
    validate expect "$docs"/templates/*/solutions/*/expect.json "$docs"/examples/*/solutions/*/expect.json
    is 'not valid' '' "$(grep -v ': valid$' "$work/said")"
    validate operator "$docs"/examples/operator/operator.json
    is 'not valid' '' "$(grep -v ': valid$' "$work/said")"
}

@test "the tasks and policies that the documents show are valid" {
    awk -v work="$work" '/^    \{$/ { file = sprintf("%s/shown-%03d.json", work, ++n) }
        file { print > file }
        /^    \}$/ { close(file); file = "" }' "$docs"/*.md
    for name in task operator; do
        mapfile -t shown < <(grep -l "assay.$name/1" "$work"/shown-*.json)
        [ "${#shown[@]}" -ge 1 ]
        validate "$name" "${shown[@]}"
        is 'not valid' '' "$(grep -v ': valid$' "$work/said")"
    done
}

@test "a task that says every default is the task that says none" {
    mkdir "$work/bare" "$work/told"
    for base in suite cases; do
        good_base "$base" > "$work/bare/task.json"
        jq --slurpfile schema "$docs/task.schema.json" '
            def defaults: .properties | with_entries(select(.value | has("default"))) | map_values(.default);
            $schema[0] as $s
            | . + ($s | defaults)
            | .limits = ($s.definitions.suite_limits | defaults)
            | .submission = ($s.properties.submission | defaults)
            | .submission.limits = ($s.definitions.submission_limits | defaults)
            | .visibility = ($s.properties.visibility | defaults)
            | .result = ($s.properties.result | defaults | del(.min))
            | .scoring += ($s.definitions.blend | defaults | del(.mode))' \
            "$work/bare/task.json" > "$work/told/task.json"
        for kind in bare told; do
            "$ASSAY" describe --json "$work/$kind" > "$work/$kind.json"
        done
        diff -u "$work/bare.json" "$work/told.json"
    done
}

@test "a policy is what check --policy takes for one" {
    good_base suite > "$work/task.json"
    local n=0
    while read -r want filter; do
        [ -n "$want" ] || continue
        printf -v file '%s/%03d.json' "$work" $((n += 1))
        jq "$filter" "$docs/examples/operator/operator.json" > "$file"
        status=0
        "$ASSAY" check --policy "$file" "$work" > "$work/checked" 2>&1 || status=$?
        is "check --policy with $filter" "$want" "$([ "$status" -eq 0 ] && echo valid || echo invalid)"
        [ "$want" = valid ] || grep -q policy.invalid "$work/checked"
        echo "$want $filter" >> "$work/wanted"
    done <<< '
        valid .limits.network = "outbound" | .limits.cpus = "2"
        valid .judges = {own: {command: ["/usr/bin/judge", "-v"]}}
        invalid .host = true
        invalid del(.schema)
        invalid .schema = "assay.task/1"
        invalid .limits.wall = "20"
        invalid .limits.walls = 1
        invalid .submission.links = "drop"
        invalid .submission.max_entries = 0
        invalid .judges = {own: {command: ["judge"]}}
        invalid .judges["a/b"] = {command: ["assay-judge"]}
        invalid .judges.default = "assay-judge"
        invalid .pull = "yes"
    '
    validate operator "$work"/[0-9]*.json
    sed 's/.*: valid$/valid/; t; s/.*/invalid/' "$work/said" | paste -d ' ' - <(cut -d ' ' -f 2- "$work/wanted") > "$work/got"
    is 'what the schema says' "$(cat "$work/wanted")" "$(cat "$work/got")"
}

good_base() { # NAME: a task without mistake
    local head='{"schema": "assay.task/1", "name": "n"'
    case $1 in
        llm) echo "$head"', "scoring": {"rubric": [{"name": "a", "weight": 100}]}}' ;;
        suite) echo "$head"', "scoring": {"mode": "container"}, "suite": {"command": ["sh", "-c", "exit 0"]}}' ;;
        hybrid)
            echo "$head"', "suite": {"command": ["sh"]}, "scoring": {"mode": "hybrid", "test_weight": 60, "llm_weight": 40,
                "rubric": [{"name": "a", "weight": 60, "source": "test"}, {"name": "b", "weight": 40}]}}'
            ;;
        cases)
            echo "$head"', "scoring": {"mode": "container"}, "cases": {"groups": [{"name": "g", "cases": [
                {"name": "c", "command": ["./p"], "stdin": "1", "stdout": "2"}]}]}}'
            ;;
        dimensions)
            echo "$head"', "suite": {"command": ["sh"]}, "scoring": {"scheme": "dimensions", "dimensions": [
                {"name": "accuracy", "weight": 0.7, "primitive": "exact_match", "field": "a", "ground_truth_field": "b"},
                {"name": "correctness", "weight": 0.3, "source": "suite"}]}}'
            ;;
        composite)
            echo "$head"', "tools": {"sum": {"command": ["sum"]}}, "scoring": {"scheme": "composite", "max_budget": 1, "max_latency": "10s",
                "quality": {"primitive": "exact_match", "field": "a", "ground_truth_field": "b"}}}'
            ;;
    esac
}

# BASE FILTER: a task that `assay check` accepts
good='
suite .title = "T" | .description = "line\nline" | .image = "debian:12" | .contract = "straw"
suite .result = {format: "tap", path: "/results/a/b.tap", exit: "strict", on_limit: "partial", planned: 3}
suite .result = {format: "codabench", key: "accuracy", min: 0.5, max: 1e1}
suite .contract = "codabench" | .result.key = "accuracy" | del(.suite)
suite .contract = "evaluator" | .result.format = "score.json"
suite .contract = "harbor" | .result = {format: "harbor", key: "reward"}
suite .image = "a@sha256:0" | del(.suite) | .submission.image = {from: "suite", layers: 3, hide: ["/a b/c"]}
suite .limits = {wall: "250ms", cpu: 1.5, cpus: 0.5, memory: "64MiB", disk: 1048576, pids: "10", total_memory: "2GiB"}
suite .limits = {cpus: "0.5", wall: "1.5h", network: "outbound", memory: "2.5GiB"}
suite .submission = {image: "debian:12", limits: {wall: 2, network: "none"}, env: {_A1: ""}, links: "drop"}
suite .submission = {required_files: [{path: "src/a.c", max_size: 7}], required_patterns: [{glob: "src/**", min_files: 2}]}
suite .submission = {required_files: [{path: "..a/.b"}], required_patterns: []}
suite .visibility = {tests: "after_due", due: "2026-12-01T00:00:00.5+01:00"}
suite .judge = {command: ["./judge"]} | .build = {command: ["make"], on_failure: "reject"}
suite .scoring.pass = "suite" | .scoring.rubric = [{name: "a", weight: 100, source: "test", tests: ["a/*"]}]
suite .suite.env = {A: "x=y"} | .suite.broker = true | .suite.sees_submission = false
llm .scoring.scheme = "blend" | .scoring.pass = 62.5 | .scoring.llm_missing = "zero" | .judge = "strict"
hybrid .scoring.pass = "suite" | .scoring.llm_weight = 40.0
cases .cases = .cases.groups[0].cases
cases .cases.groups[0].cases[0] |= (.compare = "tokens" | .timeout = "2s" | .points = 0.5 | .exit = 3)
cases .cases.groups[0].cases[0].compare = {numeric: {abs: "1e-6", rel: 0}}
cases .cases.groups[0].cases[0] |= (.compare = {regex: "^a"} | del(.stdout))
cases .cases.groups[0].cases[0] |= (.compare = {checker: ["/tests/check"], protocol: "kattis"} | del(.stdout))
cases .cases.groups[0].cases[0] |= (.interactor = ["/tests/talk"] | del(.stdout))
cases .cases.groups[0] |= (.each = {command: ["./p"], stdin: "tests/*.in", stdout: "{stem}.out"} | del(.cases))
cases .cases.groups[0].cases[0] |= (.stdin_file = "tests/a.in" | .stdout_file = "truth/b/a.out" | del(.stdin, .stdout))
dimensions .scoring.type = "test-suite" | .scoring.time_limit = "5m"
dimensions .scoring.dimensions[1] |= (del(.source) | .primitive = "time_decay" | .time_limit_secs = 30)
dimensions .scoring.dimensions[1] |= (.source = "tests" | .tests = ["edge/*"])
dimensions .scoring.dimensions[0] |= (.primitive = "numeric_tolerance" | .tolerance = 0.1 | .partial = true)
dimensions .scoring.dimensions[0] |= (.primitive = "set_overlap" | .method = "intersection")
dimensions .scoring.constraints.token_budget = 5e4 | .scoring.dimensions[1].source = "tokens"
dimensions .scoring.format = [{field: "a", type: "array", severity: "error", dimension: "accuracy", min_items: 1, max_items: 2}]
composite .tools.sum |= (.cost = 0.005 | .seconds = 1.5) | .scoring.pass = 0.5 | .scoring.min_steps = 3 | .scoring.max_attempts = 5
composite .scoring.quality = {source: "suite"} | .suite.command = ["sh"]
composite .scoring.max_budget = 0.05 | .scoring.max_latency = 2.5
'

# BASE FILTER: a task that it refuses
bad='
suite .nmae = 1
suite .suite.comand = ["x"]
suite .["$schema"] = "task.schema.json"
suite del(.schema)
suite .schema = "assay.task/2"
suite del(.name)
suite .name = "a/b"
suite .title = "a\nb"
suite .title = 5
suite .image = "debian 12"
suite .image = "--all"
suite .contract = "hay"
suite .tools = {}
suite .judge = 5
suite .judge = {command: []}
suite .build = {}
suite .build = {command: ["make"], on_failure: "shrug"}
suite .suite.command = []
suite .suite.command = [""]
suite .suite.env = {"1A": "x"}
suite .suite.env = {A: 1}
suite .suite.broker = "yes"
suite .result.format = "xunit"
suite .result.on_limit = "partial"
suite .result = {format: "codabench"}
suite .result = {format: "tap", key: "k"}
suite .result = {format: "exit-code", path: "/results/x"}
suite .result = {format: "ctrf", min: 1}
suite .result = {format: "ctrf", max: 1}
suite .result.format = "stdout-json"
suite .result.path = "/results/../x"
suite .result.planned = 0
suite .contract = "codabench"
suite .contract = "evaluator"
suite .limits = []
suite .limits.wal = 1
suite .limits.wall = "10"
suite .limits.wall = -1
suite .limits.wall = true
suite .limits.cpus = "2s"
suite .limits.memory = "1 GiB"
suite .limits.memory = "1TiB"
suite .limits.pids = 1.5
suite .limits.network = "inbound"
suite .submission.limits.network = "outbound"
suite .submission.limits.result = 1
suite .submission.limits.total_memory = 1
suite .submission.max_entries = 0
suite .submission.max_entries = 1.5
suite .submission.max_unpacked = -1
suite .submission.links = "keep"
suite .submission.required_files = [{path: "/a"}]
suite .submission.required_files = [{path: "a/../b"}]
suite .submission.required_files = [{max_size: 1}]
suite .submission.required_patterns = [{glob: "a\\\\b"}]
suite .submission.image = {layers: 1}
suite .submission.image = {from: "suite", layers: 1}
suite .submission.image = {from: "suite", hide: ["/a"]}
suite .image = "a" | .submission.image = {from: "suite", hide: ["a"]}
suite .visibility.tests = "never"
suite .visibility.tests = "after_due"
suite .visibility.due = "tomorrow"
suite .visibility.due = "2026-12-01T00:00:00"
suite del(.suite)
suite del(.scoring)
suite .scoring.mode = "both"
suite .scoring.scheme = "composite"
suite .scoring.test_weight = 50
suite .scoring.max_budget = 1
suite .scoring.constraints = {}
suite .scoring.rubric = [{name: "a", weight: 100, source: "llm"}]
llm del(.scoring.rubric)
llm .scoring.pass = "suite"
llm .scoring.pass = 101
llm .scoring.rubric = []
llm .scoring.rubric[0].weight = 0
llm .scoring.rubric[0].source = "test"
llm .scoring.rubric[0].tests = []
hybrid del(.scoring.test_weight)
hybrid del(.scoring.rubric)
hybrid .scoring.rubric = [{name: "a", weight: 100, source: "test"}]
hybrid .scoring.llm_missing = "wait"
cases .cases = {}
cases .cases = []
cases .cases = 5
cases .suite.command = ["sh"]
cases .scoring.pass = "suite"
cases .cases.groups[0].cases = []
cases del(.cases.groups[0].name)
cases .cases.groups[0].aggregate = "most"
cases .cases.groups[0].points = -1
cases del(.cases.groups[0].cases[0].command)
cases .cases.groups[0].cases[0].exit = 256
cases .cases.groups[0].cases[0].timeout = "soon"
cases .cases.groups[0].cases[0].stdin_file = "tests/a"
cases .cases.groups[0].cases[0].stdout_file = "tests/a"
cases .cases.groups[0].cases[0] |= (.stdin_file = "../a" | del(.stdin))
cases .cases.groups[0].cases[0] |= (.stdin_file = "tests/../a" | del(.stdin))
cases .cases.groups[0].cases[0].compare = "fuzzy"
cases .cases.groups[0].cases[0].compare = {}
cases .cases.groups[0].cases[0].compare = {numeric: {}, contains: "a"}
cases .cases.groups[0].cases[0].compare = {numeric: {abs: "x"}}
cases .cases.groups[0].cases[0].compare = {numeric: {}, protocol: "plain"}
cases .cases.groups[0].cases[0].compare = {regex: "x"}
cases .cases.groups[0].cases[0] |= (.compare = "tokens" | del(.stdout))
cases .cases.groups[0].cases[0] |= (.interactor = ["/tests/a"] | .compare = {checker: ["/tests/b"]})
cases .cases.groups[0].each = {command: ["./p"]}
cases .cases.groups[0].each = {command: ["./p"], stdin: "in/*"}
cases .cases.groups[0].each = {command: ["./p"], stdin: "tests/*", stdout: "out/{stem}"}
dimensions .scoring.mode = "hybrid"
dimensions .scoring.pass = 700
dimensions .scoring.time_limit = "soon"
dimensions .scoring.time_limit = 0
dimensions .scoring.dimensions = [.scoring.dimensions[0]]
dimensions .scoring.dimensions[0].name = "Accuracy"
dimensions .scoring.dimensions[0].weight = 1.7
dimensions .scoring.dimensions[0].primitive = "exact"
dimensions .scoring.dimensions[0].source = "suite"
dimensions del(.scoring.dimensions[0].field)
dimensions .scoring.dimensions[0].tolerance = 1
dimensions .scoring.dimensions[0].method = "jaccard"
dimensions .scoring.dimensions[0].key = "k"
dimensions .scoring.dimensions[0] |= (.primitive = "api_call_efficiency" | del(.ground_truth_field))
dimensions .scoring.dimensions[0] |= (.primitive = "time_decay" | .time_limit_secs = 5)
dimensions del(.scoring.dimensions[1].source)
dimensions .scoring.dimensions[1].field = "f"
dimensions .scoring.dimensions[1].source = "tests"
dimensions .scoring.dimensions[1].source = "judge"
dimensions .scoring.dimensions[1].source = "tokens"
dimensions .scoring.dimensions[1].tests = ["a"]
dimensions .scoring.dimensions[1].name = "token_efficiency"
dimensions .scoring.constraints.token_budget = 0
dimensions .scoring.format = [{field: "a", type: "array", severity: "error"}]
dimensions .scoring.format = [{field: "a", type: "string", severity: "warning", max_items: 1}]
dimensions .scoring.format = [{field: "a", type: "date", severity: "warning"}]
composite del(.scoring.max_budget)
composite del(.scoring.max_latency)
composite del(.scoring.quality)
composite del(.tools)
composite .tools = {}
composite del(.tools.sum.command)
composite .tools.sum.price = 1
composite .scoring.mode = "llm"
composite .scoring.tools = {}
composite .scoring.max_attempts = 0
composite .scoring.max_attempts = 101
composite .scoring.pass = 70
composite .scoring.quality = {}
composite .scoring.quality.source = "suite"
composite .scoring.quality.primitive = "sum"
composite .scoring.quality = {source: "judge"}
suite .tools = {sum: {command: ["sum"]}}
'

# Make tasks of a table, and say for each that `assay check` does not end with this status.
make_tasks() { # TABLE STATUS
    local n=0 base filter got
    mkdir -p "$work/task/tests"
    echo 'command: python3 $program/score.py' > "$work/task/tests/metadata.yaml"
    while read -r base filter; do
        [ -n "$base" ] || continue
        printf -v file '%s/%03d.json' "$work" $((n += 1))
        good_base "$base" | jq "$filter" > "$file"
        cp "$file" "$work/task/task.json"
        got=0
        "$ASSAY" check "$work/task" > "$work/checked" 2>&1 || got=$?
        if [ "$got" -ne "$2" ] || { [ "$2" -ne 0 ] && ! grep -q '^.*task.json:[0-9]' "$work/checked"; }; then
            echo "$base $filter: assay check exits with $got:" && cat "$work/checked"
        fi
    done <<< "$1" > "$work/astray"
    is 'not what the table says' '' "$(cat "$work/astray")"
    mapfile -t filters < <(grep . <<< "$1")
    is 'tasks' "${#filters[@]}" "$n"
}

@test "what check accepts, the schema accepts" {
    make_tasks "$good" 0
    validate task "$work"/[0-9]*.json
    is 'refused' '' "$(grep -v ': valid$' "$work/said" | while IFS=: read -r file why; do
        echo "${filters[10#$(basename "$file" .json) - 1]}:$why"
    done)"
}

@test "what check refuses, and a schema can say, the schema refuses" {
    make_tasks "$bad" 2
    validate task "$work"/[0-9]*.json
    is 'accepted' '' "$(grep ': valid$' "$work/said" | while IFS=: read -r file _; do
        echo "${filters[10#$(basename "$file" .json) - 1]}"
    done)"
}
