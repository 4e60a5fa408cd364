// ctx.progress: only for those who asked, only forwards, only while the call runs.
import { type Context, McpServer } from "halyard";
import { expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { listen, paramsOf, settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { deferred } from "../../support/turns.ts";
import type { TestClient } from "halyard/testing";

function serverThat(work: (ctx: Context) => unknown): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("work", {}, async (_, ctx) => {
    await work(ctx);
    return "done";
  });
  return server;
}

async function progressOf(client: TestClient, progressToken: unknown): Promise<object[]> {
  await client.request("tools/call", { name: "work", _meta: { progressToken } });
  await settled(client);
  return client.notifications("notifications/progress").map(paramsOf);
}

describeMatrix("progress", {}, (cell) => {
  test.each([["token"], [""], [0], [7], [-1], [Number.MAX_SAFE_INTEGER]])(
    "is reported under the token of the request, verbatim: %j [PROG-TOKEN-TYPE, PROG-ACTIVE-ONLY]",
    async (progressToken) => {
      const client = await cell.connect(serverThat((ctx) => ctx.progress(1, 2)));
      expect(await progressOf(client, progressToken)).toEqual([{ progressToken, progress: 1, total: 2 }]);
      await client.close();
    },
  );

  test.each([[undefined], [null], [1.5], [true], [{}], [["t"]]])(
    "is not reported without a token that is a string or an integer: %j [PROG-TOKEN-TYPE, PROG-ACTIVE-ONLY]",
    async (progressToken) => {
      const client = await cell.connect(serverThat((ctx) => ctx.progress(1)));
      expect(await progressOf(client, progressToken)).toEqual([]);
      await client.close();
    },
  );

  test("only increases: what does not is left out [PROG-INCREASE, PROG-FLOAT]", async () => {
    const steps = [0, 0, 0.5, 0.25, 0.5, 0.75, Number.NaN, -1, 3, 2, 3.5];
    const client = await cell.connect(serverThat((ctx) => steps.forEach((step) => ctx.progress(step))));
    const reported = await progressOf(client, "t");
    expect(reported.map((params) => (params as { progress: number }).progress)).toEqual([
      0, 0.5, 0.75, 3, 3.5,
    ]);
    await client.close();
  });

  test("is always a number, and so is the total [PROG-INCREASE]", async () => {
    const client = await cell.connect(
      serverThat((ctx) => {
        ctx.progress(1, Number.NaN);
        ctx.progress(2, Number.POSITIVE_INFINITY);
        ctx.progress(Number.POSITIVE_INFINITY);
      }),
    );
    for (const params of await progressOf(client, "t")) {
      expect(params).toHaveProperty("progress", expect.any(Number));
      expect((params as { total?: unknown }).total).not.toBe(null);
    }
    await client.close();
  });

  test("comes before the reply, and stops with it [PROG-STOP, PROG-ACTIVE-ONLY]", async () => {
    const late = deferred<Context>();
    const client = await cell.connect(
      serverThat((ctx) => {
        ctx.progress(1);
        late.resolve(ctx);
      }),
    );
    const params = { name: "work", _meta: { progressToken: "t" } };
    await client.request("tools/call", params, { id: "call" });
    const kinds = client.received
      .map((message) => ("method" in message ? message.method : message.id))
      .slice(-2);
    expect(kinds).toEqual(["notifications/progress", "call"]);
    (await late.promise).progress(2);
    await settled(client);
    expect(client.notifications("notifications/progress")).toHaveLength(1);
    await client.close();
  });

  test("of two calls at once goes out under the token of each [PROG-ACTIVE-ONLY, PROG-DIRECTION-MODERN]", async () => {
    const gates = [deferred(), deferred()];
    let started = 0;
    const client = await cell.connect(
      serverThat(async (ctx) => {
        const at = started++;
        ctx.progress(at + 1);
        await gates[at]?.promise;
        ctx.progress(at + 10);
      }),
    );
    const call = (progressToken: string): Promise<object> =>
      client.request(
        "tools/call",
        { name: "work", _meta: { progressToken } },
        { id: `call-${progressToken}` },
      );
    const [first, second] = [call("a"), call("b")];
    gates[1]?.resolve();
    await second;
    gates[0]?.resolve();
    await first;
    expect(client.notifications("notifications/progress").map(paramsOf)).toEqual([
      { progressToken: "a", progress: 1 },
      { progressToken: "b", progress: 2 },
      { progressToken: "b", progress: 11 },
      { progressToken: "a", progress: 10 },
    ]);
    await client.close();
  });

  test("may come from a prompt or a resource too", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.prompt("p", {}, (_, ctx) => (ctx.progress(1), "Hello"));
    server.resource("note:///a", {}, (_, ctx) => (ctx.progress(1), "a"));
    const client = await cell.connect(server);
    await client.request("prompts/get", { name: "p", _meta: { progressToken: "p" } });
    await client.request("resources/read", { uri: "note:///a", _meta: { progressToken: "r" } });
    expect(client.notifications("notifications/progress").map(paramsOf)).toEqual([
      { progressToken: "p", progress: 1 },
      { progressToken: "r", progress: 1 },
    ]);
    await client.close();
  });
});

describeMatrix("progress", { since: "2025-03-26" }, (cell) => {
  test("has a message [PROG-MESSAGE]", async () => {
    const client = await cell.connect(serverThat((ctx) => ctx.progress(1, 3, "File 1")));
    const expected = [{ progressToken: "t", progress: 1, total: 3, message: "File 1" }];
    expect(await progressOf(client, "t")).toEqual(expected);
    await client.close();
  });
});

describeMatrix("progress", { until: "2024-11-05" }, (cell) => {
  test("has no message yet in the first revision [PROG-MESSAGE]", async () => {
    const client = await cell.connect(serverThat((ctx) => ctx.progress(1, 3, "File 1")));
    expect(await progressOf(client, "t")).toEqual([{ progressToken: "t", progress: 1, total: 3 }]);
    await client.close();
  });
});

describeMatrix("progress", { eras: ["modern"] }, (cell) => {
  test("is never sent on a listen stream, whatever middleware does [PROG-DIRECTION-MODERN, SUB-ACK-FIRST]", async () => {
    const server = serverThat(() => {});
    server.use((_request, ctx, next) => {
      ctx.progress(1);
      return next();
    });
    const client = await cell.connect(server);
    await listen(client, { toolsListChanged: true, _meta: { progressToken: "t" } }, "no token of its own");
    const params = client.withMeta({
      notifications: { toolsListChanged: true },
      _meta: { progressToken: "t" },
    });
    client.send({ jsonrpc: "2.0", id: "sub", method: "subscriptions/listen", ...params });
    await settled(client);
    expect(client.notifications("notifications/progress")).toEqual([]);
    await client.close();
  });
});
