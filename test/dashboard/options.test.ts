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
  [{ token: 1234567890123456 }, "token is not a string: pass 16 to 512 visible ASCII characters"],
  [{ token: "" }, "token is too short, with 0 characters: pass 16"],
  [{ token: "fifteen-letters" }, "token is too short, with 15 characters: pass 16"],
  [{ token: "x".repeat(513) }, "token is too long, with 513 characters: pass 16"],
  [{ token: "a token with spaces" }, "token has a space, a line break or a character beyond ASCII: pass 16"],
  [{ token: `${token}\n` }, "token has a space, a line break"],
  [{ token: "ein-längeres-Token" }, "token has a space, a line break or a character beyond ASCII"],
  [{ port: "3001" }, 'port is "3001": pass a port from 0 to 65535; 0 is any free port'],
  [{ port: 65_536 }, "port is 65536: pass a port"],
  [{ port: -1 }, "port is -1: pass a port"],
  [{ port: 1.5 }, "port is 1.5: pass a port"],
  [{ port: Number.NaN }, "port is NaN: pass a port"],
  [{ tryIt: "yes" }, 'tryIt is "yes": pass true or false'],
  [{ actions: 1 }, "actions is 1: pass true or false"],
  [{ history: true }, "history is true: pass a number of messages from 0 to 10000"],
  [{ history: 10_001 }, "history is 10001: pass a number of messages from 0 to 10000"],
  [{ history: Number.POSITIVE_INFINITY }, "history is Infinity: pass a number"],
  [{ endpoint: "/mcp" }, 'endpoint is "/mcp": pass a URL such as "https://mcp.example.com/mcp"'],
  [{ endpoint: "ws://mcp.example.com" }, 'endpoint is "ws://mcp.example.com": pass a URL'],
  [{ endpoint: "https://user:secret@mcp.example.com/mcp" }, "endpoint has a user name or a password: leave"],
  [{ endpoint: new URL("https://mcp.example.com") }, "endpoint is"],
  [{ node: "" }, 'node is "": pass a name of at most 100 characters'],
  [{ node: "x".repeat(101) }, "node is"],
  [{ allowedHosts: "mcp.example.com" }, 'allowedHosts is "mcp.example.com": pass an array of hosts'],
  [{ allowedHosts: ["https://mcp.example.com"] }, "allowedHosts is"],
  [{ onOpen: "open" }, 'onOpen is "open": pass a function'],
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
