// One client of the soak: keeps its streams open through every kill, and counts what it hears by number.
import { setTimeout as sleep } from "node:timers/promises";
import { Disconnected, EventClient, type Message } from "../cluster/event-client.ts";

/** Milliseconds after which a call that has not ended counts as one that hangs. */
const patienceMs = 40_000;

/** How calls may end. */
export type Ending = "result" | "error of a dead node" | "refusal" | "connection error";

/** A client that hears the numbers that nodes push. */
export interface Listening {
  readonly sessions: readonly string[];
  heard(lane: string): readonly number[];
  /** Whether the client was told that what was pushed at that time may be lost. */
  isNoticed(session: string, pushedAt: number): boolean;
  /** Whether it reads several streams at once, between which there is no order; then it checks each itself. */
  readonly hasTwins?: true;
  readonly gaps: number;
  /** When it was told that the list of resources has changed; undefined if it may have given its stream up. */
  readonly changesHeard?: readonly number[];
  readonly faults: readonly string[];
}

/** Whether a message tells the client to read everything again: nothing but a gap says that the tools have changed. */
export function isGap({ method }: Message): boolean {
  return method === "notifications/tools/list_changed";
}

export function isChange({ method }: Message): boolean {
  return method === "notifications/resources/list_changed";
}

/** The numbers heard in each lane: a call that pushes one number after the other. */
export class Lanes {
  readonly #lanes = new Map<string, number[]>();

  hear({ method, params }: Message): void {
    if (method !== "notifications/message" || params?.logger === undefined) return;
    const lane = this.#lanes.get(params.logger) ?? [];
    this.#lanes.set(params.logger, lane);
    lane.push(Number(params.data));
  }

  heard(lane: string): readonly number[] {
    return this.#lanes.get(lane) ?? [];
  }
}

export class SoakLoad implements Listening {
  readonly client: EventClient;
  /** How the calls ended. */
  readonly endings = new Map<Ending, number>();
  /** What must not happen, in words. */
  readonly faults: string[] = [];
  /** The notifications that told the client to read everything again. */
  gaps = 0;
  readonly changesHeard: number[] = [];
  /** How often a stream was resumed, and the longest time that it took. */
  resumes = 0;
  longestMs = 0;
  readonly #lanes = new Lanes();
  readonly #questions = new Set<unknown>();
  #isOver = false;
  #lastKey = 0;

  private constructor(client: EventClient) {
    this.client = client;
  }

  static async open(url: string): Promise<SoakLoad> {
    const answer = (question: Message): object => load.#answer(question);
    const load: SoakLoad = new SoakLoad(await EventClient.open(url, answer));
    await load.client.listen(undefined, {
      message: (message) => load.#hear(message),
      broken: () => {},
      resumed: (_, ms) => load.#resumed(ms),
      lost: (error) => load.faults.push(`the GET stream of ${load.client.session} is lost: ${String(error)}`),
    });
    return load;
  }

  get sessions(): readonly string[] {
    return [this.client.session];
  }

  /** The numbers heard in a lane, in order. */
  heard(lane: string): readonly number[] {
    return this.#lanes.heard(lane);
  }

  /** Calls one tool after the other until {@link finish}, each on the node whose turn it is. */
  async run(tool: "push" | "work" | "ask" | "ping" | "change"): Promise<void> {
    const { session } = this.client;
    while (!this.#isOver) {
      const key = `${tool}${++this.#lastKey}`;
      const args = {
        push: { session, lane: key, count: 50, everyMs: 20 },
        work: { key, ms: Math.floor(Math.random() * 2000) },
        ask: { key },
        ping: { session },
        change: { everyMs: 500 },
      };
      await this.#call(tool, key, args[tool]);
    }
  }

  /** Begins no more calls. */
  finish(): void {
    this.#isOver = true;
  }

  async #call(tool: string, key: string, args: object): Promise<void> {
    const reader = { broken: () => {}, resumed: (_: string, ms: number) => this.#resumed(ms) };
    const call = this.client.call(undefined, tool, args, reader).then(
      ({ error, result }): Ending => {
        if (result !== undefined) return "result";
        if (error?.message.startsWith("The node that ran this call is gone")) return "error of a dead node";
        throw new Error(`the response is ${JSON.stringify(error)}`);
      },
      (error: unknown): Ending => {
        if (error instanceof Disconnected) return error.isRefusal ? "refusal" : "connection error";
        throw error;
      },
    );
    const late = new AbortController();
    const hangs = sleep(patienceMs, undefined, late).then(() => {
      throw new Error(`it has not ended after ${patienceMs} ms`);
    });
    hangs.catch(() => {});
    try {
      const ending = await Promise.race([call, hangs]);
      this.endings.set(ending, (this.endings.get(ending) ?? 0) + 1);
      if (ending !== "result") await sleep(50);
    } catch (error) {
      this.faults.push(`call ${key} of ${this.client.session}: ${(error as Error).message}`);
    } finally {
      late.abort();
    }
  }

  #hear(message: Message): void {
    if (isGap(message)) this.gaps++;
    if (isChange(message)) this.changesHeard.push(Date.now());
    this.#lanes.hear(message);
  }

  /** It resumes its stream, so that nothing may be missing. */
  isNoticed(): boolean {
    return false;
  }

  #answer({ id, method }: Message): object {
    if (this.#questions.has(id))
      this.faults.push(`question ${String(id)} of ${this.client.session} came twice`);
    this.#questions.add(id);
    return method === "ping" ? {} : { action: "accept", content: { name: "Ada" } };
  }

  #resumed(ms: number): void {
    this.resumes++;
    this.longestMs = Math.max(this.longestMs, ms);
  }
}
