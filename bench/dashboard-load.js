// A process that visits a server with a dashboard: sessions, streams, calls at a steady rate, and a page that looks.
import { setTimeout as sleep } from "node:timers/promises";
import { initialize, initialized, legacyCall, modernCall, modernListen } from "./baselines/messages.js";
import { answerParent } from "./child-commands.js";
import {
  dataOf,
  get,
  jsonOf,
  legacyFields,
  modernFields,
  openSession,
  post,
  WireConnection,
} from "./http-wire.js";

const TICK_MS = 20;
const MOST_DUE_MS = 500; // a machine that does not carry the rate leaves calls out
const AT_ONCE = 16;
const MODERN_CLIENTS = 20;
const FOLLOWED_EVERY = 10; // the session that is followed makes every tenth call of the sessions
const FOLLOWED = "followed";

/** The revision of a session is that of the handshake. */
const sessions = [];
const tally = { calls: 0, pushes: 0, wrong: 0, firstWrong: undefined };
let nextId = 1000;
let port;

const named = (body, name) => body.replace('"name":"bench"', `"name":"${name}"`);
const note = (index, uris) => `note:///${index % uris}`;

function failed(what) {
  tally.wrong++;
  tally.firstWrong ??= what;
}

// Sessions and streams.

function countPush(event) {
  const data = dataOf(event);
  if (data === "") return;
  if (JSON.parse(data).method === "notifications/resources/updated") tally.pushes++;
  else failed(event);
}

async function openOne(connection, index) {
  const name = index === 0 ? FOLLOWED : `client ${index % 100}`;
  const messages = { initialize: named(initialize(0), name), initialized: initialized() };
  sessions[index] = await openSession(connection, port, messages);
}

async function openStream(index, uris) {
  const connection = await WireConnection.open(port);
  const params = { uri: note(index, uris) };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params });
  const fields = legacyFields(sessions[index]);
  const answer = await connection.request(post(port, body, fields));
  if (!jsonOf(answer).includes('"result"')) throw new Error(`no subscription: ${answer.body}`);
  await connection.stream(get(port, fields), countPush);
}

async function openListen(index, uris) {
  const connection = await WireConnection.open(port);
  const body = modernListen(1, { resourceSubscriptions: [note(index, uris)] });
  const request = post(
    port,
    named(body, `listener ${index % MODERN_CLIENTS}`),
    modernFields("subscriptions/listen"),
  );
  await new Promise((resolve, reject) => {
    let receive = () => {
      receive = countPush;
      resolve();
    };
    connection.stream(request, (event) => receive(event)).catch(reject);
  });
}

/** Does `run` for 0 to `count` - 1, some at once; each lane has what `enter` makes. */
async function each(count, run, enter = () => undefined) {
  let next = 0;
  const lane = async () => {
    const own = await enter();
    while (next < count) await run(next++, own);
    own?.close();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Opens sessions, the stream of the first `streams` of them, and listen requests, each for one of `uris` resources. */
async function open(settings) {
  port = settings.port;
  const { sessions: count, streams, listens, uris } = settings;
  await each(
    count,
    (index, connection) => openOne(connection, index),
    () => WireConnection.open(port),
  );
  await each(streams, (index) => openStream(index, uris));
  await each(listens, (index) => openListen(index, uris));
}

// Calls.

const free = [];
let turn = 0;

/** Calls of modern clients and of sessions in turn. */
function nextCall() {
  const id = nextId++;
  const text = `hello halyard ${id}`;
  const index = turn++;
  if (index % 2 === 0) {
    const body = named(modernCall(id, text), `caller ${(index / 2) % MODERN_CLIENTS}`);
    return { id, text, request: post(port, body, modernFields("tools/call", "echo")) };
  }
  const own = (index - 1) / 2;
  const session = sessions[own % FOLLOWED_EVERY === 0 ? 0 : own % sessions.length];
  return { id, text, request: post(port, legacyCall(id, text), legacyFields(session)) };
}

async function callOnce() {
  const { id, text, request } = nextCall();
  let connection = free.shift();
  // Node closes a connection that has been idle for five seconds.
  if (connection === undefined || connection.closed) connection = await WireConnection.open(port);
  try {
    const answer = await connection.request(request);
    const message = JSON.parse(jsonOf(answer));
    if (message.id !== id || message.result?.content?.[0]?.text !== text) failed(answer.body);
    tally.calls++;
  } catch (error) {
    failed(error.stack);
  }
  free.push(connection);
}

async function drive(rate) {
  let last = performance.now();
  let due = 0;
  for (;;) {
    await sleep(TICK_MS);
    const now = performance.now();
    due = Math.min(due + ((now - last) / 1000) * rate, (MOST_DUE_MS / 1000) * rate);
    last = now;
    for (; due >= 1; due--) void callOnce();
  }
}

/** Calls so often in a second from now on. */
const steady = ({ rate }) => void drive(rate);

/** Makes so many calls, as fast as they go, so that the server is warm. */
const burst = ({ count }) => each(count, callOnce);

// The page.

const answers = { count: 0, bytes: 0, ms: [] };
let site;
let peer;
let mark;

async function ask(name, members = {}) {
  const startedAt = performance.now();
  const response = await fetch(new URL("ask", site.url), {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${site.token}` },
    body: JSON.stringify({ ask: name, ...members }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${name} was answered with ${response.status} ${text}`);
  answers.count++;
  answers.bytes += text.length;
  answers.ms.push(performance.now() - startedAt);
  return JSON.parse(text);
}

/** The client that is followed, or any other one if it is not there. */
async function findPeer() {
  const found = await ask("sessions", { search: FOLLOWED });
  const [row] = found.rows.length > 0 ? found.rows : (await ask("sessions")).rows;
  return row.peer;
}

/** Asks one question as the page does. */
async function question({ page, view, search }) {
  const [url, token] = page.split("#token=");
  site = { url, token };
  if (view !== "timeline") return void (await ask(view, search === undefined ? {} : { search }));
  peer ??= await findPeer();
  ({ mark } = await ask("timeline", { peer, ...(mark && { after: mark }) }));
}

/** Looks at a view from now on. */
function look({ everyMs, ...asked }) {
  const poll = async () => {
    const startedAt = performance.now();
    try {
      await question(asked);
    } catch (error) {
      failed(error.stack);
    }
    setTimeout(poll, Math.max(everyMs - (performance.now() - startedAt), everyMs / 2));
  };
  void poll();
}

/** What was counted since the last time. */
function read() {
  const { count, bytes, ms } = answers;
  const figures = { ...tally, answers: { count, bytes, ms: [...ms] } };
  Object.assign(tally, { calls: 0, pushes: 0, wrong: 0 });
  Object.assign(answers, { count: 0, bytes: 0, ms: [] });
  return figures;
}

answerParent({ open, steady, burst, question, look, read });
