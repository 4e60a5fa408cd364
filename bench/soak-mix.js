// What the soak sends, as a table: each row is one kind of visitor, with its share of all the visits.
import { setTimeout as sleep } from "node:timers/promises";
import {
  initialize,
  initialized,
  legacyCall,
  modernCall,
  modernList,
  modernListen,
} from "./baselines/messages.js";
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

const HANDSHAKE = { initialize: initialize(0), initialized: initialized() };
const ECHO = modernFields("tools/call", "echo");
let lastId = 1000;

/** The same message with another tool, and no arguments. */
function calling(text, name, progressToken) {
  const message = JSON.parse(text);
  message.params = { ...message.params, name, arguments: {} };
  if (progressToken !== undefined) message.params._meta = { ...message.params._meta, progressToken };
  return JSON.stringify(message);
}

function assert(holds, found) {
  if (!holds) throw new Error(`${found.status} ${found.body}`.slice(0, 300));
}

function assertText(answer, id, text) {
  const message = answer.status === 200 ? JSON.parse(jsonOf(answer)) : {};
  assert(message.id === id && message.result?.content?.[0]?.text === text, answer);
}

/** On a connection of its own, which is closed whatever happens. */
async function alone(visit, run) {
  const connection = await WireConnection.open(visit.port);
  try {
    return await run(connection);
  } finally {
    connection.close();
  }
}

async function modernEcho({ port, modern, sent }) {
  const id = ++lastId;
  await modern.use(async (connection) => {
    sent();
    assertText(await connection.request(post(port, modernCall(id, `text ${id}`), ECHO)), id, `text ${id}`);
  });
}

async function modernTools({ port, modern, sent }) {
  await modern.use(async (connection) => {
    sent();
    const answer = await connection.request(post(port, modernList(++lastId), modernFields("tools/list")));
    assert(answer.status === 200 && JSON.parse(answer.body).result.tools.length >= 24, answer);
  });
}

async function modernReport({ port, modern, sent }) {
  const id = ++lastId;
  const body = calling(modernCall(id, ""), "report", id);
  await modern.use(async (connection) => {
    sent();
    const answer = await connection.request(post(port, body, modernFields("tools/call", "report")));
    assert(answer.body.split("notifications/progress").length === 4, answer);
    assertText(answer, id, "reported");
  });
}

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const asking = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };

/** A modern request of a client that can be asked, and knows tasks. */
function modernRequest(id, method, params) {
  const message = JSON.parse(modernCall(id, ""));
  const _meta = { ...message.params._meta, [CAPABILITIES]: asking };
  return JSON.stringify({ ...message, method, params: { ...params, _meta } });
}

/** Is asked, and calls again with the answer. */
async function modernRounds({ port, modern, sent }) {
  const fields = modernFields("tools/call", "ask");
  const call = { name: "ask", arguments: {} };
  await modern.use(async (connection) => {
    sent(2);
    const first = await connection.request(post(port, modernRequest(++lastId, "tools/call", call), fields));
    const { requestState, inputRequests } = JSON.parse(first.body).result ?? {};
    assert(inputRequests?.name !== undefined, first);
    const id = ++lastId;
    const inputResponses = { name: { action: "accept", content: { name: `n${id}` } } };
    const body = modernRequest(id, "tools/call", { ...call, inputResponses, requestState });
    assertText(await connection.request(post(port, body, fields)), id, `n${id}`);
  });
}

/** Begins a task, and comes back for its result. */
async function modernTask({ port, modern, sent }) {
  await modern.use(async (connection) => {
    const ask = async (method, name, params) => {
      sent();
      const body = modernRequest(++lastId, method, params);
      const answer = await connection.request(post(port, body, modernFields(method, name)));
      return { answer, result: answer.status === 200 ? JSON.parse(answer.body).result : undefined };
    };
    const begun = await ask("tools/call", "work", { name: "work", arguments: {} });
    const taskId = begun.result?.taskId;
    assert(taskId !== undefined, begun.answer);
    await sleep(50);
    const { answer, result } = await ask("tasks/get", taskId, { taskId });
    assert(result?.status === "completed" && result.result.content[0].text === "worked", answer);
  });
}

async function legacyEcho({ port, legacy, sent }) {
  const id = ++lastId;
  await legacy.use(async (connection) => {
    // A session lasts as long as its connection.
    if (connection.session === undefined) {
      sent(2);
      connection.session = await openSession(connection, port, HANDSHAKE);
    }
    sent();
    const body = legacyCall(id, `text ${id}`);
    const answer = await connection.request(post(port, body, legacyFields(connection.session)));
    assertText(answer, id, `text ${id}`);
  });
}

/** Listens, takes a change or two, and hangs up. */
async function listening(visit) {
  await alone(visit, async (connection) => {
    const id = ++lastId;
    const events = [];
    visit.sent();
    const body = modernListen(id, { toolsListChanged: true, resourceSubscriptions: ["note:///1"] });
    const request = post(visit.port, body, modernFields("subscriptions/listen"));
    await connection.stream(request, (event) => events.push(dataOf(event)));
    await sleep(600);
    const isAcknowledged = events[0]?.includes("notifications/subscriptions/acknowledged");
    assert(isAcknowledged && events.length > 1, { status: 200, body: events.join("\n") });
  });
}

/** A whole session: handshake, stream, call, goodbye. */
async function wholeSession(visit) {
  const { port, sent } = visit;
  await alone(visit, async (connection) => {
    sent(2);
    const session = await openSession(connection, port, HANDSHAKE);
    await alone(visit, async (stream) => {
      sent();
      await stream.stream(get(port, legacyFields(session)), () => {});
      sent(2);
      const id = ++lastId;
      assertText(
        await connection.request(post(port, legacyCall(id, "in session"), legacyFields(session))),
        id,
        "in session",
      );
      const goodbye = get(port, legacyFields(session)).replace(/^GET/, "DELETE");
      const { status, body } = await connection.request(goodbye);
      assert(status === 204, { status, body });
    });
  });
}

async function forgottenSession(visit) {
  await alone(visit, async (connection) => {
    visit.sent(2);
    await openSession(connection, visit.port, HANDSHAKE);
  });
}

/** Reads nothing of a stream on which more comes than fits. */
async function slowReader(visit) {
  const { port, sent } = visit;
  await alone(visit, async (connection) => {
    sent(2);
    const session = await openSession(connection, port, HANDSHAKE);
    await alone(visit, async (stream) => {
      sent(2);
      await stream.stream(get(port, legacyFields(session)), () => {});
      stream.pause();
      const id = ++lastId;
      const body = calling(legacyCall(id, ""), "flood");
      assertText(await connection.request(post(port, body, legacyFields(session))), id, "flooded");
      await sleep(2000);
    });
  });
}

/** Asks for something slow and hangs up. */
async function hangUp(visit) {
  await alone(visit, async (connection) => {
    visit.sent();
    const body = calling(modernCall(++lastId, ""), "slow");
    connection.request(post(visit.port, body, modernFields("tools/call", "slow"))).catch(() => {});
    await sleep(20);
  });
}

async function halfBody(visit) {
  await alone(visit, async (connection) => {
    visit.sent();
    const whole = post(visit.port, modernCall(++lastId, "half"), ECHO);
    connection.request(whole.slice(0, -20)).catch(() => {});
    await sleep(20);
  });
}

const deep = `${"[".repeat(100)}${"]".repeat(100)}`;

/** What is wrong with a request, and how it is to be answered. */
const MALFORMED = [
  [(port) => post(port, "{"), 400],
  [(port) => post(port, ""), 400],
  [(port) => post(port, deep), 400],
  [(port) => post(port, `[${"1,".repeat(500)}1]`), 400],
  [(port) => post(port, '{"jsonrpc":"1.0","id":1,"method":"ping"}', ECHO), 400],
  [(port) => post(port, '{"__proto__":{"method":"ping"},"jsonrpc":"2.0","id":1}', ECHO), 400],
  [(port) => post(port, modernCall(1, "x"), modernFields("tools/list")), 400],
  [(port) => post(port, modernCall(1, "x"), { ...ECHO, "MCP-Protocol-Version": "1999-01-01" }), 400],
  [(port) => post(port, legacyCall(1, "x"), { "Mcp-Session-Id": "not-a-session" }), 404],
  [(port) => post(port, legacyCall(1, "x")), 400],
  [(port) => post(port, modernCall(1, "x"), { ...ECHO, Origin: "https://evil.example" }), 403],
  [(port) => post(port, modernCall(1, "x"), { ...ECHO, accept: "image/png" }), 406],
  [(port) => post(port, "{}").replace("application/json\r\n", "text/plain\r\n"), 415],
  [(port) => get(port, { "Mcp-Session-Id": "x", "Last-Event-ID": "../../1" }), 404],
  [(port) => get(port, {}).replace("/mcp", "/nowhere"), 404],
  [() => "POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400],
  [() => "NONSENSE\r\n\r\n", 400],
];
let nextMalformed = 0;

async function malformed(visit) {
  const [make, status] = MALFORMED[nextMalformed++ % MALFORMED.length];
  await alone(visit, async (connection) => {
    visit.sent();
    const text = make(visit.port);
    const answer = await connection.request(text);
    if (answer.status !== status)
      throw new Error(`${answer.status} instead of ${status} for ${text.slice(0, 300)}`);
  });
}

/**
 * One row for each kind of visitor: `share` of the visits; `isWellFormed` where every answer must be right. What a row of
 * the others throws is counted too, for even nonsense has one right answer. `visit` has the port, the pools of kept
 * connections `modern` and `legacy`, and `sent(count)` to count requests.
 */
export const MIX = [
  { name: "modern call", share: 420, isWellFormed: true, run: modernEcho },
  { name: "modern list", share: 20, isWellFormed: true, run: modernTools },
  { name: "modern call with progress", share: 40, isWellFormed: true, run: modernReport },
  { name: "legacy call in a session", share: 420, isWellFormed: true, run: legacyEcho },
  { name: "modern call that asks, in two rounds", share: 10, isWellFormed: true, run: modernRounds },
  { name: "modern task, begun and looked at", share: 10, isWellFormed: true, run: modernTask },
  { name: "listen, then hang up", share: 5, isWellFormed: true, run: listening },
  { name: "session with stream, from begin to end", share: 10, isWellFormed: true, run: wholeSession },
  { name: "session that is forgotten", share: 4, isWellFormed: true, run: forgottenSession },
  { name: "stream that is not read", share: 1, isWellFormed: true, run: slowReader },
  { name: "call that is hung up on", share: 20, isWellFormed: false, run: hangUp },
  { name: "body that breaks off", share: 10, isWellFormed: false, run: halfBody },
  { name: "malformed", share: 50, isWellFormed: false, run: malformed },
];
