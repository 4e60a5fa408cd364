// A page of another origin than the server: errors say what the server must allow, because the browser does not.
import { AuthRequired, connect, ConnectionLost, type ConnectOptions, HttpFailure } from "halyard/client";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { failing, newestLegacy, newestModern, quick } from "../../support/http-script.ts";

const url = "https://mcp.example.com/mcp";
const page = "https://app.example";

function visit(origin: string): void {
  vi.stubGlobal("location", { origin });
  onTestFinished(() => void vi.unstubAllGlobals());
}

/** What `connect` rejects with, if this answers every request. */
function failure(
  answer: (message: { readonly method: string; readonly id: number }) => Response | Promise<Response>,
  options: ConnectOptions = {},
): Promise<Error & Record<string, unknown>> {
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> =>
    answer(JSON.parse(String(init?.body)) as { method: string; id: number });
  return failing(connect(url, { backoff: quick, fetch: fetch as typeof globalThis.fetch, ...options }));
}

const unexplained = (): Promise<Response> => Promise.reject(new TypeError("Failed to fetch"));

/** A legacy server whose session id the page cannot see. */
function withSession({ method, id }: { readonly method: string; readonly id: number }): Response {
  if (method !== "initialize") return new Response("Mcp-Session-Id is required", { status: 400 });
  const result = {
    protocolVersion: newestLegacy,
    capabilities: {},
    serverInfo: { name: "a", version: "1" },
  };
  return Response.json({ jsonrpc: "2.0", id, result });
}

describe("on a page of another origin", () => {
  beforeEach(() => visit(page));

  test("a failure without a reason names the origin and the headers that the server must allow", async () => {
    const error = await failure(unexplained, {
      revision: newestModern,
      auth: "secret-token",
      headers: { "X-Team": "a", "Accept-Language": "de" },
    });
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(error.message).toContain(`Access-Control-Allow-Origin: ${page}`);
    const [, names = ""] = /Access-Control-Allow-Headers: ([^;]*);/.exec(error.message) ?? [];
    expect(names.split(", ").toSorted()).toEqual([
      "authorization",
      "content-type",
      "mcp-method",
      "mcp-protocol-version",
      "x-team",
    ]);
    expect(error.message).not.toContain("secret-token");
  });

  test("a failure with a reason does not", async () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const error = await failure(() => Promise.reject(new TypeError("fetch failed", { cause })));
    expect(error.message).not.toContain("Access-Control");
  });

  test("a refusal for lack of a session names the header that the server must expose", async () => {
    const error = await failure(withSession, { revision: newestLegacy });
    expect(error).toBeInstanceOf(HttpFailure);
    expect(error.message).toContain("Mcp-Session-Id is required");
    expect(error.message).toContain("Access-Control-Expose-Headers: Mcp-Session-Id");
  });

  test.each([
    ["", {}, {}, "Access-Control-Expose-Headers: WWW-Authenticate"],
    ["with a proof ", { dpop: "proof" }, {}, "Access-Control-Expose-Headers: WWW-Authenticate, DPoP-Nonce"],
    [
      "with a proof and a challenge ",
      { dpop: "proof" },
      { "www-authenticate": 'DPoP error="use_dpop_nonce"' },
      "Access-Control-Expose-Headers: DPoP-Nonce",
    ],
  ])("a 401 %snames what the page cannot see", async (_, credentials, headers, hint) => {
    const error = await failure(() => new Response("", { status: 401, headers }), {
      auth: { headers: () => credentials },
    });
    expect(error).toBeInstanceOf(AuthRequired);
    expect(error.message.endsWith(hint)).toBe(true);
  });

  test("a 401 with all that there is to see says no more", async () => {
    const headers = { "www-authenticate": "Bearer" };
    const error = await failure(() => new Response("", { status: 401, headers }));
    expect(error).toBeInstanceOf(AuthRequired);
    expect(error.message).not.toContain("Access-Control");
  });
});

describe.each([
  ["outside pages", undefined],
  ["on a page of the same origin", new URL(url).origin],
])("%s", (_, origin) => {
  test("no error speaks of other origins", async () => {
    if (origin !== undefined) visit(origin);
    const errors = [
      await failure(unexplained, { revision: newestModern }),
      await failure(withSession, { revision: newestLegacy }),
      await failure(() => new Response("", { status: 401 })),
    ];
    for (const error of errors) expect(error.message).not.toContain("Access-Control");
  });
});
