// A worker thread, a subprocess, and a tree that is made, moved and removed.
const { Worker } = require('worker_threads');
const { spawnSync } = require('child_process');
const fs = require('fs');

const worker = new Worker('require("worker_threads").parentPort.postMessage(42)', { eval: true });
worker.on('message', (answer) => {
  const child = spawnSync('sh', ['-c', 'exit 3']).status;
  fs.mkdirSync('/tmp/node_modules/a/b', { recursive: true });
  fs.writeFileSync('/tmp/node_modules/a/b/index.js', '');
  fs.renameSync('/tmp/node_modules/a', '/tmp/node_modules/.a');
  fs.rmSync('/tmp/node_modules', { recursive: true });
  console.log(`worker ${answer}, child ${child}, tree ${fs.existsSync('/tmp/node_modules')}`);
});
