// Halyard over HTTP with a dashboard or without one; it pushes at a steady rate and can tell how long its longest turn was.
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { answerParent } from "../child-commands.js";
import { halyardServer } from "./halyard.js";

const FILLERS = 50;
const { hasDashboard = false } = JSON.parse(process.argv[2]);

const server = halyardServer({ schema: "zod", fillers: FILLERS });
server.resourceTemplate("note:///{id}", { name: "note" }, () => "note");

const page = hasDashboard ? dashboard({ onOpen: () => {} }) : undefined;
const { port } = await serveHttp(server, {
  port: 0,
  keepAliveMs: 600_000,
  limits: { maxListensPerPrincipal: 20_000 },
  ...(page && { dashboard: page }),
});

/** Tells the listeners of one note after the other that it changed, for as long as this process lives. */
function push({ perSecond, uris }) {
  let next = 0;
  setInterval(() => void server.resources.updated(`note:///${next++ % uris}`), 1000 / perSecond);
}

let watch;

/** From now on each turn of the event loop is followed by another, and the longest is kept. */
function watchTurns() {
  const own = { longestMs: 0, last: process.cpuUsage() };
  watch = own;
  const turn = () => {
    const { user, system } = process.cpuUsage();
    own.longestMs = Math.max(own.longestMs, (user + system - own.last.user - own.last.system) / 1000);
    own.last = { user, system };
    if (watch === own) setImmediate(turn);
  };
  setImmediate(turn);
}

/** The CPU milliseconds of the longest turn since `watchTurns`: a turn that had to wait for a core is not longer. */
function longestTurn() {
  const { longestMs } = watch;
  watch = undefined;
  return longestMs;
}

answerParent({ push, watchTurns, longestTurn }, { port, page: page?.url });
