// Which failed requests are sent again: a table of what they met, how often, and whether the server may have run them.
import { Attempts } from "../channel/backoff.ts";
import { ConnectionLost, HttpFailure } from "../settings/errors.ts";
import type { Backoff } from "../settings/limits.ts";
import type { Reissue } from "../settings/options.ts";

/** What happens after one kind of failure. */
export interface AttemptRule {
  /** How often it is sent again. */
  readonly most: number;
  /** Whether the client waits before. */
  readonly waits: boolean;
}

/** What a request can meet. */
export type Failing = "refused" | "unreachable" | "session-gone" | "cut" | "exited" | "misjudged";

const rule = { most: 5, waits: true };

const attemptRules: Readonly<Record<Failing, AttemptRule>> = {
  /** 429 or 503. */
  refused: rule,
  unreachable: rule,
  "session-gone": { ...rule, most: 2, waits: false },
  cut: { ...rule, most: 2 },
  exited: { ...rule, most: 2, waits: false },
  /** The server does not speak the revision that it was thought to speak. */
  misjudged: { ...rule, most: 1, waits: false },
};

/** What the request met, by its error; undefined if that is the outcome. */
export function failingOf(error: unknown): Failing | undefined {
  if (error instanceof ConnectionLost) return error.reason === "closed" ? undefined : error.reason;
  if (error instanceof HttpFailure)
    return error.status === 429 || error.status === 503 ? "refused" : undefined;
  return undefined;
}

/** Counts what one call has met. */
export class Tries {
  readonly #backoff: Backoff;
  readonly #counts = new Map<Failing, Attempts>();

  constructor(backoff: Backoff) {
    this.#backoff = backoff;
  }

  /** How long to wait before the next attempt, at least `floorMs`; undefined if there must be none. */
  nextWait(failing: Failing, floorMs: number | undefined): number | undefined {
    const { most, waits } = attemptRules[failing];
    const count = this.#counts.get(failing) ?? new Attempts({ ...this.#backoff, maxAttempts: most });
    this.#counts.set(failing, count);
    const waitMs = count.next(floorMs);
    return waits || waitMs === undefined ? waitMs : 0;
  }
}

/** The requests that change nothing, or nothing more when they run twice. */
const repeatable: ReadonlySet<string> = new Set([
  "ping",
  "server/discover",
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "completion/complete",
  "logging/setLevel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
]);

/** Whether a request may be sent again although the server may have run it. */
export function mayRepeat(
  method: string,
  reissue: Reissue,
  isRepeatable: (() => boolean | Promise<boolean>) | undefined,
): boolean | Promise<boolean> {
  if (method === "tools/call" && reissue !== "safe") return reissue === "always";
  return isRepeatable?.() ?? repeatable.has(method);
}
