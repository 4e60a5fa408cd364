// The last calls that ended, and the modern clients that made them.
import type { RequestEvent } from "../../diagnostics/events.ts";
import { describePeer, type PeerView } from "../../window/index.ts";
import type { CallRow } from "../answers.ts";
import { Newest } from "./newest.ts";
import { cut, cutSubject } from "./texts.ts";

/** Last calls. They are shown one by one. Past it, older ones are dropped. */
export const maxCalls = 30;
/** Modern clients without a subscription. Past it, the one that called longest ago is dropped. */
const maxClients = 1000;
const maxNameLength = 100;

/** A call in the form that nodes send to each other. */
export type EndedCall = Omit<CallRow, "node">;

/** A modern client, which has no session: it is known by its caller and its name. */
export interface SeenClient extends PeerView {
  readonly transport: string;
  revision: string;
  seenAt: number;
}

interface Ended {
  readonly event: RequestEvent;
  readonly at: number;
}

/** Digests and texts are made once for each client, and for calls only when a page requests them. */
export class Calls {
  readonly #last: Ended[] = [];
  #next = 0;
  readonly #clients = new Newest<string, SeenClient>(maxClients);

  add(event: RequestEvent, now: number): void {
    this.#last[this.#next] = { event: keptOf(event), at: now };
    this.#next = (this.#next + 1) % maxCalls;
    if (event.session !== undefined) return;
    const { revision } = event;
    const key = `${event.caller ?? ""} ${cut(event.client?.name ?? "", maxNameLength)}`;
    const seen = this.#clients.get(key) ?? seenIn(event);
    this.#clients.set(key, Object.assign(seen, { revision, seenAt: now }));
  }

  /** The last calls, newest first. */
  rows(now: number): EndedCall[] {
    const inOrder = [...this.#last.slice(this.#next), ...this.#last.slice(0, this.#next)];
    return inOrder.toReversed().map(({ event, at }) => rowOf(event, now - at));
  }

  /** The modern clients, least recently seen first. */
  clients(): IterableIterator<SeenClient> {
    return this.#clients.values();
  }
}

function seenIn(event: RequestEvent): SeenClient {
  const { transport, revision } = event;
  return { ...describePeer(event), transport, revision, seenAt: 0 };
}

/** The event without members that a client may make large. */
function keptOf(event: RequestEvent): RequestEvent {
  const { method, name, client } = event;
  return {
    ...event,
    method: cut(method, maxNameLength),
    name: name && cutSubject(name, maxNameLength),
    client: client && { name: cut(client.name, maxNameLength), version: cut(client.version, maxNameLength) },
  };
}

function rowOf(event: RequestEvent, agoMs: number): EndedCall {
  const { method, name, revision, durationMs, outcome, errorCode } = event;
  const { peer, client } = describePeer(event);
  return { peer, method, name, client, revision, durationMs, outcome, errorCode, agoMs };
}
