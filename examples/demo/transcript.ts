// Starts the notebook as a process, once for a modern and once for a legacy client, and prints every message.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "halyard";

const program = fileURLToPath(new URL("stdio.ts", import.meta.url));
const longest = 200;
const me = { name: "transcript", version: "1.0.0" };

/** Members of every message, which the transcript leaves out. */
const boilerplate = new Set([
  "jsonrpc",
  "io.modelcontextprotocol/clientInfo",
  "io.modelcontextprotocol/clientCapabilities",
  "io.modelcontextprotocol/serverInfo",
]);

/** The differences between the two eras of the protocol. */
interface Era {
  readonly title: string;
  /** The `_meta` of every request. */
  readonly envelope: JsonObject;
  open(client: Client): Promise<void>;
  watch(client: Client): Promise<void>;
}

const modern: Era = {
  title: "A modern client: revision 2026-07-28, every request stands alone",
  envelope: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": me,
    "io.modelcontextprotocol/clientCapabilities": {},
  },
  async open(client) {
    headline("discover", "ask for the name and the capabilities of the server");
    await client.request("server/discover");
  },
  async watch(client) {
    headline("listen", "subscribe to changes");
    const notifications = { toolsListChanged: true, resourceSubscriptions: ["note:///groceries"] };
    client.send("subscriptions/listen", { notifications });
    await client.notified("notifications/subscriptions/acknowledged");
  },
};

const legacy: Era = {
  title: "A legacy client: revision 2025-11-25, with a handshake and a session",
  envelope: {},
  async open(client) {
    headline("initialize", "shake hands");
    await client.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: me });
    client.notify("notifications/initialized");
  },
  async watch(client) {
    headline("subscribe", "subscribe to a resource; list changes need no subscription");
    await client.request("resources/subscribe", { uri: "note:///groceries" });
  },
};

/** A server process, and the messages to and from it. */
class Client {
  readonly #era: Era;
  readonly #child = spawn(process.execPath, ["--import", "tsx", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  readonly #received: JsonObject[] = [];
  #wake = (): void => {};
  #lastId = 0;

  constructor(era: Era) {
    this.#era = era;
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as JsonObject;
      print("<-", message);
      this.#received.push(message);
      this.#wake();
    });
  }

  /** Sends a request and waits for its response. */
  async request(method: string, params: JsonObject = {}, meta: JsonObject = {}): Promise<void> {
    const id = this.send(method, params, meta);
    await this.#next((message) => message["id"] === id);
  }

  /** Sends a request and returns its id immediately. */
  send(method: string, params: JsonObject, meta: JsonObject = {}): number {
    const id = ++this.#lastId;
    const _meta = { ...meta, ...this.#era.envelope };
    const carried = Object.keys(_meta).length > 0 ? { ...params, _meta } : params;
    this.#write({ jsonrpc: "2.0", id, method, params: carried });
    return id;
  }

  notify(method: string, params?: JsonObject): void {
    this.#write({ jsonrpc: "2.0", method, ...(params && { params }) });
  }

  /** Waits for a notification. */
  notified(method: string): Promise<void> {
    return this.#next((message) => message["method"] === method);
  }

  /** Closes the pipe, which ends a server on stdio, and waits for the process to exit. */
  close(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.#child.once("close", resolve));
    this.#child.stdin.end();
    return ended;
  }

  #write(message: JsonObject): void {
    print("->", message);
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Waits for a message that matches, and removes it from those that have arrived. */
  async #next(matches: (message: JsonObject) => boolean): Promise<void> {
    for (;;) {
      const found = this.#received.findIndex(matches);
      if (found >= 0) return void this.#received.splice(found, 1);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

async function show(era: Era): Promise<void> {
  console.log(`\n${era.title}\n${"=".repeat(era.title.length)}`);
  const client = new Client(era);
  const call = (name: string, args: JsonObject = {}): Promise<void> =>
    client.request("tools/call", { name, arguments: args });

  await era.open(client);

  headline("list", "the tools");
  await client.request("tools/list");

  headline("call", "a tool with typed arguments and structured output");
  await call("search_notes", { query: "lemon" });

  headline("call", "invalid arguments: the model receives the reason");
  await call("write_note", { id: "No Spaces, please", text: "Hello" });

  headline("progress", "a slow tool reports each step");
  const counting = { name: "count", arguments: { to: 3, pauseMs: 20 } };
  await client.request("tools/call", counting, { progressToken: "three" });
  for (let step = 1; step <= 3; step++) await client.notified("notifications/progress");

  headline("cancel", "the client cancels, and the handler's signal aborts");
  const endless = { name: "count", arguments: { to: 1000, pauseMs: 20 } };
  const requestId = client.send("tools/call", endless, { progressToken: "endless" });
  await client.notified("notifications/progress");
  client.notify("notifications/cancelled", { requestId, reason: "That takes too long" });
  await sleep(50); // A cancelled call gets no response: the note that the handler writes shows that it stopped.
  await client.request("resources/read", { uri: "note:///count" });

  await era.watch(client);

  headline("list_changed", "enabling a tool changes the list, and the server notifies the client");
  await call("toggle_feature");
  await client.notified("notifications/tools/list_changed");

  headline("updated", "writing a note notifies its subscribers");
  await call("write_note", { id: "groceries", text: "Bread, olives, lemons, salt" });
  await client.notified("notifications/resources/updated");

  headline("read", "a resource that matches a template");
  await client.request("resources/read", { uri: "note:///groceries" });

  headline("prompt", "a prompt with an argument");
  await client.request("prompts/get", { name: "summarise", arguments: { id: "groceries" } });

  headline("complete", "complete “gro”");
  const ref = { type: "ref/resource", uri: "note:///{id}" };
  await client.request("completion/complete", { ref, argument: { name: "id", value: "gro" } });

  headline("shutdown", "the client closes the pipe");
  const exitCode = await client.close();
  console.log(`   the server ended with exit code ${exitCode}`);
  if (exitCode !== 0) process.exitCode = 1;
}

function headline(name: string, what: string): void {
  console.log(`\n${name}: ${what}`);
}

/** Prints a message on one line, and cuts a long one. */
function print(arrow: string, message: JsonObject): void {
  const text = JSON.stringify(message, (key, value: unknown) => (boilerplate.has(key) ? undefined : value));
  console.log(`${arrow} ${text.length > longest ? `${text.slice(0, longest)} …` : text}`);
}

// Give up if the server does not respond.
setTimeout(() => {
  console.error("The server did not respond in time.");
  process.exit(1);
}, 15_000).unref();

await show(modern);
await show(legacy);
