// What the servers reported as pushed and changed, and what the clients received of it.
import { setTimeout as sleep } from "node:timers/promises";
import type { Listening } from "./load.ts";
import type { Outcome } from "./results.ts";

/** A push whose promise resolved with true, and the time. */
interface Pushed {
  readonly number: number;
  readonly at: number;
}

type Comparison = Pick<
  Outcome,
  "pushes" | "lost" | "losses" | "noticed" | "doubled" | "disordered" | "changes" | "longestChangeMs"
>;

export class Said {
  /** Lines that are not of the protocol of the fixture, such as errors in the log, by how often they came. */
  readonly strange = new Map<string, number>();
  /** The pushes by session and lane. */
  readonly #pushed = new Map<string, Pushed[]>();
  /** The times at which a list has changed. */
  readonly #changes: number[] = [];

  take(stderr: string): void {
    for (const [, session = "", lane = "", number, isThere, at] of stderr.matchAll(
      /^pushed (\S+) (\S+) (\d+) (\w+) (\d+)$/gm,
    )) {
      if (isThere !== "true") continue;
      const key = `${session} ${lane}`;
      const pushes = this.#pushed.get(key) ?? [];
      this.#pushed.set(key, pushes);
      pushes.push({ number: Number(number), at: Number(at) });
    }
    for (const [, at] of stderr.matchAll(/^changed (\d+)$/gm)) this.#changes.push(Number(at));
    for (const line of strangeLines(stderr)) {
      const kind = line.replaceAll(/[\d:.]+|[\w-]{12,}/g, "…").slice(0, 120);
      this.strange.set(kind, (this.strange.get(kind) ?? 0) + 1);
    }
  }

  /** Resolves when each push and each change has been heard, or nothing more comes. */
  async settle(loads: readonly Listening[]): Promise<void> {
    const deadline = performance.now() + 20_000;
    const isHeard = (): boolean => {
      const { lost, longestChangeMs } = this.compare(loads);
      return lost === 0 && Number.isFinite(longestChangeMs);
    };
    while (!isHeard() && performance.now() < deadline) await sleep(200);
  }

  /** Compares what was pushed and changed with what was heard. */
  compare(loads: readonly Listening[]): Comparison {
    const found = { pushes: 0, lost: 0, losses: [] as string[], noticed: 0, doubled: 0, disordered: 0 };
    for (const [key, pushes] of this.#pushed) {
      const [session = "", lane = ""] = key.split(" ");
      const load = loads.find(({ sessions: own }) => own.includes(session));
      const heard = load?.heard(lane) ?? [];
      const distinct = new Set(heard);
      const missing = pushes.filter(({ number }) => !distinct.has(number));
      const noticed = missing.filter(({ at }) => load?.isNoticed(session, at) === true);
      found.pushes += pushes.length;
      found.noticed += noticed.length;
      found.lost += missing.length - noticed.length;
      found.losses.push(
        ...missing
          .filter((push) => !noticed.includes(push))
          .map(({ number, at }) => `${key} ${number} at ${at}`),
      );
      found.doubled += heard.length - distinct.size;
      if (load?.hasTwins) continue;
      found.disordered += heard.filter((number, at) => number < (heard[at - 1] ?? 0)).length;
    }
    return { ...found, changes: this.#changes.length, longestChangeMs: this.#longestChangeMs(loads) };
  }

  /** The longest time after which a client was told that the list has changed; infinite if one never was. */
  #longestChangeMs(loads: readonly Listening[]): number {
    const delays = loads.flatMap(({ changesHeard }) =>
      changesHeard === undefined ? [] : this.#changes.map((at) => delayOf(at, changesHeard)),
    );
    return Math.max(0, ...delays);
  }
}

function delayOf(changedAt: number, heard: readonly number[]): number {
  return (heard.find((at) => at >= changedAt) ?? Number.POSITIVE_INFINITY) - changedAt;
}

function strangeLines(stderr: string): string[] {
  return stderr
    .split("\n")
    .filter((line) => line !== "" && !/^(pushed|began|finished|answered|changed|Serving on) /.test(line));
}
