// Names of the official server SDK: each row has the code and the whole error message.
import { inputRequired, McpServer } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { expect, test } from "vitest";

const info = { name: "test", version: "1.0.0" };
/** As JavaScript passes it. */
const any = (value: unknown): never => value as never;
const make = (options: object) => () => new McpServer(info, any(options));
const mount = (options: object) => () => fetchHandler(new McpServer(info), any(options));
const helper = (name: string) => () => (inputRequired as unknown as Record<string, () => void>)[name]?.();

const cache = 'is not an option: pass cache: { "tools/list": { ttlMs, scope } }';
const json = "is not an option: leave it out; a reply is JSON unless the handler sends something before it";

test.each<[string, () => unknown, string]>([
  ["cacheHints", make({ cacheHints: {} }), `server: cacheHints ${cache}`],
  ["cacheHint", make({ cacheHint: {} }), `server: cacheHint ${cache}`],
  [
    "supportedProtocolVersions",
    make({ supportedProtocolVersions: [] }),
    "server: supportedProtocolVersions is not an option: pass supportedRevisions",
  ],
  [
    "requestState",
    make({ requestState: {} }),
    "server: requestState is not an option: call server.secureRequestState({ keys, ttlMs }); the state is protected without it, too",
  ],
  [
    "a logger with too few methods",
    make({ logger: { log() {} } }),
    "server: logger must be an object with debug, info, warn and error, such as console",
  ],
  [
    "retryInterval",
    mount({ retryInterval: 5 }),
    "HTTP: retryInterval is not an option: did you mean retryMs?",
  ],
  [
    "legacy",
    mount({ legacy: "reject" }),
    "HTTP: legacy is not an option: pass supportedRevisions, which names the revisions that you serve, to new McpServer()",
  ],
  ["responseMode", mount({ responseMode: "json" }), `HTTP: responseMode ${json}`],
  [
    "update({ enabled })",
    () => new McpServer(info).tool("x", {}, () => "").update(any({ enabled: false })),
    'tool "x": enabled is not a field: call enable() or disable() of the handle',
  ],
  [
    "cacheHint of a resource",
    () => new McpServer(info).resource("a://b", any({ cacheHint: {} }), () => ""),
    'resource "a://b": cacheHint is called cache here',
  ],
  [
    "inputRequired.elicit()",
    helper("elicit"),
    "inputRequired has no elicit(): use await ctx.tryElicit(message, schema), and nothing has to be returned",
  ],
  [
    "inputRequired.elicitUrl()",
    helper("elicitUrl"),
    "inputRequired has no elicitUrl(): use await ctx.tryElicit(message, new URL(url)), and nothing has to be returned",
  ],
  [
    "inputRequired.createMessage()",
    helper("createMessage"),
    "inputRequired has no createMessage(): use await ctx.sample(messages, options), and nothing has to be returned",
  ],
  [
    "inputRequired.listRoots()",
    helper("listRoots"),
    "inputRequired has no listRoots(): use await ctx.roots(), and nothing has to be returned",
  ],
])("%s", (_, write, read) => {
  expect(write).toThrow(expect.objectContaining({ message: read }));
});
