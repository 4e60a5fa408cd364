// A task belongs to its principal: for others it does not exist, in every method and both forms.
import type { JsonObject } from "halyard";
import { describe, expect, test } from "vitest";
import { edges, listenOver, sendModern, serve, type Served, SessionClient } from "../../support/sessions.ts";
import { capabilities, taskServer, type TaskFixture } from "../../support/tasks.ts";

const meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };

const authenticate = (request: {
  header(name: string): string | undefined;
}): { issuer: string; subject: string } | undefined => {
  const [issuer = "", subject] = request.header("x-user")?.split(" ") ?? [];
  return subject === undefined ? undefined : { issuer, subject };
};

const alice = { "x-user": "https://one.example alice" };
/** Another subject, the same subject of another issuer, the same letters split at another place, and no principal. */
const strangers: Record<string, Record<string, string>> = {
  "another user": { "x-user": "https://one.example bob" },
  "a namesake of another issuer": { "x-user": "https://two.example alice" },
  "somebody whose issuer and subject read the same in one": { "x-user": "https://one.examplea lice" },
  "somebody unknown": {},
};

describe.each(edges)("tasks of an authenticated caller · %s", (edge) => {
  async function begin(): Promise<TaskFixture & { served: Served }> {
    const fixture = taskServer();
    return { ...fixture, served: await serve(fixture.server, { auth: authenticate }, edge) };
  }

  describe.each(Object.entries(strangers))("are unknown to %s", (_, headers) => {
    test("in the form of 2025-11-25: get, result, cancel and list [TASK25-AUTH-BIND, TASK25-UNKNOWN]", async () => {
      const { served, gate } = await begin();
      const owner = await SessionClient.open(served, { capabilities, headers: alice });
      const stranger = await SessionClient.open(served, { capabilities, headers });
      const created = (await owner.request("tools/call", { name: "wait", task: {} }))["result"] as {
        task: { taskId: string };
      };
      const { taskId } = created.task;
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        const foreign = await stranger.request(method, { taskId }, 5);
        expect(foreign).toEqual(await stranger.request(method, { taskId: "never-was" }, 5));
        expect(foreign).toMatchObject({ error: { code: -32602 } });
      }
      expect(await stranger.request("tasks/list", {}, 5)).toMatchObject({ result: { tasks: [] } });
      // In another session of the owner it is there.
      const again = await SessionClient.open(served, { capabilities, headers: alice });
      expect(await again.request("tasks/list")).toMatchObject({
        result: { tasks: [{ taskId, status: "working" }] },
      });
      gate.resolve();
      expect(await again.request("tasks/result", { taskId })).toHaveProperty("result.content");
    });

    test("in the form of the extension: get, update, cancel and listen [TASKX-AUTH, TASKX-UNKNOWN-GET, TASKX-UNKNOWN-OTHER]", async () => {
      const { served, gate } = await begin();
      const say = async (
        method: string,
        params: JsonObject,
        who: Record<string, string>,
      ): Promise<JsonObject> => (await sendModern(served.url, method, params, { headers: who, meta })).json();
      const created = (await say("tools/call", { name: "wait" }, alice))["result"] as { taskId: string };
      const { taskId } = created;
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        const params = { inputResponses: {} };
        const foreign = await say(method, { taskId, ...params }, headers);
        expect(foreign).toEqual(await say(method, { taskId: "never-was", ...params }, headers));
        expect(foreign).toMatchObject({ error: { code: -32602 } });
      }
      const filter = { taskIds: [taskId], toolsListChanged: true };
      const [own, other] = [
        await listenOver(served.url, filter, { headers: alice, meta }),
        await listenOver(served.url, filter, { headers, meta }),
      ];
      expect(own.messages[0]).toMatchObject({ params: { notifications: filter } });
      expect(other.messages[0]).toHaveProperty("params.notifications", { toolsListChanged: true });
      expect(await say("tasks/get", { taskId }, alice)).toMatchObject({ result: { status: "working" } });
      gate.resolve();
      await own.message(({ params }) => (params as JsonObject)["status"] === "completed");
      expect(other.messages).toHaveLength(1);
      own.cut();
      other.cut();
    });
  });

  test("of one form are unknown in the other", async () => {
    const { served } = await begin();
    const legacy = await SessionClient.open(served, { capabilities, headers: alice });
    const reply = await sendModern(served.url, "tools/call", { name: "quick" }, { headers: alice, meta });
    const modern = (await reply.json())["result"] as { taskId: string };
    expect(await legacy.request("tasks/get", { taskId: modern.taskId })).toMatchObject({
      error: { code: -32602 },
    });
    expect(await legacy.request("tasks/list")).toMatchObject({ result: { tasks: [] } });
  });
});

describe.each(edges)("the HTTP of tasks · %s", (edge) => {
  test("tasks/get of 2025-11-25 is answered with JSON, not with a stream [TASK25-GET-NO-SSE]", async () => {
    const client = await SessionClient.open(await serve(taskServer().server, {}, edge), { capabilities });
    const begun = await client.request("tools/call", { name: "ask", task: {} });
    const { taskId } = (begun["result"] as { task: { taskId: string } }).task;
    const reply = await client.start("tasks/get", { taskId });
    expect(reply.headers["content-type"]).toMatch(/^application\/json/);
    expect(await reply.json()).toHaveProperty("result.taskId", taskId);
  });

  test.each(["tasks/get", "tasks/update", "tasks/cancel"])(
    "%s must repeat the id in Mcp-Name [TASKX-MCP-NAME]",
    async (method) => {
      const { url } = await serve(taskServer().server, {}, edge);
      const created = await sendModern(url, "tools/call", { name: "wait" }, { meta });
      const { taskId } = (await created.json())["result"] as { taskId: string };
      const params = { taskId, inputResponses: {} };
      const ask = (name: string): ReturnType<typeof sendModern> =>
        sendModern(url, method, params, { meta, headers: { "mcp-name": name } });
      const [right, wrong] = [await ask(taskId), await ask("another")];
      expect([right.status, wrong.status]).toEqual([200, 400]);
      expect(await wrong.json()).toMatchObject({ error: { code: -32020 } });
      await right.closed;
    },
  );
});
