// A server that answers as a test says, on wires in memory: for what a server of Halyard never sends.
import type { Wire, WireSource } from "halyard/client";
import { newestModern } from "./revisions.ts";

type Params = { readonly [name: string]: unknown };

/** Answers one method. What it throws, `{ code, message }`, is the error. */
export type Answer = (params: Params, message: { readonly id: string | number }) => unknown;

export interface Received {
  readonly method: string;
  readonly params: Params;
}

const methodNotFound = { code: -32601, message: "Method not found" };

export class ScriptedServer implements WireSource {
  /** The requests that have arrived, without those of the handshake. */
  readonly received: Received[] = [];
  readonly reopens: boolean = true;
  readonly #answers: { [method: string]: Answer };
  readonly #wires = new Set<Wire>();

  constructor(
    answers: { readonly [method: string]: Answer },
    options: { readonly revision?: string; readonly capabilities?: object } = {},
  ) {
    const { revision = newestModern, capabilities = { tools: {}, prompts: {}, resources: {} } } = options;
    const isModern = revision === newestModern;
    const serverInfo = { name: "scripted", version: "1.0.0" };
    const handshake: { [method: string]: Answer } = isModern
      ? {
          "server/discover": () => ({
            supportedVersions: [revision],
            capabilities,
            ttlMs: 0,
            cacheScope: "private",
          }),
        }
      : { initialize: () => ({ protocolVersion: revision, capabilities, serverInfo }) };
    this.#answers = { ...handshake, ...answers };
  }

  /** The requests of this method so far. */
  of(method: string): Params[] {
    return this.received.filter((request) => request.method === method).map(({ params }) => params);
  }

  /** Replaces an answer. */
  answer(method: string, answer: Answer): void {
    this.#answers[method] = answer;
  }

  notify(method: string, params?: Params): void {
    for (const wire of this.#wires) wire.onMessage(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Cuts every wire. */
  cut(): void {
    for (const wire of this.#wires) {
      this.#wires.delete(wire);
      wire.onClose(new Error("The wire was cut"));
    }
  }

  openWire(): Wire {
    const wire: Wire = {
      send: (text) => void this.#receive(wire, text),
      onMessage: () => {},
      onClose: () => {},
      close: async () => void this.#wires.delete(wire),
    };
    this.#wires.add(wire);
    return wire;
  }

  async #receive(wire: Wire, text: string): Promise<void> {
    const message = JSON.parse(text) as { id?: string | number; method?: string; params?: Params };
    const { id, method, params = {} } = message;
    if (id === undefined || method === undefined) return;
    if (!["initialize", "server/discover"].includes(method)) this.received.push({ method, params });
    const reply = await this.#reply(method, params, { id });
    if (this.#wires.has(wire)) wire.onMessage(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
  }

  async #reply(method: string, params: Params, message: { id: string | number }): Promise<object> {
    try {
      const answer = this.#answers[method];
      if (answer === undefined) throw methodNotFound;
      return { result: await answer(params, message) };
    } catch (error) {
      return { error };
    }
  }
}
