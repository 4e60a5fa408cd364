// What a server repeats of the client's credentials appears in no error, event or recording, however it is encoded, split or cut off.
import { type ClientEvent, connect, type ConnectOptions, RpcRejection } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { cpuTime } from "../../support/cpu-time.ts";
import {
  event,
  failing,
  HttpScript,
  logged,
  newestLegacy,
  newestModern,
  quick,
  responseTo,
} from "../../support/http-script.ts";
import { until } from "../../support/turns.ts";
import { apiKey, encodings, leaked, sessionId, shownBy, token } from "./echoes.ts";

interface Setup {
  readonly server: HttpScript;
  readonly client: Awaited<ReturnType<typeof connect>>;
  readonly events: ClientEvent[];
  readonly lines: string[];
}

/** A client that sends all three secrets; the server repeats what the test says. */
async function open(options: ConnectOptions = {}, revision: string = newestLegacy): Promise<Setup> {
  const server = await HttpScript.open(revision);
  if (revision === newestLegacy)
    server.on("initialize", ({ response, message }) => {
      const serverInfo = { name: "scripted", version: "1.0.0" };
      const result = { protocolVersion: revision, capabilities: { tools: {}, logging: {} }, serverInfo };
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": sessionId });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    });
  const events: ClientEvent[] = [];
  const lines: string[] = [];
  const client = await connect(server.url, {
    revision,
    backoff: quick,
    auth: token,
    headers: { "x-api-key": apiKey },
    observe: (seen) => events.push(seen),
    record: (line) => lines.push(line),
    ...options,
  });
  onTestFinished(() => client.close());
  return { server, client, events, lines };
}

const secrets = { token, apiKey, sessionId };
const cases = Object.keys(encodings).flatMap((encoding) =>
  Object.keys(secrets).map((name) => [name, encoding] as [keyof typeof secrets, string]),
);

describe("a server that repeats", () => {
  test.each(cases)("the %s %s shows it to nobody", async (name, encoding) => {
    const { server, client, events, lines } = await open();
    const encode = encodings[encoding] as (secret: string) => string;
    const echo = encode(secrets[name]);
    // A character of Base64 at the edge has bits of what is beside the secret, too.
    const plain = encode(secrets[name].replaceAll(/(?<=.).(?=.)/g, "x"));
    const said = `You sent ${echo}: no`;
    server.on("refuse", ({ refuse }) => refuse(500, said));
    server.on("reject", ({ refuse, message }) => {
      const error = { code: -32010, message: said, data: { seen: [said], [echo]: 1 } };
      refuse(200, { jsonrpc: "2.0", id: message.id, error });
    });
    server.on("lose", ({ refuse }) => refuse(502, said));
    server.on("deny", ({ refuse }) =>
      refuse(403, said, { "www-authenticate": `Bearer error_description="${echo}"` }),
    );
    server.on("type", ({ response }) => response.writeHead(200, { "content-type": "text/plain" }).end(said));
    server.on("tools/call", ({ result }) =>
      result({ isError: true, content: [{ type: "text", text: said }] }),
    );
    const errors = [
      ...(await Promise.all(
        ["refuse", "reject", "lose", "deny", "type"].map((method) => failing(client.request(method))),
      )),
      await failing(client.callTool("fail", {}, { throwOnError: true })),
    ];
    for (const error of errors) expect(leaked(shownBy(error), echo, plain)).toEqual([]);
    expect(leaked(shownBy(events), echo, plain)).toEqual([]);
    expect(leaked(lines.join("\n"), echo, plain)).toEqual([]);
    // What is not secret stays readable.
    for (const error of errors)
      if (error.message.includes("You sent")) expect(error.message).toMatch(/You sent .*\[redacted\].*: no/);
    expect(errors.filter(({ message }) => message.includes("You sent"))).toHaveLength(4);
  });

  // What a terminal does not show is left out of messages: the token would stand there whole.
  test.each([
    ["colours", "\u001b[0m"],
    ["titles of a window", "\u001b]0;x\u0007"],
    ["zero bytes", "\0"],
    ["changes of the direction", "\u202a"],
    ["soft hyphens", "\u00ad"],
    ["spaces without width", "\u200b"],
  ])("the token with %s between its characters does not show it", async (_, separator) => {
    const { server, client, events, lines } = await open();
    const echo = [...token].join(separator);
    const said = `You sent ${echo}: no`;
    server.on("refuse", ({ refuse }) => refuse(500, said));
    server.on("reject", ({ refuse, message }) =>
      refuse(200, { jsonrpc: "2.0", id: message.id, error: { code: -32010, message: said, data: [said] } }),
    );
    const errors = [await failing(client.request("refuse")), await failing(client.request("reject"))];
    const strings = [errors.map(({ message, data, body }) => [message, data, body]), events, lines].flat(3);
    const shown = strings.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join("\n");
    const bare = [separator, JSON.stringify(separator).slice(1, -1)].reduce(
      (text, part) => text.replaceAll(part, ""),
      shown,
    );
    expect(leaked(bare, token)).toEqual([]);
    for (const error of errors) expect(error.message).toContain("You sent [redacted]: no");
  });

  test("a text of a terminal that holds the token does not show it", async () => {
    const { server, client } = await open({ auth: "short-9x" });
    const said = "\u001b]0;short-9x\u0007 \u001b[short-9x";
    server.on("refuse", ({ refuse }) => refuse(500, said));
    expect(shownBy(await failing(client.request("refuse")))).not.toContain("hort-9x");
  });

  test("a password of other letters than English ones does not show", async () => {
    const password = "pässwörd-1234";
    const basic = Buffer.from(`ann:${password}`).toString("base64");
    const { server, client } = await open({
      auth: { headers: () => ({ authorization: `Basic ${basic}` }) },
    });
    server.on("refuse", ({ refuse }) => refuse(500, `${password} ${encodeURIComponent(password)}`));
    expect(await failing(client.request("refuse"))).toMatchObject({ body: "[redacted] [redacted]" });
  });

  test("a token is not forgotten over what else is sent or received", async () => {
    const server = await HttpScript.open(newestLegacy);
    let sessions = 0;
    server.on("initialize", ({ response, message }) => {
      const result = {
        protocolVersion: newestLegacy,
        capabilities: {},
        serverInfo: { name: "a", version: "1" },
      };
      const id = `${sessions++}`.repeat(9000);
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": id });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    });
    const client = await connect(server.url, {
      revision: newestLegacy,
      backoff: quick,
      auth: token,
      headers: { "x-api-key": apiKey },
    });
    onTestFinished(() => client.close());
    server.on("work", ({ result }) => result({}));
    for (let call = 0; call < 100; call += 1)
      await client.request("work", {}, { headers: { "x-request-id": `request-${call}-0123456789abcdef` } });
    server.on("reject", ({ refuse, message, headers }) => {
      const said = `You sent ${headers.authorization} and ${headers["x-api-key"] as string}`;
      refuse(200, { jsonrpc: "2.0", id: message.id, error: { code: -32010, message: said } });
    });
    const error = await failing(client.request("reject"));
    expect(error.message).toBe("You sent Bearer [redacted] and [redacted]");
  });

  test("a proof of the request before, or of this one, does not show", async () => {
    let proofs = 0;
    const proofOf = (at: number): string => `eyJ0eXAiOiJkcG9wK2p3dCJ9.${`proof-${at}-`.repeat(9)}`;
    const { server, client } = await open({
      auth: { headers: () => ({ authorization: `DPoP ${token}`, dpop: proofOf(++proofs) }) },
    });
    server.on("reject", ({ refuse, message, headers }) => {
      const said = `You sent ${headers["dpop"] as string} after ${proofOf(proofs - 1)}`;
      refuse(200, { jsonrpc: "2.0", id: message.id, error: { code: -32010, message: said } });
    });
    const error = await failing(client.request("reject"));
    expect(error.message).toBe("You sent [redacted] after [redacted]");
  });

  test("a token that was refreshed shows neither the old nor the new one", async () => {
    const tokens = ["first-token-0123456789abcdef", "second-token-0123456789abcdef"];
    let current = 0;
    const { server, client, lines } = await open({ auth: () => tokens[current] as string }, newestModern);
    server.on("work", ({ headers, result }) => result({ seen: headers.authorization, before: tokens[0] }));
    await client.request("work");
    current = 1;
    expect(await client.request("work")).toMatchObject({ seen: `Bearer ${tokens[1]}`, before: tokens[0] });
    for (const secret of tokens) expect(lines.join("\n")).not.toContain(secret.slice(0, 16));
  });

  test("a header of one call, or the password of Basic authentication, shows neither", async () => {
    const password = "correct horse battery";
    const basic = Buffer.from(`ann:${password}`).toString("base64");
    const { server, client, lines } = await open({
      auth: { headers: () => ({ authorization: `Basic ${basic}` }) },
    });
    const headers = { "x-upstream-token": "upstream-0123456789abcdef" };
    const said = `ann with battery, and ${headers["x-upstream-token"]}`;
    server.on("work", ({ refuse }) => refuse(500, said));
    server.on("well", ({ result }) => result({ said }));
    const error = await failing(client.request("work", {}, { headers }));
    await client.request("well", {}, { headers });
    for (const text of [shownBy(error), lines.join("\n")]) {
      expect(text).not.toContain("battery");
      expect(text).not.toContain("upstream-0123");
      expect(text).toContain("ann with");
    }
  });

  test.each([0, 1, 7, 63, 300])(
    "a token at the end of what is read, %i characters before it, shows no part",
    async (left) => {
      const { server, client } = await open();
      for (const limit of [2000, 4000, 8000]) {
        server.on("work", ({ response }) => {
          response.writeHead(500, { "content-type": "text/plain" });
          response.write("y".repeat(limit - left));
          // A chunk that ends inside the token, and a body that continues.
          setImmediate(() => {
            response.write(token.slice(0, left + 1));
            setImmediate(() => response.end(token.slice(left + 1) + "z".repeat(9000)));
          });
        });
        const error = await failing(client.request("work"));
        expect(shownBy(error)).not.toContain(token.slice(0, 6));
        expect(String(error["body"]).length).toBeLessThanOrEqual(2000);
      }
    },
  );

  test("a token in two events shows neither half in a recording", async () => {
    const { server, client, lines } = await open({}, newestModern);
    const halves = [token.slice(0, 50), token.slice(50)];
    server.on("work", (asked) => {
      const write = asked.stream();
      for (const half of halves) write(event(logged(half)));
      write(event(responseTo(asked)));
    });
    await client.request("work");
    expect(lines.filter((line) => line.includes("notifications/message"))).toHaveLength(2);
    for (const half of halves) expect(leaked(lines.join("\n"), half.slice(4, -4))).toEqual([]);
  });

  test("the query of the server's own address does not show it", async () => {
    const { server } = await open();
    const client = await connect(`${server.url}?apiKey=${apiKey}`, { revision: newestLegacy });
    onTestFinished(() => client.close());
    server.on("work", ({ refuse, path }) => refuse(500, `No such thing: ${path}`));
    expect(shownBy(await failing(client.request("work")))).not.toContain(apiKey);
  });
});

test("what a program needs is not redacted: results, and the addresses that a user must visit", async () => {
  const { server, client } = await open();
  const url = `https://example.com/connect?session=${sessionId}`;
  const elicitations = [{ mode: "url", elicitationId: "1", url, message: "Connect" }];
  server.on("work", ({ result }) => result({ token, sessionId }));
  server.on("visit", ({ refuse, message }) =>
    refuse(200, {
      jsonrpc: "2.0",
      id: message.id,
      error: { code: -32042, message: "Visit", data: { elicitations } },
    }),
  );
  expect(await client.request("work")).toMatchObject({ token, sessionId });
  const error = await failing(client.request("visit"));
  expect(error).toBeInstanceOf(RpcRejection);
  expect(error["data"]).toEqual({ elicitations });
});

test("ordinary words are not taken for secrets", async () => {
  const { server, client } = await open({
    auth: "good",
    headers: {
      "x-plan": "pro",
      "user-agent": "my-client/1.0",
      "x-tenant": "https://tenants.example.com/acme/europe",
      "x-since": "2025-11-25",
      "x-area": "weather-tools",
    },
  });
  const said =
    "The Bearer token of my-client/1.0 has the plan pro since 2025-11-25 for weather-tools; see https://tenants.example.com/help for mcp-session-id";
  server.on("work", ({ refuse }) => refuse(500, said));
  expect(await failing(client.request("work"))).toMatchObject({ body: said });
});

test("redaction takes linear time, whatever the server chooses as session id and text", async () => {
  const server = await HttpScript.open(newestLegacy);
  const id = "ab".repeat(3500);
  server.on("initialize", ({ response, message }) => {
    const result = {
      protocolVersion: newestLegacy,
      capabilities: {},
      serverInfo: { name: "a", version: "1" },
    };
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": id });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  });
  let record: ((line: string) => void) | undefined;
  const options = { revision: newestLegacy, auth: token, limits: { maxBytes: 40_000_000 } };
  const [plain, recorded] = [
    await connect(server.url, options),
    await connect(server.url, { ...options, record: (line) => record?.(line) }),
  ];
  onTestFinished(() => plain.close());
  onTestFinished(() => recorded.close());
  for (const unit of ["ab", "ba%61", "\\\\", "%25", "ab".repeat(7), "eyJhbGciOiJ"]) {
    const text = unit.repeat(Math.ceil(4_000_000 / unit.length));
    server.on("work", ({ result }) => result({ text }));
    const base = await cpuTime(() => plain.request("work"));
    let size = 0;
    record = (line) => (size += line.length);
    const cost = await cpuTime(() => recorded.request("work"));
    await until(() => size > 0);
    // Quadratic time would take minutes.
    expect(cost).toBeLessThan(base + 4000);
  }
});
