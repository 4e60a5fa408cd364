// The modern clients that called while a page is open: they have no session by which to list them.
import { describePeer, type PeerView, type RequestEvent } from "../../window/index.ts";
import { Newest } from "./newest.ts";
import { cut } from "./texts.ts";

/** Modern clients without a subscription. Past it, the one that called longest ago is dropped. */
const maxClients = 1000;
const maxNameLength = 100;

/** A modern client: it is known by its caller and its name. */
export interface SeenClient extends PeerView {
  readonly transport: string;
  revision: string;
  seenAt: number;
}

export class SeenClients {
  readonly #clients = new Newest<string, SeenClient>(maxClients);

  add(event: RequestEvent, now: number): void {
    if (event.session !== undefined) return;
    const { revision } = event;
    const key = `${event.caller ?? ""} ${cut(event.client?.name ?? "", maxNameLength)}`;
    const seen = this.#clients.get(key) ?? seenIn(event);
    this.#clients.set(key, Object.assign(seen, { revision, seenAt: now }));
  }

  /** The clients, least recently seen first. */
  [Symbol.iterator](): IterableIterator<SeenClient> {
    return this.#clients.values();
  }
}

function seenIn(event: RequestEvent): SeenClient {
  const { transport, revision } = event;
  return { ...describePeer(event), transport, revision, seenAt: 0 };
}
