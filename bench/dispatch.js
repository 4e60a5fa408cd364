// Scenario: messages answered inside this process; the CPU time of Halyard's `handleRaw` against hand-written code.
import { pathToFileURL } from "node:url";
import { importHalyard } from "./available.js";
import { answerCall, answerList } from "./baselines/dispatch.js";
import { modernCall, modernList } from "./baselines/messages.js";
import { listResult } from "./baselines/tools.js";
import { inProcess, runRounds } from "./harness.js";
import { table } from "./report.js";

const ROUNDS = 15;
const CALLS = 40_000;
const LISTS = 20_000;
const SIZES = [1, 50, 200];
const TEXT = "hello halyard";
const LONGEST_ANSWER = 128 * 1024; // see baselines/tools.js

const ids = Array.from({ length: 1000 }, (_, index) => index + 1);
const callTexts = ids.map((id) => modernCall(id, TEXT));
const listTexts = ids.map((id) => modernList(id));
const sink = Buffer.alloc(1 << 20);

// Both sides of every comparison really await their answer.
async function answerAll(texts, answer, count) {
  for (let n = 0; n < count; n++) await answer(texts[n % texts.length]);
}

// A list is also written: text put together from parts costs nothing until somebody reads it.
const written = (answer) => async (text) => sink.write(await answer(text));

function contender(name, texts, answer, count) {
  return inProcess(name, (times) => answerAll(texts, answer, times), count);
}

async function checkCall(name, answer) {
  const { id, result } = JSON.parse(await answer(callTexts[6]));
  if (id !== 7 || result?.content?.[0]?.text !== TEXT) throw new Error(`wrong answer from ${name}`);
}

async function callContender(name, answer) {
  await checkCall(name, answer);
  return contender(name, callTexts, answer, CALLS);
}

const tools = (size) => (size === 1 ? "1 tool" : `${size} tools`);
const halyardName = (size) => `halyard, ${tools(size)}`;

function callComparisons() {
  const againstBaseline = SIZES.map((size) => ({
    name: halyardName(size),
    against: "baseline",
    atMost: 2,
  }));
  const growth = { name: halyardName(SIZES.at(-1)), against: halyardName(1) };
  return [{ name: "baseline" }, ...againstBaseline, growth];
}

async function runCalls(schema, halyardServer) {
  const contenders = [await callContender("baseline", async (text) => answerCall(text))];
  for (const size of halyardServer ? SIZES : []) {
    const server = halyardServer({ schema, fillers: size - 1 });
    contenders.push(await callContender(halyardName(size), (text) => server.handleRaw(text)));
  }
  const samples = await runRounds(contenders, ROUNDS);
  const title = `dispatch, tools/call echo, ${schema === "zod" ? "Zod" : "plain JSON Schema"} input`;
  return table(title, samples, halyardServer ? callComparisons() : [{ name: "baseline" }]);
}

// The baseline sends the very result text that Halyard sends, so that both write the same bytes.
async function readyResult(size, server) {
  if (!server) return listResult(size);
  const answer = await server.handleRaw(listTexts[0]);
  const { result } = JSON.parse(answer);
  const ready = JSON.stringify(result);
  const same = Buffer.byteLength(answer) === Buffer.byteLength(answerList(listTexts[0], ready));
  if (result.tools.length !== size || !same) throw new Error(`a list of ${size} with other bytes`);
  if (answer.length > LONGEST_ANSWER) throw new Error("the list is too long: shorten the tools");
  return ready;
}

const baselineName = (size) => `baseline, ${tools(size)}`;

async function listContenders(size, halyardServer, use) {
  const server = halyardServer?.({ schema: "zod", fillers: size, echo: false });
  const ready = await readyResult(size, server);
  const baseline = use(async (text) => answerList(text, ready));
  const pair = [await contender(baselineName(size), listTexts, baseline, LISTS)];
  if (!server) return pair;
  const halyard = use((text) => server.handleRaw(text));
  return [...pair, await contender(halyardName(size), listTexts, halyard, LISTS)];
}

function listComparisons(size, halyardServer, atMost) {
  const baseline = { name: baselineName(size) };
  if (!halyardServer) return [baseline];
  const halyard = { name: halyardName(size), against: baselineName(size) };
  return [baseline, size === SIZES.at(-1) ? { ...halyard, atMost } : halyard];
}

async function runLists(title, halyardServer, { use, atMost }) {
  const contenders = [];
  for (const size of SIZES) contenders.push(...(await listContenders(size, halyardServer, use)));
  const samples = await runRounds(contenders, ROUNDS);
  const comparisons = SIZES.flatMap((size) => listComparisons(size, halyardServer, atMost));
  return table(`dispatch, tools/list, ${title}`, samples, comparisons);
}

async function loadHalyard() {
  if (!(await importHalyard("halyard"))) return undefined;
  return (await import("./servers/halyard.js")).halyardServer;
}

/** Runs the scenario and returns its tables. */
export async function run() {
  const halyardServer = await loadHalyard();
  const tables = [
    await runCalls("zod", halyardServer),
    await runCalls("json", halyardServer),
    await runLists("the same bytes written", halyardServer, { use: written, atMost: 1.5 }),
    await runLists("the text alone, not written", halyardServer, { use: (answer) => answer }),
  ];
  return tables.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(await run());
