// Messages between nodes, by kind: to one node, to all, requests that another node answers, and questions with yes or no.
import type { Logger } from "../../base/logging/logger.ts";
import { OutageLog, RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Engine } from "../engine/engine.ts";
import { HalyardError } from "../../base/errors.ts";
import type { ClusterNode } from "./presence.ts";

/**
 * Handles the messages of one kind. Its result is sent back to a node that waits for it; undefined means that this node has no
 * answer. Bodies come from other nodes, perhaps of another version: check every member.
 */
export type BusHandler = (
  body: JsonObject,
  from: string,
) => JsonObject | undefined | void | Promise<JsonObject | undefined | void>;

/** Set in every message. A node ignores messages of a later format, and kinds that it does not know. */
const format = 1;

/** Characters of a message: an engine may end the connection of a node that does not read more than that at once. */
const maxLength = 24 * 1024 * 1024;

interface Waiting {
  readonly answer: (body: JsonObject, from: string) => void;
}

/** {@link NodeMessages} through an engine. */
export class Bus {
  readonly #node: string;
  readonly #logger: Logger;
  readonly #outages: OutageLog;
  readonly #handlers: ReadonlyMap<string, ReadonlySet<BusHandler>>;
  readonly #waiting = new Map<string, Waiting>();
  #engine: Engine | undefined;
  #lastId = 0;

  constructor(node: string, handlers: ReadonlyMap<string, ReadonlySet<BusHandler>>, logger: Logger) {
    this.#node = node;
    this.#handlers = handlers;
    this.#logger = logger;
    this.#outages = new OutageLog(logger);
  }

  connect(engine: Engine): void {
    this.#engine = engine;
  }

  tell(kind: string, body: JsonObject, to: string | "all" = "all"): Promise<void> {
    return this.#put(to, { kind, body });
  }

  async request(to: string, kind: string, body: JsonObject, timeMs: number): Promise<JsonObject | undefined> {
    let answered: JsonObject | undefined;
    await this.#ask(to, kind, body, timeMs, (answer) => {
      answered = answer;
      return true;
    });
    return answered;
  }

  requestAll(
    kind: string,
    body: JsonObject,
    timeMs: number,
    isEnough: (answer: JsonObject, from: string) => boolean,
  ): Promise<void> {
    return this.#ask("all", kind, body, timeMs, isEnough);
  }

  receive(text: string): void {
    const message = readJson(text);
    if (!isObject(message) || message["v"] !== format) return;
    const { from, kind, body, id, to } = message;
    if (typeof from !== "string" || !isObject(body)) return;
    if (typeof to === "string") return this.#waiting.get(to)?.answer(body, from);
    const handlers = typeof kind === "string" ? this.#handlers.get(kind) : undefined;
    for (const handler of handlers ?? []) void this.#handle(handler, body, from, id);
  }

  async #handle(handler: BusHandler, body: JsonObject, from: string, id: unknown): Promise<void> {
    try {
      const answer = await handler(body, from);
      if (answer && typeof id === "string") await this.#put(from, { to: id, body: answer });
    } catch (error) {
      RateLimitedLog.of(this.#logger).error("A message of another node could not be handled", { error });
    }
  }

  async #ask(
    to: string,
    kind: string,
    body: JsonObject,
    timeMs: number,
    isEnough: (answer: JsonObject, from: string) => boolean,
  ): Promise<void> {
    const id = String(++this.#lastId);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, timeMs);
      const end = (finish: () => void): void => {
        clearTimeout(timer);
        finish();
      };
      this.#waiting.set(id, {
        answer: (answer, from) => {
          if (isEnough(answer, from)) end(resolve);
        },
      });
      this.#put(to, { kind, body, id }).catch((error: unknown) => end(() => reject(error as Error)));
    }).finally(() => this.#waiting.delete(id));
  }

  async #put(to: string, message: JsonObject): Promise<void> {
    if (this.#engine === undefined) throw new Error("The node has not joined the cluster");
    const text = JSON.stringify({ v: format, from: this.#node, ...message });
    if (text.length > maxLength)
      throw new RangeError(`A message to other nodes has ${text.length} characters`);
    await this.#engine.send(to, text);
  }

  sendSoon(to: string | "all", kind: string, body: JsonObject): void {
    const receiver = to === "all" ? "all nodes" : "a node";
    this.#outages.watch(`Sending a message to ${receiver}`, this.#put(to, { kind, body }));
  }
}

/** How long nodes may take to answer each other, in milliseconds. */
const answerMs = 1000;

/** The parts of the cluster that questions need. */
interface Asked {
  readonly bus: Bus;
  on(kind: string, handler: BusHandler): () => void;
  nodes(): ClusterNode[];
  hears(node: string): boolean;
}

/** {@link NodeQuestions} through a {@link Bus}. */
export class PendingQuestions {
  readonly #cluster: Asked;

  constructor(cluster: Asked) {
    this.#cluster = cluster;
  }

  answer(kind: string, isYes: (body: JsonObject) => boolean | Promise<boolean>): void {
    this.#cluster.on(kind, async (body) => ({ yes: await isYes(body) }));
  }

  async askAll(kind: string, body: JsonObject): Promise<"yes" | "no" | "silence"> {
    const cluster = this.#cluster;
    const silent = new Set(cluster.nodes().flatMap(({ id, isSelf }) => (isSelf ? [] : [id])));
    if (silent.size === 0) return "no";
    let isYes = false;
    await cluster.bus.requestAll(kind, body, answerMs, ({ yes }, from) => {
      silent.delete(from);
      isYes ||= yes === true;
      return isYes || silent.size === 0;
    });
    if (isYes) return "yes";
    return [...silent].some((node) => cluster.hears(node)) ? "silence" : "no";
  }

  async ask(node: string, kind: string, body: JsonObject): Promise<JsonObject | undefined> {
    const answer = await this.#cluster.bus.request(node, kind, body, answerMs);
    if (answer !== undefined || !this.#cluster.hears(node)) return answer;
    const problem = `Node ${node} did not respond within ${answerMs} ms`;
    throw new HalyardError("BACKPLANE_UNAVAILABLE", `${problem}: try again later`);
  }
}
