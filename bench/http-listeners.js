// A process that holds many SSE streams of an HTTP server open and counts what is delivered on them.
import { initialize, initialized, modernListen } from "./baselines/messages.js";
import { answerParent } from "./child-commands.js";
import { dataOf, get, legacyFields, modernFields, openSession, post, WireConnection } from "./http-wire.js";

const AT_ONCE = 50;
const FIRST_ID = 10_000; // all ids have the same width, so that all deliveries have the same length
const HANDSHAKE = { initialize: initialize(0), initialized: initialized() };
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";
const FILTERS = {
  listen: () => ({ toolsListChanged: true }),
  uri: (index) => ({ resourceSubscriptions: [`note:///${index}`] }),
};

const connections = [];
const tally = { deliveries: 0, wrong: 0, bytes: 0, sample: undefined };
let expected;

function isOwn(message, id) {
  return id === undefined || message.params?._meta?.[SUBSCRIPTION_ID] === id;
}

/** Counts a delivery; comments and events without data are none. */
function receive(event, id) {
  const data = dataOf(event);
  if (data === "") return;
  tally.deliveries++;
  tally.bytes += event.length + 2;
  tally.sample = `${event}\n\n`;
  if (!isOwn(JSON.parse(data), id)) tally.wrong++;
  if (expected && tally.deliveries >= expected.deliveries) expected.resolve();
}

async function openListen({ port, kind, stamped }, index) {
  const id = FIRST_ID + index;
  const connection = await WireConnection.open(port);
  const body = modernListen(id, FILTERS[kind](index));
  await new Promise((resolve, reject) => {
    let receiveEvent = (event) => {
      if (!dataOf(event).includes("notifications/subscriptions/acknowledged"))
        reject(new Error(`no acknowledgement: ${event}`));
      receiveEvent = (later) => receive(later, stamped ? id : undefined);
      resolve();
    };
    const request = post(port, body, modernFields("subscriptions/listen"));
    connection.stream(request, (event) => receiveEvent(event)).catch(reject);
  });
  return connection;
}

async function openGet({ port }) {
  const connection = await WireConnection.open(port);
  const session = await openSession(connection, port, HANDSHAKE);
  await connection.stream(get(port, legacyFields(session)), (event) => receive(event));
  return connection;
}

/** Opens `count` streams: `kind` is listen (changes of tools), uri (one resource each) or get (each in a session). */
async function open(settings) {
  const openOne = settings.kind === "get" ? openGet : openListen;
  const end = connections.length + settings.count;
  while (connections.length < end) {
    const wave = Math.min(AT_ONCE, end - connections.length);
    const indexes = Array.from({ length: wave }, (_, offset) => connections.length + offset);
    connections.push(...(await Promise.all(indexes.map((index) => openOne(settings, index)))));
  }
}

/** From now on nothing is read. */
function pause() {
  for (const connection of connections) connection.pause();
}

function reset() {
  Object.assign(tally, { deliveries: 0, wrong: 0, bytes: 0 });
}

/** Waits until so many deliveries have been counted since the last reset. */
function wait({ deliveries }) {
  return new Promise((resolve) => {
    expected = { deliveries, resolve };
    if (tally.deliveries >= deliveries) resolve();
  });
}

function read() {
  return { ...tally, closed: connections.filter((connection) => connection.closed).length };
}

answerParent({ open, pause, reset, wait, read });
