// A dashboard in the terminal: a table of clients and one of the last calls, on the window of a server alone.
import type { Servable } from "halyard";
import { describePeer, windowOf } from "halyard/window";

const maxCalls = 10;
const maxClients = 20;

/** Prints the clients and the last calls of a server at intervals, until you call the returned function. */
export function showDashboard(
  server: Servable,
  print: (text: string) => void = (text) => process.stdout.write(`\u001b[2J\u001b[H${text}`),
  everyMs: number = 1000,
): () => void {
  const inside = windowOf(server);
  const ended: string[][] = [];
  const stopObserving = inside.observe((event) => {
    if (event.type !== "request") return;
    const { method, name = "", durationMs, outcome, reason = "" } = event;
    const { client = "?" } = describePeer(event);
    const row = [client, method, name, `${durationMs.toFixed(1)} ms`, outcome, reason];
    ended.splice(0, ended.length, row, ...ended.slice(0, maxCalls - 1));
  });
  const show = (): void => {
    const { name, version } = inside.server;
    const { sessions, streams, subscriptions, calls } = inside.counts();
    const clients = inside.snapshot("sessions", { limit: maxClients });
    const rows = clients.rows.map((row) => [
      row.client ?? "?",
      row.who ?? "",
      row.transport,
      row.revision ?? "",
      `${row.running} running`,
      `${row.streams} streams`,
      `idle ${(row.idleMs / 1000).toFixed(0)} s`,
    ]);
    const summary = `${sessions} sessions, ${streams} streams, ${subscriptions} subscriptions, ${calls} calls`;
    print(
      [
        `${name} ${version}: ${summary}`,
        ...table("CLIENTS", rows, clients.total - rows.length),
        ...table("LAST CALLS", ended),
        "",
      ].join("\n"),
    );
  };
  const timer = setInterval(show, everyMs);
  show();
  return () => {
    clearInterval(timer);
    stopObserving();
  };
}

/** Lines with a heading, their columns padded. What a client chose has no control characters here. */
function table(heading: string, rows: readonly (readonly string[])[], more = 0): string[] {
  const shown = rows.map((row) => row.map((cell) => cell.replace(/\p{C}/gu, "·").slice(0, 40)));
  const widths = (shown[0] ?? []).map((_, at) => Math.max(...shown.map((row) => row[at]?.length ?? 0)));
  const lines = shown.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return ["", heading, ...(lines.length > 0 ? lines : ["none"]), ...(more > 0 ? [`and ${more} more`] : [])];
}
