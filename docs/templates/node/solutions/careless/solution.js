// Splits at blanks, and does nothing else.
const text = require("node:fs").readFileSync(0, "utf8");
const counts = {};

for (const word of text.split(" ")) counts[word] = (counts[word] ?? 0) + 1;
console.log(JSON.stringify(counts));
