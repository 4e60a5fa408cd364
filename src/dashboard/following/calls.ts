// The calls of a client: a bar from each request to its response, with the notifications in between as points.
import type { RequestEvent } from "../../server/diagnostics/events.ts";
import type { RpcNotification, RpcRequest, RpcResponse } from "../../base/wire/message.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { cut, cutSubject } from "../sampling/peers.ts";
import { type HeardCall, type HeardChange, type HeardMessage, sessionScope } from "./heard.ts";
import { OpenEntries } from "./open-entries.ts";
import { type Entry, maxText, type Track } from "./track.ts";

export interface OpenCall {
  readonly entry: Entry;
  readonly method: string;
  /** The progress token of its request. */
  readonly token: string | undefined;
  readonly scope: string;
  /** The POST stream that carries its reply, once that is known. */
  stream: string | undefined;
}

export class Calls {
  readonly #track: Track;
  readonly #open = new OpenEntries<OpenCall>();

  constructor(track: Track) {
    this.#track = track;
  }

  begin(request: RpcRequest, { at, scope }: HeardMessage | HeardCall): Entry {
    const { id, method, params = {} } = request;
    const isListen = method === "subscriptions/listen";
    const entry = this.#track.begin({
      lane: isListen ? "streams" : "calls",
      kind: isListen ? "listen" : method,
      label: isListen ? filterOf(params) : nameIn(params),
      startedAt: at,
      link: linkOf(scope, id),
    });
    const call: OpenCall = {
      entry,
      method: cut(method, maxText),
      token: tokenOf(params),
      scope,
      stream: undefined,
    };
    return this.#open.add(keyOf(scope, id), call);
  }

  /** Ends the call of a response; undefined if another node has its request, or it began before the client was followed. */
  end(response: RpcResponse, { at, scope }: HeardMessage): OpenCall | undefined {
    const call = this.#open.take(keyOf(scope, response.id));
    if (call !== undefined) this.#track.update(call.entry, { endedAt: at, ...outcomeOf(response) });
    return call;
  }

  /** A response whose request another node has. */
  endElsewhere(response: RpcResponse, { at, scope }: HeardMessage): Entry {
    const link = linkOf(scope, response.id);
    const end = outcomeOf(response);
    return this.#track.addPoint({ lane: "calls", kind: "response", startedAt: at, link, ...end });
  }

  cancel(id: unknown, { at, scope }: HeardMessage): Entry | undefined {
    const call = this.#open.take(keyOf(scope, id));
    if (call !== undefined) this.#track.update(call.entry, { endedAt: at, outcome: "cancelled" });
    return call?.entry;
  }

  /** Adds progress, or a log message, to the call that it belongs to. */
  note({ method, params = {} }: RpcNotification, heard: HeardMessage): Entry | undefined {
    const call =
      method === "notifications/progress"
        ? this.#open.find((open) => open.token === shortText(params["progressToken"]))
        : this.of(heard);
    if (call === undefined || call.entry.kind === "listen") return undefined;
    if (heard.stream?.kind === "post") call.stream = heard.stream.name;
    this.#track.mark(call.entry, heard.at, noteOf(method, params));
    return call.entry;
  }

  /** The call whose reply contains the message or is the stream. */
  of({ scope, stream }: HeardMessage | HeardChange): OpenCall | undefined {
    if (scope !== sessionScope) return this.#open.find((open) => open.scope === scope);
    if (stream?.kind !== "post") return undefined;
    if (stream.request !== undefined) return this.#open.get(keyOf(scope, stream.request));
    return this.#open.find((open) => open.stream === stream.name) ?? this.#onlyOne(stream.name);
  }

  /** The only running call without a stream, which must be the one for this stream. */
  #onlyOne(stream: string): OpenCall | undefined {
    const [call, other] = this.#open.filter((open) => open.stream === undefined);
    if (call === undefined || other !== undefined) return undefined;
    call.stream = stream;
    return call;
  }

  /** Ends a call whose response this node does not see, because it was cancelled or another node sends it. */
  ended({ method, name, durationMs, outcome, errorCode }: RequestEvent, at: number): void {
    const label = name && cutSubject(name, maxText);
    const isSame = (entry: Entry): boolean => entry.kind === method && entry.label === label;
    const call = this.#open.nearest(at - durationMs, isSame);
    const detail = errorCode === undefined ? undefined : `code ${errorCode}`;
    if (call) this.#track.update(call.entry, { endedAt: at, outcome, detail });
  }

  endAll(at: number): void {
    for (const { entry } of this.#open.takeAll())
      if (entry.endedAt === undefined) this.#track.update(entry, { endedAt: at, outcome: "cancelled" });
  }
}

/** The name of what a request is about. */
export function nameIn({ name, uri, taskId, level }: JsonObject): string | undefined {
  return [name, uri, taskId, level].find((value) => typeof value === "string");
}

function filterOf({ notifications }: JsonObject): string | undefined {
  return isObject(notifications) ? Object.keys(notifications).join(", ") : undefined;
}

function tokenOf({ _meta }: JsonObject): string | undefined {
  const token = isObject(_meta) ? _meta["progressToken"] : undefined;
  return token === undefined ? undefined : shortText(token);
}

function noteOf(method: string, { progress, total, level }: JsonObject): string {
  if (method === "notifications/progress")
    return typeof total === "number"
      ? `progress ${String(progress)} of ${total}`
      : `progress ${String(progress)}`;
  return method === "notifications/message" ? `log: ${String(level)}` : method;
}

function outcomeOf(response: RpcResponse): Pick<Entry, "outcome" | "detail"> {
  if ("error" in response) return { outcome: "error", detail: `code ${response.error.code}` };
  const { isError, resultType, task } = response.result;
  const outcome =
    isError === true
      ? "error"
      : typeof resultType === "string" && resultType !== "complete"
        ? resultType
        : isObject(task)
          ? "task"
          : "ok";
  return { outcome, detail: isError === true ? "The tool reports an error" : undefined };
}

function keyOf(scope: string, id: unknown): string {
  return `${scope} ${shortText(id)}`;
}

/** Another node may send the response to a request of a session. */
function linkOf(scope: string, id: unknown): string | undefined {
  return scope === sessionScope ? `call ${shortText(id)}` : undefined;
}

/** An id or a token of a client, cut because it may have megabytes. */
function shortText(value: unknown): string {
  return cut(String(JSON.stringify(value)), maxText);
}
