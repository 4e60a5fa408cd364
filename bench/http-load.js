// A process that drives an HTTP server in a closed loop: each connection sends its next request after the last answer.
import { initialize, initialized } from "./baselines/messages.js";
import { answerParent } from "./child-commands.js";
import {
  bodies,
  jsonOf,
  legacyFields,
  modernFields,
  openSession,
  postHead,
  WireConnection,
} from "./http-wire.js";

const FIRST_ID = 1000; // all ids have the same width, so that all bodies of a kind have the same length
const IDS = 1000;
const HANDSHAKE = { initialize: initialize(0), initialized: initialized() };
const textOf = (id) => `hello halyard ${id}`;
const ids = Array.from({ length: IDS }, (_, index) => FIRST_ID + index);

const LONGEST_IDLE_MS = 3000; // servers close a connection that has been idle for 5 seconds

const clients = [];
let lastUsed = 0;
let requests;
let checkAnswer;
let target;

function fieldsOf({ era, kind }, session) {
  if (era === "modern") return modernFields(...(kind === "call" ? ["tools/call", "echo"] : ["tools/list"]));
  return legacyFields(session);
}

async function openClient() {
  const { port, era, accept } = target;
  const connection = await WireConnection.open(port);
  lastUsed = Date.now();
  const session = era === "session" ? await openSession(connection, port, HANDSHAKE) : undefined;
  const head = postHead(port, requests[0].length, { accept, ...fieldsOf(target, session) });
  return { connection, head };
}

/** Connects to a server: `era` is modern, session or stateless (legacy, no session), `kind` is call or list. */
async function open(settings) {
  target = settings;
  const make = bodies[settings.era === "modern" ? "modern" : "legacy"][settings.kind];
  requests = ids.map((id) => make(id, textOf(id)));
  checkAnswer = settings.kind === "call" ? isEcho : listChecker(settings.tools);
  for (let count = 0; count < settings.connections; count++) clients.push(await openClient());
}

function isEcho(text, id) {
  const message = JSON.parse(text);
  return message.id === id && message.result?.content?.[0]?.text === textOf(id);
}

// A long list is parsed once; later ones must have its length, their own id and their last tool: parsing each of them
// would make the client slower than the server.
function listChecker(count) {
  let length;
  const last = `search_issues_${count - 1}`;
  return (text, id) => {
    length ??= wholeList(text, count) ? text.length : -1;
    return text.length === length && text.includes(`"id":${id}`) && text.includes(last);
  };
}

function wholeList(text, count) {
  const { result } = JSON.parse(text);
  return (
    result?.tools?.length === count && result.tools.every((tool) => tool.inputSchema?.properties?.project)
  );
}

async function reopenIdle() {
  if (Date.now() - lastUsed < LONGEST_IDLE_MS) return;
  for (const client of clients) {
    client.connection.close();
    client.connection = await WireConnection.open(target.port);
  }
}

/** Sends `count` requests over all the connections; every answer is checked. */
async function run({ count }) {
  await reopenIdle();
  const state = { count, next: 0, errors: 0, firstError: undefined, bytes: 0 };
  await Promise.all(clients.map((client) => drive(client, state)));
  lastUsed = Date.now();
  const { errors, firstError, bytes } = state;
  return { errors, firstError, bytes: bytes / count };
}

async function drive({ connection, head }, state) {
  for (let n = state.next++; n < state.count; n = state.next++) {
    const index = n % IDS;
    const answer = await connection.request(head + requests[index]);
    state.bytes += answer.body.length;
    if (isRight(answer, ids[index])) continue;
    state.errors++;
    state.firstError ??= `${answer.status} ${answer.body.slice(0, 300)}`;
  }
}

function isRight(answer, id) {
  return answer.status === 200 && checkAnswer(jsonOf(answer), id);
}

/** Opens `count` sessions over the connections of this process and leaves them idle. */
async function sessions({ port, count }) {
  const connections = await Promise.all(Array.from({ length: 16 }, () => WireConnection.open(port)));
  let left = count;
  const openNext = async (connection) => {
    while (left-- > 0) await openSession(connection, port, HANDSHAKE);
  };
  await Promise.all(connections.map(openNext));
  for (const connection of connections) connection.close();
}

answerParent({ open, run, sessions });
