// Mistakes of newcomers with a window: each is refused at once, with what to do instead.
import { ConfigurationError, McpServer } from "halyard";
import { connect } from "halyard/client";
import { describePeer, type ServerWindow, windowOf } from "halyard/window";
import { expect, onTestFinished, test } from "vitest";
import { serve, SessionClient } from "../support/sessions.ts";

function makeServer(): McpServer {
  return new McpServer({ name: "demo", version: "1.0.0" });
}

/** The window without its types, as newcomers in JavaScript use it. */
function untyped(): Record<string, (...given: unknown[]) => unknown> {
  return windowOf(makeServer()) as ServerWindow & Record<string, (...given: unknown[]) => unknown>;
}

const thePeer = "must be the peer of a snapshot row or of describePeer(event), not";

test.each([
  ["the name of a client", "my-app"],
  ["the client of a row", "probe 1.0.0"],
  ["the id of a session", crypto.randomUUID()],
])("%s is no peer", async (_, peer) => {
  const inside = windowOf(makeServer());
  const problem = `peer ${thePeer} "${peer}"`;
  const refused = { name: "ConfigurationError", field: "peer" };
  expect(() => inside.follow({ peer }, () => {})).toThrow(`follow: ${problem}`);
  expect(() => inside.follow({ peer, everywhere: true }, () => {})).toThrow(`follow: ${problem}`);
  expect(() => inside.snapshot("calls", { peer })).toThrow(`snapshot: ${problem}`);
  await expect(inside.end(peer)).rejects.toMatchObject({ ...refused, message: `end: ${problem}` });
  await expect(inside.end(undefined as never)).rejects.toMatchObject(refused);
});

test("the peers of rows and events are taken", async () => {
  const server = makeServer();
  const inside = windowOf(server);
  const peers = new Set<string>();
  inside.observe((event) => void (event.type === "session" && peers.add(describePeer(event).peer)));
  const { url } = await serve(server);
  for (let at = 0; at < 20; at++) await SessionClient.open({ url });
  const rows = inside.snapshot("sessions").rows;
  expect(rows).toHaveLength(20);
  for (const { peer } of rows) {
    expect(peers).toContain(peer);
    inside.follow({ peer }, () => {}).stop();
    expect(inside.snapshot("sessions", { peer }).total).toBe(1);
    expect(await inside.end(peer)).toEqual({ sessions: 1, streams: 0 });
  }
});

test("functions in the wrong place are refused with the right one", () => {
  const inside = untyped();
  const oneFunction = "observe takes one function for all events: check event.type in it";
  const refusedBy = (run: () => unknown): unknown => {
    try {
      run();
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      return (error as Error).message;
    }
    return undefined;
  };
  expect(refusedBy(() => inside["observe"]?.("request", () => {}))).toBe(
    `observe: observer must be a function, not "request": ${oneFunction}`,
  );
  expect(refusedBy(() => inside["follow"]?.({ peer: "abc" }))).toBe(
    "follow: follower must be a function, not undefined: pass a function as the second argument",
  );
  expect(refusedBy(() => inside["around"]?.())).toBe("around: hook must be a function, not undefined");
});

test("a client has no window", async () => {
  const { url } = await serve(makeServer());
  const client = await connect(url);
  onTestFinished(() => client.close());
  expect(() => windowOf(client as never)).toThrow(
    "windowOf: server is an McpClient, but windows and transports belong to a server: pass the McpServer",
  );
});

test.each([[undefined], [5], ["session"], ["toString"], [{ kind: "sessions" }]])(
  "there is no snapshot of %j",
  (kind) => {
    const taken = '"sessions", "streams", "subscriptions", "calls", "tasks", "tools" or "nodes"';
    const refused = { name: "ConfigurationError", field: "kind" };
    const message = expect.stringContaining(`snapshot: kind must be ${taken}`) as string;
    expect(() => untyped()["snapshot"]?.(kind)).toThrow(expect.objectContaining({ ...refused, message }));
  },
);

test("a page has at most 1000 rows", () => {
  const inside = windowOf(makeServer());
  expect(inside.snapshot("tools", { limit: 1000 }).total).toBe(0);
  expect(inside.snapshot("tools", { limit: 0 }).rows).toEqual([]);
  expect(() => inside.snapshot("sessions", { limit: 1001 })).toThrow(
    "snapshot: limit must be a whole number from 0 to 1000, not 1001: pass next of the page as offset for the rest",
  );
  expect(() => inside.snapshot("sessions", { limit: -1 })).toThrow(
    "snapshot: limit must be a whole number from 0 to 1000, not -1",
  );
});

test.each([[undefined], [null], ["a text"], [[]]])("describePeer refuses %j", (given) => {
  expect(() => describePeer(given as never)).toThrow(
    expect.objectContaining({
      name: "ConfigurationError",
      message: expect.stringContaining(
        "describePeer: known must be an event, a call, or an object",
      ) as string,
    }),
  );
});

test.each([
  ["on", "observe(observer)"],
  ["subscribe", "observe(observer)"],
  ["off", "the function that observe() returned"],
  ["sessions", 'snapshot("sessions")'],
  ["streams", 'snapshot("streams")'],
  ["calls", 'snapshot("calls")'],
  ["use", "server.use(middleware)"],
  ["disconnect", "end(peer)"],
])("inside.%s() names what to use", (name, remedy) => {
  const inside = untyped();
  expect(() => inside[name]?.("request", () => {})).toThrow(`The window has no ${name}(): use ${remedy}`);
  const enumerable: string[] = [];
  for (const each in inside) enumerable.push(each);
  expect(enumerable).not.toContain(name);
});
