// What is known of one peer. Transports make it and pass it in; the server keeps nothing of its own about a peer.
import type { Load } from "../../limits/loads.ts";
import type { ClientCapabilities, Implementation, LogLevel, Principal } from "../../protocol/model.ts";
import { principalKey } from "../../protocol/principal.ts";
import type { Grant } from "../../protocol/scopes.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { Listener, Stream } from "../../push/listener.ts";
import type { RequestId } from "../../wire/message.ts";
import { InFlight } from "./in-flight.ts";

const noCapabilities: ClientCapabilities = Object.freeze({});

/** What a request is answered under: agreed once in `initialize`, or said by each modern request. */
export interface Peer {
  readonly revision: Revision | undefined;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  readonly logLevel: LogLevel | undefined;
}

/** What a transport knows of a peer when the connection begins. */
export interface ConnectionOptions {
  /** The name of the transport, such as `stdio`. */
  readonly transport: string;
  /** The name of the session that a legacy peer has on this connection; without one it takes no pushes. */
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
  /**
   * Whether the peer is the user whom this process works for, such as the parent process of a server on stdio. Without a
   * principal it may use every definition; any other peer without one is refused those that name `scopes`. @default {false}
   */
  readonly peerIsUser?: boolean | undefined;
  /** Who a peer without a principal counts as, where callers share a limit: over HTTP its address. @default {the session} */
  readonly caller?: string | undefined;
  /** All replies share one pipe, so that two calls in flight must not have the same id. @default {false} */
  readonly sharesPipe?: boolean;
  /** Called with what went wrong in a call of this peer, and the id that the peer is given in its place. */
  readonly onFailure?: ((errorId: string, error: unknown) => void) | undefined;
}

/**
 * What is known of one peer: made by a transport, passed in with each of its messages.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { Connection } from "halyard/transport";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const connection = new Connection({ transport: "example" });
 * await server.handle({ jsonrpc: "2.0", id: 1, method: "ping" }, { connection });
 * ```
 */
export class Connection implements Peer {
  readonly transport: string;
  readonly session: string | undefined;
  readonly principal: Principal | undefined;
  readonly peerIsUser: boolean;
  readonly sharesPipe: boolean;
  readonly onFailure: ConnectionOptions["onFailure"];
  readonly #caller: string | undefined;
  /** What the peer says of itself, as JSON: text weighs what it is long, and objects may weigh twenty times that. */
  #clientInfo: string | undefined;
  #clientCapabilities: string | undefined;
  /** The calls that are running. */
  readonly inFlight: InFlight = new InFlight();
  /** Set by {@link Connection.endSubscriptions}. */
  endsSubscriptions = false;

  /** How many listen requests are open. */
  get subscriptions(): number {
    return this.inFlight.listens;
  }

  /**
   * Ends every open listen request with its closing result, and one that is still being authorized as soon as it is open; or
   * only the one with this id. Returns the ids of those that were open.
   */
  endSubscriptions(id?: RequestId): RequestId[] {
    if (id === undefined) this.endsSubscriptions = true;
    return this.inFlight.endListens(id);
  }

  /** How many calls are running, subscriptions left aside: they stay open. */
  get running(): number {
    return this.inFlight.size - this.inFlight.listens;
  }

  /** Set by a successful `initialize`. */
  revision: Revision | undefined;
  logLevel: LogLevel | undefined;
  initialized = false;
  /** Takes the pushes of a legacy session; see {@link ServerPort.attach}. */
  listener: Listener | undefined;

  constructor(options: ConnectionOptions) {
    this.transport = options.transport;
    this.session = options.session;
    this.principal = options.principal;
    this.peerIsUser = options.peerIsUser ?? false;
    this.sharesPipe = options.sharesPipe ?? false;
    this.onFailure = options.onFailure;
    this.#caller = options.caller;
  }

  /** Read when it is asked for, and a copy each time. */
  get clientInfo(): Implementation | undefined {
    return this.#clientInfo === undefined ? undefined : (JSON.parse(this.#clientInfo) as Implementation);
  }

  set clientInfo(info: Implementation | undefined) {
    this.#clientInfo = info && JSON.stringify(info);
  }

  /** The same. */
  get clientCapabilities(): ClientCapabilities {
    const text = this.#clientCapabilities;
    return text === undefined ? noCapabilities : (JSON.parse(text) as ClientCapabilities);
  }

  set clientCapabilities(capabilities: ClientCapabilities) {
    const isEmpty = Object.keys(capabilities).length === 0;
    this.#clientCapabilities = isEmpty ? undefined : JSON.stringify(capabilities);
  }

  /** Who it counts as where callers share a limit: its principal, else what the transport says, else itself. */
  get caller(): string {
    if (this.principal !== undefined) return principalKey(this.principal);
    return this.#caller ?? this.session ?? "";
  }
}

/** What the sender of a message may use. */
export function grantOf({ connection, principal = connection.principal }: Exchange): Grant {
  return principal ?? (connection.peerIsUser ? "everything" : undefined);
}

/** One request being answered: whose it is, and the stream that its notifications go to. */
export interface Exchange {
  readonly connection: Connection;
  /** Without one there is no way back but the reply: no progress, no log, no listen. */
  readonly stream?: Stream | undefined;
  /** Set when the transport knows that the peer speaks the modern era, whatever the message says. */
  readonly era?: "modern" | undefined;
  /** Set when the transport has read a complete `_meta`: the modern revision that it names, which is not looked for again. */
  readonly revision?: Revision | undefined;
  /** Set when the transport has found that the sender has every scope the message needs: those scopes, which are not looked for again. */
  readonly checkedScopes?: readonly string[] | undefined;
  /** Who sent this message, where each says so itself; otherwise whoever the connection belongs to. */
  readonly principal?: Principal | undefined;
  /** The headers of the HTTP request, where there is one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The address of the peer, where there is one. */
  readonly address?: string | undefined;
  /** What the message weighs, where that is counted. */
  readonly load?: Load | undefined;
}

/** Who a message counts as where callers share a limit: whoever sent it, else its connection. */
export function callerOf({ connection, principal }: Exchange): string {
  return principal === undefined ? connection.caller : principalKey(principal);
}
