// The deployment guide, run as it is written: its nginx, its server, and a real authorization server.
import { setTimeout } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import type { JsonObject } from "halyard";
import { McpServer } from "halyard";
import { portOf } from "halyard/transport";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { limitOf } from "../auth/limits.ts";
import { bearer } from "../auth/protected.ts";
import { User } from "../auth/user.ts";
import { hasEngine } from "../support/engines.ts";
import { modernPost, openGet, openSession, post, type RawRequest, sendTo } from "../support/http.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { type Answer, metaKeys, modernRequest } from "../support/raw.ts";
import { until } from "../support/turns.ts";
import { figures, publicHost, readTimeoutMs, resource } from "./guide.ts";
import { canServeSites, Site } from "./site.ts";

test("the figures of the guide fit together, and to the limits of the server", () => {
  const { limits } = portOf(new McpServer({ name: "test", version: "1.0.0" }));
  expect(figures.bodyBytes).toBe(limits.maxBytes);
  expect(figures.readTimeoutMs).toBeGreaterThan(2 * figures.keepAliveMs);
  expect(figures.stopMs).toBeGreaterThan(2 * figures.graceMs);
  expect(figures.headerBytes).toBeGreaterThan(limitOf("characters of a token"));
  expect(figures.nodeHeaderBytes).toBeGreaterThan(limitOf("characters of a token"));
});

// Clients on another address than that of nginx; elsewhere loopback has one address only.
const clientAddress = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";

let issuer: AuthorizationServer;
let people = 0;

/** A token of a new subject, so that tests do not share a rate limit. */
function newToken(claims: JsonObject = {}): Promise<string> {
  return issuer.forge({ aud: resource, sub: `user-${++people}`, ...claims });
}

function call(name: string, token: string, headers: Record<string, string> = {}): RawRequest {
  return modernPost(modernRequest(1, "tools/call", { name }), { ...bearer(token), ...headers });
}

function listen(token: string): RawRequest {
  const params = { notifications: { toolsListChanged: true } };
  return modernPost(modernRequest("listen", "subscriptions/listen", params), bearer(token));
}

async function textOf(reply: Promise<HttpReply>): Promise<unknown> {
  const { result } = await (await reply).answer();
  return (result?.["content"] as { text?: string }[] | undefined)?.[0]?.text;
}

interface WholeSession {
  readonly stream: HttpReply;
  /** Which of the servers answers. */
  readonly instance: unknown;
  /** Calls a tool; resolves with its text. */
  say(name: string): Promise<unknown>;
  resume(lastEventId: string | undefined): Promise<HttpReply>;
}

/** A legacy session of a new subject, with its GET stream. */
async function openWholeSession(site: Site): Promise<WholeSession> {
  const token = await newToken();
  const session = await openSession(site, "2025-11-25", bearer(token));
  const resume = (lastEventId?: string): Promise<HttpReply> =>
    openGet(site, session, { ...bearer(token), "last-event-id": lastEventId });
  const say = (name: string): Promise<unknown> => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } };
    return textOf(site.send(post(message, { ...session.headers, ...bearer(token) })));
  };
  const stream = await resume();
  expect(stream.status).toBe(200);
  return { stream, instance: await say("instance"), say, resume };
}

const methodsIn = (messages: readonly Answer[]): unknown[] =>
  messages.map((message) => (message as { method?: string }).method ?? "response");

describe.runIf(canServeSites)("docs/guides/deploy.md", () => {
  beforeAll(async () => {
    issuer = await AuthorizationServer.start();
  });
  afterAll(() => issuer.close());

  describe("one server behind nginx", () => {
    let site: Site;
    const secrets: string[] = [];
    beforeAll(async () => {
      site = await Site.open(issuer.issuer);
    });
    afterAll(() => site.close());

    test.each(["", "/mcp"])(
      "/.well-known/oauth-protected-resource%s comes over TLS, with public URLs [RS-PRM, RS-PRM-AS]",
      async (below) => {
        const path = `/.well-known/oauth-protected-resource${below}`;
        const reply = await (await site.send({ method: "GET", path })).complete();
        expect(reply.status).toBe(200);
        expect(JSON.parse(reply.text)).toMatchObject({
          resource,
          authorization_servers: [issuer.issuer],
          scopes_supported: ["notes:read"],
        });
      },
    );

    test("/.well-known/oauth-authorization-server has the metadata of the issuer", async () => {
      const path = "/.well-known/oauth-authorization-server";
      const reply = await (await site.send({ method: "GET", path })).complete();
      expect(JSON.parse(reply.text)).toMatchObject({ issuer: issuer.issuer });
    });

    test("401 and 403 come through with what they ask for [RS-401, RS-PRM-DISCOVERY, RS-SCOPE-CHALLENGE, RS-INSUFFICIENT-SCOPE]", async () => {
      const metadata = `resource_metadata="https://${publicHost}/.well-known/oauth-protected-resource/mcp"`;
      const unknown = await site.send(modernPost(modernRequest(1, "tools/list")));
      expect(unknown.status).toBe(401);
      expect(unknown.headers["www-authenticate"]).toContain(metadata);
      expect(unknown.headers["www-authenticate"]).toContain('scope="notes:read"');
      const narrow = await site.send(call("whoami", await newToken({ scope: "notes:write" })));
      expect(narrow.status).toBe(403);
      expect(narrow.headers["www-authenticate"]).toContain('error="insufficient_scope"');
      expect(narrow.headers["www-authenticate"]).toContain(metadata);
    });

    test.each([
      ["modern", { versionNegotiation: { mode: { pin: "2026-07-28" } } }],
      ["legacy", {}],
    ] as const)(
      "the official client, %s, finds its way in and calls [RS-401, RS-PRM-DISCOVERY]",
      async (_, options) => {
        const user = new User(issuer);
        const open = () => {
          const client = new Client({ name: "test", version: "1.0.0" }, options);
          onTestFinished(() => client.close());
          const more = { authProvider: user, fetch: site.fetch };
          return { client, transport: new StreamableHTTPClientTransport(new URL(resource), more) };
        };
        const first = open();
        await expect(first.client.connect(first.transport)).rejects.toThrow(UnauthorizedError);
        await first.transport.finishAuth(user.answer ?? new URLSearchParams());
        const { client, transport } = open();
        await client.connect(transport);
        expect(await client.callTool({ name: "whoami" })).toMatchObject({
          content: [{ text: "alice at 127.0.0.1" }],
        });
      },
    );

    test("a token as long as one may be comes through", async () => {
      const spare = limitOf("characters of a token") - (await newToken()).length;
      const token = await newToken({ padding: "x".repeat(Math.floor(spare * 0.75) - 20) });
      expect(token.length).toBeGreaterThan(16_300);
      expect(await textOf(site.send(call("whoami", token)))).toContain("user-");
    });

    test("HTTP/2 is spoken too", async () => {
      const { status, text } = await site.sendHttp2(call("whoami", await newToken()));
      expect(status).toBe(200);
      expect(text).toContain("at 127.0.0.1");
    });

    test("a listen stream outlives silence, and is told of a change at once [HTTP26-SSE-KEEPALIVE]", async () => {
      const token = await newToken();
      const stream = await site.send(listen(token));
      onTestFinished(stream.abort);
      await stream.received(1);
      await setTimeout(1.3 * readTimeoutMs);
      expect(stream).toMatchObject({ status: 200, end: "open" });
      expect(stream.comments.length).toBeGreaterThan(1);
      const comments = stream.comments.length;
      await textOf(site.send(call("change", token)));
      await until(() => stream.messages.length === 2);
      expect(methodsIn(stream.messages)[1]).toBe("notifications/tools/list_changed");
      // It did not have to wait for something else to push it out.
      expect(stream.comments.length - comments).toBeLessThan(2);
    });

    test("a call is cancelled when its client goes away [HTTP26-DISCONNECT-CANCEL]", async () => {
      const [server] = site.servers.values();
      const controller = new AbortController();
      const waiting = site.send({ ...call("wait", await newToken()), signal: controller.signal });
      await until(() => server?.said.includes("wait has begun") === true);
      controller.abort();
      await expect(waiting).rejects.toThrow();
      await until(() => server?.said.includes("wait was cancelled") === true);
    });

    test("a legacy session has its GET stream, and resumes it where it was cut [RESUME-REPLAY]", async () => {
      const token = await newToken();
      const session = await openSession(site, "2025-11-25", bearer(token));
      secrets.push(token, session.id);
      const first = await openGet(site, session, bearer(token));
      await textOf(site.send(call("change", token)));
      await first.received(1);
      const lastEventId = first.events.findLast(({ data }) => data)?.id;
      first.abort();
      await textOf(site.send(call("change", token)));
      const again = await openGet(site, session, { ...bearer(token), "last-event-id": lastEventId });
      onTestFinished(again.abort);
      expect(methodsIn(await again.received(1))).toEqual(["notifications/tools/list_changed"]);
    });

    test("ctx.address is the client's, whatever it says itself", async () => {
      const forged = { "x-forwarded-for": "192.0.2.1", forwarded: "for=192.0.2.2" };
      const said = await textOf(site.send(call("whoami", await newToken(), forged), clientAddress));
      expect(said).toMatch(new RegExp(` at ${clientAddress}$`));
    });

    test("a name that is not the public one is refused, by nginx and by the server [HTTP-HOST-VALIDATE]", async () => {
      const foreign = call("whoami", await newToken(), { host: "evil.example.com" });
      expect((await site.send(foreign)).status).toBe(421);
      const [instance = 0] = site.servers.keys();
      expect((await sendTo(instance, foreign)).status).toBe(403);
    });

    test("a body as large as one may be comes through, and one that is larger is 413", async () => {
      const token = await newToken();
      const body = (length: number): RawRequest => {
        const text = JSON.stringify(modernRequest(1, "tools/call", { name: "whoami" }));
        return { ...call("whoami", token), body: text.padEnd(length) };
      };
      expect((await site.send(body(figures.bodyBytes))).status).toBe(200);
      expect((await site.send(body(figures.bodyBytes + 1))).status).toBe(413);
    });

    test("what is not the endpoint or a document does not reach the server", async () => {
      const token = await newToken();
      expect((await site.send({ ...call("whoami", token), path: "/admin" })).status).toBe(404);
      expect((await site.send({ ...call("whoami", token), path: "/mcp/more" })).status).toBe(404);
    });

    test("neither a token nor a session is in the log of nginx", () => {
      const logs = site.logs();
      expect(logs).toContain('"POST /mcp" 200');
      expect(secrets).toHaveLength(2);
      expect(secrets.filter((secret) => logs.includes(secret))).toEqual([]);
    });
  });

  test("SIGTERM lets a running call finish and ends streams in good order; then the process is gone", async () => {
    const site = await Site.open(issuer.issuer);
    onTestFinished(() => site.close());
    const [server] = site.servers.values();
    const token = await newToken();
    const stream = await site.send(listen(token));
    await stream.received(1);
    const slow = textOf(site.send(call("slow", token)));
    await until(() => server?.said.includes("slow has begun") === true);
    server?.child.kill("SIGTERM");
    expect(await slow).toBe("Done");
    await stream.complete();
    expect(methodsIn(stream.messages).at(-1)).toBe("response");
    expect(await server?.exited).toBe(0);
    expect((await site.send(call("whoami", token))).status).toBe(502);
  });

  describe.skipIf(!hasEngine("redis-server"))("several servers behind nginx", () => {
    let site: Site;
    beforeAll(async () => {
      site = await Site.open(issuer.issuer, 2);
    });
    afterAll(() => site.close());

    test("a call that asks continues wherever its answer arrives", async () => {
      const token = await newToken();
      const meta = { [metaKeys.clientCapabilities]: { elicitation: { form: {} } } };
      const round = async (params: JsonObject): Promise<Answer> => {
        const message = modernRequest(1, "tools/call", { name: "ask", ...params }, meta);
        return (await site.send(modernPost(message, bearer(token)))).answer();
      };
      const { result } = await round({});
      const { inputRequests, requestState } = result as { inputRequests: object; requestState: string };
      const [key = ""] = Object.keys(inputRequests);
      const inputResponses = { [key]: { action: "accept", content: { name: "Ann" } } };
      // One of two, chosen at random: ten times the same one is one time in a thousand.
      for (let times = 0; times < 10; times++) {
        const answer = await round({ requestState, inputResponses });
        expect(answer.result).toMatchObject({ content: [{ text: "Hello Ann" }] });
      }
    });

    test("a session is served by one of them, streams and all, wherever it began", async () => {
      const served = new Set<unknown>();
      // Chance decides which; that it never decides for one of them in 30 times will not be seen.
      for (let count = 0; count < 30 && (count < 6 || served.size < 2); count++) {
        const { stream, instance, say } = await openWholeSession(site);
        await say("change");
        await stream.received(1);
        stream.abort();
        expect(await say("instance")).toBe(instance);
        served.add(instance);
      }
      expect(served.size).toBe(2);
    });

    /** A connection that the server has not accepted when it stops listening is reset, and nginx sends no POST again by itself. */
    const sendAgainIfRefused = async (request: RawRequest): Promise<HttpReply> => {
      const reply = await site.send(request);
      return reply.status === 502 ? site.send(request) : reply;
    };

    test("one of them ends while calls come in: none is lost, and its sessions continue in the other", async () => {
      const token = await newToken();
      const { stream, instance, say, resume } = await openWholeSession(site);
      await say("change");
      await stream.received(1);
      const lastEventId = stream.events.findLast(({ data }) => data)?.id;
      const ending = site.servers.get(Number(instance));
      const calls: Promise<unknown>[] = [];
      for (let count = 0; count < 40; count++) {
        calls.push(textOf(sendAgainIfRefused(call(count < 4 ? "slow" : "instance", token))));
        if (count === 10) ending?.child.kill("SIGTERM");
        await setTimeout(10);
      }
      const texts = await Promise.all(calls);
      expect(texts.filter((text) => typeof text !== "string")).toEqual([]);
      expect(await ending?.exited).toBe(0);
      expect((await stream.ended()).end).toBe("complete");
      expect(await say("instance")).not.toBe(instance);
      // The other process cannot know the missed messages, so the client is notified to read everything again.
      const resumed = await resume(lastEventId);
      onTestFinished(resumed.abort);
      await resumed.received(1);
      expect(methodsIn(resumed.messages)).toContain("notifications/tools/list_changed");
    });

    test("a server that dies leaves a stream that is cut off, and does not look complete", async () => {
      const stream = await site.send(listen(await newToken()));
      await stream.received(1);
      await Promise.all([...site.servers.values()].map((server) => server.stop()));
      expect((await stream.ended()).end).toBe("cut");
    });
  });
});
