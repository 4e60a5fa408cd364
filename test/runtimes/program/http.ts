// A client over HTTP, on every revision: calls, progress, questions, changes, tasks, a lost stream that is resumed.
import { connect } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { checkCalls, checkRevision } from "./calls.ts";

/** What a client sees of the server at `url`, by revision. */
export async function checkHttp(url = ""): Promise<object> {
  const seen: Record<string, object> = {};
  for (const { date } of protocolRevisions) seen[date] = await checkRevision(url, date);
  const legacySse = await checkCalls(await connect(url.replace(/\/mcp$/, "/sse"), { revision: oldest() }));
  return {
    revisions: seen,
    legacySse,
    resumed: await checkResuming(url),
    unreachable: await checkUnreachable(),
  };
}

const oldest = (): string => protocolRevisions.at(-1)?.date ?? "";
const newestLegacy = (): string => protocolRevisions.find(({ era }) => era === "legacy")?.date ?? "";

/** Loses the GET stream of a session, lets the server change meanwhile, and resumes. */
async function checkResuming(url: string): Promise<object> {
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = (message: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { ...json, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const clientInfo = { name: "raw", version: "1.0.0" };
  const params = { protocolVersion: newestLegacy(), capabilities: {}, clientInfo };
  const opened = await post({ id: 1, method: "initialize", params });
  await opened.text();
  const session = {
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": newestLegacy(),
  };
  const change = async (id: number): Promise<void> => {
    await (await post({ id, method: "tools/call", params: { name: "add", arguments: {} } }, session)).text();
  };
  await (await post({ method: "notifications/initialized" }, session)).text();
  const first = await openStream(url, session);
  await change(2);
  const before = await first.readUntil("list_changed");
  first.abort();
  await change(3);
  const last = [...before.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";
  const second = await openStream(url, { ...session, "last-event-id": last });
  const after = await second.readUntil("list_changed");
  second.abort();
  await fetch(url, { method: "DELETE", headers: session });
  const ids: string[] = [];
  return { before: eventsIn(before, ids), after: eventsIn(after, ids) };
}

/** For each event, how many other ids came before its own, and its method, if it has one. */
function eventsIn(text: string, ids: string[]): string[] {
  const events = text.matchAll(/^id: (\S+)$(?:\n(?:retry|data): .*$)*/gm);
  return Array.from(events, ([event, id = ""]) => {
    if (!ids.includes(id)) ids.push(id);
    return `${ids.indexOf(id)} ${/"method":"([^"]+)"/.exec(event)?.[1] ?? ""}`;
  });
}

/** Opens a GET stream. */
async function openStream(url: string, headers: Record<string, string>) {
  const leaving = new AbortController();
  const response = await fetch(url, {
    headers: { accept: "text/event-stream", ...headers },
    signal: leaving.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const readUntil = async (part: string): Promise<string> => {
    let text = "";
    while (!text.includes(part)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) throw new Error(`The stream ended without ${part}: ${text}`);
      text += value ?? "";
    }
    return text;
  };
  return { readUntil, abort: () => leaving.abort() };
}

/** What a client says of a port where nothing listens. */
async function checkUnreachable(): Promise<object> {
  const connecting = connect("http://127.0.0.1:1/mcp", { backoff: { firstMs: 1, maxAttempts: 1 } });
  const error = (await connecting.catch((reason: unknown) => reason)) as {
    code?: unknown;
    reason?: unknown;
    mayHaveRun?: unknown;
  };
  return { code: error.code, reason: error.reason, mayHaveRun: error.mayHaveRun };
}
