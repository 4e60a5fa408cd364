// Listens for resources of which each changes once, and tells what was lost or came twice.
import type { Change, Listening, McpClient } from "halyard/client";
import { until } from "../../support/turns.ts";
import type { Announced } from "./announced.ts";
import type { Subject } from "./subject.ts";

const urisOfOne = 6;

/** What became of one resource. */
interface Watched {
  isPublished: boolean;
  /** Told since it was published, by a change or a gap. */
  isTold: boolean;
  /** How often it was told by a change. */
  changes: number;
}

/** One listening for a few resources and the list of tools. */
export class Watch {
  readonly #subject: Subject;
  readonly #announced: Announced;
  readonly #watched: ReadonlyMap<string, Watched>;
  readonly #number: number;
  #listening: Listening | undefined;
  #step = "open";
  #toolsRead: number;
  readonly wrong: string[] = [];
  /** The server could not be brought to listen. */
  hasFailed = false;
  gaps = 0;
  changes = 0;

  constructor(subject: Subject, announced: Announced, number: number) {
    this.#subject = subject;
    this.#announced = announced;
    this.#number = number;
    this.#toolsRead = subject.toolsVersion;
    this.#watched = new Map(
      Array.from({ length: urisOfOne }, (_, at) => [
        `note:///${number}-${at}`,
        { isPublished: false, isTold: false, changes: 0 },
      ]),
    );
  }

  async open(client: McpClient): Promise<void> {
    const resources = [...this.#watched.keys()];
    const filter = { tools: true, resources };
    this.#listening = await client
      .listen(filter, (change) => this.#hear(change))
      .catch((error: unknown) => {
        this.hasFailed = true;
        throw error;
      });
    // The client reads what it listens for when it begins to.
    this.#toolsRead = this.#subject.toolsVersion;
  }

  get isOpen(): boolean {
    return this.#listening !== undefined;
  }

  /** Its name, and how far it has come. */
  get shown(): string {
    return `watch ${this.#number} (${this.#step})`;
  }

  get isExhausted(): boolean {
    return [...this.#watched.values()].every(({ isPublished }) => isPublished);
  }

  /** Publishes a change of the next resource. */
  async publish(): Promise<void> {
    for (const [uri, watched] of this.#watched) {
      if (watched.isPublished) continue;
      watched.isPublished = true;
      await this.#subject.server.resources.updated(uri);
      return;
    }
  }

  /** Waits until everything that was published has arrived, and ends. Adds what has not arrived in time to `wrong`. */
  async close(timeMs: number): Promise<void> {
    if (!this.#listening) return;
    this.#step = "waiting for changes";
    await until(() => this.#missing().length === 0, timeMs).catch(() => {});
    this.wrong.push(...this.#missing().map((what) => `lost without a gap: ${what}`));
    this.#step = "closing";
    await this.#listening.close();
    this.wrong.push(...this.#doubled().map((what) => `told too often: ${what}`));
    const error = await this.#listening.ended;
    if (error !== undefined) this.wrong.push(`the listening ended: ${String(error)}`);
  }

  #missing(): string[] {
    const { toolsVersion } = this.#subject;
    const untold = [...this.#watched].filter(([, { isPublished, isTold }]) => isPublished && !isTold);
    const stale = this.#toolsRead < toolsVersion ? [`tools ${this.#toolsRead + 1} to ${toolsVersion}`] : [];
    return [...untold.map(([uri]) => uri), ...stale];
  }

  #hear({ kind, uri, cause }: Change): void {
    if (cause === "gap") this.gaps++;
    else this.changes++;
    if (kind === "tools") this.#toolsRead = this.#subject.toolsVersion;
    const watched = this.#watched.get(uri ?? "");
    if (!watched) return;
    if (cause === "changed") watched.changes++;
    watched.isTold ||= watched.isPublished;
  }

  /** What was told more often than the server announced it. */
  #doubled(): string[] {
    const told = [...this.#watched].filter(([uri, { changes }]) => changes > this.#announced.of(uri));
    return told.map(([uri, { changes }]) => `${uri}, ${changes} times instead of ${this.#announced.of(uri)}`);
  }
}
