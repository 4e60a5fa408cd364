// The process that visits the server of the soak: so many requests a second, by the shares of the mix.
import { setTimeout as sleep } from "node:timers/promises";
import { answerParent } from "./child-commands.js";
import { WireConnection } from "./http-wire.js";
import { MIX } from "./soak-mix.js";

const TICK_MS = 10;
const MOST_AT_ONCE = 2000; // visits; past it the machine does not carry the rate, and visits are left out
const CONNECTIONS = 64; // of each era, kept open

const tally = {
  requests: 0,
  left: 0,
  rows: MIX.map(() => ({ visits: 0, failures: 0, firstFailure: undefined })),
};
/** With `only`, the names of the rows to send, parted by semicolons. */
const { only = MIX.map(({ name }) => name).join(";") } = JSON.parse(process.argv[2]);
const names = new Set(only.split(";"));
const shares = MIX.flatMap(({ name, share }, row) =>
  Array.from({ length: names.has(name) ? share : 0 }, () => row),
);
const state = { running: 0, isStopped: true };
let visit;

/** Connections that are used in turn, so that none is idle for long. */
class Pool {
  #port;
  #free = [];
  #waiting = [];

  constructor(port) {
    this.#port = port;
  }

  async fill() {
    for (let count = 0; count < CONNECTIONS; count++) this.#free.push(await WireConnection.open(this.#port));
  }

  async use(run) {
    const connection = this.#free.shift() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
    let isWhole = false;
    try {
      await run(connection);
      isWhole = true;
    } finally {
      if (!isWhole) connection.close();
      this.#giveBack(isWhole ? connection : await WireConnection.open(this.#port));
    }
  }

  #giveBack(connection) {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#free.push(connection);
    else waiting(connection);
  }

  close() {
    for (const connection of this.#free) connection.close();
    this.#free = [];
  }
}

async function visitOnce(row) {
  const figures = tally.rows[row];
  figures.visits++;
  state.running++;
  try {
    await MIX[row].run(visit);
  } catch (error) {
    figures.failures++;
    figures.firstFailure ??= String(error.stack);
  }
  state.running--;
}

/** Visits so often that `rate` requests a second go out; how many requests a visit makes is learnt as it goes. */
async function drive(rate) {
  let visits = 0;
  let last = performance.now();
  let due = 0;
  while (!state.isStopped) {
    await sleep(TICK_MS);
    const now = performance.now();
    const perVisit = visits < 1000 ? 1 : tally.requests / visits;
    due += (((now - last) / 1000) * rate) / perVisit;
    last = now;
    for (; due >= 1; due--) {
      if (state.running >= MOST_AT_ONCE) tally.left++;
      else {
        visits++;
        void visitOnce(shares[Math.floor(Math.random() * shares.length)]);
      }
    }
  }
}

async function start({ port, rate }) {
  const sent = (count = 1) => (tally.requests += count);
  visit = { port, sent, modern: new Pool(port), legacy: new Pool(port) };
  await Promise.all([visit.modern.fill(), visit.legacy.fill()]);
  state.isStopped = false;
  void drive(rate);
}

/** Lets what runs come to its end, and closes every connection. */
async function stop() {
  state.isStopped = true;
  while (state.running > 0) await sleep(50);
  visit.modern.close();
  visit.legacy.close();
}

answerParent({ start, stop, read: () => tally });
