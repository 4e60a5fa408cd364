// The options of a dashboard: what is refused as soon as you pass it, and with which remedy.
import { ConfigurationError } from "halyard";
import { dashboard, type DashboardOptions } from "halyard/dashboard";
import { expect, test } from "vitest";

const token = "a-token-that-is-long-enough";

test.each<DashboardOptions>([
  {},
  { token, port: 0 },
  { token: "x".repeat(16), port: 65_535 },
  { token: "x".repeat(512), history: 10_000 },
  { token: undefined, port: undefined } as never,
  { endpoint: "https://mcp.example.com/mcp", node: "web-1", allowedHosts: ["mcp.example.com:8443", "*"] },
  { tryIt: true, actions: true, onOpen: () => {} },
])("%o is accepted", (options) => {
  expect(dashboard(options).url).toBeUndefined();
});

test.each<[unknown, string]>([
  [{ tokn: token }, "tokn is not an option: did you mean token?"],
  [{ tryit: true }, "tryit is not an option: did you mean tryIt?"],
  [{ histroy: 5 }, "histroy is not an option: did you mean history?"],
  [{ path: "/dashboard" }, "path is not an option: choose from token, port,"],
  ["token", "options must be an object"],
  [null, "options must be an object"],
  [{ token: 1234567890123456 }, "token must be 16 to 512 visible ASCII characters"],
  [{ token: "" }, "token must be 16 to 512 visible ASCII characters"],
  [{ token: "fifteen-letters" }, "token must be 16 to 512 visible ASCII characters"],
  [{ token: "x".repeat(513) }, "token must be 16 to 512 visible ASCII characters"],
  [{ token: "a token with spaces" }, "token must be 16 to 512 visible ASCII characters"],
  [{ token: `${token}\n` }, "token must be 16 to 512 visible ASCII characters"],
  [{ token: "ein-längeres-Token" }, "token must be 16 to 512 visible ASCII characters"],
  [{ port: "3001" }, 'port must be a whole number from 0 to 65535, where 0 is any free port, not "3001"'],
  [{ port: 65_536 }, "port must be a whole number from 0 to 65535, where 0 is any free port, not 65536"],
  [{ port: -1 }, "port must be a whole number from 0 to 65535, where 0 is any free port, not -1"],
  [{ port: 1.5 }, "port must be a whole number from 0 to 65535, where 0 is any free port, not 1.5"],
  [{ port: Number.NaN }, "port must be a whole number from 0 to 65535, where 0 is any free port, not NaN"],
  [{ tryIt: "yes" }, 'tryIt must be true or false, not "yes"'],
  [{ actions: 1 }, "actions must be true or false, not 1"],
  [{ history: true }, "history must be a number of messages from 0 to 10000, not true"],
  [{ history: 10_001 }, "history must be a number of messages from 0 to 10000, not 10001"],
  [
    { history: Number.POSITIVE_INFINITY },
    "history must be a number of messages from 0 to 10000, not Infinity",
  ],
  [{ endpoint: "/mcp" }, 'endpoint must be a URL such as "https://mcp.example.com/mcp"'],
  [{ endpoint: "ws://mcp.example.com" }, 'endpoint must be a URL such as "https://mcp.example.com/mcp"'],
  [{ endpoint: "https://user:secret@mcp.example.com/mcp" }, "endpoint must be a URL such as"],
  [{ endpoint: new URL("https://mcp.example.com") }, "endpoint must be a URL"],
  [{ node: "" }, 'node must be a name of at most 100 characters, not ""'],
  [{ node: "x".repeat(101) }, "node must be a name"],
  [{ allowedHosts: "mcp.example.com" }, "allowedHosts must be a list of hosts"],
  [{ allowedHosts: ["https://mcp.example.com"] }, "allowedHosts must be a list of hosts"],
  [{ onOpen: "open" }, "onOpen must be a function"],
])("%o is refused", (options, message) => {
  const make = (): unknown => dashboard(options as never);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(`dashboard: ${message}`);
});

test.each(["qwerty", "with a space in it", `${token}\n`, "x".repeat(513)])(
  "an error never has the token: %s",
  (given) => {
    expect(() => dashboard({ token: given })).not.toThrow(given);
  },
);
