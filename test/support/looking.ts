// Asks the questions of a dashboard over HTTP with its token, as the page does.
import type { JsonObject } from "halyard";

/** A row of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/** The members of all answers. */
export interface DashboardAnswer {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly nodes: readonly Row[];
  readonly counts: Readonly<Record<string, number>>;
  readonly series: Readonly<Record<"calls" | "errors" | "p50" | "p90" | "p99", (number | null)[]>>;
  readonly calls: readonly Row[];
  readonly refusals: readonly Row[];
  readonly callsPerSecond: number;
  readonly sampledMs: number;
  readonly ended: number;
  readonly [member: string]: unknown;
}

export type AskDashboard = (ask: string, question?: JsonObject) => Promise<DashboardAnswer>;

/** Asks the dashboard at this address, which has the token. */
export function lookAt({ url }: { readonly url: string | undefined }): AskDashboard {
  const { origin, hash } = new URL(url ?? "");
  const authorization = `Bearer ${decodeURIComponent(hash.replace("#token=", ""))}`;
  return async (ask, question = {}) => {
    const headers = { authorization, "content-type": "application/json" };
    const body = JSON.stringify({ ask, ...question });
    const reply = await fetch(`${origin}/ask`, { method: "POST", headers, body });
    if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`);
    return (await reply.json()) as DashboardAnswer;
  };
}

/** The row whose members are these. */
export function rowWith({ rows }: Pick<DashboardAnswer, "rows">, members: Row): Row | undefined {
  return rows.find((row) => Object.entries(members).every(([name, value]) => row[name] === value));
}
