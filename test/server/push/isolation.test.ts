// Two clients of one server, with the same ids, sessions and tokens in use at the same time, never meet.
import { McpServer } from "halyard";
import { expect, test } from "vitest";
import * as z from "zod";
import { listen, paramsOf, settled, stopListening, toldTo } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { deferred } from "../../support/turns.ts";

const input = z.object({ who: z.enum(["one", "two"]) });

describeMatrix("two clients of one server", {}, (cell) => {
  test("calls with the same id at the same time are each answered to their own client [BASE-RESP-ID-ECHO]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const gates = { one: deferred(), two: deferred() };
    server.tool("who", { input }, async ({ who }, ctx) => {
      ctx.progress(1, 2, who);
      await gates[who].promise;
      ctx.log("error", who);
      return `for ${who}`;
    });
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    const _meta = { progressToken: 7, "io.modelcontextprotocol/logLevel": "debug" };
    const call = (who: string): object => ({ name: "who", arguments: { who }, _meta });
    const first = one.request("tools/call", { ...call("one") }, { id: 7 });
    const second = two.request("tools/call", { ...call("two") }, { id: 7 });
    gates.two.resolve();
    expect(await second).toMatchObject({ content: [{ text: "for two" }] });
    gates.one.resolve();
    expect(await first).toMatchObject({ content: [{ text: "for one" }] });
    for (const [client, who] of [
      [one, "one"],
      [two, "two"],
    ] as const) {
      const told = client.notifications("notifications/message").map(paramsOf);
      expect(told.map(({ data }) => data)).toEqual([who]);
      expect(client.notifications("notifications/progress")).toHaveLength(1);
      expect(JSON.stringify(client.received)).not.toContain(who === "one" ? "two" : "one");
    }
    await one.close();
    await two.close();
  });

  test("a cancellation reaches only the call of the client that sent it", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const aborted: string[] = [];
    const gate = deferred();
    server.tool("slow", { input }, async ({ who }, ctx) => {
      ctx.signal.addEventListener("abort", () => aborted.push(who));
      await gate.promise;
      return who;
    });
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    const params = (who: string): object => ({ name: "slow", arguments: { who } });
    one.send({ jsonrpc: "2.0", id: "same", method: "tools/call", ...one.withMeta({ ...params("one") }) });
    const second = two.request("tools/call", { ...params("two") }, { id: "same" });
    await settled(one);
    one.notify("notifications/cancelled", { requestId: "same" });
    await settled(one);
    gate.resolve();
    expect(await second).toMatchObject({ content: [{ text: "two" }] });
    expect(aborted).toEqual(["one"]);
    await settled(one);
    expect(one.received.filter((message) => "id" in message && message.id === "same")).toEqual([]);
    await one.close();
    await two.close();
  });

  test("the end of one client ends nothing of the other", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const gate = deferred();
    server.tool("slow", {}, async () => {
      await gate.promise;
      return "done";
    });
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    const call = two.request("tools/call", { name: "slow" }, { id: 1000 });
    await settled(two);
    await one.close();
    gate.resolve();
    expect(await call).toMatchObject({ content: [{ text: "done" }] });
    await two.close();
  });
});

describeMatrix("two clients of one server", { eras: ["modern"] }, (cell) => {
  test("subscriptions with the same id are told what their own client asked for [SUB-OPT-IN, SUB-CONCURRENT-FANOUT]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("a", {}, () => "a");
    server.prompt("b", {}, () => "b");
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    await listen(one, { toolsListChanged: true }, 1);
    await listen(two, { promptsListChanged: true }, 1);
    server.tool("c", {}, () => "c");
    await Promise.resolve();
    server.prompt("d", {}, () => "d");
    await settled(one);
    await settled(two);
    expect(toldTo(one.received, 1)).toEqual(["tools/list_changed"]);
    expect(toldTo(two.received, 1)).toEqual(["prompts/list_changed"]);
    stopListening(one, 1);
    await settled(one);
    server.prompt("e", {}, () => "e");
    await settled(two);
    expect(toldTo(two.received, 1)).toEqual(["prompts/list_changed", "prompts/list_changed"]);
    await one.close();
    await two.close();
  });
});
