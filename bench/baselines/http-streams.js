// The open SSE streams of the hand-written HTTP servers, and the plain writes that reach them.
import { setImmediate as nextTurn } from "node:timers/promises";

const STREAM_HEAD = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};
const subscriptionMeta = (id) => ({ "io.modelcontextprotocol/subscriptionId": id });
const event = (method, params) => `data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`;

const streams = new Set();
const streamsByUri = new Map();

/** Answers a GET: a stream, kept until it is closed. */
export function openGetStream(res) {
  res.writeHead(200, STREAM_HEAD);
  res.flushHeaders();
  streams.add(res);
  res.on("close", () => streams.delete(res));
}

/** Answers a `subscriptions/listen`: a stream that begins with the acknowledgement, kept until it is closed. */
export function openListenStream(res, { id, params: { notifications } }) {
  const uris = notifications.resourceSubscriptions ?? [];
  res.writeHead(200, STREAM_HEAD);
  res.write(
    event("notifications/subscriptions/acknowledged", { _meta: subscriptionMeta(id), notifications }),
  );
  streams.add(res);
  for (const uri of uris) streamsByUri.set(uri, res);
  res.on("close", () => {
    streams.delete(res);
    for (const uri of uris) streamsByUri.delete(uri);
  });
}

/** Writes the same bytes to every stream: those that the parent has seen Halyard send, if it has. */
function change({ sample }) {
  const params = { _meta: subscriptionMeta(10_000) };
  const bytes = Buffer.from(sample ?? event("notifications/tools/list_changed", params));
  for (const res of streams) res.write(bytes);
}

/** Writes `count` updates, each to the one stream that asked for its URI. */
async function update({ count, uris }) {
  for (let n = 0; n < count; n++) {
    const uri = `note:///${n % uris}`;
    const params = { _meta: subscriptionMeta(10_000), uri };
    streamsByUri.get(uri).write(event("notifications/resources/updated", params));
    await nextTurn();
  }
}

/** Writes `count` distinct messages to every stream, read or not. */
async function flood({ from, count, text }) {
  for (let n = from; n < from + count; n++) {
    const bytes = event("notifications/message", { level: "info", data: `${n} ${text}` });
    for (const res of streams) res.write(bytes);
    if (n % 100 === 0) await nextTurn();
  }
}

/** What the parent may ask of a hand-written server. */
export const commands = { change, update, flood };
