// A server with a dashboard that follows one of its clients, asked as its page asks.
import type { McpServer } from "halyard";
import { type Dashboard, dashboard, type DashboardOptions } from "halyard/dashboard";
import type { HttpOptions } from "halyard/node";
import { expect } from "vitest";
import { sendTo } from "./http.ts";
import { asking } from "./dashboard.ts";
import { serve, type Served } from "./sessions.ts";
import { until } from "./turns.ts";

export interface Entry {
  readonly id: string;
  readonly node: string;
  readonly lane: string;
  readonly kind: string;
  readonly label?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly outcome?: string;
  readonly points: readonly { readonly at: number; readonly what: string }[];
  readonly messages: number;
  readonly detail?: string;
  readonly link?: string;
}

export interface Line {
  readonly time: string;
  readonly direction: string;
  readonly stream: string;
  readonly message: unknown;
}

interface Timeline {
  readonly since: number;
  readonly entries: readonly Entry[];
  readonly mark: number;
  readonly dropped: number;
  readonly session?: { readonly client?: string };
}

/** A page that is open at a dashboard. */
export class Page {
  readonly #page: Dashboard;

  constructor(page: Dashboard) {
    this.#page = page;
  }

  async ask<Answer>(question: { readonly ask: string; readonly [member: string]: unknown }): Promise<Answer> {
    const { port, origin, hash } = new URL(this.#page.url ?? "");
    const authorization = `Bearer ${decodeURIComponent(hash.replace("#token=", ""))}`;
    const reply = await (await sendTo(Number(port), asking(question, { origin, authorization }))).complete();
    expect(reply.status, reply.text).toBe(200);
    return JSON.parse(reply.text) as Answer;
  }

  /** The names of the clients that the server has. */
  async peers(): Promise<string[]> {
    const { rows } = await this.ask<{ rows: { peer: string }[] }>({ ask: "sessions" });
    return rows.map(({ peer }) => peer);
  }

  timeline(peer: string, after?: number): Promise<Timeline> {
    return this.ask({ ask: "timeline", peer, ...(after !== undefined && { after }) });
  }

  /** Every entry, however many answers that takes. */
  async entries(peer: string): Promise<Entry[]> {
    const all = new Map<string, Entry>();
    for (let after: number | undefined; ;) {
      const { entries, mark } = await this.timeline(peer, after);
      for (const entry of entries) all.set(entry.id, entry);
      if (entries.length === 0 || after === mark) return [...all.values()];
      after = mark;
    }
  }

  /** Resolves with the entry of a kind that has this label, once it is as `matches` wants it. */
  async entry(peer: string, kind: string, matches: (entry: Entry) => boolean = hasEnded): Promise<Entry> {
    let found: Entry | undefined;
    await until(async () => {
      const entries = await this.entries(peer);
      found = entries.find((entry) => entry.kind === kind && matches(entry));
      return found !== undefined;
    });
    return found as Entry;
  }

  messages(peer: string, entries: readonly string[]): Promise<{ lines: Line[]; dropped: number }> {
    return this.ask({ ask: "messages", peer, entries });
  }

  recording(peer: string): Promise<{ lines: Line[]; dropped: number }> {
    return this.ask({ ask: "recording", peer });
  }
}

function hasEnded({ endedAt }: Entry): boolean {
  return endedAt !== undefined;
}

/** Serves the server with a dashboard until the test ends. */
export async function serveWithPage(
  server: McpServer,
  options: DashboardOptions = {},
  httpOptions: HttpOptions = {},
): Promise<Served & { readonly page: Page }> {
  const board = dashboard({ onOpen: () => {}, ...options });
  const served = await serve(server, { ...httpOptions, dashboard: board });
  return { ...served, page: new Page(board) };
}
