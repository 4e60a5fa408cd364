// MCP-Protocol-Version on POST, GET and DELETE: absent, legacy, unknown, modern, and different from the body.
import type { ServerOptions } from "halyard";
import { expect, test } from "vitest";
import {
  describeEdges,
  modernPost,
  openGet,
  openSession,
  post,
  type RawRequest,
  type Session,
} from "../../support/http.ts";
import { discover, httpServer, modernCall, ping, toolCall } from "../../support/http-server.ts";
import { legacyDates, metaKeys, modernRequest, newestLegacy, newestModern } from "../../support/raw.ts";

const routes: readonly [string, (session: Session) => RawRequest][] = [
  ["POST", (session) => post(ping, session.headers)],
  ["GET", (session) => ({ method: "GET", headers: { accept: "text/event-stream", ...session.headers } })],
  ["DELETE", (session) => ({ method: "DELETE", headers: session.headers })],
];
const ok: Readonly<Record<string, number>> = { POST: 200, GET: 200, DELETE: 204 };
const version = (value: string): Record<string, string> => ({ "mcp-protocol-version": value });

describeEdges("MCP-Protocol-Version", (open) => {
  test.each(routes)(
    "%s in a session needs none [HTTP-VERSION-HEADER-NONE, HTTP-VERSION-HEADER-ABSENT]",
    async (method, request) => {
      const edge = await open(httpServer().server);
      const { id } = await openSession(edge, "2025-03-26");
      const reply = await edge.send(request({ id, headers: { "mcp-session-id": id } }));
      expect(reply.status).toBe(ok[method]);
      reply.abort();
    },
  );

  test.each(routes)("%s takes every legacy one", async (method, request) => {
    const edge = await open(httpServer().server);
    for (const date of legacyDates) {
      const { id } = await openSession(edge, date);
      const reply = await edge.send(request({ id, headers: { "mcp-session-id": id, ...version(date) } }));
      expect(reply.status).toBe(ok[method]);
      reply.abort();
    }
  });

  test.each(routes)(
    "%s with one that is not spoken is 400, and says which are [HTTP-VERSION-HEADER-400, VER-UNSUPPORTED-HTTP-400]",
    async (_, request) => {
      const edge = await open(httpServer().server);
      const { id } = await openSession(edge, newestLegacy);
      for (const requested of ["1999-12-31", "2027-01-01", "draft", ""]) {
        const reply = await edge.send(
          request({ id, headers: { "mcp-session-id": id, ...version(requested) } }),
        );
        const answer = await reply.answer();
        expect(reply.status).toBe(400);
        expect(answer.error).toMatchObject({
          code: -32022,
          data: { requested, supported: [newestModern, ...legacyDates] },
        });
      }
    },
  );

  test.each(routes)(
    "%s to a stateful server is 400 for the same, but never looks modern [HTTP-VERSION-HEADER-400]",
    async (_, request) => {
      const edge = await open(httpServer({ mode: "stateful" }).server);
      const { id } = await openSession(edge, newestLegacy);
      for (const requested of ["1999-12-31", "2027-01-01", newestModern]) {
        const reply = await edge.send(
          request({ id, headers: { "mcp-session-id": id, ...version(requested) } }),
        );
        expect((await reply.answer()).error?.code).toBe(-32600);
        expect(reply.status).toBe(400);
      }
    },
  );

  test("a stateful server refuses a modern request without a modern code", async () => {
    const edge = await open(httpServer({ mode: "stateful" }).server);
    for (const request of [modernPost(discover), post(discover)]) {
      const reply = await edge.send(request);
      expect((await reply.answer()).error?.code).toBe(-32600);
      expect(reply.status).toBe(400);
    }
  });

  test("without a session a request that has none is of 2025-03-26, one that has is of that revision [HTTP-VERSION-HEADER-ABSENT, HTTP26-VERSION-ABSENT-LEGACY]", async () => {
    const edge = await open(httpServer({ mode: "stateless" }).server);
    const batch = [ping, { ...ping, id: 2 }];
    const absent = await edge.send(post(batch));
    expect(await absent.answer()).toHaveLength(2);
    const later = await edge.send(post(batch, version("2025-06-18")));
    expect(later.status).toBe(400);
  });

  test.each<[string, NonNullable<ServerOptions["mode"]>, Record<string, string | undefined>]>([
    ["is missing", "both", version("")],
    ["is missing", "stateless", version("")],
    ["names a legacy revision", "both", version("2025-11-25")],
    ["names one that is not spoken", "both", version("2099-01-01")],
  ])(
    "a modern request whose header %s is 400 with -32020 [HTTP26-VERSION-ABSENT-REJECT, HTTP26-VERSION-MISMATCH-32020]",
    async (_, mode, headers) => {
      const edge = await open(httpServer({ mode }).server);
      const given = headers["mcp-protocol-version"] === "" ? { "mcp-protocol-version": undefined } : headers;
      const reply = await edge.send(modernPost(modernCall(7, "echo"), given));
      expect(await reply.answer()).toMatchObject({ id: 7, error: { code: -32020 } });
      expect(reply.status).toBe(400);
    },
  );

  test("a version that header and body agree on, but that is not spoken, is 400 with -32022 [HTTP26-VERSION-UNSUPPORTED-32022, VER-UNSUPPORTED-HTTP-400]", async () => {
    const edge = await open(httpServer().server);
    const requested = "2099-01-01";
    const message = modernRequest(7, "server/discover", {}, { [metaKeys.protocolVersion]: requested });
    const reply = await edge.send(modernPost(message, version(requested)));
    const data = { requested, supported: [newestModern, ...legacyDates] };
    expect(await reply.answer()).toMatchObject({ id: 7, error: { code: -32022, data } });
    expect(reply.status).toBe(400);
  });

  test("a modern request gets past its headers in no batch, with a session or without", async () => {
    for (const mode of ["both", "stateless"] as const) {
      const edge = await open(httpServer({ mode }).server);
      const headers = mode === "both" ? (await openSession(edge, "2025-03-26")).headers : {};
      const reply = await edge.send(post([modernCall(1, "echo"), toolCall(2, "echo")], headers));
      expect((await reply.answer()).error?.code).toBe(-32600);
      expect(reply.status).toBe(400);
    }
  });

  test("the version of a session is the one that was agreed, whatever legacy one a header names", async () => {
    const edge = await open(httpServer().server);
    const session = await openSession(edge, "2025-03-26");
    const reply = await edge.send(post([ping], { ...session.headers, ...version(newestLegacy) }));
    expect(await reply.answer()).toHaveLength(1);
    (await openGet(edge, session)).abort();
  });
});
