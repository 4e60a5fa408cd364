// A busy machine for whoever asks for it: NODE_OPTIONS="--import=$PWD/test/support/stall.mjs" npx vitest run
// Each process stops for a while, again and again, now before its timers and now after its sockets, and costs nobody anything.

const cell = new Int32Array(new SharedArrayBuffer(4));
const { setImmediate, setTimeout } = globalThis;

/** Mostly nothing to speak of, often as long as others take their turn, and now and then longer than anybody would think. */
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
