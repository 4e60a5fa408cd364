// Scenario: clients whose `fetch` answers at once from ready-made texts: the CPU time of the client alone.
import { pathToFileURL } from "node:url";
import { EVENTS, NOTE, readyFetch, TOOLS, URL_OF_NOBODY as url } from "./client-replies.js";
import { connectAiSdk } from "./clients/ai-sdk.js";
import { connectBaseline } from "./clients/baseline.js";
import { connectHalyard } from "./clients/halyard.js";
import { connectOfficialV1 } from "./clients/official-v1.js";
import { connectOfficialV2 } from "./clients/official-v2.js";
import { inProcess, runRounds } from "./harness.js";
import { table } from "./report.js";

const ROUNDS = 15;
const SHARE = process.argv.includes("--quick") ? 0.1 : 1;
const TEXT = "hello halyard";
const IN_FLIGHT = 1000;

const BASELINE = { name: "baseline", connect: connectBaseline, era: "modern" };
const HALYARD = { name: "halyard", connect: connectHalyard, era: "modern" };
const HALYARD_LEGACY = { name: "halyard, legacy", connect: connectHalyard, era: "legacy" };
const OFFICIAL_V2 = { name: "official v2", connect: connectOfficialV2, era: "modern" };
const OFFICIAL_V1 = { name: "official v1, legacy", connect: connectOfficialV1, era: "legacy" };
const AI_SDK = { name: "@ai-sdk/mcp", connect: connectAiSdk, era: "modern" };
const ALL = [BASELINE, HALYARD, HALYARD_LEGACY, OFFICIAL_V2, OFFICIAL_V1, AI_SDK];
const MODERN = [BASELINE, HALYARD, OFFICIAL_V2];

const elicit = () => ({ action: "accept", content: { colour: "blue" } });

/** `count` times, one after the other. */
const oneByOne = (once) => async (client, count, side) => {
  for (let n = 0; n < count; n++) await once(client, side);
};

function expect(actual, expected) {
  if (actual !== expected) throw new Error(`got ${actual} instead of ${expected}`);
}

const call = async (client) => expect(await client.call(TEXT), TEXT);

async function callWithProgress(client) {
  let seen = 0;
  const text = await client.callWithProgress(TEXT, () => void seen++);
  expect(text, TEXT);
  expect(seen, 1);
}

async function callAtOnce(client, count) {
  for (let left = count; left > 0; left -= IN_FLIGHT)
    await Promise.all(Array.from({ length: Math.min(left, IN_FLIGHT) }, () => call(client)));
}

/** Reads whole streams of events; what it counts is events. */
async function listen(client, count) {
  for (let left = count; left > 0; left -= EVENTS) {
    let seen = 0;
    await new Promise((resolve, reject) => {
      const opened = client.listen(NOTE, () => {
        if (++seen !== EVENTS) return;
        resolve(opened);
      });
      opened.catch(reject);
    }).then((listening) => listening?.close());
  }
}

const connectWith = (isRemembered) => async (_client, side) => {
  const client = await side.connect({
    url,
    era: side.era,
    fetch: side.fetch,
    remembered: isRemembered ? side.remembered : undefined,
  });
  await client.close();
};

const SCENES = [
  { title: "tools/call, JSON", sides: ALL, count: 800, run: oneByOne(call), isPlainCall: true },
  {
    title: "tools/call, a stream with one progress",
    sides: ALL.filter((side) => side !== AI_SDK),
    count: 600,
    calls: "progress",
    run: oneByOne(callWithProgress),
    isPlainCall: true,
  },
  { title: "tools/call, 1,000 in flight", sides: ALL, count: 1000, run: callAtOnce, isPlainCall: true },
  {
    title: "tools/call, two rounds of input: three requests",
    sides: MODERN,
    count: 500,
    calls: "rounds",
    run: oneByOne(async (client) => expect(await client.callWithRounds(TEXT), TEXT)),
  },
  {
    title: `tools/list of ${TOOLS} tools, from the server`,
    sides: ALL,
    count: 80,
    run: oneByOne(async (client) => expect(await client.list(), TOOLS)),
  },
  {
    title: `tools/list of ${TOOLS} tools, cached; the baseline does not cache`,
    sides: MODERN,
    count: 80,
    run: oneByOne(async (client) => expect(await (client.cachedList ?? client.list).call(client), TOOLS)),
  },
  {
    title: `a listen stream of ${EVENTS} events`,
    unit: "event",
    sides: MODERN,
    count: EVENTS,
    run: listen,
  },
  {
    title: "connect and close: server/discover",
    unit: "connect",
    sides: [BASELINE, HALYARD, OFFICIAL_V2, AI_SDK],
    count: 100,
    run: (_client, count, side) => oneByOne(connectWith(false))(undefined, count, side),
  },
  {
    title: "connect and close: initialize",
    unit: "connect",
    sides: [
      { ...BASELINE, era: "legacy" },
      HALYARD_LEGACY,
      { ...OFFICIAL_V2, name: "official v2, legacy", era: "legacy" },
      OFFICIAL_V1,
      { ...AI_SDK, era: "legacy" },
    ],
    count: 100,
    run: (_client, count, side) => oneByOne(connectWith(false))(undefined, count, side),
  },
  {
    title: "connect and close: remembered",
    unit: "connect",
    sides: [HALYARD, OFFICIAL_V2],
    count: 100,
    run: (_client, count, side) => oneByOne(connectWith(true))(undefined, count, side),
  },
];

async function contender(side, { run: runTimes, count, calls }) {
  const fetch = readyFetch(calls);
  const client = await side.connect({
    url,
    fetch,
    era: side.era,
    elicit: calls === "rounds" ? elicit : undefined,
  });
  const whole = { ...side, fetch, remembered: client.remember?.() };
  const share = count >= IN_FLIGHT ? 1 : SHARE; // a stream is whole or nothing, and so are calls in flight
  return inProcess(side.name, (times) => runTimes(client, times, whole), count * share);
}

/** Every scene but a connect has the target against the other client; a plain call also has one against the baseline. */
function comparisons({ sides, unit, isPlainCall }) {
  const names = sides.map(({ name }) => name);
  const [base] = names;
  const ours = names.filter((name) => name.startsWith("halyard"));
  const limits = isPlainCall ? { atMost: 1.5 } : {};
  const lines = names.map((name) =>
    name === base
      ? { name }
      : { name, against: base, ...(ours.includes(name) && base === "baseline" && limits) },
  );
  const [first] = ours;
  const v2 = names.find((name) => name.startsWith("official v2"));
  return [...lines, { name: first, against: v2, ...(unit !== "connect" && { atMost: 0.5 }) }];
}

async function runScene(scene) {
  const contenders = [];
  for (const side of scene.sides) contenders.push(await contender(side, scene));
  const samples = await runRounds(contenders, ROUNDS);
  return table(`client, in process: ${scene.title}`, samples, comparisons(scene), scene.unit);
}

/** Runs the scenario; prints each table when it is made. `--only=text` selects scenes, `--quick` runs a tenth of each. */
export async function run() {
  const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
  for (const scene of SCENES) if (scene.title.includes(only ?? "")) console.log(await runScene(scene));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await run();
