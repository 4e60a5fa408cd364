// The calls of a client: a bar from each request to its response, with the notifications in between as points.
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { FollowedCall, FollowedItem, FollowedMessage } from "../../window/index.ts";
import { cut, cutSubject } from "../sampling/texts.ts";
import { OpenEntries } from "./open-entries.ts";
import { type Entry, maxText, type Track } from "./track.ts";

export interface OpenCall {
  readonly entry: Entry;
  readonly method: string;
  /** Its number in this process, if this node runs it. */
  readonly call: number | undefined;
}

export class Calls {
  readonly #track: Track;
  /** By connection and request id. */
  readonly #open = new OpenEntries<OpenCall>();

  constructor(track: Track) {
    this.#track = track;
  }

  begin(item: FollowedMessage): Entry {
    const { method = "", message, call } = item;
    const params = paramsOf(message);
    const isListen = method === "subscriptions/listen";
    return this.#begin(
      item,
      keyOf(item, item.id),
      method,
      call,
      isListen ? filterOf(params) : nameIn(params),
    );
  }

  /** A call that was running when its client was followed, or ends without a response on this node. */
  changed(item: FollowedCall): void {
    const { state, method, requestId, call, end, at } = item;
    const key = keyOf(item, requestId);
    const open = this.#open.get(key);
    if (open === undefined) {
      if (state === "ended") return;
      const name = item.name && cutSubject(item.name, maxText);
      this.#begin(item, key, method, call, method === "subscriptions/listen" ? undefined : name);
    } else if (end !== undefined && open.entry.endedAt === undefined) {
      const { outcome, errorCode } = end;
      const failure = outcome === "error" ? toolError : undefined;
      const detail = errorCode === undefined ? failure : `code ${errorCode}`;
      this.#track.update(open.entry, { endedAt: at, outcome, detail });
    }
  }

  /** Ends the call of a response; undefined if another node has its request, or it began before the client was followed. */
  end(item: FollowedMessage): OpenCall | undefined {
    const call = this.#open.take(keyOf(item, item.id));
    if (call !== undefined) this.#track.update(call.entry, { endedAt: item.at, ...outcomeOf(item.message) });
    return call;
  }

  /** A response whose request another node has. */
  endElsewhere(item: FollowedMessage): Entry {
    const link = linkOf(item, item.id);
    const end = outcomeOf(item.message);
    return this.#track.addPoint({ lane: "calls", kind: "response", startedAt: item.at, link, ...end });
  }

  cancel(id: unknown, item: FollowedItem): Entry | undefined {
    const call = this.#open.take(keyOf(item, id));
    if (call !== undefined)
      this.#track.update(call.entry, { endedAt: item.at, outcome: "cancelled", detail: undefined });
    return call?.entry;
  }

  /** Adds progress, or a log message, to the call that it belongs to. */
  note({ method = "", message, at, call }: FollowedMessage): Entry | undefined {
    const entry = this.of(call)?.entry;
    if (entry === undefined || entry.kind === "listen") return undefined;
    this.#track.mark(entry, at, noteOf(method, paramsOf(message)));
    return entry;
  }

  /** The call with this number. */
  of(call: number | undefined): OpenCall | undefined {
    return call === undefined ? undefined : this.#open.find((open) => open.call === call);
  }

  endAll(at: number): void {
    for (const { entry } of this.#open.takeAll())
      if (entry.endedAt === undefined) this.#track.update(entry, { endedAt: at, outcome: "cancelled" });
  }

  #begin(
    item: FollowedMessage | FollowedCall,
    key: string,
    method: string,
    call: number | undefined,
    label: string | undefined,
  ): Entry {
    const isListen = method === "subscriptions/listen";
    const entry = this.#track.begin({
      lane: isListen ? "streams" : "calls",
      kind: isListen ? "listen" : method,
      label,
      startedAt: item.at,
      link: linkOf(item, item.type === "call" ? item.requestId : item.id),
    });
    return this.#open.add(key, { entry, method: cut(method, maxText), call });
  }
}

const toolError = "The tool reports an error";

/** The parameters of a message; empty if it has none. */
export function paramsOf({ params }: JsonObject): JsonObject {
  return isObject(params) ? params : {};
}

/** The name of what a request is about. */
export function nameIn({ name, uri, taskId, level }: JsonObject): string | undefined {
  const found = [name, uri, taskId, level].find((value) => typeof value === "string");
  return found && cutSubject(found, maxText);
}

function filterOf({ notifications }: JsonObject): string | undefined {
  return isObject(notifications) ? Object.keys(notifications).join(", ") : undefined;
}

function noteOf(method: string, { progress, total, level }: JsonObject): string {
  if (method === "notifications/progress")
    return typeof total === "number"
      ? `progress ${String(progress)} of ${total}`
      : `progress ${String(progress)}`;
  return method === "notifications/message" ? `log: ${String(level)}` : method;
}

function outcomeOf({ error, result }: JsonObject): Pick<Entry, "outcome" | "detail"> {
  if (isObject(error)) return { outcome: "error", detail: `code ${String(error["code"])}` };
  const { isError, resultType, task } = isObject(result) ? result : {};
  const outcome =
    isError === true
      ? "error"
      : typeof resultType === "string" && resultType !== "complete"
        ? resultType
        : isObject(task)
          ? "task"
          : "ok";
  return { outcome, detail: isError === true ? toolError : undefined };
}

function keyOf({ connection }: FollowedItem, id: unknown): string {
  return `${connection} ${shortText(id)}`;
}

/** Another node may send the response to a request of a session. */
function linkOf({ session }: FollowedItem, id: unknown): string | undefined {
  return session === undefined ? undefined : `call ${shortText(id)}`;
}

/** An id of a client, cut because it may have megabytes. */
function shortText(value: unknown): string {
  return cut(String(JSON.stringify(value)), maxText);
}
