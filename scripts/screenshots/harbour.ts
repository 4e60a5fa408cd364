// The server of the pictures: a harbour whose tools take their time, ask, fail now and then, and whose berths change.
import { setTimeout as sleep } from "node:timers/promises";
import { McpServer, ResourceNotFoundError, type ServerOptions, ToolError } from "halyard";
import * as z from "zod";
import type { Dice } from "./dice.ts";

const berths = new Map([
  ["1", "Aurora, unloading grain"],
  ["2", "free"],
  ["3", "Kittiwake, taking on water"],
  ["4", "Marlin, unloading timber"],
]);
const berth = z.enum(["1", "2", "3", "4"]).describe("The berth's number");
const port = z.string().describe("A port, such as Bergen");

/** A harbour; its tools take about as long as `dice` says. */
export function makeHarbour(dice: Dice, options: ServerOptions = {}): McpServer {
  const server = new McpServer(
    { name: "harbour", title: "Harbour", version: "2.4.0" },
    { instructions: "Ask for arrivals first.", capabilities: { logging: true }, ...options },
  );
  const work = (usualMs: number, signal: AbortSignal): Promise<void> =>
    sleep(dice.around(usualMs), undefined, { signal });

  server.tool(
    "arrivals",
    {
      title: "Arrivals",
      description: "Lists the ships that arrive next.",
      input: z.object({ hours: z.int().min(1).max(48).default(12).describe("How many hours ahead") }),
      output: z.object({ ships: z.array(z.object({ name: z.string(), hours: z.number() })) }),
      annotations: { readOnlyHint: true },
    },
    async ({ hours }, ctx) => {
      await work(9, ctx.signal);
      const ships = ["Solveig", "Ternen", "Havørn"].map((name, index) => ({ name, hours: 2 + index * 3 }));
      return { ships: ships.filter((ship) => ship.hours <= hours) };
    },
  );
  server.tool(
    "forecast",
    {
      title: "Forecast at sea",
      description: "Wind and waves along a route.",
      input: z.object({ from: port, to: port }),
      annotations: { readOnlyHint: true },
    },
    async ({ from, to }, ctx) => {
      await work(45, ctx.signal);
      if (dice.isOneIn(25)) throw new ToolError("The weather service does not answer: try again in a minute");
      return `${from} to ${to}: wind 8 m/s from the west, waves of 1.5 m`;
    },
  );
  server.tool(
    "route",
    {
      title: "Plan a route",
      description: "Finds a way around shoals and ferries.",
      input: z.object({ from: port, to: port }),
    },
    async ({ from, to }, ctx) => {
      await work(320, ctx.signal);
      if (dice.isOneIn(9)) throw tornChart();
      return `${from}, Fedje, Utvær, ${to}`;
    },
  );
  server.tool(
    "unload",
    {
      title: "Unload a ship",
      description: "Moves containers ashore one by one, and reports each.",
      input: z.object({ berth, containers: z.int().min(1).max(200).default(8) }),
    },
    async ({ berth: id, containers }, ctx) => {
      for (let done = 1; done <= containers; done++) {
        await work(260, ctx.signal);
        ctx.progress(done, containers, `Container ${done} of ${containers}`);
      }
      berths.set(id, "free");
      await server.resources.updated(`berth:///${id}`);
      return `Berth ${id} is free`;
    },
  );
  server.tool(
    "book_berth",
    {
      title: "Book a berth",
      description: "Reserves a berth, once the harbour master agrees.",
      input: z.object({
        ship: z.string().min(1).describe("The ship's name"),
        berth,
        nights: z.int().min(1).max(30).default(1),
        shorePower: z.boolean().default(false).describe("Whether it needs power from the shore"),
      }),
      annotations: { destructiveHint: true },
    },
    async ({ ship, berth: id, nights }, ctx) => {
      const form = z.object({ agree: z.boolean().describe("Let it moor"), note: z.string().optional() });
      const { agree } = await ctx.elicit(`May ${ship} moor at berth ${id} for ${nights} nights?`, form, {
        key: "agree",
      });
      return agree ? `${ship} has berth ${id}` : `${ship} has to wait`;
    },
  );
  server.tool(
    "survey",
    {
      title: "Survey the sea bed",
      description: "Takes soundings of the whole harbour; runs as a task.",
      input: z.object({ soundings: z.int().min(1).max(500).default(60) }),
      task: { pollIntervalMs: 2000 },
    },
    async ({ soundings }, ctx) => {
      for (let taken = 1; taken <= soundings; taken++) {
        await work(900, ctx.signal);
        ctx.progress(taken, soundings, `Sounding ${taken} of ${soundings}`);
      }
      return "The sea bed has not moved";
    },
  );

  server.resource("tide:///today", { name: "tide", title: "Tides of today" }, () => "High 05:12, low 11:24");
  server.resourceTemplate(
    "berth:///{id}",
    { name: "berth", title: "A berth", complete: { id: () => [...berths.keys()] } },
    ({ uri, params }) => {
      const text = berths.get(params.id);
      if (text === undefined) throw new ResourceNotFoundError(uri);
      return text;
    },
  );
  server.prompt(
    "brief_the_pilot",
    { title: "Brief the pilot", arguments: z.object({ ship: z.string() }) },
    ({ ship }) => `Brief the pilot of ${ship} about wind, tide and traffic.`,
  );
  return server;
}

/** An exception whose stack names no folder of this machine. */
function tornChart(): Error {
  const error = new Error("The chart is torn");
  error.stack = `${String(error)}\n    at plotRoute (file:///srv/harbour/route.js:63:11)\n    at file:///srv/harbour/server.js:41:24`;
  return error;
}
