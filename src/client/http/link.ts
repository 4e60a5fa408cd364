// The state that the requests and streams of one channel share.
import type { RpcResponse } from "../../base/wire/message.ts";
import type { Receiver } from "../channel/channel.ts";
import type { Backoff, ClientLimits } from "../settings/limits.ts";
import type { ChannelHeaders } from "./headers.ts";
import type { Requester } from "./requester.ts";
import type { HttpReply } from "./send.ts";

export interface HttpLink {
  readonly url: string;
  readonly requester: Requester;
  readonly headers: ChannelHeaders;
  readonly receiver: Receiver;
  readonly limits: ClientLimits;
  readonly backoff: Backoff;
  /** Whether the revision has a handshake: requests are then cancelled by a message, and streams can be resumed. */
  readonly isLegacy: boolean;
  readonly hasSession: boolean;
  /** The error for a reply without a message; `text`: its body, if that has been read. */
  failureOf(reply: HttpReply, text?: string): Promise<Error>;
  /** The error for a session that the server no longer knows. */
  sessionGone(): Error;
  /** Stores the session id from the reply to `initialize`. Requests carry it once the revision is negotiated. */
  takeSession(reply: HttpReply): void;
  /** Cancels a request at the server. */
  cancel(id: string | number): void;
  /** Called when a request has its outcome. */
  settled(id: string | number): void;
  /** Passes on a response that arrived on the stream of another request. Returns whether a request waits for it. */
  respond(response: RpcResponse): boolean;
}
