// A token expires while a stream is open: the server closes the stream, and the client resumes it with a fresh token.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { holdTime } from "../support/clock.ts";
import { modernPost, openGet, openSession, post } from "../support/http.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { modernRequest } from "../support/raw.ts";
import { deferred, until } from "../support/turns.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { bearer, initialize, mounts, notesServer, openSse, protect, type Protected } from "./protected.ts";

let issuer: AuthorizationServer;
beforeAll(async () => {
  issuer = await AuthorizationServer.start();
});
afterAll(() => issuer.close());

// What looks after streams runs on an interval; only that and the clock are held.
beforeEach(holdTime);

/** A token for so many seconds from now on. */
function tokenFor(edge: Protected, seconds: number): Promise<string> {
  return issuer.forge({ aud: edge.resource, exp: Math.floor(Date.now() / 1000) + seconds });
}

/** Tokens count for five seconds longer than they say, for clocks differ. What is written meanwhile leaves. */
async function passSeconds(seconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(seconds * 1000);
}

function listen(edge: Protected, token: string): Promise<HttpReply> {
  const params = { notifications: { toolsListChanged: true } };
  return edge.send(modernPost(modernRequest("listen", "subscriptions/listen", params), bearer(token)));
}

/** Has a tool that begins, and answers when the gate is opened. */
function longServer() {
  const { server } = notesServer();
  const gate = deferred();
  const started = deferred();
  server.tool("long", {}, async () => {
    started.resolve();
    await gate.promise;
    return "done";
  });
  return { server, gate, started };
}

describe.each(mounts)("the end of a token · %s", (mount) => {
  test("ends a listen request with its closing result, and another token opens the next [RS-401, RS-PER-REQUEST, SEC-STATE-HANDLE-RANDOM]", async () => {
    const { server } = notesServer();
    const edge = await protect(mount, server, issuer.issuer);
    const token = await tokenFor(edge, 60);
    const stream = await listen(edge, token);
    await stream.received(1);
    await passSeconds(63);
    server.tool("newer", {}, () => "");
    await stream.received(2);
    await passSeconds(3);
    expect(await stream.answer()).toMatchObject({ id: "listen", result: { resultType: "complete" } });
    expect((await listen(edge, token)).status).toBe(401);
    const next = await listen(edge, await tokenFor(edge, 60));
    await next.received(1);
    server.tool("new", {}, () => "");
    await next.received(2);
    next.abort();
  });

  test("closes a GET stream, and the client continues with it under a fresh token, missing nothing [RS-PER-REQUEST]", async () => {
    const { server } = notesServer();
    const edge = await protect(mount, server, issuer.issuer);
    const token = await tokenFor(edge, 60);
    const session = await openSession(edge, "2025-11-25", bearer(token));
    const stream = await openGet(edge, session, bearer(token));
    await until(() => stream.events.length > 0);
    await passSeconds(66);
    await stream.complete();
    await server.push.toSession(session.id, "notifications/message", { level: "info", data: "meanwhile" });
    const lastEventId = stream.events.findLast(({ id }) => id !== undefined)?.id;
    const resumeWith = (fresh: string): Promise<HttpReply> =>
      openGet(edge, session, { ...bearer(fresh), "last-event-id": lastEventId });
    expect((await resumeWith(token)).status).toBe(401);
    const resumed = await resumeWith(await tokenFor(edge, 60));
    expect(await resumed.received(1)).toMatchObject([{ params: { data: "meanwhile" } }]);
    await passSeconds(30);
    await server.push.toSession(session.id, "notifications/message", { level: "info", data: "later" });
    await resumed.received(2);
    await passSeconds(36);
    await resumed.complete();
  });

  test("lets a running call continue, and its client come back for the answer with a fresh token", async () => {
    const { server, gate, started } = longServer();
    const edge = await protect(mount, server, issuer.issuer);
    const token = await tokenFor(edge, 60);
    const session = await openSession(edge, "2025-11-25", bearer(token));
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "long" } };
    const sending = edge.send(post(call, { ...session.headers, ...bearer(token) }));
    await started.promise;
    await passSeconds(12);
    const reply = await sending;
    await passSeconds(60);
    await reply.complete();
    expect(reply.messages).toEqual([]);
    const lastEventId = reply.events.findLast(({ id }) => id !== undefined)?.id;
    const fresh = await tokenFor(edge, 60);
    const resumed = await openGet(edge, session, { ...bearer(fresh), "last-event-id": lastEventId });
    gate.resolve();
    expect(await resumed.answer()).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
  });

  test("lets a modern call that was let in finish: there is no way to come back for its answer", async () => {
    const { server, gate, started } = longServer();
    const edge = await protect(mount, server, issuer.issuer);
    const request = modernRequest(1, "tools/call", { name: "long" });
    const sending = edge.send(modernPost(request, bearer(await tokenFor(edge, 60))));
    await started.promise;
    await passSeconds(70);
    const reply = await sending;
    gate.resolve();
    expect(await reply.answer()).toMatchObject({ result: { content: [{ text: "done" }] } });
  });

  test("closes a stream of HTTP+SSE, unless its client has shown a fresher one", async () => {
    const { server } = notesServer();
    const edge = await protect(mount, server, issuer.issuer);
    const token = await tokenFor(edge, 60);
    const [stream, refreshed] = await Promise.all([openSse(edge, token), openSse(edge, token)]);
    await until(() => stream.events.length > 0 && refreshed.events.length > 0);
    await passSeconds(50);
    const path = refreshed.events[0]?.data ?? "";
    const said = await edge.send({ ...post(initialize, bearer(await tokenFor(edge, 60))), path });
    expect(said.status).toBe(202);
    await passSeconds(16);
    await stream.complete();
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    await edge.send({ ...post(ping, bearer(await tokenFor(edge, 44))), path });
    await until(() => refreshed.events.length === 3);
    await passSeconds(51);
    await refreshed.complete();
  });
});

test("a token without an end closes nothing", async () => {
  const { server } = notesServer();
  const edge = await protect("serveHttp", server, issuer.issuer, {
    verify: () => ({ sub: "alice", aud: edge.resource }),
  });
  const stream = await listen(edge, "anything");
  await stream.received(1);
  await passSeconds(100_000);
  expect(stream.end).toBe("open");
  stream.abort();
});
