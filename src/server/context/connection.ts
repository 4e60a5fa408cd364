// The state of one peer. Transports create it and pass it in; the server itself keeps no state of a peer.
import { anything, filledText, flag, func, type Known, needed, text as textKind } from "../../base/kinds.ts";
import type { Load } from "../../base/limits/loads.ts";
import { checkOptions } from "../../base/options.ts";
import type {
  ClientCapabilities,
  ClientTexts,
  Implementation,
  LogLevel,
  Principal,
} from "../../protocol/model.ts";
import { type Grant, principalKey } from "../../protocol/principal.ts";
import type { RequestRow, Revision } from "../../protocol/revision.ts";
import type { Listener, Stream } from "../push/listener.ts";
import type { RequestId } from "../../base/wire/message.ts";
import type { StreamEvent } from "../diagnostics/events.ts";
import { InFlight } from "./in-flight.ts";

const noCapabilities: ClientCapabilities = Object.freeze({});

/** The revision and the client of a request: negotiated in `initialize`, or sent with each modern request. */
export interface Peer {
  readonly revision: Revision | undefined;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  readonly logLevel: LogLevel | undefined;
}

/** A stream as a follower knows it: the same object each time. */
export interface WrittenStream {
  readonly kind: StreamEvent["kind"];
  /** Its log, if it can be resumed. */
  readonly log?: { eventId(): string | undefined } | undefined;
}

/** Receives what a transport writes to a followed connection. It must not throw. */
export interface WriteWatch {
  /** The body of a reply, or a message on a stream; a pipe has no streams. */
  wrote(text: string, stream?: WrittenStream, eventId?: string): void;
  /** A stream was opened, resumed or closed; without `stream` the one of HTTP+SSE. */
  changed(event: StreamEvent, stream?: WrittenStream): void;
}

/** What a transport knows of a peer when it connects. */
export interface ConnectionOptions {
  /** The name of the transport, such as `stdio`. */
  readonly transport: string;
  /** The session id of a legacy peer on this connection. Without one, the peer gets no notifications outside calls. */
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
  /**
   * Whether the peer is the user that this process works for, such as the parent process of a stdio server. Such a peer may use
   * every definition without a principal; any other peer needs a principal for those with `scopes`. @default {false}
   */
  readonly peerIsUser?: boolean | undefined;
  /** The key under which shared limits count a peer without a principal: over HTTP its address. @default {the session} */
  readonly caller?: string | undefined;
  /** Whether all responses share one pipe, so that open calls must have different ids. @default {false} */
  readonly sharesPipe?: boolean;
  /**
   * Called with each unexpected error in a call of this peer, and the error id that the peer sees instead. The default logger does
   * not write these errors then; a `logger` of the author still receives them.
   */
  readonly onFailure?: ((errorId: string, error: unknown) => void) | undefined;
}

export const knownConnection: Known<ConnectionOptions> = {
  transport: needed(filledText),
  session: filledText,
  principal: anything,
  peerIsUser: flag,
  caller: textKind,
  sharesPipe: flag,
  onFailure: func,
};

/** Passed with options that a transport of Halyard wrote itself: they need no check, which each HTTP request would pay for. */
export const ownOptions: unique symbol = Symbol("own options");

/**
 * The state of one peer. A transport creates it and passes it in with each message.
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
  /** How the peer describes itself, as JSON text: as objects it could take twenty times the memory. */
  #clientInfo: string | undefined;
  #clientCapabilities: string | undefined;
  /** The running calls. */
  readonly inFlight: InFlight = new InFlight();
  /** Whether {@link Connection.endSubscriptions} was called. */
  endsSubscriptions = false;

  /** The number of open listen requests. */
  get subscriptions(): number {
    return this.inFlight.listens;
  }

  /**
   * Ends every open listen request with its closing result, and one that is still being authorized as soon as it opens. With an
   * id, ends only that one. Returns the ids of the open ones.
   */
  endSubscriptions(id?: RequestId): RequestId[] {
    if (id === undefined) this.endsSubscriptions = true;
    return this.inFlight.endListens(id);
  }

  /** The number of running calls, without listen requests, which stay open. */
  get running(): number {
    return this.inFlight.size - this.inFlight.listens;
  }

  /** Set by a successful `initialize`. */
  revision: Revision | undefined;
  logLevel: LogLevel | undefined;
  initialized = false;
  /** The position in the log of changes when the session began, in a cluster. */
  changes: string | undefined;
  /** Set while a window follows its client. A transport calls it with each message that it writes. */
  follower: WriteWatch | undefined;
  /** The number of the last decision whether the connection is followed. */
  followDecision = 0;
  /** The listener of a legacy session; see {@link ServerPort.attach}. */
  listener: Listener | undefined;

  constructor(options: ConnectionOptions, own?: typeof ownOptions) {
    if (own !== ownOptions) checkOptions({ subject: "Connection" }, options, knownConnection);
    this.transport = options.transport;
    this.session = options.session;
    this.principal = options.principal;
    this.peerIsUser = options.peerIsUser ?? false;
    this.sharesPipe = options.sharesPipe ?? false;
    this.onFailure = options.onFailure;
    this.#caller = options.caller;
  }

  /** Parsed on each access, so every caller gets a copy. */
  get clientInfo(): Implementation | undefined {
    return this.#clientInfo === undefined ? undefined : (JSON.parse(this.#clientInfo) as Implementation);
  }

  set clientInfo(info: Implementation | undefined) {
    this.#clientInfo = info && JSON.stringify(info);
  }

  /** Parsed on each access too. */
  get clientCapabilities(): ClientCapabilities {
    const text = this.#clientCapabilities;
    return text === undefined ? noCapabilities : (JSON.parse(text) as ClientCapabilities);
  }

  set clientCapabilities(capabilities: ClientCapabilities) {
    const isEmpty = Object.keys(capabilities).length === 0;
    this.#clientCapabilities = isEmpty ? undefined : JSON.stringify(capabilities);
  }

  /** What both are parsed from, for the record of a session. */
  get clientTexts(): ClientTexts {
    return { clientInfo: this.#clientInfo, clientCapabilities: this.#clientCapabilities };
  }

  set clientTexts({ clientInfo, clientCapabilities }: ClientTexts) {
    this.#clientInfo = clientInfo;
    this.#clientCapabilities = clientCapabilities;
  }

  /** The key under which shared limits count the peer: its principal, else the transport's `caller`, else its session. */
  get caller(): string {
    if (this.principal) return principalKey(this.principal);
    return this.#caller ?? this.session ?? "";
  }
}

/** The permissions of a message's sender. */
export function grantOf({ connection, principal = connection.principal }: Exchange): Grant {
  return principal ?? (connection.peerIsUser ? "everything" : undefined);
}

/** One request: its connection, and the stream for its notifications. */
export interface Exchange {
  readonly connection: Connection;
  /** Without a stream the server can only respond: no progress, no log messages, no listen requests. */
  readonly stream?: Stream | undefined;
  /** Set if the transport knows that the peer is modern, whatever the message says. */
  readonly era?: "modern" | undefined;
  /** The modern revision in `_meta`, if the transport has already checked it; the server does not check it again. */
  readonly revision?: Revision | undefined;
  /** The row of the method in that revision, if the transport has found it; the server does not look it up again. */
  readonly row?: RequestRow | undefined;
  /** The required scopes, if the transport has already checked that the sender has them; the server does not check them again. */
  readonly checkedScopes?: readonly string[] | undefined;
  /** The sender of this message, if each message is authenticated. @default {the principal of the connection} */
  readonly principal?: Principal | undefined;
  /** The headers of the HTTP request, if there is one. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** The address of the peer, if known. */
  readonly address?: string | undefined;
  /** Counts the memory of the message. */
  readonly load?: Load | undefined;
}

/** The key under which shared limits count a message: its principal, else the caller of its connection. */
export function callerOf({ connection, principal }: Exchange): string {
  return principal ? principalKey(principal) : connection.caller;
}
