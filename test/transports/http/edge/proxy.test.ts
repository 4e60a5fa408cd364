// Who is at the other end, behind proxies that are trusted to say so, and only then.
import { ConfigurationError, McpServer } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { expect, test } from "vitest";
import { describeEdges, modernPost } from "../../../support/http.ts";
import { modernRequest } from "../../../support/raw.ts";

const chain = "1.1.1.1, 2.2.2.2, 3.3.3.3";

describeEdges("trustProxy", (open, kind) => {
  test.each<[string, boolean | number | undefined, Record<string, string>, string | undefined]>([
    [
      "by default nothing is believed",
      undefined,
      { "x-forwarded-for": chain, forwarded: "for=4.4.4.4" },
      undefined,
    ],
    ["false believes nothing", false, { "x-forwarded-for": chain }, undefined],
    ["true believes the last entry", true, { "x-forwarded-for": chain }, "3.3.3.3"],
    ["2 believes the last two", 2, { "x-forwarded-for": chain }, "2.2.2.2"],
    ["9 believes all there are", 9, { "x-forwarded-for": chain }, "1.1.1.1"],
    ["a port is left out", true, { "x-forwarded-for": "5.5.5.5:80" }, "5.5.5.5"],
    ["brackets are left out", true, { "x-forwarded-for": "[2001:db8::1]:80" }, "2001:db8::1"],
    [
      "Forwarded is read",
      true,
      { forwarded: 'for=1.1.1.1, proto=https;for="[2001:db8::2]:80"' },
      "2001:db8::2",
    ],
    ["what is too long is no address", true, { "x-forwarded-for": "a".repeat(101) }, undefined],
    ["nothing said leaves what the edge knows", true, {}, undefined],
    ["nothing useful said either", true, { forwarded: "proto=https" }, undefined],
  ])("%s", async (_, trustProxy, headers, expected) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("address", {}, (__, ctx) => String(ctx.address));
    const edge = await open(server, trustProxy === undefined ? {} : { trustProxy });
    const call = modernRequest(1, "tools/call", { name: "address" });
    const answer = await (await edge.send(modernPost(call, headers))).answer();
    const own = kind === "fetchHandler" ? "undefined" : "127.0.0.1";
    expect(answer.result).toMatchObject({ content: [{ text: expected ?? own }] });
  });
});

test.each([-1, 1.5, Number.NaN, "yes"])("trustProxy: %s is refused when it is set", (trustProxy) => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  expect(() => fetchHandler(server, { trustProxy: trustProxy as number })).toThrow(ConfigurationError);
});
