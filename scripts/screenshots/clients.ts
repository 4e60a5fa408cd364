// The clients of the pictures: each an ordinary client that does its work again and again, until the scene closes.
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type ConnectOptions, type McpClient } from "halyard/client";
import type { Dice } from "./dice.ts";
import type { Line } from "./line.ts";

/** A client, and what it does once for each round. */
export interface Role {
  readonly name: string;
  readonly version: string;
  readonly revision: string;
  /** Its address, as the proxy in front of the server tells it. */
  readonly address: string;
  /** The usual time between two rounds. */
  readonly everyMs: number;
  readonly options?: Partial<ConnectOptions>;
  begin?(client: McpClient): Promise<unknown>;
  round(client: McpClient, dice: Dice): Promise<unknown>;
}

const ports = ["Bergen", "Florø", "Stavanger", "Ålesund"] as const;
const modern = "2026-07-28";
const legacy = "2025-11-25";

function routeOf(dice: Dice): { from: string; to: string } {
  return { from: dice.pick(ports), to: dice.pick(ports) };
}

export const roles: readonly Role[] = [
  {
    name: "harbour-agent",
    version: "3.2.0",
    revision: modern,
    address: "10.0.4.17",
    everyMs: 25,
    begin: (client) =>
      client.listen({ tools: true, resources: ["berth:///1", "berth:///4", "tide:///today"] }, () => {}),
    round: (client, dice) =>
      dice.isOneIn(3)
        ? client.callTool("forecast", routeOf(dice))
        : client.callTool("arrivals", { hours: 1 + Math.floor(dice.next() * 40) }),
  },
  {
    name: "harbour-agent",
    version: "3.1.4",
    revision: modern,
    address: "10.0.4.18",
    everyMs: 120,
    begin: (client) => client.listen({ resources: ["berth:///4"] }, () => {}),
    round: (client, dice) =>
      dice.isOneIn(2)
        ? client.callTool("route", routeOf(dice))
        : client.readResource(`berth:///${dice.pick(["1", "2", "3", "4", "9"])}`, { fresh: true }),
  },
  {
    name: "tide-board",
    version: "1.0.2",
    revision: legacy,
    address: "10.0.7.3",
    everyMs: 2_500,
    begin: (client) => client.listen({ resources: ["tide:///today", "berth:///1", "berth:///2"] }, () => {}),
    round: (client) => client.readResource("tide:///today", { fresh: true }),
  },
  {
    name: "crane-control",
    version: "0.9.1",
    revision: "2025-06-18",
    address: "10.0.9.40",
    everyMs: 1_200,
    begin: (client) => client.listen({ resources: ["berth:///3", "berth:///4"] }, () => {}),
    round: (client, dice) =>
      client.callTool("unload", { berth: dice.pick(["3", "4"]), containers: 6 }, { onProgress() {} }),
  },
  {
    name: "captains-app",
    version: "5.0.0",
    revision: modern,
    address: "10.0.4.21",
    everyMs: 200,
    round: (client, dice) =>
      dice.isOneIn(4)
        ? client.callTool("route", routeOf(dice), { timeoutMs: 250 })
        : client.callTool("forecast", routeOf(dice)),
  },
  {
    name: "old-ledger",
    version: "0.4.0",
    revision: "2025-03-26",
    address: "10.0.2.8",
    everyMs: 3_000,
    round: (client, dice) =>
      dice.isOneIn(5) ? client.callTool("weigh_anchor", {}) : client.callTool("arrivals", { hours: 24 }),
  },
  {
    name: "survey-bot",
    version: "1.3.0",
    revision: modern,
    address: "10.0.4.30",
    everyMs: 5_000,
    begin: (client) => client.startTask("survey", { soundings: 400 }),
    round: (client) => client.listTools({ fresh: true }),
  },
  {
    name: "office",
    version: "2.0.0",
    revision: legacy,
    address: "10.0.1.5",
    everyMs: 60_000,
    // This client never answers, so the question stays open.
    options: { onElicit: () => new Promise(() => {}) },
    begin: async (client) => {
      void client.callTool("book_berth", { ship: "Solveig", berth: "2", nights: 2 }).catch(() => {});
    },
    round: (client) => client.ping(),
  },
];

/** Connects, and plays the role until the signal aborts. */
export async function play(role: Role, url: string, dice: Dice, signal: AbortSignal): Promise<void> {
  const client = await connect(url, connectOptions(role));
  signal.addEventListener("abort", () => void client.close().catch(() => {}));
  await role.begin?.(client);
  void repeat(role, client, dice, signal);
}

async function repeat(role: Role, client: McpClient, dice: Dice, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await role.round(client, dice).catch(() => {}); // Some rounds fail, which the pictures show.
    await sleep(dice.around(role.everyMs), undefined, { signal }).catch(() => {});
  }
}

function connectOptions({ name, version, revision, address, options }: Role): ConnectOptions {
  const headers = { "x-forwarded-for": address };
  return { info: { name, version }, revision, headers, tasks: true, ...options };
}

/** Reads too slowly. */
export const printer: Pick<Role, "name" | "version" | "address"> = {
  name: "manifest-printer",
  version: "1.1.0",
  address: "10.0.6.6",
};

/** The client whose timeline is shown. */
export const pilot: Role = {
  name: "pilot-tablet",
  version: "2.1.0",
  revision: legacy,
  address: "10.0.8.12",
  everyMs: 800,
  options: {
    onElicit: async () => {
      await sleep(4_000);
      return { action: "accept", content: { agree: true } };
    },
  },
  begin: (client) => client.listen({ resources: ["berth:///4", "tide:///today"] }, () => {}),
  round: (client) => client.ping(),
};

/** A client whose line can be cut. */
export async function board(url: string, signal: AbortSignal): Promise<McpClient> {
  const client = await connect(url, connectOptions(pilot));
  signal.addEventListener("abort", () => void client.close().catch(() => {}));
  await pilot.begin?.(client);
  return client;
}

/** About half a minute at sea: calls, a question, a task, and a cut in the middle. */
export async function sail(client: McpClient, line: Line, dice: Dice): Promise<void> {
  const call = (name: string, args: object = {}): Promise<unknown> =>
    client.callTool(name, { ...args }, { onProgress() {} }).catch(() => {});
  const task = await client.startTask("survey", { soundings: 14 });
  void task.result().catch(() => {});
  for (let count = 0; count < 3; count++) await call("forecast", routeOf(dice));
  void call("book_berth", { ship: "Havørn", berth: "4", nights: 1 });
  await call("route", routeOf(dice));
  await sleep(1_500);
  void call("unload", { berth: "4", containers: 12 });
  await call("arrivals");
  await sleep(2_200);
  line.cut();
  await sleep(3_000);
  line.mend();
  for (let count = 0; count < 4; count++) {
    await sleep(dice.around(900));
    await call(dice.pick(["arrivals", "route"]), routeOf(dice));
  }
  await call("weigh_anchor");
}
