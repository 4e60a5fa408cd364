// The port of the dashboard, as a page, a hurried user and attackers meet it.
import { describe, expect, test } from "vitest";
import { passSeconds, stopClock } from "../support/clock.ts";
import { asking, openDashboard, reasonOf } from "../support/dashboard.ts";
import { type RawRequest, sendTo } from "../support/http.ts";
import { openRaw } from "../support/raw-socket.ts";
import { until } from "../support/turns.ts";

const about = { ask: "about" };

describe("the page", () => {
  test.each([
    ["/", "text/html; charset=utf-8", /^<!doctype html>/i],
    ["/page.js", "text/javascript; charset=utf-8", /./],
    ["/page.css", "text/css; charset=utf-8", /./],
  ])("%s comes without a token, since it has no data", async (path, type, text) => {
    const { send } = await openDashboard();
    const reply = await send({ path });
    expect([reply.status, reply.type]).toEqual([200, type]);
    expect(reply.text).toMatch(text);
  });

  test("tells browsers to frame, cache, guess and load nothing", async () => {
    const { send } = await openDashboard();
    const { headers } = await send({});
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    expect(headers).not.toHaveProperty("set-cookie");
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  });

  test("refusals have the same headers", async () => {
    const { send } = await openDashboard();
    const [page, refused] = [await send({}), await send({ path: "/nowhere" })];
    for (const name of [
      "content-security-policy",
      "cache-control",
      "x-frame-options",
      "x-content-type-options",
    ])
      expect(refused.headers[name]).toBe(page.headers[name]);
  });

  test("may connect to the endpoint only if it can try tools", async () => {
    const { send, http } = await openDashboard({ tryIt: true });
    const { origin } = new URL(http.url);
    expect((await send({})).headers["content-security-policy"]).toContain(`connect-src 'self' ${origin};`);
  });

  test("HEAD sends the head alone", async () => {
    const { send } = await openDashboard();
    const [get, head] = [await send({}), await send({ method: "HEAD" })];
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([
      200,
      "",
      get.headers["content-length"],
    ]);
  });
});

describe("a question", () => {
  test("with the token is answered", async () => {
    const { ask, http } = await openDashboard({ history: 5 });
    const reply = await ask(about);
    expect([reply.status, reply.type]).toEqual([200, "application/json"]);
    expect(JSON.parse(reply.text)).toMatchObject({
      name: "test",
      endpoint: http.url,
      tryIt: false,
      actions: false,
      history: 5,
      newest: { modern: "2026-07-28", legacy: "2025-11-25" },
    });
  });

  test("may come from a program, which sends no origin, and under any loopback name", async () => {
    const { ask, port } = await openDashboard();
    expect((await ask(about, { origin: undefined })).status).toBe(200);
    const name = `localhost:${port}`;
    expect((await ask(about, { host: name, origin: `http://${name}` })).status).toBe(200);
    // A tunnel gives the page another port.
    expect((await ask(about, { host: "localhost:9000", origin: "http://localhost:9000" })).status).toBe(200);
  });

  test.each<[string, unknown, RegExp]>([
    ["an unknown question", { ask: "session" }, /did you mean sessions\?/],
    ["a name of every object", { ask: "constructor" }, /no such question/],
    ["no question", {}, /no such question/],
    ["a list", [about], /JSON object/],
    ["null", "null", /JSON object/],
    ["no JSON", "{ask:about}", /not valid JSON/],
    ["nothing", "", /not valid JSON/],
    ["JSON that nests deep", `{"ask":${"[".repeat(20)}${"]".repeat(20)}}`, /nest|deep/],
    ["an unknown member", { ask: "now", search: "x" }, /now has no member search/],
    ["a search that is no text", { ask: "sessions", search: 1 }, /search of sessions must be a string/],
    ["a search that is too long", { ask: "tools", search: "x".repeat(201) }, /at most 200 characters/],
    ["no client", { ask: "timeline" }, /peer of timeline must be a string/],
    ["a mark that is no number", { ask: "timeline", peer: "x", after: "1" }, /after of timeline/],
    ["entries that are no list", { ask: "messages", peer: "x", entries: "1" }, /entries of messages/],
    ["entries that are no texts", { ask: "messages", peer: "x", entries: [1] }, /entries of messages/],
    ["too many entries", { ask: "messages", peer: "x", entries: Array(2001).fill("1") }, /at most 2000/],
  ])("is refused if it is %s", async (_, question, reason) => {
    const { ask } = await openDashboard();
    const reply = await ask(question as never);
    expect([reply.status, reasonOf(reply)]).toEqual([400, expect.stringMatching(reason)]);
  });

  test("that changes something is refused by default", async () => {
    const { ask } = await openDashboard();
    const reply = await ask({ ask: "end", peer: "x" });
    expect([reply.status, reasonOf(reply)]).toEqual([403, expect.stringContaining("actions: true")]);
  });

  test("has at most 64 KB, with a length and in chunks", async () => {
    const { send, origin, token } = await openDashboard();
    const headers = { origin, authorization: `Bearer ${token}` };
    const padded = JSON.stringify(about).padEnd(64 * 1024);
    expect((await send(asking(padded, headers))).status).toBe(200);
    expect((await send(asking(`${padded} `, headers))).status).toBe(413);
    const chunks = Array<string>(65).fill(" ".repeat(1024));
    expect((await send({ ...asking("", headers), body: chunks })).status).toBe(413);
  });

  test.each([
    undefined,
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonp",
  ])("is refused as %s, which any page may send", async (type) => {
    const { ask } = await openDashboard();
    expect((await ask(about, { "content-type": type })).status).toBe(415);
  });

  test("of a slow sender delays no other request", async () => {
    const { ask, port, token } = await openDashboard();
    const { socket } = openRaw(port);
    const head = ["POST /ask HTTP/1.1", `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${token}`];
    socket.write([...head, "Content-Type: application/json", "Content-Length: 1000", "", "{"].join("\r\n"));
    expect((await ask(about)).status).toBe(200);
  });

  test("waits for none of too many others", async () => {
    const { ask, port, token, log } = await openDashboard();
    const head = [`POST /ask HTTP/1.1`, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${token}`];
    const begun = [...head, "Content-Type: application/json", "Content-Length: 1000", "", "{"].join("\r\n");
    const slow = Array.from({ length: 64 }, () => openRaw(port));
    for (const { socket } of slow) socket.write(begun);
    await until(async () => (await ask(about)).status === 503);
    for (const { socket } of slow) socket.destroy();
    await until(async () => (await ask(about)).status === 200);
    expect(log).toEqual([]);
  });
});

describe("a stranger", () => {
  test.each<[string, Record<string, string>]>([
    ["a foreign origin", { origin: "https://evil.example" }],
    ["an origin that begins alike", { origin: "http://127.0.0.1.evil.example" }],
    ["another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["another name of this machine", { origin: "http://localhost" }],
    ["a sandboxed frame", { origin: "null" }],
    ["another scheme", { origin: "ftp://127.0.0.1" }],
    ["an extension", { origin: "chrome-extension://abc" }],
    ["a site without an origin", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
    ["a frame", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }],
    ["another port without an origin", { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" }],
  ])("from %s gets nothing, even with the token", async (_, headers) => {
    const { send, token, log } = await openDashboard();
    const authorization = `Bearer ${token}`;
    for (const request of [
      asking(about, { authorization, ...headers }),
      { path: "/page.js", headers },
      { headers },
    ]) {
      const reply = await send(request);
      expect(reply.status).toBe(403);
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin");
    }
    expect(JSON.stringify(log)).not.toContain(token);
  });

  test.each(["evil.example", "evil.example:80", "127.0.0.1.nip.io", "0.0.0.0", "[::]"])(
    "who lets the name %s lead here gets nothing",
    async (host) => {
      const { send, token, log } = await openDashboard();
      const authorization = `Bearer ${token}`;
      const replies = [
        await send({ headers: { host } }),
        await send(asking(about, { host, authorization })),
        await send(asking(about, { host, authorization, origin: `http://${host}` })),
      ];
      expect(replies.map(({ status }) => status)).toEqual([403, 403, 403]);
      const isEvery = host === "0.0.0.0" || host === "[::]";
      expect(reasonOf(replies[0]!)).toContain(
        isEvery ? "so connect to 127.0.0.1" : "allowedHosts of dashboard()",
      );
      expect(log.map(({ level }) => level)).toEqual(["warn", "warn", "warn"]);
    },
  );

  test("cannot hide the host in the target, nor behind a second one", async () => {
    const { port } = await openDashboard();
    const own = `Host: 127.0.0.1:${port}`;
    const heads = [
      `GET http://evil.example/ HTTP/1.1\r\n${own}\r\nConnection: close\r\n\r\n`,
      `GET / HTTP/1.1\r\n${own}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    ];
    for (const head of heads) expect(await openRaw(port).request(head)).toMatch(/^HTTP\/1\.1 (?:400|403) /);
  });

  test("may follow a link to the page, but not read it", async () => {
    const { send } = await openDashboard();
    const site = {
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
    };
    const reply = await send({ headers: site });
    expect([reply.status, reply.headers["cross-origin-opener-policy"]]).toEqual([200, "same-origin"]);
  });

  test("asks in vain whether it may send a request", async () => {
    const { send, origin } = await openDashboard();
    const reply = await send({
      method: "OPTIONS",
      path: "/ask",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect([reply.status, reply.headers["access-control-allow-origin"]]).toEqual([405, undefined]);
  });
});

describe("the token", () => {
  test.each<[string, Record<string, string>]>([
    ["no token", {}],
    ["a cookie", { cookie: "token=TOKEN" }],
    ["another scheme", { authorization: "Basic TOKEN" }],
    ["no scheme", { authorization: "TOKEN" }],
    ["an empty token", { authorization: "Bearer " }],
    ["a wrong token", { authorization: "Bearer wrong" }],
    ["the beginning of the token", { authorization: "Bearer TOKE" }],
    ["the token twice", { authorization: "Bearer TOKENTOKEN" }],
    ["two tokens", { authorization: "Bearer wrong, Bearer TOKEN" }],
    ["a very long token", { authorization: `Bearer ${"x".repeat(8000)}` }],
  ])("is required: %s gets 401", async (_, given) => {
    const { send, origin, token } = await openDashboard();
    const short = (text: string): string => text.replace(/TOKEN/g, token).replace(/TOKE/, token.slice(0, -1));
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, short(value)]));
    const reply = await send(asking(about, { origin, ...headers }));
    expect([reply.status, reply.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    expect(reply.text).not.toContain(token);
  });

  test("is long and random, and another one each time", async () => {
    const tokens = [(await openDashboard()).token, (await openDashboard()).token];
    for (const token of tokens) expect(token).toMatch(/^[\w-]{32}$/);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  test.each(["/?token=", "/page.js?token=", "/ask?x=1&access_token=", "/nowhere?TOKEN="])(
    "does not belong in the query: %s",
    async (path) => {
      const { send, token, log } = await openDashboard();
      for (const request of [{ path: path + token }, { ...asking(about), path: path + token }]) {
        const reply = await send(request);
        expect([reply.status, reasonOf(reply)]).toEqual([400, expect.stringContaining("#token=")]);
        expect(reply.text).not.toContain(token);
      }
      expect(log).toEqual([]);
    },
  );

  test("is slow to guess: after ten wrong ones that address gets no answer for a while", async () => {
    stopClock();
    const { ask, log, token } = await openDashboard();
    const guess = async (at: number): Promise<number> =>
      (await ask(about, { authorization: `Bearer wrong-${at}` })).status;
    const first = await Promise.all(Array.from({ length: 50 }, (_, at) => guess(at)));
    expect(first.filter((status) => status === 401)).toHaveLength(10);
    expect(first.filter((status) => status === 429)).toHaveLength(40);
    const reply = await ask(about);
    expect([reply.status, reply.headers["retry-after"]]).toEqual([429, "6"]);
    expect(log[0]?.message).toBe("Dashboard: too many wrong tokens from 127.0.0.1");
    passSeconds(6);
    expect((await ask(about)).status).toBe(200);
    expect(await guess(100)).toBe(401);
    expect(await guess(101)).toBe(429);
    expect(JSON.stringify(log)).not.toContain(token);
  });

  test("of an earlier start, in a page that was left open, does not lock the page out", async () => {
    stopClock();
    const { ask } = await openDashboard();
    for (let poll = 0; poll < 100; poll++)
      expect((await ask(about, { authorization: "Bearer of-an-earlier-start" })).status).toBe(401);
    expect((await ask(about)).status).toBe(200);
  });

  test("is not asked of those who have none as if they guessed", async () => {
    stopClock();
    const { ask } = await openDashboard();
    for (let poll = 0; poll < 20; poll++)
      expect((await ask(about, { authorization: undefined })).status).toBe(401);
    expect((await ask(about)).status).toBe(200);
  });
});

describe("other requests", () => {
  test.each<[number, RawRequest]>([
    [405, { path: "/ask" }],
    [405, { path: "/ask", method: "HEAD" }],
    [405, { path: "/ask", method: "PUT" }],
    [405, { path: "/", method: "POST" }],
    [405, { path: "/page.js", method: "DELETE" }],
    [405, { path: "/", method: "TRACE" }],
    [405, { path: "/", method: "OPTIONS" }],
    [404, { path: "/nowhere" }],
    [404, { path: "//" }],
    [404, { path: "//evil.example" }],
    [404, { path: "/x/" }],
    [404, { path: "/x/page.js" }],
    [404, { path: "/../page.js" }],
    [404, { path: "/..%2f..%2fetc%2fpasswd" }],
    [404, { path: "/page.js/" }],
    [404, { path: "/ask/" }],
    [404, { path: "/__proto__" }],
    [404, { path: "/mcp", method: "POST" }],
  ])("get %i: %o", async (status, request) => {
    const { send } = await openDashboard();
    const reply = await send(request);
    expect([reply.status, reply.headers["location"]]).toEqual([status, undefined]);
    expect(status === 405).toBe(reply.headers["allow"] !== undefined);
  });

  test("reach nothing of the dashboard at the port of the endpoint", async () => {
    const { http, token } = await openDashboard();
    for (const path of ["/", "/page.js", "/ask", "/dashboard/"]) {
      const reply = await sendTo(http.port, { ...asking(about, { authorization: `Bearer ${token}` }), path });
      expect((await reply.complete()).status).toBe(404);
    }
  });
});

test("questions of more than 4 MB in sequence are all answered: each gives its memory back", async () => {
  const { send, origin, token } = await openDashboard();
  const headers = { origin, authorization: `Bearer ${token}` };
  const padded = JSON.stringify({ ask: "about" }).padEnd(64 * 1024);
  const statuses = new Set<number>();
  for (let at = 0; at < 100; at++) statuses.add((await send(asking(padded, headers))).status);
  expect([...statuses]).toEqual([200]);
});
