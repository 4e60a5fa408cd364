// Several observers of one server, which come and go while it runs.
import { guard } from "../../base/logging/logger.ts";
import type { Diagnostics, ServerEvent } from "../../server/diagnostics/events.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { identityOf } from "../../protocol/principal.ts";

/** Receives the events of a server. What it throws is logged, and its promise is not awaited. */
export type Observer = (event: ServerEvent) => void | Promise<void>;

export class Observers {
  readonly #diagnostics: Diagnostics;
  #added: readonly { readonly observer: Observer }[] = [];
  /** The observer of the options, while there are others. */
  #first: Diagnostics["observe"];

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /** Adds an observer until you call the returned function. */
  add(observer: Observer): () => void {
    const entry = { observer };
    if (this.#added.length === 0) {
      this.#first = this.#diagnostics.observe;
      this.#diagnostics.observe = this.#pass;
    }
    this.#added = [...this.#added, entry];
    return () => this.#remove(entry);
  }

  #remove(entry: object): void {
    const left = this.#added.filter((other) => other !== entry);
    const isLast = left.length === 0 && this.#added.length > 0;
    this.#added = left;
    if (isLast) this.#diagnostics.observe = this.#first;
  }

  readonly #pass = (event: ServerEvent): void => {
    const told = withoutClaims(event);
    for (const { observer } of this.#added) guard(() => observer(told), this.#failed);
    this.#first?.(told);
  };

  readonly #failed = (error: unknown): void => {
    RateLimitedLog.of(this.#diagnostics.logger).error("An observer failed", { error });
  };
}

/** The event with the identity of its principal, without the claims of its token. */
function withoutClaims(event: ServerEvent): ServerEvent {
  if (!("principal" in event) || event.principal === undefined) return event;
  return { ...event, principal: identityOf(event.principal) };
}
