// Samples the events of a server while a page is open: from the first question until ten seconds after the last.
import { inBackground } from "../../base/async/timers.ts";
import type { ServerWindow } from "../../window/index.ts";
import { LoopDelay } from "./loop-delay.ts";
import { Samples } from "./samples.ts";

/** Milliseconds after the last question when sampling ends. */
const patienceMs = 10_000;
/** Milliseconds between two ticks, which measure how late the event loop is and count events. */
const tickMs = 50;

/** The figures that are sampled while a page is open. */
export interface Sampled {
  readonly samples: Samples;
  readonly delay: LoopDelay;
}

const all = new WeakMap<ServerWindow, Sampling>();

/** One instance for each server, even if it has several dashboards. */
export class Sampling {
  readonly #window: ServerWindow;
  #sampled: (Sampled & { readonly stop: () => void }) | undefined;
  #askedAt = 0;

  private constructor(window: ServerWindow) {
    this.#window = window;
  }

  static at(window: ServerWindow): Sampling {
    const known = all.get(window);
    if (known !== undefined) return known;
    const made = new Sampling(window);
    all.set(window, made);
    return made;
  }

  /** Returns the sampled figures. Starts or prolongs sampling. */
  ask(): Sampled {
    this.#askedAt = performance.now();
    const sampled = (this.#sampled ??= this.#begin());
    sampled.samples.count();
    return sampled;
  }

  /** Ends sampling at once, and drops the figures. */
  end(): void {
    this.#sampled?.stop();
    this.#sampled = undefined;
  }

  #begin(): Sampled & { readonly stop: () => void } {
    const samples = new Samples();
    const delay = new LoopDelay(tickMs);
    const stopObserving = this.#window.observe((event) => samples.take(event));
    const stopKeeping = this.#window.around((call, run) =>
      run().then((end) => samples.calls.add(call, end, performance.now())),
    );
    const tick = (): void => {
      const now = performance.now();
      delay.tick(now);
      samples.count();
      if (now - this.#askedAt >= patienceMs) this.end();
    };
    const timer = inBackground(setInterval(tick, tickMs));
    const stop = (): void => {
      clearInterval(timer);
      stopObserving();
      stopKeeping();
    };
    return { samples, delay, stop };
  }
}
