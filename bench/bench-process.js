// The parent's side of a benchmark process: starts it, gives it commands, reads its CPU time, ends it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { cpuMicros, spawnSetup } from "./child-cpu.js";

const SETTLE_MS = 20;
const LONGEST_ANSWER_MS = 120_000;

export class BenchProcess {
  #child;
  #file;
  #sequence = 0;
  #pending = new Map();
  #ready;
  /** What the child said of itself when it was ready. */
  hello;

  /** Starts `file` of this folder with `settings` as its only argument and waits until it is ready. */
  static async start(file, settings = {}) {
    const started = new BenchProcess(file, settings);
    await started.#ready.promise;
    return started;
  }

  constructor(file, settings) {
    const args = [...spawnSetup().nodeArgs, "--expose-gc", fileURLToPath(new URL(file, import.meta.url))];
    const env = { ...process.env, NODE_NO_WARNINGS: "1" };
    const stdio = ["ignore", "inherit", "inherit", "ipc"];
    this.#file = file;
    this.#child = spawn(process.execPath, [...args, JSON.stringify(settings)], { stdio, env });
    this.#ready = this.#waiter(`${file} does not start`);
    this.#child.on("message", (message) => this.#receive(message));
    this.#child.on("exit", (code) => this.#fail(new Error(`${file} ended with ${code}`)));
  }

  /** Sends a command and waits for its answer. */
  ask(command, input) {
    const sequence = ++this.#sequence;
    const waiter = this.#waiter(`${this.#file} does not answer ${command}`);
    this.#pending.set(sequence, waiter);
    this.#child.send({ sequence, command, input });
    return waiter.promise;
  }

  /** CPU microseconds the process has used, read once it has come to rest. */
  async cpu() {
    await sleep(SETTLE_MS);
    return cpuMicros(this.#child);
  }

  async close() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
  }

  #waiter(problem) {
    const { promise, resolve, reject } = withResolvers();
    const timer = setTimeout(() => reject(new Error(problem)), LONGEST_ANSWER_MS);
    promise.then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
    return { promise, resolve, reject };
  }

  #receive({ hello, sequence, output, error }) {
    if (hello !== undefined) {
      this.hello = hello;
      this.#ready.resolve();
      return;
    }
    const waiter = this.#pending.get(sequence);
    this.#pending.delete(sequence);
    if (error === undefined) waiter?.resolve(output);
    else waiter?.reject(new Error(`${this.#file}: ${error}`));
  }

  #fail(error) {
    this.#ready.reject(error);
    for (const { reject } of this.#pending.values()) reject(error);
  }
}

function withResolvers() {
  let resolve;
  let reject;
  const promise = new Promise((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
