// One campaign against one target: batches of inputs, a good call after each, and the smallest input for what goes wrong.
import { encodeInput, type Input } from "./input.ts";
import { Random } from "./random.ts";
import type { Holding, Running, Target } from "./target.ts";

export interface CampaignOptions {
  readonly seed: number;
  readonly milliseconds: number;
  /** Tried before anything else: what has gone wrong once. */
  readonly known: readonly Input[];
}

export interface Report {
  readonly target: string;
  readonly seed: number;
  /** Inputs by what they play with. */
  readonly inputs: Readonly<Record<string, number>>;
  /** What went wrong once and not again, on a machine that may be busy. */
  readonly unconfirmed: readonly string[];
  readonly before: Holding;
  readonly after: Holding;
}

const batchSize = 32;
const shrinkMs = 30_000;

/** Runs until the time is over. Throws with the smallest input for the first thing that goes wrong. */
export async function runCampaign(target: Target, options: CampaignOptions): Promise<Report> {
  const random = new Random(options.seed);
  const inputs: Record<string, number> = {};
  const unconfirmed: string[] = [];
  const known = [...options.known];
  let running = await target.start();
  let before: Holding | undefined;
  try {
    let started = performance.now();
    const elapsed = (): number => performance.now() - started;
    while (elapsed() < options.milliseconds) {
      // Everything has been loaded and compiled by now: what is held from here on is held for a reason.
      if (before === undefined && elapsed() > options.milliseconds / 4) {
        const paused = performance.now();
        before = await running.rest();
        started += performance.now() - paused;
      }
      const batch = Array.from({ length: batchSize }, () => known.shift() ?? target.input(random));
      for (const { kind } of batch) inputs[kind] = (inputs[kind] ?? 0) + 1;
      const suspect = await tryBatch(running, batch);
      if (suspect === undefined) continue;
      await running.close().catch(() => {});
      const finding = await confirm(target, batch, suspect);
      if (finding !== undefined) throw new Error(described(target, options.seed, finding));
      unconfirmed.push(suspect);
      running = await target.start();
      before = undefined;
    }
    before ??= await running.rest();
    const after = await running.rest();
    return { target: target.name, seed: options.seed, inputs, unconfirmed, before, after };
  } finally {
    await running.close().catch(() => {});
  }
}

/** Sends inputs at the same time, then asks how the server is. */
export async function tryBatch(running: Running, batch: readonly Input[]): Promise<string | undefined> {
  const problems = await Promise.all(batch.map((input) => running.send(input)));
  return problems.find((problem) => problem !== undefined) ?? (await running.check());
}

interface Finding {
  readonly problem: string;
  readonly inputs: readonly Input[];
}

/** Tries each input alone, then all of them, on a server of their own; what took too long has to do so again. */
async function confirm(
  target: Target,
  batch: readonly Input[],
  suspect: string,
): Promise<Finding | undefined> {
  for (const input of batch) {
    const problem = await tryAlone(target, [input]);
    if (problem !== undefined) return { problem, inputs: [await shrink(target, input, problem)] };
  }
  const problem = await tryAlone(target, batch);
  if (problem !== undefined) return { problem, inputs: batch };
  return /second|takes/.test(suspect) ? undefined : { problem: suspect, inputs: batch };
}

async function tryAlone(target: Target, inputs: readonly Input[]): Promise<string | undefined> {
  const running = await target.start();
  try {
    return await tryBatch(running, inputs);
  } finally {
    await running.close().catch(() => {});
  }
}

/** Leaves out what is not needed for the same kind of problem: halves first, then less and less. */
async function shrink(target: Target, found: Input, problem: string): Promise<Input> {
  const deadline = performance.now() + shrinkMs;
  const trial = new Trial(target);
  let best: Input = found;
  let size = Math.ceil(best.text.length / 2);
  for (let at = 0; size >= 1 && performance.now() < deadline;) {
    const text = best.text.slice(0, at) + best.text.slice(at + size);
    const smaller: Input = { ...best, text, cuts: [] };
    const isSame = stillWhole(smaller) && kindOf(await trial.of(smaller)) === kindOf(problem);
    if (isSame) best = smaller;
    else at += size;
    if (at < best.text.length) continue;
    at = 0;
    size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  await trial.end();
  return best;
}

/** Inputs one after the other, on one server for as long as it takes no harm. */
class Trial {
  readonly #target: Target;
  #running: Running | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  async of(input: Input): Promise<string | undefined> {
    this.#running ??= await this.#target.start();
    const problem = await tryBatch(this.#running, [input]);
    if (problem !== undefined) await this.end();
    return problem;
  }

  async end(): Promise<void> {
    await this.#running?.close().catch(() => {});
    this.#running = undefined;
  }
}

/** Half a request would not be answered either. */
function stillWhole({ text, complete }: Input): boolean {
  return !complete || (text.includes("\r\n\r\n") && text.includes("{{length}}"));
}

/** The first words: the rest may quote the input. */
function kindOf(problem: string | undefined): string | undefined {
  return problem?.slice(0, 20);
}

function described(target: Target, seed: number, { problem, inputs }: Finding): string {
  const texts = inputs.map(({ text }) => JSON.stringify(text)).join("\n");
  return `${target.name}, seed ${seed}: ${problem}\nThe input:\n${texts}\nRepeat it with:\nHALYARD_FUZZ_INPUT=${encodeInput(target.name, inputs)} npx vitest run test/fuzz`;
}
