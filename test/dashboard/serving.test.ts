// A dashboard and its endpoint: what opens, what closes, and which endpoint the page may call.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { ConfigurationError, HalyardError, McpServer } from "halyard";
import { type Dashboard, dashboard } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { makeServer } from "../support/catalogue.ts";
import { asking, openDashboard, type OpenDashboard } from "../support/dashboard.ts";
import { sendTo } from "../support/http.ts";
import { openRaw } from "../support/raw-socket.ts";
import { until } from "../support/turns.ts";

const info = { name: "test", version: "1.0.0" };
const about = { ask: "about" };
const token = "a-token-that-is-long-enough";

async function occupied(): Promise<number> {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await until(() => other.listening);
  return (other.address() as AddressInfo).port;
}

/** Whether something listens at the port of a page, as its address had it. */
async function isOpen(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

function portOf({ url }: Dashboard): number {
  return Number(new URL(url ?? "").port);
}

describe("serveHttp", () => {
  test("prints the address with the random token once it listens", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => print.mockRestore());
    const { page } = await openDashboard({ onOpen: undefined } as never);
    expect(print.mock.calls).toEqual([[`Dashboard: ${page.url}`]]);
    expect(page.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}$/);
  });

  test("names the address of the page in the 404 for /dashboard at the endpoint", async () => {
    const { url, close } = await serveHttp(new McpServer(info), {
      port: 0,
      dashboard: dashboard({ port: 0, onOpen: () => {} }),
    });
    onTestFinished(() => close());
    const response = await fetch(new URL("/dashboard", url));
    expect(await response.text()).toContain(
      "Not found: the MCP endpoint is at /mcp, and the dashboard at the address that the server prints when it starts",
    );
  });

  test("prints no token that you passed, since that may be in use for long", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => print.mockRestore());
    const { page } = await openDashboard({ onOpen: undefined, token } as never);
    expect(print.mock.calls.flat().join()).toContain(`Dashboard: http://127.0.0.1:${portOf(page)}/ `);
    expect(print.mock.calls.flat().join()).not.toContain(token);
  });

  test("passes the address to onOpen instead, with any token in it", async () => {
    const opened = vi.fn<(url: string) => void>();
    const { page, ask } = await openDashboard({ onOpen: opened, token: `${token}/+%&#?` });
    expect(opened.mock.calls).toEqual([[page.url]]);
    expect((await ask(about)).status).toBe(200);
  });

  test("serves although onOpen throws", async () => {
    const { log, ask } = await openDashboard({
      onOpen: () => {
        throw new Error("no browser");
      },
    });
    expect(log.map(({ message }) => message)).toEqual(["onOpen() of the dashboard failed"]);
    expect((await ask(about)).status).toBe(200);
  });

  test("on all addresses opens the dashboard on 127.0.0.1 alone, and names an endpoint that browsers reach", async () => {
    const { ask, port, http } = await openDashboard(
      {},
      { host: "0.0.0.0", allowedHosts: ["mcp.example.com"] },
    );
    await expect(sendTo(port, { method: "GET", path: "/" }, "127.0.0.2")).rejects.toThrow("ECONNREFUSED");
    expect(JSON.parse((await ask(about)).text)).toMatchObject({
      endpoint: `http://127.0.0.1:${http.port}/mcp`,
    });
    // The hosts of the endpoint are not those of the dashboard.
    expect((await ask(about, { host: "mcp.example.com", origin: undefined })).status).toBe(403);
  });

  test("uses the port that you pass, again after each close", async () => {
    const { port, http } = await openDashboard();
    await http.close();
    for (let start = 0; start < 2; start++) {
      const again = await openDashboard({ port });
      expect(again.port).toBe(port);
      await again.http.close();
    }
  });

  test("names the remedy if the port of the dashboard is in use, and leaves nothing open", async () => {
    const port = await occupied();
    const page = dashboard({ port });
    const serving = serveHttp(new McpServer(info), { port: 0, dashboard: page });
    await expect(serving).rejects.toThrow(
      new HalyardError(
        "CANNOT_LISTEN",
        `The dashboard cannot listen on 127.0.0.1:${port}: it is in use. Stop the other process, or pass another port to dashboard(), or 0 for any free one`,
      ),
    );
    expect(page.url).toBeUndefined();
  });

  test("refuses a dashboard on the port of the endpoint", async () => {
    const serving = serveHttp(new McpServer(info), { port: 4567, dashboard: dashboard({ port: 4567 }) });
    await expect(serving).rejects.toThrow(
      "dashboard: port is 4567, which is the port of the endpoint: pass another one, or 0 for any free port",
    );
  });

  test.each(["its port is in use", "its options are wrong", "its definitions need auth"])(
    "closes the dashboard if the endpoint cannot open because %s",
    async (reason) => {
      const port = reason === "its port is in use" ? await occupied() : 0;
      // Principals cannot be counted without auth.
      const rateLimit = reason === "its options are wrong" ? { perPrincipal: {} } : {};
      const { server } = makeServer();
      if (reason === "its definitions need auth") server.tool("x", { scopes: ["x"] }, () => "");
      const page = dashboard();
      let url = "";
      const serve = page.serve.bind(page);
      vi.spyOn(page, "serve").mockImplementation(async (options) => {
        const served = await serve(options);
        url = page.url ?? "";
        return served;
      });
      await expect(serveHttp(server, { port, rateLimit, dashboard: page })).rejects.toThrow();
      expect(url).not.toBe("");
      await until(() => page.url === undefined);
      await until(async () => !(await isOpen(url)));
    },
  );

  test("closes the dashboard with the endpoint, at once and although its page is connected", async () => {
    const { page, http, ask, port } = await openDashboard();
    const url = page.url ?? "";
    await fetch(url); // fetch keeps the connection
    await ask(about);
    await http.close();
    expect(page.url).toBeUndefined();
    expect(await isOpen(url)).toBe(false);
    await expect(sendTo(port, { method: "GET", path: "/" })).rejects.toThrow("ECONNREFUSED");
  });

  test("closes the dashboard although a question is about to arrive", async () => {
    const { http, port, token: own } = await openDashboard();
    const { socket, text } = openRaw(port);
    const head = ["POST /ask HTTP/1.1", `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${own}`];
    socket.write(
      [...head, "Content-Type: application/json", "Content-Length: 9", "Expect: 100-continue", "", "{"].join(
        "\r\n",
      ),
    );
    await until(() => text().includes("100 Continue"));
    await http.close();
    await until(() => socket.closed);
  });

  test("may have the same dashboard again after the endpoint has closed, with another token", async () => {
    const page = dashboard({ onOpen: () => {} });
    const first = await serveHttp(new McpServer(info), { port: 0, dashboard: page });
    const { url } = page;
    await first.close();
    const second = await serveHttp(new McpServer(info), { port: 0, dashboard: page });
    onTestFinished(() => second.close());
    expect(page.url).toMatch(/#token=/);
    expect(page.url?.split("#")[1]).not.toBe(url?.split("#")[1]);
  });

  test("refuses a dashboard that shows another endpoint, which it continues to show", async () => {
    const { page, ask } = await openDashboard();
    const problem =
      "HTTP: dashboard already shows another endpoint: call dashboard() once for each, or close the other one first";
    await expect(serveHttp(new McpServer(info), { port: 0, dashboard: page })).rejects.toThrow(problem);
    expect((await ask(about)).status).toBe(200);
  });

  test("refuses it too if both begin at once", async () => {
    const page = dashboard({ onOpen: () => {} });
    const serving = [1, 2].map(() => serveHttp(new McpServer(info), { port: 0, dashboard: page }));
    const settled = await Promise.allSettled(serving);
    for (const one of settled) if (one.status === "fulfilled") onTestFinished(() => one.value.close());
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await isOpen(page.url ?? "")).toBe(true);
  });
});

describe("nodeHandler and fetchHandler", () => {
  test.each([
    ["nodeHandler", nodeHandler],
    ["fetchHandler", fetchHandler],
  ])("%s refuses a dashboard without a token", (_, handle) => {
    const make = (): unknown => handle(new McpServer(info), { dashboard: dashboard() });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(/^dashboard: token .* pass dashboard\(\{ token \}\)/);
  });

  test.each(["nodeHandler", "fetchHandler"] as const)(
    "%s of a dashboard without a token is refused",
    (name) => {
      expect(() => dashboard()[name]).toThrow(/pass dashboard\(\{ token \}\)/);
    },
  );

  test("the random token of serveHttp does not count: you mount a dashboard with a token that you know", async () => {
    const { page } = await openDashboard();
    expect(() => page.nodeHandler).toThrow(ConfigurationError);
  });

  test("refuse a dashboard that shows another endpoint, until that closes", async () => {
    const page = dashboard({ token });
    const first = nodeHandler(new McpServer(info), { dashboard: page });
    expect(() => fetchHandler(new McpServer(info), { dashboard: page })).toThrow(
      "already shows another endpoint",
    );
    await first.close();
    const second = fetchHandler(new McpServer(info), { dashboard: page });
    await second.close();
  });

  test("a dashboard that no endpoint has, or has any longer, says so", async () => {
    const page = dashboard({ token });
    const ask = (): Promise<Response> =>
      page.fetchHandler(
        new Request("http://localhost/dashboard/ask", {
          ...asking(about, { authorization: `Bearer ${token}` }),
        } as RequestInit),
      );
    const refused = await ask();
    expect([refused.status, await refused.text()]).toEqual([
      503,
      expect.stringContaining("option dashboard"),
    ]);
    const handler = fetchHandler(new McpServer(info), { dashboard: page });
    expect((await ask()).status).toBe(200);
    await handler.close();
    expect((await ask()).status).toBe(503);
  });
});

describe("the name of the node", () => {
  const nameOf = async ({ ask }: OpenDashboard): Promise<string | undefined> => {
    const { nodes } = JSON.parse((await ask({ ask: "now" })).text) as { nodes: { name: string }[] };
    return nodes[0]?.name;
  };

  test("is the address of its endpoint", async () => {
    const open = await openDashboard({ endpoint: "https://mcp.example.com/mcp" });
    expect(await nameOf(open)).toBe(`127.0.0.1:${open.http.port}`);
  });

  test("has the name of the machine if the endpoint listens on all addresses", async () => {
    const open = await openDashboard({}, { host: "0.0.0.0", allowedHosts: ["mcp.example.com"] });
    expect(await nameOf(open)).toBe(`${hostname()}:${open.http.port}`);
  });

  test("is the one that you pass", async () => {
    expect(await nameOf(await openDashboard({ node: "web-1" }))).toBe("web-1");
  });
});

describe("Try it", () => {
  const preflight = (origin: string): Record<string, string> => ({
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type, mcp-protocol-version",
  });

  test("the page may call the endpoint and read its responses, under each of its names", async () => {
    const { http, origin } = await openDashboard({ tryIt: true });
    for (const own of [origin, origin.replace("127.0.0.1", "localhost")]) {
      const reply = await sendTo(http.port, { method: "OPTIONS", headers: preflight(own) });
      expect([reply.status, reply.headers["access-control-allow-origin"]]).toEqual([204, own]);
    }
  });

  test("the origins that you allow stay allowed, and no others are", async () => {
    const { http } = await openDashboard(
      { tryIt: true },
      { cors: { origins: ["https://app.example.com"] }, allowedOrigins: ["https://other.example.com"] },
    );
    const allowed = async (origin: string): Promise<unknown[]> => {
      const { status, headers } = await sendTo(http.port, { method: "OPTIONS", headers: preflight(origin) });
      return [status, headers["access-control-allow-origin"]];
    };
    expect(await allowed("https://app.example.com")).toEqual([204, "https://app.example.com"]);
    expect(await allowed("https://other.example.com")).toEqual([204, undefined]);
    expect(await allowed("https://evil.example")).toEqual([403, undefined]);
  });

  test("without it, the page may not", async () => {
    const { http, origin } = await openDashboard();
    const reply = await sendTo(http.port, { method: "OPTIONS", headers: preflight(origin) });
    expect([reply.status, reply.headers["access-control-allow-origin"]]).toEqual([405, undefined]);
  });

  test("calls the endpoint that you name", async () => {
    const endpoint = "https://mcp.example.com/mcp";
    const { ask, send } = await openDashboard({ tryIt: true, endpoint });
    expect(JSON.parse((await ask(about)).text)).toMatchObject({ endpoint });
    expect((await send({})).headers["content-security-policy"]).toContain("'self' https://mcp.example.com;");
  });
});
