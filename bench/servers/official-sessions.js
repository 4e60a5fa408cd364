// Legacy sessions on an official SDK, v1 or v2: neither has a session manager, so its documentation's map is written here.
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

const sessions = new Map();

/** A node:http handler; `open` makes a connected server and gives the transport these options. */
export function sessionHandler(open) {
  return async (req, res) => {
    const known = sessions.get(req.headers["mcp-session-id"]);
    const { transport } = known ?? (await open(sessionOptions()));
    await transport.handleRequest(req, res);
  };
}

function sessionOptions() {
  const session = {};
  const options = {
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, session),
  };
  return { session, options };
}

async function change() {
  for (const { server } of sessions.values()) server.sendToolListChanged();
}

async function flood({ from, count, text }) {
  for (let n = from; n < from + count; n++) {
    const params = { level: "info", data: `${n} ${text}` };
    for (const { server } of sessions.values())
      await server.server.notification({ method: "notifications/message", params });
    if (n % 100 === 0) await nextTurn();
  }
}

/** What the parent may ask of it. */
export const commands = { change, flood };
