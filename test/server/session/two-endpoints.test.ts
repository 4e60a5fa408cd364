// A session that its client uses at two endpoints of one server: it is one session, and ends at both.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { edges, serve, type Served, SessionClient } from "../../support/sessions.ts";
import { deferred, until } from "../../support/turns.ts";

interface Setup {
  readonly server: McpServer;
  /** The client at each of the endpoints. */
  readonly here: SessionClient;
  readonly there: SessionClient;
  readonly second: Served;
  readonly ended: readonly string[];
}

describe.each(edges)("two endpoints · %s", (edge) => {
  async function setup(): Promise<Setup> {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    const ended: string[] = [];
    server.onSessionClosed((_, reason) => void ended.push(reason));
    const [first, second] = [await serve(server, {}, edge), await serve(server, {}, edge)];
    const here = await SessionClient.open(first);
    const there = new SessionClient(second.url, here.id);
    return { server, here, there, second, ended };
  }

  test("an open stream at one gets what is broadcast after a request at the other", async () => {
    const { server, here, there } = await setup();
    const stream = await here.get();
    expect(await there.request("ping")).toMatchObject({ result: {} });
    expect(await server.push.broadcast("notifications/message", { level: "info", data: 1 })).toBe(1);
    await stream.message(({ method }) => method === "notifications/message");
  });

  test("a session that is deleted at one ends at the other", async () => {
    const { here, there, ended } = await setup();
    const stream = await here.get();
    expect(await there.request("ping")).toMatchObject({ result: {} });
    expect(await there.delete()).toBe(204);
    await stream.closed;
    expect((await here.start("ping")).status).toBe(404);
    expect(ended).toEqual(["deleted"]);
  });

  test("a session ends with the endpoint that has it", async () => {
    const { server, here, there, second, ended } = await setup();
    const stream = await here.get();
    expect(await there.request("ping")).toMatchObject({ result: {} });
    await second.close();
    await stream.closed;
    expect((await here.start("ping")).status).toBe(404);
    expect(await server.push.toSession(here.id, "notifications/message", { level: "info", data: 1 })).toBe(
      false,
    );
    expect(ended).toEqual(["shutdown"]);
  });

  test("a call at one is cancelled at the other", async () => {
    const { server, here, there } = await setup();
    const cancelled = deferred();
    let isRunning = false;
    server.tool("held", {}, (_, ctx) => {
      isRunning = true;
      ctx.signal.addEventListener("abort", () => cancelled.resolve());
      return cancelled.promise.then(() => "cancelled");
    });
    const call = await Promise.race([
      here.start("tools/call", { name: "held" }, "held"),
      until(() => isRunning),
    ]);
    expect(call).toBeUndefined();
    const params = { requestId: "held" };
    expect(await there.say({ jsonrpc: "2.0", method: "notifications/cancelled", params })).toBe(202);
    await cancelled.promise;
  });
});
