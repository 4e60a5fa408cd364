// When clients on pipes and HTTP+SSE streams were last active, which their transports do not record.
import type { RequestEvent, StreamEvent } from "../../server/diagnostics/events.ts";
import { Newest } from "./newest.ts";

const maxSessions = 1000;

interface Active {
  /** When it last ended a call. */
  readonly calledAt: number | undefined;
  readonly openedAt: number | undefined;
}

export class Activity {
  readonly #sessions = new Newest<string, Active>(maxSessions);

  add(event: RequestEvent | StreamEvent, now: number): void {
    const { session, transport } = event;
    if (session === undefined || transport === "http") return;
    const before = this.#sessions.get(session);
    if (event.type === "request") {
      this.#sessions.set(session, { calledAt: now, openedAt: before?.openedAt });
    } else if (event.state === "opened") {
      this.#sessions.set(session, { calledAt: before?.calledAt, openedAt: now });
    }
  }

  of(session: string | undefined): Active | undefined {
    return session === undefined ? undefined : this.#sessions.get(session);
  }
}
