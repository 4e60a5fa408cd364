// What clients and tools send cannot fail a request because a dashboard is open, and reaches the page as text only.
import { McpServer } from "halyard";
import { dashboard } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { expect, onTestFinished, test, vi } from "vitest";
import { openDashboard } from "../support/dashboard.ts";
import { serveWithPage } from "../support/following.ts";
import { recordingLogger } from "../support/log.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

/** The deepest result that the server can send, found by halves. */
function deepestThatIsJson(): number {
  let [least, most] = [1000, 20_000];
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2);
    try {
      JSON.stringify(nested(middle));
      least = middle;
    } catch {
      most = middle;
    }
  }
  return least;
}

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

test("a call whose result has thousands of levels is answered while its client is followed, too", async () => {
  const deepest = deepestThatIsJson();
  const server = new McpServer({ name: "demo", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("deep", { input: { type: "object" } }, ({ levels }) => ({
    content: [],
    structuredContent: { value: nested(Number(levels)) },
  }));
  const { page, url } = await serveWithPage(server);
  const client = await SessionClient.open({ url });
  const [peer = ""] = await page.peers();
  await page.timeline(peer);
  let answered = 0;
  for (let share = 0.3; share < 0.95; share += 0.05) {
    const call = { name: "deep", arguments: { levels: Math.floor(deepest * share) } };
    const reply = await client.start("tools/call", call);
    await reply.closed;
    expect(reply.status, String(share)).toBe(200);
    answered++;
  }
  const entries = (await page.entries(peer)).filter(({ kind }) => kind === "tools/call");
  expect(entries).toHaveLength(answered);
  expect((await page.recording(peer)).lines.length).toBeGreaterThan(answered);
});

test("an asynchronous onOpen that fails is logged, and ends nothing", async () => {
  const { log, ask } = await openDashboard({
    onOpen: () => Promise.reject(new Error("no browser")) as never,
  });
  await until(() => log.length > 0);
  expect(log.map(({ message }) => message)).toEqual(["onOpen() of the dashboard failed"]);
  expect((await ask({ ask: "about" })).status).toBe(200);
});

test.each([true, false, null, 1, "yes", {}, dashboard])(
  "the option dashboard cannot be %o",
  async (given) => {
    const options = { port: 0, dashboard: given as never };
    const remedy = 'dashboard must be what dashboard() returns, which you import from "halyard/dashboard"';
    const server = new McpServer({ name: "demo", version: "1.0.0" });
    await expect(serveHttp(server, options)).rejects.toThrow(remedy);
    expect(() => nodeHandler(server, { dashboard: given as never })).toThrow(remedy);
    expect(() => fetchHandler(server, { dashboard: given as never })).toThrow(remedy);
  },
);

test("a dashboard that is mounted cannot have a port, which only serveHttp opens", () => {
  const server = new McpServer({ name: "demo", version: "1.0.0" });
  const page = dashboard({ token: "a-token-that-is-long-enough", port: 4000 });
  expect(() => nodeHandler(server, { dashboard: page })).toThrow(
    "dashboard: port is 4000, but only serveHttp opens a port: leave it out, and mount nodeHandler or fetchHandler of the dashboard",
  );
});

test("a handler with a dashboard is made without random numbers and timers, which Workers lack before a request", () => {
  const refuse = (): never => {
    throw new Error("Disallowed operation called within global scope");
  };
  const spies = [
    vi.spyOn(crypto, "getRandomValues").mockImplementation(refuse),
    vi.spyOn(crypto, "randomUUID").mockImplementation(refuse),
    vi.spyOn(globalThis, "setTimeout").mockImplementation(refuse),
    vi.spyOn(globalThis, "setInterval").mockImplementation(refuse),
  ];
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  const page = dashboard({ token: "a-token-that-is-long-enough", history: 10 });
  const handler = fetchHandler(new McpServer({ name: "demo", version: "1.0.0" }), { dashboard: page });
  expect(page.fetchHandler).toBeTypeOf("function");
  for (const spy of spies) spy.mockRestore();
  onTestFinished(() => handler.close());
});

const observers: Readonly<Record<string, () => unknown>> = {
  returns: () => undefined,
  throws: () => {
    throw new Error("observe throws");
  },
  rejects: () => Promise.reject(new Error("observe rejects")),
};

test.each(Object.entries(observers))(
  "an observer that %s hears the same events whether the dashboard is open or not",
  async (_, end) => {
    const heard: Record<string, unknown[]> = {};
    for (const look of ["nobody", "somebody", "somebody who follows"]) {
      const events: unknown[] = (heard[look] = []);
      const observe = (event: object): void => {
        const { type, method, state, outcome } = event as Record<string, unknown>;
        events.push([type, method, state, outcome]);
        return end() as never;
      };
      const options = { logger: recordingLogger(), observe };
      const server = new McpServer({ name: "demo", version: "1.0.0" }, options);
      server.tool("echo", {}, () => "text");
      server.resource("note:///a", { name: "a" }, () => "text");
      const { page, url, close } = await serveWithPage(server);
      const client = await SessionClient.open({ url });
      if (look !== "nobody") await page.peers();
      if (look === "somebody who follows") await page.timeline((await page.peers())[0] ?? "");
      await client.request("tools/call", { name: "echo", arguments: {} });
      await client.request("resources/subscribe", { uri: "note:///a" });
      const stream = await client.get();
      await server.resources.updated("note:///a");
      await client.request("no/such/method");
      stream.cut();
      await until(() => events.some((event) => String(event).startsWith("stream,,closed")));
      await close();
    }
    expect(heard["nobody"]?.length).toBeGreaterThan(5);
    for (const events of Object.values(heard)) expect(events).toEqual(heard["nobody"]);
  },
);
