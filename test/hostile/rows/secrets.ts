// What leaves the server: nothing that was not meant for the client, and nothing that the client has slipped in.
import { RpcRejection } from "halyard/testing";
import { expect } from "vitest";
import * as z from "zod";
import { call, heard, makeServer, refusal, secret } from "../../support/catalogue.ts";
import { modernPost, post } from "../../support/http.ts";
import { discover, modernCall } from "../../support/http-server.ts";
import { initializeRequest, newestLegacy } from "../../support/raw.ts";
import { openDoor, openHttp } from "../mounts.ts";
import type { Row } from "../row.ts";

const injected = "a\r\nx-injected: 1\r\n\r\nHTTP/1.1 200 OK\r\n";

export const secretRows: readonly Row[] = [
  {
    over: "messages",
    name: "what a handler throws stays in the log: the client gets an id and no more",
    async attack(mount) {
      const { server, log } = makeServer();
      const fail = (): never => {
        throw new Error(secret, { cause: new Error(secret) });
      };
      server.tool("fail", {}, fail);
      server.prompt("fail", {}, fail);
      server.resource("fail:x", {}, fail);
      server.completion(fail);
      const client = await (await openDoor(mount, server)).connect();
      expect(await call(client, "fail")).toMatchObject({ isError: true });
      await refusal(client.request("prompts/get", { name: "fail" }));
      await refusal(client.request("resources/read", { uri: "fail:x" }));
      expect(heard(client)).not.toContain("hunter2");
      expect(heard(client)).not.toMatch(/\bat .*:\d+:\d+/);
      const ids = heard(client).match(/error id [0-9a-f]{8}/g) ?? [];
      expect(ids.length).toBeGreaterThanOrEqual(3);
      for (const id of ids) expect(log.some(({ message }) => message.includes(id))).toBe(true);
    },
  },
  {
    over: "http",
    name: "a hook that throws, before any message is read, tells no more than an id",
    async attack(mount) {
      const { server, log } = makeServer();
      const authenticate = (): never => {
        throw new Error(secret);
      };
      const door = await openHttp(mount, server, { auth: authenticate });
      for (const route of door.routes) {
        const reply = await door.send(route);
        const { error } = await reply.answer();
        expect(reply.status).toBe(500);
        expect(reply.text).not.toContain("hunter2");
        const { errorId } = (error?.data ?? {}) as { errorId?: string };
        expect(errorId).toMatch(/^[0-9a-f]{8}$/);
        expect(log.at(-1)).toMatchObject({ level: "error", details: { errorId } });
      }
    },
  },
  {
    over: "http",
    name: "a line break in what the client says starts no header and no response",
    leftOut: { "HTTP+SSE": "puts nothing that a client says into a header, nor into an event but as JSON" },
    async attack(mount) {
      const { server } = makeServer();
      server.tool("echo", { input: { type: "object" } }, (args) => JSON.stringify(args));
      const door = await openHttp(mount, server);
      const name = `=?base64?${Buffer.from(injected).toString("base64")}?=`;
      const requests = [
        modernPost(modernCall(injected, "echo", { injected })),
        modernPost(modernCall(1, injected), { "mcp-name": name }),
        post(initializeRequest(1, injected)),
        post(initializeRequest(injected, newestLegacy)),
        modernPost(discover, { "mcp-method": injected.replaceAll(/[\r\n]/g, "%0d%0a") }),
        { method: "GET", path: "/mcp%0d%0ax-injected:%201" },
      ];
      for (const request of requests) {
        const reply = await door.send(request);
        await reply.complete();
        expect(reply.headers).not.toHaveProperty("x-injected");
        expect(reply.text).not.toMatch(/^x-injected/m);
      }
    },
  },
  {
    over: "messages",
    name: "a line break in what is pushed or answered splits no line and no event",
    async attack(mount) {
      const { server, events } = makeServer();
      const breaks = 'a\nevent: forged\ndata: {"jsonrpc":"2.0"}\r\n\r\n\u2028b';
      server.tool("echo", {}, () => breaks);
      const client = await (await openDoor(mount, server)).connect();
      expect(await call(client, "echo")).toMatchObject({ content: [{ text: breaks }] });
      const { session } = events.find((event) => event.type === "session") ?? {};
      await server.push.toSession(session ?? "", "notifications/message", { level: "info", data: breaks });
      const told = await client.waitFor(
        (message) => "method" in message && message.method === "notifications/message",
      );
      expect(told).toMatchObject({ params: { data: breaks } });
    },
  },
  {
    over: "messages",
    name: "an error repeats no more than a little of what the client sent",
    async attack(mount) {
      const { server } = makeServer();
      const strict = { type: "object", properties: { a: { type: "string" } }, additionalProperties: false };
      server.tool("t", { input: strict }, () => "");
      server.tool("z", { input: z.object({ list: z.array(z.string()) }).catchall(z.never()) }, () => "");
      const client = await (await openDoor(mount, server)).connect();
      const long = "x".repeat(8000);
      const list = Array.from({ length: 20_000 }, () => 1);
      for (const [name, args] of [
        ["t", { [long]: 1 }],
        ["z", { [long]: 1 }],
        ["z", { list }],
      ] as const) {
        const outcome = await call(client, name, args).catch((error: unknown) => error);
        const said = outcome instanceof RpcRejection ? outcome.message : JSON.stringify(outcome);
        expect(said).toContain("Invalid arguments");
        expect(said.length).toBeLessThan(2000);
      }
      for (const request of [
        client.request(long),
        call(client, long),
        client.request("prompts/get", { name: long }),
      ]) {
        expect((await refusal(request)).message.length).toBeLessThan(400);
      }
    },
  },
];
