// A client that opens two GET streams at once, without an id, and leaves the old ones half-open: not read, and not closed.
import { setTimeout as sleep } from "node:timers/promises";
import { EventClient, type Message, readEvents } from "../cluster/event-client.ts";
import { isChange, isGap, Lanes, type Listening } from "./load.ts";

/** Milliseconds between two pairs of streams. */
const everyMs = 1500;

/** Streams that are left half-open before the oldest is closed. */
const maxHalfOpen = 12;

/** A pair of streams that opened at the same moment. */
interface Opening {
  /** When both were open. */
  at: number;
  hasGap: boolean;
  /** Whether one of them broke off while it was read, perhaps with the notifications about a gap. */
  isCut: boolean;
}

export class TwinLoad implements Listening {
  readonly hasTwins = true;
  readonly faults: string[] = [];
  gaps = 0;
  readonly changesHeard: number[] = [];
  readonly #client: EventClient;
  readonly #lanes = new Lanes();
  readonly #openings: Opening[] = [];
  readonly #halfOpen: AbortController[] = [];
  #isOver = false;

  private constructor(client: EventClient) {
    this.#client = client;
  }

  static async open(url: string): Promise<TwinLoad> {
    const load = new TwinLoad(await EventClient.open(url));
    await load.#openTwins();
    return load;
  }

  get sessions(): readonly string[] {
    return [this.#client.session];
  }

  heard(lane: string): readonly number[] {
    return this.#lanes.heard(lane);
  }

  /**
   * Whether a later stream reported the loss: the next one, or the one after it if the next opened at the time of the push. A stream
   * whose connection was cut may have reported it without reaching the client.
   */
  isNoticed(_session: string, pushedAt: number): boolean {
    const next = this.#openings.filter(({ at, hasGap, isCut }) => at >= pushedAt && (hasGap || !isCut));
    return next.slice(0, 2).some(({ hasGap }) => hasGap);
  }

  /** Pushes numbers, and opens further streams, until {@link finish}. */
  async run(): Promise<void> {
    await Promise.all([this.#push(), this.#reopen()]);
    await this.#openTwins();
  }

  finish(): void {
    this.#isOver = true;
  }

  close(): void {
    for (const halfOpen of this.#halfOpen) halfOpen.abort();
    this.#client.close();
  }

  async #push(): Promise<void> {
    const { session } = this.#client;
    for (let number = 1; !this.#isOver; number++) {
      const args = { session, lane: `twins${number}`, count: 20, everyMs: 20 };
      await this.#client.call(undefined, "push", args).catch(() => sleep(50));
    }
  }

  async #reopen(): Promise<void> {
    while (!this.#isOver) {
      await sleep(everyMs);
      await this.#openTwins();
    }
  }

  async #openTwins(): Promise<void> {
    for (const left of this.#halfOpen.splice(0, this.#halfOpen.length - maxHalfOpen)) left.abort();
    const opening: Opening = { at: 0, hasGap: false, isCut: false };
    const reading = { isOver: false };
    this.#stopReading();
    this.#stopReading = () => (reading.isOver = true);
    try {
      const responses = await Promise.all([this.#client.openGet(), this.#client.openGet()]);
      opening.at = Date.now();
      this.#openings.push(opening);
      for (const response of responses) void this.#read(response, opening, reading);
    } catch (error) {
      this.faults.push(`a GET stream of ${this.#client.session} does not open: ${String(error)}`);
    }
  }

  #stopReading: () => void = () => {};

  /** Reads the stream until the next pair opens, and then leaves it as it is. */
  async #read(response: Response, opening: Opening, reading: { readonly isOver: boolean }): Promise<void> {
    const left = new AbortController();
    this.#halfOpen.push(left);
    const reader = response.body?.getReader();
    left.signal.addEventListener("abort", () => void reader?.cancel().catch(() => {}));
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done = true, value } = (await reader?.read()) ?? {};
        if (done || value === undefined) return controller.close();
        controller.enqueue(value);
        // It is not read any more, and its connection stays.
        if (reading.isOver) await new Promise(() => {});
      },
    });
    const last = new Map<string, number>();
    await readEvents(new Response(body), ({ data }) => {
      const message = data && !reading.isOver ? (JSON.parse(data) as Message) : undefined;
      if (message !== undefined) this.#hear(message, opening, last);
    });
    opening.isCut ||= !reading.isOver;
  }

  #hear(message: Message, opening: Opening, last: Map<string, number>): void {
    this.#lanes.hear(message);
    const { logger = "", data } = message.params ?? {};
    if (Number(data) < (last.get(logger) ?? 0)) this.faults.push(`${logger} ${String(data)} is out of order`);
    last.set(logger, Number(data));
    if (isChange(message)) this.changesHeard.push(Date.now());
    if (!isGap(message)) return;
    this.gaps++;
    opening.hasGap = true;
  }
}
