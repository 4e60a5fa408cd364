// The states of a client, their reasons, and who hears of them.
import { AuthRequired, type ClientState, connect, type ConnectOptions, type McpClient } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { newestModern } from "../../support/revisions.ts";
import { respond, serveScript } from "../../support/scripted-http.ts";
import { said, ScriptedServer } from "../../support/scripted-wire.ts";
import { until } from "../../support/turns.ts";

async function open(target: ScriptedServer | string, options: ConnectOptions = {}): Promise<McpClient> {
  const client = await connect(target, { backoff: { firstMs: 2 }, ...options });
  onTestFinished(() => client.close());
  return client;
}

describe("the state of a client", () => {
  test("is told to listeners until they leave, with reasons for a person", async () => {
    const server = new ScriptedServer();
    const client = await open(server);
    const states: ClientState[] = [];
    const stop = client.on("state", (state) => states.push(state));
    server.end.cut(new Error("The cable is unplugged"));
    await until(() => client.state.name === "ready");
    stop();
    await client.close();
    expect(states.map(({ name }) => name)).toEqual(["reconnecting", "ready"]);
    for (const { reason } of states) expect(reason).toContain("The cable is unplugged");
    expect(client.state).toEqual({ name: "closed", reason: "You closed the client" });
  });

  test("does not depend on listeners that throw or call the client", async () => {
    const server = new ScriptedServer().on("tools/call", () => said("done"));
    const ignored: string[] = [];
    const client = await open(server, {
      observe: (event) => void (event.type === "ignored" && ignored.push(event.reason)),
    });
    const calls: Promise<unknown>[] = [];
    client.on("state", () => {
      throw new Error("A mistake of the user");
    });
    const stop = client.on("state", () => void calls.push(client.callTool("pay")));
    server.end.cut();
    await until(() => client.state.name === "ready");
    stop();
    await Promise.all(calls);
    expect(calls).toHaveLength(2);
    expect(server.ends).toHaveLength(2);
    expect(ignored.join()).toContain("A mistake of the user");
  });

  test("is needs-auth after a 401, until a request succeeds again; other channels stay as they are", async () => {
    let token = "good";
    const server = await serveScript(({ headers, message }) => {
      if (headers.authorization !== `Bearer ${token}`) return { status: 401 };
      const result =
        message.method === "server/discover"
          ? { supportedVersions: [newestModern], capabilities: {} }
          : said("done");
      return respond(message, { result });
    });
    let mine = "good";
    const client = await open(server.url, { auth: () => mine });
    const names: string[] = [];
    client.on("state", ({ name }) => names.push(name));
    token = "better";
    await expect(client.request("tools/list")).rejects.toBeInstanceOf(AuthRequired);
    expect(client.state).toMatchObject({ name: "needs-auth", error: expect.any(AuthRequired) });
    await expect(client.request("tools/list")).rejects.toBeInstanceOf(AuthRequired);
    mine = "better";
    await client.request("tools/list");
    expect(client.state.name).toBe("ready");
    expect(names).toEqual(["needs-auth", "ready", "needs-auth", "ready"]);
    expect(server.seen().filter((method) => method === "server/discover")).toHaveLength(1);
  });
});
