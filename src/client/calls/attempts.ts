// Decides which failed requests are sent again, from the kind of failure, how often it happened, and whether the server may have
// run the request.
import { Attempts } from "../channel/backoff.ts";
import { ConnectionLost, HttpFailure } from "../settings/errors.ts";
import type { Backoff } from "../settings/limits.ts";
import type { Reissue } from "../settings/call-options.ts";

/** What the client does after one kind of failure. */
export interface AttemptRule {
  /** How often the request is sent again. */
  readonly most: number;
  /** Whether the client waits before. */
  readonly waits: boolean;
}

/** The kinds of failure of a request. */
export type Failing = "refused" | "unreachable" | "session-gone" | "cut" | "exited" | "misjudged";

const rule = { most: 5, waits: true };

const attemptRules: Readonly<Record<Failing, AttemptRule>> = {
  /** The server responded with 429 or 503. */
  refused: rule,
  unreachable: rule,
  "session-gone": { ...rule, most: 2, waits: false },
  cut: { ...rule, most: 2 },
  exited: { ...rule, most: 2, waits: false },
  /** The server speaks another revision than the client assumed. */
  misjudged: { ...rule, most: 1, waits: false },
};

/** The kind of failure of an error; undefined if the call rejects with the error. */
export function failingOf(error: unknown): Failing | undefined {
  if (error instanceof ConnectionLost) return error.reason === "closed" ? undefined : error.reason;
  if (error instanceof HttpFailure)
    return error.status === 429 || error.status === 503 ? "refused" : undefined;
  return undefined;
}

/** Counts the failures of one call. */
export class Tries {
  readonly #backoff: Backoff;
  readonly #counts = new Map<Failing, Attempts>();

  constructor(backoff: Backoff) {
    this.#backoff = backoff;
  }

  /** How long to wait before the next attempt, at least `floorMs`; undefined if the call must not try again. */
  nextWait(failing: Failing, floorMs: number | undefined): number | undefined {
    const { most, waits } = attemptRules[failing];
    const count = this.#counts.get(failing) ?? new Attempts({ ...this.#backoff, maxAttempts: most });
    this.#counts.set(failing, count);
    const waitMs = count.next(floorMs);
    return waits || waitMs === undefined ? waitMs : 0;
  }
}

/** The requests that change nothing on the server, or nothing more when they run twice. */
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
