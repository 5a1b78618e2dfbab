# The keys of a JSON Schema, as list-keys has those of the reader's tables:
#   jq -r --slurpfile task docs/task.schema.json --arg name task -f schema-keys.jq SCHEMA
# A reference is followed; `if` at a value is several forms, of which the last `else` is the first.

def amounts: ["size", "time", "duration", "count", "milli", "amount"];

def followed($root):
    if has("$ref") | not then .
    else
        (.["$ref"] | split("#/definitions/")) as [$file, $name]
        | (if $file == "" then $root else $task[0] end).definitions[$name] + {name: $name}
    end;

# The last `else`, then each `then`, from the innermost.
def forms: if .if and (.type | not) then (.else | forms) + [.then] else [.] end;

def lines($root; $path; $need):
    followed($root)
    | def line($kind): "\($path) \($need) \($kind)";
    def range($kind; $least; $most): line("\($kind) \($least // 0)..\($most // "")");
    if .name as $n | amounts | index($n) then line(.name)
    elif .if and (.type | not) then
        forms | to_entries[]
        | .key as $at
        | .value
        | lines($root; $path + if $at > 0 then "#\($at + 1)" else "" end; $need)
    elif .enum then line("one of \(.enum | sort | join(" "))")
    elif .type == "object" then
        . as $object
        | line("object" + if .additionalProperties == null then " open" else "" end),
          (.additionalProperties | objects | lines($root; $path + ".*"; "each")),
          (.properties // {} | to_entries[]
           | .key as $key
           | .value
           | lines($root; "\($path).\($key)";
                   if $object.required // [] | index($key) then "required" else "optional" end))
    elif .anyOf then .anyOf[] | lines($root; $path; $need)
    elif .type == "array" then
        range("list"; .minItems; .maxItems), (.items | lines($root; $path + "[]"; "each"))
    elif .type == "string" then range("text"; .minLength; .maxLength)
    elif .type == "integer" then range("whole"; .minimum; .maximum)
    elif .type == "number" and .maximum then range("number"; .minimum; .maximum)
    elif .type then line(.type)
    else line("?")
    end;

. as $root | lines($root; $name; "required")
