// What the endpoint itself refuses, told to `observe`: what the server refuses, the server tells.
import type { Principal } from "../../protocol/model.ts";
import type { ServerEvent } from "../../diagnostics/events.ts";
import type { RpcError } from "../../wire/message.ts";

/** Follows one request, and tells of its refusal. Made only where somebody observes. */
export class RefusalWatch {
  readonly #observe: (event: ServerEvent) => void;
  /** Known once the caller has been authenticated. */
  principal: Principal | undefined;

  constructor(observe: (event: ServerEvent) => void) {
    this.#observe = observe;
  }

  /** No session is named: its id is what the client claims, not what was found. */
  report(status: number, error: RpcError): void {
    const { principal } = this;
    const event = { type: "refusal", transport: "http", status, principal } as const;
    this.#observe({ ...event, errorCode: error.code, reason: error.message });
  }
}
