// Drives one stdio server: keeps a fixed number of requests in flight and checks every answer.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { initialize, initialized, legacyCall, modernCall } from "./baselines/messages.js";
import { cpuMicros, spawnSetup } from "./child-cpu.js";

const IN_FLIGHT = 1000;
const SETTLE_MS = 20;
const textOf = (id) => `hello halyard ${id}`;

function start(file) {
  const { nodeArgs, channels } = spawnSetup();
  const stdio = ["pipe", "pipe", "inherit", ...channels];
  const env = { ...process.env, NODE_NO_WARNINGS: "1" };
  return spawn(process.execPath, [...nodeArgs, file], { stdio, env });
}

export class StdioClient {
  #child;
  #makeCall;
  #rest = "";
  #nextId = 1;
  #endId = 1;
  #pending = new Set();
  #waiter;
  mismatches = 0;

  constructor(file, era) {
    this.#makeCall = era === "legacy" ? legacyCall : modernCall;
    this.#child = start(file);
    this.#child.stdout.setEncoding("utf8").on("data", (chunk) => this.#receive(chunk));
    this.#child.on("exit", (code) => this.#waiter?.reject(new Error(`server exit ${code}`)));
  }

  /** The 2025-11-25 handshake. */
  async handshake() {
    this.#pending.add(0);
    this.#child.stdin.write(`${initialize(0)}\n`);
    await this.#allAnswered();
    this.#child.stdin.write(`${initialized()}\n`);
  }

  /** Sends `total` calls, never more than IN_FLIGHT unanswered, and waits for all the answers. */
  async call(total) {
    this.#endId = this.#nextId + total;
    this.#fill();
    await this.#allAnswered();
  }

  /** CPU microseconds the server has used, read once it has come to rest. */
  async cpu() {
    await sleep(SETTLE_MS);
    return cpuMicros(this.#child);
  }

  async close() {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
  }

  #allAnswered() {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  #fill() {
    let lines = "";
    while (this.#pending.size < IN_FLIGHT && this.#nextId < this.#endId) {
      const id = this.#nextId++;
      this.#pending.add(id);
      lines += `${this.#makeCall(id, textOf(id))}\n`;
    }
    if (lines !== "") this.#child.stdin.write(lines);
  }

  #receive(chunk) {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) this.#check(JSON.parse(line));
    this.#fill();
    if (this.#pending.size === 0) this.#waiter.resolve();
  }

  #check({ id, result }) {
    const known = this.#pending.delete(id);
    const right = id === 0 ? result?.serverInfo : result?.content?.[0]?.text === textOf(id);
    if (!known || !right) this.mismatches++;
  }
}
