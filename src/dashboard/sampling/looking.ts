// Samples events while a page is open: from the first question until ten seconds after the last.
import { inBackground } from "../../base/async/timers.ts";
import type { Core } from "../../server/calls/core.ts";
import { LoopDelay } from "./loop-delay.ts";
import { Observing } from "./observing.ts";
import { Running } from "./running.ts";
import { Samples } from "./samples.ts";

/** Milliseconds after the last question when sampling ends. */
const patienceMs = 10_000;
/** Milliseconds between two ticks, which measure how late the event loop is and count events. */
const tickMs = 50;

/** The figures that are sampled while a page is open. */
export interface Look {
  readonly samples: Samples;
  readonly running: Running;
  readonly delay: LoopDelay;
}

const all = new WeakMap<Core, Looking>();

/** One instance for each server, even if it has several dashboards. */
export class Looking {
  readonly #core: Core;
  #look: (Look & { readonly stop: () => void }) | undefined;
  #askedAt = 0;

  private constructor(core: Core) {
    this.#core = core;
  }

  static at(core: Core): Looking {
    const known = all.get(core);
    if (known !== undefined) return known;
    const made = new Looking(core);
    all.set(core, made);
    return made;
  }

  /** Returns the sampled figures. Starts or prolongs sampling. */
  ask(): Look {
    this.#askedAt = performance.now();
    const look = (this.#look ??= this.#begin());
    look.samples.count();
    return look;
  }

  /** Ends sampling at once, and drops the figures. */
  end(): void {
    this.#look?.stop();
    this.#look = undefined;
  }

  #begin(): Look & { readonly stop: () => void } {
    const core = this.#core;
    const { budget } = core.hub;
    const samples = new Samples((method) => isStream(core, method));
    const delay = new LoopDelay(tickMs);
    const running = new Running();
    const remove = Observing.of(core.settings).add((event) => samples.take(event));
    core.running = running;
    budget.onMerge = (topic) => samples.pushes.merged(topic);
    const tick = (): void => {
      const now = performance.now();
      delay.tick(now);
      samples.count();
      if (now - this.#askedAt >= patienceMs) this.end();
    };
    const timer = inBackground(setInterval(tick, tickMs));
    const stop = (): void => {
      clearInterval(timer);
      remove();
      core.running = undefined;
      budget.onMerge = undefined;
    };
    return { samples, running, delay, stop };
  }
}

/** Whether a request of this method stays open for long, so that its duration says nothing. */
function isStream({ settings: { revisions } }: Core, method: string): boolean {
  return revisions.modern?.requests.get(method)?.stream === true;
}
