const text = require("node:fs").readFileSync(0, "utf8");
const counts = {};

for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) counts[word] = (counts[word] ?? 0) + 1;
console.log(JSON.stringify(counts));
