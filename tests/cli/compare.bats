#!/usr/bin/env bats
# Comparing outputs, by the confined program itself: frames in, frames out. What matches what,
# tests/unit/test_score_compare.c says.

load common

setup() {
    setup_work
}

# compared (COMPARISON ABS REL PATTERN EXPECTED ACTUAL)…: a line for each case, and the end
compared() {
    "$ASSAY_BUILD/tests/compare-driver" ask "$@" > "$work/request"
    answered
}

# Its answer goes to a pipe: it may write to no file.
answered() {
    "$ASSAY_BUILD/assay-score" compare < "$work/request" | "$ASSAY_BUILD/tests/compare-driver" show
}

@test "each comparison, in one request" {
    run -0 compared exact '' '' '' $'1\n42\n' $'1\n41\n' tokens '' '' '' '1 2' $' 1\n2\n' numeric 0.01 '' '' 1.5 1.505 \
        numeric '' 1e-6 '' 1e100 nan regex '' '' '^[0-9]+$' '' 123 contains '' '' 'a b' '' 'a  b' exact '' '' '' '' ''
    is answer 'differs: line 2, column 2: expected "42", got "41"
matches
matches
differs: token 1 (line 1, column 1): expected "1e100", got "nan"
matches
differs: "a b" does not occur in the output "a  b"
matches
end' "$output"
}

@test "outputs of many megabytes, in pieces" {
    head -c 5000000 /dev/zero | tr '\0' a > "$work/a"
    { cat "$work/a" && printf b; } > "$work/b"
    # A matcher that began anew at each byte would need days for the third.
    run -0 compared exact '' '' '' "@$work/a" "@$work/a" tokens '' '' '' "@$work/a" "@$work/b" regex '' '' 'a.*c' '' "@$work/a" \
        contains '' '' ab '' "@$work/b"
    is first matches "${lines[0]}"
    [[ ${lines[1]} == 'differs: token 1 (line 1, column 1): expected "…aaaaaaaaaaaaaaaaaaaa", got "…aaaaaaaaaaaaaaaaaaaab"' ]] || return 1
    [[ ${lines[2]} == 'differs: the regular expression "a.*c" does not match the output "aaa'* ]] || return 1
    is 'the rest' 'matches end' "${lines[*]:3}"
}

@test "an expression that would cost too much, or is none, is the task's fault" {
    run -0 compared tokens '' '' '' '' '' regex '' '' '(a{1,255}){1,255}' '' aaa
    is first matches "${lines[0]}"
    [[ ${lines[1]} == 'error task.invalid: case 2: the regular expression "(a{1,255}){1,255}", byte 11: '* ]] || return 1
    run -0 compared regex '' '' 'a(' '' a
    is answer 'error task.invalid: case 1: the regular expression "a(", byte 2: this ( has no )' "$output"
    deep=$(printf '(%.0s' {1..500})$(printf ')%.0s' {1..500})
    run -0 compared regex '' '' "$deep" '' '' regex '' '' "$(printf 'a|%.0s' {1..500})" '' b
    is answer 'matches matches end' "${lines[*]}"
}

@test "what is no request is refused" {
    for request in '' x "$(printf '%064d' 0)"; do
        printf %s "$request" > "$work/request"
        run -0 answered
        [[ $output == 'error internal.frame: '* ]] || return 1
    done
    run -0 compared none '' '' '' '' ''
    is answer 'error internal.frame: case 1: a request to compare is not as agreed' "$output"
}
