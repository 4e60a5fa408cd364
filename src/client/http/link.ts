// What the requests and streams of one channel share.
import type { RpcResponse } from "../../wire/message.ts";
import type { Receiver } from "../channel/channel.ts";
import type { Backoff, ClientLimits } from "../settings/limits.ts";
import type { ChannelHeaders } from "./headers.ts";
import type { Requester } from "./requester.ts";
import type { HttpReply } from "./send.ts";

export interface Link {
  readonly url: string;
  readonly requester: Requester;
  readonly headers: ChannelHeaders;
  readonly receiver: Receiver;
  readonly limits: ClientLimits;
  readonly backoff: Backoff;
  /** Whether the server and the client have a handshake: cancelling needs a message, and streams can be resumed. */
  readonly isLegacy: boolean;
  readonly hasSession: boolean;
  /** The error for a reply without a message; `text`: its body, if that has been read. */
  failureOf(reply: HttpReply, text?: string): Promise<Error>;
  /** The server no longer knows the session. */
  sessionGone(): Error;
  /** Takes the session id from the reply to `initialize`. Requests carry it once the revision is agreed on. */
  takeSession(reply: HttpReply): void;
  /** Tells the server that nobody waits for a request any longer. */
  cancel(id: string | number): void;
  /** A request has its outcome. */
  settled(id: string | number): void;
  /** Takes a response that arrived on the stream of another request. Returns whether a request waits for it. */
  respond(response: RpcResponse): boolean;
}
