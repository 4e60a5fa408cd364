// A server that a test programs: it answers each method as told, over wires in memory that the test can break.
import type { Wire, WireSource } from "halyard/client";
import { metaKeys, newestModern } from "./revisions.ts";

/** A message that the client sent. */
export interface Sent {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The server's end of one wire. */
export interface ServerEnd {
  /** Sends a message, or any text. */
  send(message: object | string): void;
  notify(method: string, params?: object): void;
  /** Breaks the wire. */
  cut(reason?: Error): void;
}

/** Answers a request: with a result, an error, or not at all (undefined). */
export type Script = (request: Sent, server: ServerEnd) => unknown;

/** An answer that is an error. */
export class Refuse extends Error {
  readonly error: object;

  constructor(code: number, message = "Refused", data?: unknown) {
    super(message);
    this.error = { code, message, data };
  }
}

export interface ScriptedOptions {
  readonly revision?: string;
  readonly capabilities?: object;
  readonly reopens?: boolean;
  /** How methods are answered, as by `on`. */
  readonly answers?: Readonly<Record<string, Script>>;
}

export class ScriptedServer implements WireSource {
  /** What clients have sent, on all wires. */
  readonly received: Sent[] = [];
  /** The wires that were opened, the last one last. */
  readonly ends: ServerEnd[] = [];
  readonly reopens: boolean;
  #open = 0;
  readonly #scripts = new Map<string, Script>();

  constructor({
    revision = newestModern,
    capabilities = {},
    reopens = true,
    answers = {},
  }: ScriptedOptions = {}) {
    this.reopens = reopens;
    if (revision === newestModern) {
      this.on("server/discover", () => ({
        resultType: "complete",
        supportedVersions: [revision],
        capabilities,
        _meta: { [metaKeys.serverInfo]: { name: "scripted", version: "1.0.0" } },
        ttlMs: 0,
        cacheScope: "private",
      }));
    } else {
      const serverInfo = { name: "scripted", version: "1.0.0" };
      this.on("initialize", () => ({ protocolVersion: revision, capabilities, serverInfo }));
      this.on("ping", () => ({}));
    }
    for (const [method, script] of Object.entries(answers)) this.on(method, script);
  }

  /** Sets how a method is answered. */
  on(method: string, script: Script): this {
    this.#scripts.set(method, script);
    return this;
  }

  /** The messages of that method, so far. */
  of(method: string): Sent[] {
    return this.received.filter((message) => message.method === method);
  }

  /** The parameter `name` of the requests of that method, so far. */
  given(method: string, name: string): unknown[] {
    return this.of(method).map(({ params }) => params?.[name]);
  }

  /** The end of the newest wire. */
  get end(): ServerEnd {
    const end = this.ends.at(-1);
    if (end === undefined) throw new Error("No wire is open");
    return end;
  }

  /** Whether a wire is open. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  openWire(): Wire {
    let isOpen = true;
    this.#open++;
    const wire: Wire = {
      send: (text) => {
        if (!isOpen) throw new Error("The wire is closed");
        for (const message of [JSON.parse(text) as Sent | Sent[]].flat()) this.#receive(message, end);
      },
      onMessage: () => {},
      onClose: () => {},
      close: async () => end.cut(new Error("The client closed the wire")),
    };
    const end: ServerEnd = {
      send: (message) => {
        const text = typeof message === "string" ? message : JSON.stringify(message);
        queueMicrotask(() => isOpen && wire.onMessage(text));
      },
      notify: (method, params) => end.send({ jsonrpc: "2.0", method, params }),
      cut: (reason = new Error("The test has cut the wire")) => {
        if (!isOpen) return;
        isOpen = false;
        this.#open--;
        wire.onClose(reason);
      },
    };
    this.ends.push(end);
    return wire;
  }

  #receive(message: Sent, end: ServerEnd): void {
    this.received.push(message);
    const { id, method = "" } = message;
    if (id === undefined || message.method === undefined) return;
    const script =
      this.#scripts.get(method) ?? (() => Promise.reject(new Refuse(-32601, "Method not found")));
    void (async () => {
      try {
        const result = await script(message, end);
        if (result !== undefined) end.send({ jsonrpc: "2.0", id, result });
      } catch (error) {
        if (!(error instanceof Refuse)) throw error;
        end.send({ jsonrpc: "2.0", id, error: error.error });
      }
    })();
  }
}

/** The result of a tool that says this. */
export function said(text: string): object {
  return { resultType: "complete", content: [{ type: "text", text }] };
}

/** The `_meta` of a message. */
export function metaOf({ params }: Sent): Readonly<Record<string, unknown>> {
  return (params?.["_meta"] ?? {}) as Readonly<Record<string, unknown>>;
}
