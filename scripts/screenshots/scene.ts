// A harbour with one node or several, its dashboard, and clients at work.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "halyard";
import type { McpClient } from "halyard/client";
import { memoryBackplane } from "halyard/cluster";
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { board, pilot, printer, play, roles, sail } from "./clients.ts";
import { Dice } from "./dice.ts";
import { makeHarbour } from "./harbour.ts";
import { Line } from "./line.ts";
import { openSlowReader } from "./slow-reader.ts";

export interface Scene {
  /** The address of the dashboard, with its token. */
  readonly url: string;
  /** Connects the clients. */
  begin(): Promise<void>;
  /** Lets the client whose timeline is shown do what it does; it takes about half a minute. */
  sail(): Promise<void>;
  close(): Promise<void>;
}

/** Opens so many nodes; each client is at home on one of them. */
export async function openScene(count: number, seed: number): Promise<Scene> {
  const dice = new Dice(seed);
  const ended = new AbortController();
  const { signal } = ended;
  setMaxListeners(0, signal);
  const backplane = count > 1 ? { backplane: memoryBackplane() } : {};
  const quiet = { logger: { debug() {}, info() {}, warn() {}, error() {} } };
  const nodes = Array.from({ length: count }, () => makeHarbour(dice, { ...backplane, ...quiet }));
  const pages = nodes.map((_, index) =>
    dashboard({ node: `harbour-${index + 1}`, tryIt: true, actions: true, onOpen: () => {} }),
  );
  const served = await Promise.all(
    nodes.map((node, index) =>
      serveHttp(node, {
        port: 0,
        trustProxy: true,
        handleSignals: false,
        graceMs: 100,
        // The slow reader is to stay.
        stallMs: 3_600_000,
        dashboard: pages[index]!,
      }),
    ),
  );
  const urlAt = (index: number): string => served[index % count]!.url;

  const { line, url: lineUrl } = await Line.open(urlAt(0));
  const aboard: McpClient[] = [];
  return {
    url: pages[0]!.url!,
    async begin() {
      for (const [index, role] of roles.entries()) await play(role, urlAt(index), dice, signal);
      aboard.push(await board(lineUrl, signal));
      await openSlowReader(nodes[0]!, served[0]!, printer, signal);
      void changeBerths(nodes, dice, signal);
      void intrude(urlAt(0), dice, signal);
    },
    sail: async () => {
      for (const client of aboard) await sail(client, line, dice);
    },
    async close() {
      ended.abort();
      line.close();
      await Promise.all(served.map((each) => each.close()));
    },
  };
}

/** Ships come and go. */
async function changeBerths(nodes: readonly McpServer[], dice: Dice, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const uri = dice.isOneIn(6) ? "tide:///today" : `berth:///${dice.pick(["1", "2", "3", "4", "4"])}`;
    await nodes[Math.floor(dice.next() * nodes.length)]?.resources.updated(uri);
    await sleep(dice.around(1_400), undefined, { signal }).catch(() => {});
  }
}

const intrusions: readonly [RequestInit, ...RequestInit[]] = [
  { method: "POST", headers: { "content-type": "text/plain" }, body: "Ahoy" },
  {
    method: "POST",
    headers: { "content-type": "application/json", origin: "https://elsewhere.example" },
    body: "{}",
  },
  { method: "GET", headers: { accept: "text/event-stream", "mcp-session-id": "long-gone" } },
  { method: "POST", headers: { "content-type": "application/json" }, body: "{ not json" },
  { method: "GET", headers: { accept: "text/event-stream", "mcp-session-id": "long-gone" } },
];

/** Requests that the server refuses. */
async function intrude(url: string, dice: Dice, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await fetch(url, dice.pick(intrusions)).then(
      (response) => response.text(),
      () => {},
    );
    await sleep(dice.around(4_000), undefined, { signal }).catch(() => {});
  }
}

/** The name of the client whose timeline is shown. */
export const followed: string = pilot.name;
