// The request of a call: its parameters, its sender and its revision.
import type { ClientCapabilities, Implementation, Principal } from "../../protocol/model.ts";
import type { RequestRow, Revision } from "../../protocol/revision.ts";
import type { Grant } from "../../protocol/principal.ts";
import type { JsonObject, RequestId, RpcRequest } from "../../base/wire/message.ts";
import { callerOf, type Exchange, grantOf, type Peer } from "../context/connection.ts";

const noMeta: JsonObject = {};
/** A peer before `initialize`, and one that a call no longer keeps. */
export const unknownPeer: Peer = {
  revision: undefined,
  clientInfo: undefined,
  clientCapabilities: {},
  logLevel: undefined,
};

export class CallRequest {
  request: RpcRequest;
  exchange: Exchange;
  peer: Peer;
  /** The revision of the request. */
  readonly protocol: Revision;
  readonly row: RequestRow;
  /** The scopes that its definition requires. A stream that carries a question of this call must have them too. */
  readonly scopes: readonly string[] | undefined;

  constructor(
    request: RpcRequest,
    exchange: Exchange,
    peer: Peer & { readonly revision: Revision },
    row: RequestRow,
    scopes: readonly string[] | undefined,
  ) {
    this.request = request;
    this.exchange = exchange;
    this.peer = peer;
    this.protocol = peer.revision;
    this.row = row;
    this.scopes = scopes;
  }

  get id(): RequestId {
    return this.request.id;
  }

  get method(): string {
    return this.request.method;
  }

  get params(): JsonObject {
    return this.request.params ?? noMeta;
  }

  get meta(): JsonObject {
    return (this.request.params?.["_meta"] as JsonObject | undefined) ?? noMeta;
  }

  get revision(): string {
    return this.protocol.date;
  }

  get era(): "modern" | "legacy" {
    return this.protocol.era;
  }

  get client(): Implementation | undefined {
    return this.peer.clientInfo;
  }

  get clientCapabilities(): ClientCapabilities {
    return this.peer.clientCapabilities;
  }

  get session(): string | undefined {
    return this.protocol.era === "legacy" ? this.exchange.connection.session : undefined;
  }

  get principal(): Principal | undefined {
    return this.exchange.principal ?? this.exchange.connection.principal;
  }

  get caller(): string {
    return callerOf(this.exchange);
  }

  /** The permissions of the caller. */
  get grant(): Grant {
    return grantOf(this.exchange);
  }

  get transport(): string {
    return this.exchange.connection.transport;
  }

  get headers(): Exchange["headers"] {
    return this.exchange.headers;
  }

  get address(): string | undefined {
    return this.exchange.address;
  }

  /** Drops the parameters and the client info once they have been read: a call may stay open for days. */
  forgetParams(): void {
    this.request = { jsonrpc: "2.0", id: this.id, method: this.method };
    this.peer = unknownPeer;
    this.exchange.load?.empty();
  }
}
