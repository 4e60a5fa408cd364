// Halyard over HTTP with `serveHttp`. The list is of plain JSON Schema tools: its bytes are those of the baseline's list.
import { setImmediate as nextTurn } from "node:timers/promises";
import { serveHttp } from "halyard/node";
import { answerParent } from "../child-commands.js";
import { halyardServer } from "./halyard.js";

const { tools, mode, isAsync } = JSON.parse(process.argv[2]);

// Like the peers it gets room for 10,000 streams of one client, and writes no comments between the measurements.
const SERVER_OPTIONS = { mode: mode === "stateless" ? "stateless" : "both" };
const HTTP_OPTIONS = { port: 0, keepAliveMs: 600_000, limits: { maxListensPerPrincipal: 20_000 } };

const echo = tools === 0;
const server = halyardServer({
  schema: echo ? "zod" : "json",
  fillers: tools,
  echo,
  isAsync,
  options: SERVER_OPTIONS,
});
server.resourceTemplate("note:///{id}", { name: "note" }, () => "note");

let extra;

/** One change of the list of tools: a tool comes, or goes again. */
function change() {
  if (extra === undefined) {
    extra = server.tool("extra", { description: "Comes and goes" }, () => "extra");
  } else {
    extra.remove();
    extra = undefined;
  }
}

async function update({ count, uris }) {
  for (let n = 0; n < count; n++) {
    await server.resources.updated(`note:///${n % uris}`);
    await nextTurn();
  }
}

async function flood({ from, count, text }) {
  for (let n = from; n < from + count; n++) {
    await server.push.broadcast("notifications/message", { level: "info", data: `${n} ${text}` });
    if (n % 100 === 0) await nextTurn();
  }
}

const { port } = await serveHttp(server, HTTP_OPTIONS);
answerParent({ change, update, flood }, { port });
