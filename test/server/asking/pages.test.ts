// Pages for the user to visit: as a question, as an error of 2025-11-25, and the notice that the user is done there.
import {
  InputCancelled,
  InputDeclined,
  inputRequired,
  type JsonObject,
  McpServer,
  ProtocolError,
  UrlElicitationRequired,
} from "halyard";
import { connect, type TestClient } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { ableClient, converse } from "../../support/answering.ts";
import { askingTool, said } from "../../support/asking-tool.ts";
import { recordingLogger } from "../../support/log.ts";
import { newestLegacy, newestModern } from "../../support/raw.ts";
import { nextTurn } from "../../support/turns.ts";

const page = new URL("https://example.com/connect?flow=1");
const completed = "notifications/elicitation/complete";

describe("ctx.elicit with a URL", () => {
  test("sends the user to one page whose address is made once, on every revision", async () => {
    for (const revision of [newestModern, newestLegacy]) {
      const { converse: talk } = await askingTool(
        async (_, ctx) => {
          const elicitationId = await ctx.once("id", () => crypto.randomUUID());
          await ctx.elicit("Connect", new URL(`?id=${elicitationId}`, page), { elicitationId });
          return "agreed";
        },
        { revision },
      );
      const { result, asked } = await talk(() => ({ action: "accept" }));
      expect(said(result)).toBe("agreed");
      expect(asked).toHaveLength(1);
    }
  });

  test("sends the page, with an id on 2025-11-25 and without on a modern revision [ELIC-URL-PARAMS, ELIC-URL-ID, ELIC-URL-ID-REMOVED]", async () => {
    const visit = { mode: "url", message: "Connect", url: page.href };
    for (const revision of [newestModern, newestLegacy]) {
      const { converse: talk } = await askingTool(
        async (_, ctx) => {
          const result = await ctx.elicit("Connect", page);
          await ctx.elicit("Connect", page);
          return String(result);
        },
        { revision },
      );
      const { result, asked } = await talk(() => ({ action: "accept" }));
      expect(said(result)).toBe("undefined");
      const sent = asked.map(({ params: { _meta, ...params } }) => params);
      if (revision === newestModern) {
        expect(sent).toEqual([visit, visit]);
      } else {
        const id = expect.any(String) as string;
        expect(sent).toEqual([
          { ...visit, elicitationId: id },
          { ...visit, elicitationId: id },
        ]);
        expect(sent[0]?.["elicitationId"]).not.toBe(sent[1]?.["elicitationId"]);
      }
    }
  });

  test.each(["2025-06-18", newestLegacy, newestModern])(
    "is -32021 for a client without pages, whatever its revision would make of them: %s [ELIC-MODE-NOT-SENT]",
    async (revision) => {
      const elicitation = revision === "2025-06-18" ? { url: {} } : { form: {} };
      const { ask } = await askingTool(
        async (_, ctx) => {
          await ctx.elicit("Connect", page);
          return "never";
        },
        { revision, capabilities: { elicitation } },
      );
      await expect(ask()).rejects.toMatchObject({
        code: -32021,
        message: expect.stringMatching(/ elicitation\.url$/) as string,
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      });
    },
  );
});

/** A server whose tool sends its user to a page under an id, and two clients of it. */
async function twoClients(tool: (server: McpServer) => void): Promise<[McpServer, TestClient, TestClient]> {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  tool(server);
  const options = { revision: newestLegacy, capabilities: ableClient };
  const [client, other] = await Promise.all([connect(server, options), connect(server, options)]);
  onTestFinished(() => client.close());
  onTestFinished(() => other.close());
  return [server, client, other];
}

describe("push.elicitationComplete", () => {
  test.each<[string, (server: McpServer) => void]>([
    [
      "ctx.elicit",
      (server) =>
        server.tool("visit", {}, async (_, ctx) => {
          await ctx.elicit("Connect", page, { elicitationId: "page-1" });
          return "visited";
        }),
    ],
    [
      "inputRequired",
      (server) =>
        server.tool("visit", {}, (_, ctx) => {
          if (ctx.inputResponses?.["k"] !== undefined) return "visited";
          const params = { mode: "url", message: "Connect", url: page.href, elicitationId: "page-1" };
          return inputRequired({ inputRequests: { k: { method: "elicitation/create", params } } });
        }),
    ],
  ])(
    "tells the client that was sent to the page by %s, once, and no other [ELIC-URL-COMPLETE-NOTIF, ELIC-URL-COMPLETE-TARGET]",
    async (_, tool) => {
      const [server, client, other] = await twoClients(tool);
      const running = client.request("tools/call", { name: "visit" });
      const question = (await client.waitFor((message) => "method" in message)) as unknown as JsonObject;
      client.send({ jsonrpc: "2.0", id: question["id"], result: { action: "accept" } });
      expect(said(await running)).toBe("visited");
      expect(await server.push.elicitationComplete("page-1")).toBe(true);
      expect(await server.push.elicitationComplete("page-1")).toBe(false);
      expect(await server.push.elicitationComplete("unknown")).toBe(false);
      await nextTurn();
      expect(client.notifications(completed)).toMatchObject([{ params: { elicitationId: "page-1" } }]);
      expect(other.notifications(completed)).toEqual([]);
    },
  );

  test("tells a modern client nothing: it comes back by itself [ELIC-URL-COMPLETE-REMOVED]", async () => {
    const {
      server,
      converse: talk,
      client,
    } = await askingTool(async (_, ctx) => {
      await ctx.elicit("Connect", page, { elicitationId: "page-1" });
      return "visited";
    });
    expect(said((await talk(() => ({ action: "accept" }))).result)).toBe("visited");
    expect(await server.push.elicitationComplete("page-1")).toBe(false);
    expect(client.notifications(completed)).toEqual([]);
  });
});

describe("UrlElicitationRequired", () => {
  const demand = (): never => {
    throw new UrlElicitationRequired([
      { message: "Connect one", url: page, elicitationId: "one" },
      { message: "Connect two", url: page },
    ]);
  };

  test("is -32042 with every page on 2025-11-25, and the client hears when the user is done [ELIC-URL-REQUIRED-ERR, ELIC-URL-REQUIRED-ERR-LIST, ELIC-URL-ID]", async () => {
    const { ask, server, client } = await askingTool(demand, { revision: newestLegacy });
    const base = { mode: "url", url: page.href };
    await expect(ask()).rejects.toMatchObject({
      code: -32042,
      message: "Connect one; Connect two",
      data: {
        elicitations: [
          { ...base, message: "Connect one", elicitationId: "one" },
          { ...base, message: "Connect two", elicitationId: expect.any(String) as string },
        ],
      },
    });
    expect(await server.push.elicitationComplete("one")).toBe(true);
    await nextTurn();
    expect(client.notifications(completed)).toMatchObject([{ params: { elicitationId: "one" } }]);
  });

  test("is a question on a modern revision, and the handler runs again when the client comes back [ELIC-URL-REQUIRED-MODERN]", async () => {
    let isConnected = false;
    const { converse: talk } = await askingTool(() => (isConnected ? "connected" : demand()));
    const { result, asked } = await talk(() => {
      isConnected = true;
      return { action: "accept" };
    });
    expect(said(result)).toBe("connected");
    expect(asked.map(({ params }) => params)).toEqual([
      { mode: "url", message: "Connect one", url: page.href },
      { mode: "url", message: "Connect two", url: page.href },
    ]);
  });

  test("is asked once when the user declines, and the tool result says so [ELIC-SERVER-HANDLE]", async () => {
    const { converse: talk } = await askingTool(demand);
    const { result, rounds } = await talk(() => ({ action: "decline" }));
    expect(rounds).toBe(1);
    expect(said(result)).toBe(new InputDeclined("Connect one").message);
  });

  test("middleware sees a result when the user declines, as after ctx.elicit", async () => {
    const seen: unknown[] = [];
    const { converse: talk } = await askingTool(demand, {
      prepare: (server) =>
        server.use("tools/call", async (_, __, next) => {
          const result = await next();
          seen.push(result);
          return result;
        }),
    });
    const { result } = await talk(() => ({ action: "decline" }));
    expect(seen).toEqual([{ content: result["content"] }]);
  });

  test("is no failure of the tool: what middleware throws instead is an error of the protocol", async () => {
    const { ask } = await askingTool(demand, {
      prepare: (server) =>
        server.use(async (_, __, next) => {
          try {
            return await next();
          } catch {
            throw new Error("No pages here");
          }
        }),
    });
    await expect(ask()).rejects.toMatchObject({ code: -32603 });
  });

  test.each([
    [newestModern, { elicitation: {} }],
    [newestLegacy, { elicitation: {} }],
    ["2025-06-18", { elicitation: { url: {} } }],
    ["2025-03-26", { elicitation: { url: {} } }],
  ])(
    "is -32021 for a client that has no pages: %s %o [ELIC-MODE-NOT-SENT]",
    async (revision, capabilities) => {
      const { ask } = await askingTool(demand, { revision, capabilities });
      await expect(ask()).rejects.toMatchObject({ code: -32021 });
    },
  );

  test("is asked once of a prompt, too, and the error says that the user declined [ELIC-SERVER-HANDLE]", async () => {
    const { client } = await askingTool(() => "unused", {
      prepare: (server) => server.prompt("connect", {}, demand),
    });
    let asked = 0;
    const answer = (): JsonObject => ({ action: ++asked > 2 ? "accept" : "cancel" });
    await expect(converse(client, "prompts/get", { name: "connect" }, answer)).rejects.toMatchObject({
      code: -32603,
      message: new InputCancelled("Connect one").message,
    });
    expect(asked).toBe(2);
  });

  test("is the only way to -32042 [ELIC-URL-REQUIRED-ERR-ONLY]", () => {
    expect(() => new ProtocolError(-32042, "Something else")).toThrow(RangeError);
  });
});
