// Describes every step with every server of a part of the table; each cell is a test.
import { type ClientEvent, connect, type LogEntry, type McpClient, type RecordedLine } from "halyard/client";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { Started } from "./programs.ts";
import { ourScript } from "./script.ts";
import { type StepName, steps, type Talk } from "./steps.ts";
import type { ServerRow } from "./table.ts";

export function describeServers(rows: readonly ServerRow[]): void {
  // By hand, since Vitest cuts long names short.
  for (const row of rows) describe(`our client with ${row.name}`, () => describeServer(row));
}

function describeServer(row: ServerRow): void {
  let talk: Talk;
  beforeAll(async () => {
    talk = await open(row);
  }, 30_000);
  afterAll(() => talk?.client.close());
  for (const name of Object.keys(steps) as StepName[]) {
    const gap = row.cannot[name];
    if (gap === undefined) test(steps[name].name, () => steps[name].run(talk));
    else test(`${name}: the server cannot, because ${gap.because}`, () => gap.prove(talk));
  }
}

/** Connects to the server of a row, with a handler for everything that it can ask. */
async function open(row: ServerRow): Promise<Talk> {
  const started: Started = await row.start();
  const logs: LogEntry[] = [];
  const events: ClientEvent[] = [];
  const lines: RecordedLine[] = [];
  const client: McpClient = await connect(started.target, {
    ...(row.isPinned && { revision: row.revision }),
    onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
    onSample: () => ({ role: "assistant", content: { type: "text", text: "shoe" }, model: "rhymer" }),
    roots: [{ uri: "file:///work", name: "work" }],
    tasks: true,
    onLog: (entry) => logs.push(entry),
    observe: (event) => events.push(event),
    record: (line) => lines.push(JSON.parse(line) as RecordedLine),
  });
  return { row, script: row.script ?? ourScript, started, client, logs, events, lines };
}
