// The figures that events leave behind while a page is open. All of them are bounded.
import type { RequestEvent, ServerEvent, TaskEvent } from "../../window/index.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import { KeptCalls } from "./kept-calls.ts";
import { Pushes } from "./pushes.ts";
import { Refusals } from "./refusals.ts";
import { SeenClients } from "./seen-clients.ts";
import { Series } from "./series.ts";
import { Tools } from "./tools.ts";
import { Troubles } from "./trouble.ts";

/**
 * Calls sampled in a second. The number of calls is always exact. Past it, every 16th call stands for 16, so that latencies
 * are estimates.
 */
const maxPerSecond = 1000;
const standsFor = 16;

/** Events that may wait to be counted. */
const maxWaiting = 256;

interface Taken {
  readonly event: ServerEvent;
  readonly at: number;
}

export class Samples {
  /** When sampling began, on the monotonic clock. */
  readonly since: number = performance.now();
  /** The difference to the wall clock at the beginning: the clock may be set while a page is open. */
  readonly #ahead = Date.now() - performance.now();
  readonly series: Series = new Series(this.second);
  readonly tools: Tools = new Tools();
  readonly clients: SeenClients = new SeenClients();
  readonly calls: KeptCalls = new KeptCalls();
  readonly refusals: Refusals = new Refusals();
  readonly pushes: Pushes = new Pushes();
  readonly troubles: Troubles = new Troubles();
  #waiting: Taken[] = [];
  #second = 0;
  #inSecond = 0;
  /** Whether some calls were not sampled, because there were too many. */
  isEstimate = false;

  /** The second that runs now, since 1970. */
  get second(): number {
    return Math.floor((performance.now() + this.#ahead) / 1000);
  }

  /** Queues an event, because counting events one by one would cost several times as much. */
  take(event: ServerEvent): void {
    this.#waiting.push({ event, at: performance.now() });
    if (this.#waiting.length >= maxWaiting) this.count();
  }

  /** Counts the queued events. */
  count(): void {
    const taken = this.#waiting;
    if (taken.length === 0) return;
    this.#waiting = [];
    for (const { event, at } of taken) this.#count(event, at);
  }

  #count(event: ServerEvent, now: number): void {
    switch (event.type) {
      case "request":
        return this.#call(event, now);
      case "refusal":
        return this.refusals.add(event, now);
      case "push":
        return this.pushes.add(event, now);
      case "merge":
        return this.pushes.merged(event);
      case "task":
        if (event.state === "ended") this.#task(event);
        return;
      case "gap":
        return this.troubles.add(event.session, "gaps");
      case "stream":
        if (event.state === "resumed") this.troubles.add(event.session, "resumes");
        return;
      default:
    }
  }

  #task(event: TaskEvent): void {
    this.calls.taskEnded(event);
    this.tools.taskEnded(event);
  }

  #call(event: RequestEvent, now: number): void {
    if (isStream(event.method)) return this.clients.add(event, now);
    const second = Math.floor((now + this.#ahead) / 1000);
    const weight = this.#weigh(second);
    // The duration of a task is known when it ends.
    const timed = event.task === undefined ? weight : 0;
    this.series.add(second, event.outcome === "error", event.durationMs, timed);
    if (weight === 0) return;
    this.tools.add(event, weight);
    this.clients.add(event, now);
  }

  /** How many calls this one stands for. */
  #weigh(second: number): number {
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
    }
    const past = ++this.#inSecond - maxPerSecond;
    if (past <= 0) return 1;
    this.isEstimate = true;
    return past % standsFor === 0 ? standsFor : 0;
  }
}

/** Whether a request of this method stays open for long, so that its duration says nothing. */
function isStream(method: string): boolean {
  return revisions.some(({ requests }) => requests.get(method)?.stream === true);
}
