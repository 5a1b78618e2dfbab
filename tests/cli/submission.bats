#!/usr/bin/env bats
# assay submission: the intake's verdict without a run, and a SUBMISSION.md to fill in.

load common

setup() {
    setup_work
    cp -R "$examples/palindrome" "$work/task"
}

# intake [OPTIONS…]: check the submission; what it says is in $work/result.json
intake() {
    status=0
    "$ASSAY" submission check "$@" "$work/task" "$work/submission.tar.gz" > "$work/result.json" \
        2> "$work/errors" || status=$?
}

@test "a submission that is accepted: what was seen of it, and nothing ran" {
    submission palindrome
    "$ASSAY" submission template "$work/task" > "$work/submission/SUBMISSION.md"
    sed -i 's/^<!-- One paragraph.*/It finds palindromes./' "$work/submission/SUBMISSION.md"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    intake --json
    is exit 0 "$status"
    is schema assay.intake/1 "$(field .schema)"
    is accepted true "$(field .accepted)"
    is entries 2 "$(field .submission.entries)"
    is sha256 "$(sha256sum < "$work/submission.tar.gz" | cut -d' ' -f1)" "$(field .submission.sha256)"
    is 'all headings' 6 "$(field '.submission.sections | length')"
    is 'one warning' 'SUBMISSION.md: How To Run, Architecture, What Works, Known Limitations, Tradeoffs: missing or empty; the judge sees it not addressed' \
        "$(field '.submission_warnings[] | .field + ": " + .message')"
    is 'what the judge sees' 5 "$(field .submission_md | grep -c '^(not addressed by agent)$')"
    field .submission_md | grep -qx 'It finds palindromes.'
    is 'no rubric' 0 "$(field .submission_md | grep -c 'Rubric' || true)"
    nothing_left
}

@test "without SUBMISSION.md: a warning, and a placeholder that mirrors the rubric" {
    submission palindrome
    intake --json
    is exit 0 "$status"
    is warning SUBMISSION.md "$(field '.submission_warnings[0].field')"
    diff - <(field .submission_md | grep 'not addressed' | sort | uniq -c) << 'END'
      6 (not addressed by agent)
      1 - Code quality: (not addressed by agent)
      1 - Correctness: (not addressed by agent)
END
}

@test "a submission that is rejected: its code, the reason, what to do, and the warnings all the same" {
    submission other
    intake --json
    is exit 3 "$status"
    is accepted false "$(field .accepted)"
    is code archive.required_file_missing "$(field .code)"
    is class submission "$(field .class)"
    is warning SUBMISSION.md "$(field '.submission_warnings[0].field')"
    grep -q '^assay: archive.required_file_missing: palindrome: not in the submission' "$work/errors"
    intake
    is exit 3 "$status"
    grep -q '^  warning: SUBMISSION.md: missing' "$work/result.json"
    grep -q '^rejected (archive.required_file_missing)' "$work/result.json"
}

@test "directories are checked too; what is misused is said" {
    submission palindrome
    "$ASSAY" submission check --quiet "$work/task" "$work/submission"
    run ! "$ASSAY" submission check "$work/task"
    run ! "$ASSAY" submission frobnicate
    run -2 "$ASSAY" submission check "$work/task" "$work/nowhere"
}

@test "a SUBMISSION.md that is not UTF-8 is taken as far as it is" {
    submission palindrome
    printf '# What I Built\ncaf\351\n' > "$work/submission/SUBMISSION.md"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    intake --json
    is exit 0 "$status"
    field .submission_md | grep -qx "$(printf 'caf\357\277\275')"
}

@test "the template's own hints address nothing" {
    submission palindrome
    "$ASSAY" submission template "$work/task" > "$work/submission/SUBMISSION.md"
    tar -C "$work/submission" -czf "$work/submission.tar.gz" .
    intake
    is exit 0 "$status"
    is 'empty sections' 6 "$(grep -c ': empty$' "$work/result.json")"
}
