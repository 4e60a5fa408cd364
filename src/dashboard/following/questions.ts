// The questions to a client: a bar from each question to its answer, whether it is a request or the result of a round.
import type { AskEvent, FollowedItem, FollowedMessage } from "../../window/index.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { OpenEntries } from "./open-entries.ts";
import type { Entry, Track } from "./track.ts";

export class Questions {
  readonly #track: Track;
  readonly #open = new OpenEntries<{ readonly entry: Entry }>();

  constructor(track: Track) {
    this.#track = track;
  }

  /** A request to the client; `asker` names the tool whose call asks. */
  ask({ id, method = "", at }: FollowedMessage, asker: string | undefined): Entry {
    return this.#begin(requestKey(id), method, asker, at);
  }

  /** The client's response to a request. If another node has asked, it is a point. */
  answer({ id, message, at }: FollowedMessage): Entry {
    const { result } = message;
    return this.#end(requestKey(id), isObject(result) ? outcomeOf(result) : "error", at);
  }

  /** The questions of a result; a client that polls a task sees the same ones again. */
  askRound(inputRequests: unknown, asker: string | undefined, { at }: FollowedItem): Entry[] {
    if (!isObject(inputRequests)) return [];
    return Object.entries(inputRequests).map(([name, request]) => {
      const key = roundKey(asker, name);
      const method = isObject(request) ? String(request["method"]) : "question";
      return this.#open.get(key)?.entry ?? this.#begin(key, method, asker, at);
    });
  }

  /** The answers that the client sends with its retry. */
  answerRound(inputResponses: unknown, asker: string | undefined, { at }: FollowedItem): Entry[] {
    if (!isObject(inputResponses)) return [];
    return Object.entries(inputResponses).map(([name, response]) =>
      this.#end(roundKey(asker, name), isObject(response) ? outcomeOf(response) : "ok", at),
    );
  }

  /** Ends a question whose answer this node does not see: it failed, or the answer arrived at another node. */
  ended({ state, method, durationMs, reason }: AskEvent, at: number): void {
    if (state === "asked" || durationMs === undefined) return;
    const open = this.#open.nearest(at - durationMs, ({ kind }) => kind === method);
    if (open) this.#track.update(open.entry, { endedAt: at, outcome: state, detail: reason });
  }

  endAll(at: number): void {
    for (const { entry } of this.#open.takeAll())
      if (entry.endedAt === undefined) this.#track.update(entry, { endedAt: at, outcome: "failed" });
  }

  #begin(key: string, kind: string, label: string | undefined, startedAt: number): Entry {
    return this.#open.add(key, {
      entry: this.#track.begin({ lane: "questions", kind, label, startedAt, link: key }),
    });
  }

  #end(key: string, outcome: string, at: number): Entry {
    const open = this.#open.take(key);
    if (open === undefined)
      return this.#track.addPoint({ lane: "questions", kind: "answer", startedAt: at, outcome, link: key });
    this.#track.update(open.entry, { endedAt: at, outcome, detail: undefined });
    return open.entry;
  }
}

function outcomeOf({ action }: JsonObject): string {
  return typeof action === "string" ? action : "ok";
}

function requestKey(id: unknown): string {
  return `question ${JSON.stringify(id)}`;
}

function roundKey(asker: string | undefined, name: string): string {
  return `question of ${asker ?? ""}: ${name}`;
}
