// Imitates a busy machine: NODE_OPTIONS="--import=$PWD/test/support/stall.mjs" npx vitest run
// Each process stops for a while, again and again, before its timers or after its sockets, without using the processor.

const cell = new Int32Array(new SharedArrayBuffer(4));
const { setImmediate, setTimeout } = globalThis;

/** Most pauses are short, some last about a time slice, and a few are very long. */
function stall() {
  const luck = Math.random();
  const most = luck < 0.7 ? 15 : luck < 0.95 ? 80 : 650;
  Atomics.wait(cell, 0, 0, Math.random() * most);
}

function stallAgain() {
  if (Math.random() < 0.5) stall();
  else setImmediate(stall);
  setTimeout(stallAgain, 5 + Math.random() * 60).unref();
}

setTimeout(stallAgain, 300).unref();
