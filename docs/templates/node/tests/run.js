#!/usr/bin/env node
// Each test is a text, and the words that are in it.
const { spawnSync } = require("node:child_process");
const { writeFileSync } = require("node:fs");
const { isDeepStrictEqual } = require("node:util");

const tests = {
    "one word": ["tree", { tree: 1 }],
    "several": ["a tree and a house", { a: 2, tree: 1, and: 1, house: 1 }],
    "letter case": ["Tree tree TREE", { tree: 3 }],
    "punctuation": ["tree, tree; (house)!", { tree: 2, house: 1 }],
    "no word": ["", {}],
};

function answer(text) {
    const run = spawnSync(process.env.ASSAY_EXEC, ["--timeout", "5s", "--", "node", "solution.js"], { input: text });
    if (run.status !== 0) throw new Error(`exit status ${run.status}`);
    return JSON.parse(run.stdout);
}

const results = Object.entries(tests).map(([name, [text, expected]]) => {
    try {
        const passed = isDeepStrictEqual(answer(text), expected);
        return passed ? { name, passed } : { name, passed, error: "wrong words" };
    } catch (error) {
        return { name, passed: false, error: String(error.message).slice(0, 300) };
    }
});
const score = 100 * results.filter((r) => r.passed).length / results.length;
writeFileSync("/results/score.json", JSON.stringify({ score, pass: score >= 70, tests: results }));
