// Samples events while somebody looks: from the first question until ten seconds after the last.
import { inBackground } from "../../async/timers.ts";
import { LoopDelay } from "./loop-delay.ts";
import { type Observed, Observing } from "./observing.ts";
import { Samples } from "./samples.ts";

/** Milliseconds after the last question when sampling ends. */
const patienceMs = 10_000;
/** Milliseconds between two ticks, which measure how late the event loop is. */
const tickMs = 50;

interface Look {
  readonly samples: Samples;
  readonly delay: LoopDelay;
  readonly stop: () => void;
}

export class Looking {
  readonly #observed: Observed;
  readonly #isStream: (method: string) => boolean;
  #look: Look | undefined;
  #askedAt = 0;

  constructor(observed: Observed, isStream: (method: string) => boolean) {
    this.#observed = observed;
    this.#isStream = isStream;
  }

  /** What was sampled. Somebody asks, so that sampling begins or goes on. */
  ask(): Look {
    this.#askedAt = performance.now();
    return (this.#look ??= this.#begin());
  }

  /** Ends sampling at once, and drops what was sampled. */
  end(): void {
    this.#look?.stop();
    this.#look = undefined;
  }

  #begin(): Look {
    const samples = new Samples(this.#isStream);
    const delay = new LoopDelay(tickMs);
    const remove = Observing.of(this.#observed).add((event) => samples.take(event));
    const timer = inBackground(
      setInterval(() => {
        const now = performance.now();
        delay.tick(now);
        if (now - this.#askedAt >= patienceMs) this.end();
      }, tickMs),
    );
    const stop = (): void => {
      clearInterval(timer);
      remove();
    };
    return { samples, delay, stop };
  }
}
