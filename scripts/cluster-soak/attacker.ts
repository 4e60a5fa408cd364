// A client that sends what no honest one does, all the time: others must not notice.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { EventClient } from "../cluster/event-client.ts";

/** Milliseconds between two attacks, and for one. */
const [pauseMs, attackMs] = [50, 1000];

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export class Attacker {
  /** How many requests were answered, by status. */
  readonly statuses = new Map<number, number>();
  readonly #url: string;
  readonly #victims: () => readonly string[];
  #session = "";
  #isOver = false;

  /** `victims` are the ids of sessions of others, which an attacker cannot know. */
  constructor(url: string, victims: () => readonly string[]) {
    this.#url = url;
    this.#victims = victims;
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      try {
        if (this.#session === "") this.#session = (await EventClient.open(this.#url)).session;
        const status = await this.#attack();
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
        if (status === 404) this.#session = "";
      } catch {
        // The node that it attacked was killed, or the stream stays open.
      }
      await sleep(pauseMs);
    }
  }

  finish(): void {
    this.#isOver = true;
  }

  async #attack(): Promise<number> {
    const signal = AbortSignal.timeout(attackMs);
    const own = { "mcp-session-id": this.#session, "mcp-protocol-version": "2025-11-25" };
    const guessed = { ...own, "mcp-session-id": randomBytes(16).toString("base64url") };
    const number = Math.floor(Math.random() * 1e15);
    const [victim = ""] = this.#victims();
    const get = (headers: Record<string, string>): RequestInit => ({
      headers: { accept: "text/event-stream", ...headers },
      signal,
    });
    const post = (headers: Record<string, string>, body: unknown): RequestInit => ({
      method: "POST",
      headers: { ...json, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
      signal,
    });
    const cancelled = { requestId: victim.slice(0, 8), reason: "x".repeat(20_000) };
    const attacks: readonly RequestInit[] = [
      get({ ...own, "last-event-id": `g${number}.${number}-abc.${number}-abc` }),
      get({ ...own, "last-event-id": `p${number}.${number}-abc` }),
      get({ ...own, "last-event-id": "x".repeat(2000) }),
      get(own),
      get(guessed),
      post(guessed, { jsonrpc: "2.0", id: 1, method: "ping" }),
      post(own, "{".repeat(20_000)),
      post(own, { jsonrpc: "2.0", method: "notifications/cancelled", params: cancelled }),
      post(own, { jsonrpc: "2.0", id: "y".repeat(20_000), result: {} }),
      post(own, { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "who", arguments: {} } }),
    ];
    const attack = attacks[Math.floor(Math.random() * attacks.length)] as RequestInit;
    const response = await fetch(this.#url, attack);
    const isStream = response.headers.get("content-type") === "text/event-stream";
    if (!isStream) await response.arrayBuffer();
    return response.status;
  }
}
