// Observers of the window: several that come and go, and none that can harm a call.
import { windowOf } from "halyard/window";
import { expect, test } from "vitest";
import { call, makeServer, open, refusal, textOf } from "../support/catalogue.ts";
import { ofType } from "../support/events.ts";
import { describeMatrix } from "../support/matrix.ts";

describeMatrix("window.observe", { since: "2025-11-25", transports: ["memory", "http"] }, (cell) => {
  test("calls several observers, each until it is removed, and the one of the options", async () => {
    const { server, events } = makeServer();
    server.tool("t", {}, () => "done");
    const client = await open(cell, server);
    const seen: string[] = [];
    const inside = windowOf(server);
    const stops = ["one", "two"].map((name) =>
      inside.observe(({ type }) => {
        if (type === "request") seen.push(name);
      }),
    );
    await call(client, "t");
    expect(seen).toEqual(["one", "two"]);
    stops[0]?.();
    await call(client, "t");
    expect(seen).toEqual(["one", "two", "two"]);
    stops[0]?.();
    stops[1]?.();
    await call(client, "t");
    expect(seen).toHaveLength(3);
    expect(ofType(events, "request").filter(({ method }) => method === "tools/call")).toHaveLength(3);
  });

  test("logs what an observer throws, and calls the others", async () => {
    const { server, log, events } = makeServer();
    server.tool("t", {}, () => "done");
    const client = await open(cell, server);
    const seen: string[] = [];
    const inside = windowOf(server);
    inside.observe(() => {
      throw new Error("broken observer");
    });
    inside.observe(() => Promise.reject(new Error("broken, too")));
    inside.observe(({ type }) => void seen.push(type));
    events.length = 0;
    expect(textOf(await call(client, "t"))).toBe("done");
    expect(seen).toContain("request");
    expect(ofType(events, "request")).toHaveLength(1);
    expect(log.some(({ message }) => message === "An observer failed")).toBe(true);
  });
});

test("a request event says why the call failed, as its client sees it", async () => {
  const { server, events } = makeServer();
  server.tool("fails", {}, () => ({ content: [{ type: "text", text: "no such city" }], isError: true }));
  server.tool("throws", {}, () => {
    throw new Error("postgres://secret");
  });
  const { connect } = await import("halyard/testing");
  const client = await connect(server);
  await call(client, "fails");
  await call(client, "throws");
  await refusal(client.request("tools/call", { name: "nothing" }));
  const [failed, thrown] = ofType(events, "request").slice(-3);
  const [reported] = ofType(events, "handler-error");
  expect(failed).toMatchObject({ outcome: "error", reason: "no such city", errorId: undefined });
  expect(thrown).toMatchObject({ outcome: "error", errorId: reported?.errorId });
  expect(thrown?.reason).toContain(reported?.errorId);
  expect(JSON.stringify(thrown)).not.toContain("postgres");
  await client.close();
});

test("windowOf returns one window for a server and its port, and throws for anything else", async () => {
  const { server } = makeServer();
  const { portOf } = await import("halyard/transport");
  expect(windowOf(portOf(server))).toBe(windowOf(server));
  expect(() => windowOf({} as never)).toThrow("windowOf");
  expect(() => windowOf(server).observe("x" as never)).toThrow("observe: observer must be a function");
  expect(() => windowOf(server).snapshot("sessions", { pages: 1 } as never)).toThrow("pages");
  expect(() => windowOf(server).snapshot("everything" as never)).toThrow("everything");
});
