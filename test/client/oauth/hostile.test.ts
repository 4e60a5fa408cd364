// What hostile servers make a client fetch: addresses that are not theirs to reach, and documents that never end.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../../support/clock.ts";
import { deferred } from "../../support/turns.ts";
import { resolveNames } from "./support/names.ts";
import { Web } from "./support/web.ts";

const origin = "https://mcp.example.com";
const document = `${origin}/.well-known/oauth-protected-resource/mcp`;
const issuer = "https://auth.example.com";
const metadata = `${issuer}/.well-known/oauth-authorization-server`;
const described = { resource: `${origin}/mcp`, authorization_servers: [issuer] };

/** A server that says where its metadata is. */
function webWith(url: string, server?: string): Web {
  const web = new Web(server);
  web.challenge = `Bearer resource_metadata="${url}"`;
  return web;
}

describe("addresses that a server on the internet must not lead to", () => {
  test.each([
    ["loopback", "127.0.0.1", "127.0.0.1"],
    ["loopback", "127.255.255.254", "127.255.255.254"],
    ["loopback", "127.1", "127.0.0.1"],
    ["loopback", "2130706433", "127.0.0.1"],
    ["loopback", "0x7f000001", "127.0.0.1"],
    ["loopback", "0x7f.0.0.0x1", "127.0.0.1"],
    ["loopback", "0177.0.0.01", "127.0.0.1"],
    ["loopback", "017700000001", "127.0.0.1"],
    ["loopback", "127.0.0.1.", "127.0.0.1"],
    ["loopback", "%31%32%37.0.0.1", "127.0.0.1"],
    ["loopback", "0.0.0.0", "0.0.0.0"],
    ["loopback", "0", "0.0.0.0"],
    ["loopback", "localhost", "localhost"],
    ["loopback", "LOCALHOST", "localhost"],
    ["loopback", "localhost.", "localhost."],
    ["loopback", "mcp.localhost", "mcp.localhost"],
    ["loopback", "[::1]", "[::1]"],
    ["loopback", "[0:0:0:0:0:0:0:1]", "[::1]"],
    ["loopback", "[::]", "[::]"],
    ["loopback", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
    ["loopback", "[::127.0.0.1]", "[::7f00:1]"],
    ["loopback", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]"],
    ["loopback", "[2002:7f00:1::]", "[2002:7f00:1::]"],
    ["private", "10.0.0.1", "10.0.0.1"],
    ["private", "10.255.255.255", "10.255.255.255"],
    ["private", "172.16.0.1", "172.16.0.1"],
    ["private", "172.31.255.255", "172.31.255.255"],
    ["private", "192.168.1.1", "192.168.1.1"],
    ["private", "3232235777", "192.168.1.1"],
    ["private", "100.64.0.1", "100.64.0.1"],
    ["private", "100.127.255.255", "100.127.255.255"],
    ["private", "198.18.0.1", "198.18.0.1"],
    ["private", "[fd00::1]", "[fd00::1]"],
    ["private", "[fc00::1]", "[fc00::1]"],
    ["private", "[fec0::1]", "[fec0::1]"],
    ["private", "[64:ff9b:1::1]", "[64:ff9b:1::1]"],
    ["private", "[::ffff:10.0.0.1]", "[::ffff:a00:1]"],
    ["private", "[2002:c0a8:101::1]", "[2002:c0a8:101::1]"],
    ["link-local", "169.254.169.254", "169.254.169.254"],
    ["link-local", "169.254.0.1", "169.254.0.1"],
    ["link-local", "0xa9fea9fe", "169.254.169.254"],
    ["link-local", "[fe80::1]", "[fe80::1]"],
    ["link-local", "[febf::1]", "[febf::1]"],
    ["link-local", "[fd00:ec2::254]", "[fd00:ec2::254]"],
    ["link-local", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]"],
    ["link-local", "[64:ff9b::a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]"],
    ["link-local", "100.100.100.200", "100.100.100.200"],
    ["reserved", "224.0.0.1", "224.0.0.1"],
    ["reserved", "240.0.0.1", "240.0.0.1"],
    ["reserved", "255.255.255.255", "255.255.255.255"],
    ["reserved", "192.0.2.1", "192.0.2.1"],
    ["reserved", "[ff02::1]", "[ff02::1]"],
    ["reserved", "[2001:db8::1]", "[2001:db8::1]"],
    ["reserved", "[2001::1]", "[2001::1]"],
    ["reserved", "[4000::1]", "[4000::1]"],
  ])("%s: %s [SEC-SSRF-CONSIDER, SEC-SSRF-PRIVATE]", async (place, host, written) => {
    const web = webWith(`https://${host}/notes.json`);
    expect(await web.failure()).toBe(
      `forbidden-address: ${origin} leads to ${written}, a ${place} address. If you trust it, pass the address of the authorization server as \`issuer\``,
    );
    expect(web.urls).toEqual([]);
  });

  test.each([
    "https://8.8.8.8/notes.json",
    "https://[2606:4700::1111]/notes.json",
    "https://[64:ff9b::808:808]/notes.json",
    "https://[2002:808:808::]/notes.json",
    "https://172.32.0.1/notes.json",
    "https://100.128.0.1/notes.json",
    "https://localhost.example.com/notes.json",
    "https://notlocalhost/notes.json",
  ])("%s is on the internet, too", async (url) => {
    const web = webWith(url);
    await web.failure();
    expect(web.urls[0]).toBe(url);
  });

  test.each([
    ["http:", "http://docs.example.com/notes.json"],
    ["http: at another port of the server", "http://mcp.example.com/notes.json"],
    ["ftp:", "ftp://docs.example.com/notes.json"],
    ["file:", "file:///etc/passwd"],
    ["javascript:", "javascript:alert(1)"],
    ["data:", "data:application/json,{}"],
    ["blob:", "blob:https://docs.example.com/1"],
    ["credentials", "https://mcp.example.com@docs.example.com/notes.json"],
    ["a password", "https://:x@docs.example.com/notes.json"],
    ["a fragment", "https://docs.example.com/notes.json#x"],
    ["an empty fragment", "https://docs.example.com/notes.json#"],
    ["a bad port", "https://docs.example.com:99999/"],
    ["more than 2048 characters", `https://docs.example.com/${"x".repeat(2048)}`],
  ])("%s [SEC-SSRF-HTTPS]", async (_, url) => {
    const web = webWith(url);
    expect(await web.failure()).toMatch(/^forbidden-address: /);
    expect(web.urls).toEqual([]);
  });
});

describe("addresses as near as the server itself", () => {
  const [loopback, near, link] = [
    "http://127.0.0.1:8080/mcp",
    "https://10.0.0.1/mcp",
    "https://169.254.1.1/mcp",
  ];
  test.each([
    [loopback, "http://localhost:9000/x", true],
    [loopback, "http://[::1]:9000/x", true],
    [loopback, "https://10.0.0.9/x", true],
    [loopback, "http://10.0.0.9/x", false],
    [loopback, "https://8.8.8.8/x", true],
    [loopback, "http://8.8.8.8/x", false],
    [loopback, "https://169.254.169.254/x", false],
    [near, "https://192.168.0.9/x", true],
    [near, "https://[fd00::9]/x", true],
    [near, "https://localhost/x", false],
    [near, "https://169.254.169.254/x", false],
    ["http://10.0.0.1:8080/mcp", "http://10.0.0.1:8080/x", true],
    ["http://10.0.0.1:8080/mcp", "http://10.0.0.1:9090/x", false],
    [link, "https://169.254.169.254/x", true],
    [link, "https://10.0.0.9/x", false],
    [link, "https://127.0.0.1/x", false],
    ["https://intranet.example.com/mcp", "https://10.0.0.9/x", false],
  ])("from %s to %s: %s [SEC-SSRF-PRIVATE, SEC-SSRF-HTTPS]", async (server, url, isAllowed) => {
    const web = webWith(url, server);
    const failure = await web.failure();
    expect(failure.startsWith("forbidden-address: ")).toBe(!isAllowed);
    expect(web.urls.slice(0, 1)).toEqual(isAllowed ? [url] : []);
  });

  test("a user may name an authorization server anywhere", async () => {
    for (const name of ["https://10.0.0.9", "http://10.0.0.9:8080", "http://127.0.0.1:9000"]) {
      const web = new Web().describe(document, { ...described, authorization_servers: [name] });
      web.issue(`${name}/.well-known/oauth-authorization-server`, name);
      expect((await web.connect({ issuer: name })).url).toBe(`${name}/token`);
      const unnamed = new Web().describe(document, { ...described, authorization_servers: [name] });
      expect(await unnamed.failure()).toMatch(/^forbidden-address: .* pass .* `issuer`$/);
    }
  });
});

/** Serves on loopback until the test ends. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const http = createServer(answer);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return (http.address() as AddressInfo).port;
}

describe("names, on Node", () => {
  const internet = "https://93.184.216.34/mcp";

  test.each([
    ["127.0.0.1", "loopback"],
    ["::1", "loopback"],
    ["::ffff:127.0.0.1", "loopback"],
    ["10.0.0.5", "private"],
    ["fd00::5", "private"],
    ["169.254.169.254", "link-local"],
    ["fe80::5%eth0", "link-local"],
    ["0.0.0.0", "loopback"],
  ])("a name that resolves to %s is refused as %s [SEC-SSRF-PRIVATE]", async (address, place) => {
    resolveNames({ "internal.example.com": [address] });
    const web = webWith("https://internal.example.com/notes.json", internet);
    const where = `internal.example.com (${address}), a ${place} address`;
    expect(await web.failure({}, true)).toContain(
      `forbidden-address: https://93.184.216.34 leads to ${where}`,
    );
  });

  test("only allowed addresses of a name are connected to, and each request resolves it once [SEC-SSRF-PRIVATE]", async () => {
    const names = resolveNames({ "as.localhost": ["169.254.169.254", "127.0.0.1"] });
    const asked: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      asked.push(request.headers.host);
      response.writeHead(503).end();
    });
    const web = webWith(`http://as.localhost:${port}/notes.json`, `http://127.0.0.1:${port}/mcp`);
    expect(await web.failure({}, true)).toContain("responds with HTTP status 503");
    expect(asked).toEqual([`as.localhost:${port}`]);
    expect(names).toEqual(["as.localhost"]);
  });

  test.each([
    ["10.0.0.1", "https://10.0.0.9/authorize", true],
    ["10.0.0.1", "https://127.0.0.1/authorize", false],
    ["10.0.0.1", "https://169.254.169.254/authorize", false],
    // Its owner may have pointed it there after the client has connected.
    ["127.0.0.1", "https://127.0.0.1/authorize", false],
    ["127.0.0.1", "http://localhost:9000/authorize", false],
    ["127.0.0.1", "https://10.0.0.9/authorize", true],
    ["93.184.216.34", "https://10.0.0.9/authorize", false],
  ])(
    "a server whose name resolves to %s may lead to %s: %s [SEC-SSRF-PRIVATE]",
    async (address, url, isAllowed) => {
      // The document comes from the only address that a test can listen on.
      let resolved = [address];
      const asked: (string | undefined)[] = [];
      const port = await serve((request, response) => {
        asked.push(request.url);
        const own = `http://${request.headers.host}`;
        const documents: Record<string, object> = {
          "/.well-known/oauth-protected-resource/mcp": {
            resource: `${own}/mcp`,
            authorization_servers: [own],
          },
          "/.well-known/oauth-authorization-server": {
            issuer: own,
            token_endpoint: `${own}/token`,
            authorization_endpoint: url,
          },
        };
        const found = documents[request.url ?? ""];
        response.writeHead(found ? 200 : 404).end(JSON.stringify(found));
      });
      resolveNames({
        get "mcp.example.com"() {
          const [first = ""] = resolved;
          resolved = ["127.0.0.1"];
          return [first];
        },
      });
      const failure = await new Web(`http://mcp.example.com:${port}/mcp`).failure({}, true);
      expect(failure.startsWith("forbidden-address: ")).toBe(!isAllowed);
      expect(asked.includes("/token")).toBe(isAllowed);
    },
  );

  test("with a fetch of the user, no name is resolved: the fetch may know others", async () => {
    const names = resolveNames({ "mcp.example.com": ["10.0.0.1"] });
    const web = new Web().describe(document, described).issue(metadata, issuer);
    await web.connect();
    expect(names).toEqual([]);
  });

  test("a name that does not resolve is named", async () => {
    resolveNames({});
    const web = webWith("https://nowhere.example.com/notes.json", internet);
    const reason = "getaddrinfo ENOTFOUND nowhere.example.com";
    expect(await web.failure({}, true)).toBe(
      `metadata: Could not fetch https://nowhere.example.com/notes.json: ${reason}`,
    );
  });

  test("hosts of other scripts appear as DNS knows them", async () => {
    const web = new Web().describe(document, { ...described, authorization_servers: ["https://аррӏе.com"] });
    const failure = await web.failure();
    expect(failure).toContain("https://xn--80ak6aa92e.com/.well-known/oauth-authorization-server");
    expect(failure).toMatch(/^[ -~]*$/);
  });
});

describe("redirects", () => {
  const to = (location: string, status = 302): { status: number; headers: Record<string, string> } => ({
    status,
    headers: { location },
  });

  test.each([
    ["another origin", "https://docs.example.com/notes.json"],
    ["another port", "https://mcp.example.com:8443/notes.json"],
    ["http:", "http://mcp.example.com/notes.json"],
    ["a private address", "https://10.0.0.1/notes.json"],
    ["this machine", "http://127.0.0.1/notes.json"],
    ["the metadata of a cloud", "http://169.254.169.254/latest/meta-data/"],
    ["another host, without a scheme", "//docs.example.com/notes.json"],
    ["a file", "file:///etc/passwd"],
    ["a script", "javascript:alert(1)"],
    ["nothing that is a URL", "https://"],
    ["credentials", "https://user:password@mcp.example.com/notes.json"],
    ["itself", document],
  ])("of a document to %s is not followed [SEC-SSRF-HTTPS, SEC-SSRF-CONSIDER]", async (_, location) => {
    const web = new Web();
    web.places[document] = to(location);
    expect(await web.failure()).toMatch(/^forbidden-address: /);
    expect(new Set(web.urls)).toEqual(new Set([document]));
    expect(web.urls.length).toBeLessThanOrEqual(4);
  });

  test("of a document to the same origin are followed, three times", async () => {
    const web = new Web().issue(metadata, issuer);
    web.places[document] = to("/1");
    web.places[`${origin}/1`] = to("/2", 307);
    web.places[`${origin}/2`] = to(`${origin}/3`, 308);
    web.describe(`${origin}/3`, described);
    expect((await web.connect()).url).toBe(`${issuer}/token`);
    const more = new Web();
    Object.assign(more.places, web.places, { [`${origin}/3`]: to("/4") });
    more.describe(`${origin}/4`, described);
    expect(await more.failure()).toContain("gave up after 3 redirects");
    expect(more.urls).toHaveLength(4);
  });

  test.each([301, 302, 303, 307, 308])(
    "of a request with credentials are not followed (%i) [SEC-SSRF-CONSIDER]",
    async (status) => {
      const web = new Web().describe(document, described).issue(metadata, issuer);
      web.places[`${issuer}/token`] = to(`${issuer}/other`, status);
      const failure = await web.failure();
      expect(failure).toContain(`${issuer}/token redirects to "${issuer}/other"`);
      expect(web.urls.at(-1)).toBe(`${issuer}/token`);
    },
  );
});

/** A body that never ends, and whether its reader has cancelled it. */
function endless(piece: string): { body: ReadableStream<Uint8Array>; isCancelled: () => boolean } {
  let isCancelled = false;
  const bytes = new TextEncoder().encode(piece);
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes),
    cancel: () => void (isCancelled = true),
  });
  return { body, isCancelled: () => isCancelled };
}

describe("documents", () => {
  const json = JSON.stringify(described);
  const nested = (depth: number): string => `{"x":${"[".repeat(depth)}${"]".repeat(depth)},${json.slice(1)}`;

  test.each([
    [
      "an HTML page",
      "<!doctype html><title>Notes</title>",
      "text/html",
      'an HTML page (content-type: "text/html")',
    ],
    ["a text", "Not here", "text/plain", 'a text that is not JSON (content-type: "text/plain")'],
    ["nothing", "", "application/json", "a text that is not JSON"],
    ["half of a document", json.slice(0, -2), "application/json", "a text that is not JSON"],
    ["two documents", json + json, "application/json", "a text that is not JSON"],
    ["a list", `[${json}]`, "application/json", "must respond with a JSON object"],
    ["null", "null", "application/json", "must respond with a JSON object"],
    ["brackets without end", "[".repeat(200_000), "application/json", "a text that is not JSON"],
    [
      "a deep list",
      "[".repeat(100_000) + "]".repeat(100_000),
      "application/json",
      "must respond with a JSON object",
    ],
    ["more than 256 KB", json + " ".repeat(262_144), "application/json", "more than 262144 bytes"],
    ["commands of a terminal", "\u001b[2J", "text/\u007f\u009b2J", "a text that is not JSON"],
  ])("%s are refused, and the error says what came", async (_, body, type, problem) => {
    const web = new Web();
    web.places[document] = { body, headers: { "content-type": type } };
    const failure = await web.failure();
    expect(failure).toMatch(/^metadata: [ -~]*$/);
    expect(failure).toContain(problem);
    expect(failure).toContain(document);
  });

  test.each([
    ["another content type", json, { "content-type": "text/plain" }],
    ["no content type", json, { "content-type": "" }],
    ["a byte order mark", `\uFEFF${json}`, {}],
    ["depth", nested(50_000), {}],
    ["262144 bytes", json + " ".repeat(262_144 - json.length), {}],
    ["members of prototypes", `{"__proto__":{"resource":"x"},"constructor":7,${json.slice(1)}`, {}],
    ["a member twice: the last one counts", `{"resource":"https://x.example",${json.slice(1)}`, {}],
  ])("with %s are read", async (_, body, headers) => {
    const web = new Web().issue(metadata, issuer);
    web.places[document] = { body, headers };
    expect((await web.connect()).url).toBe(`${issuer}/token`);
  });

  test("without end are given up", async () => {
    const web = new Web();
    const { body, isCancelled } = endless(" ".repeat(10_000));
    web.places[document] = () => new Response(body);
    expect(await web.failure()).toContain("more than 262144 bytes");
    expect(isCancelled()).toBe(true);
  });

  test("that answer a request for a token without end are given up, too", async () => {
    const web = new Web().describe(document, described).issue(metadata, issuer);
    const { body, isCancelled } = endless('{"access_token":"');
    web.places[`${issuer}/token`] = () => new Response(body);
    expect(await web.failure()).toContain("more than 262144 bytes");
    expect(isCancelled()).toBe(true);
  });
});

describe("slow servers", () => {
  test("a document must be complete in 10 seconds, however it drips", async () => {
    holdClocks("setTimeout", "clearTimeout");
    const arrived = deferred<ServerResponse>();
    const port = await serve((_, response) => arrived.resolve(response));
    const failing = webWith(`http://127.0.0.1:${port}/notes.json`, "http://127.0.0.1:1/mcp").failure(
      {},
      true,
    );
    const response = await arrived.promise;
    const closed = new Promise((resolve) => response.on("close", resolve));
    for (let second = 1; second < 10; second++) {
      response.write(" ");
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(response.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await failing).toContain("notes.json: it took longer than 10 s");
    await closed;
  });

  test("a fetch that never answers, and knows no signals, is not waited for", async () => {
    holdClocks("setTimeout", "clearTimeout");
    const arrived = deferred();
    const web = new Web();
    web.places[document] = () => {
      arrived.resolve();
      return new Promise(() => {});
    };
    const failing = web.failure();
    await arrived.promise;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await failing).toContain("it took longer than 10 s");
  });

  test("a body that never ends, and knows no signals, is given up", async () => {
    holdClocks("setTimeout", "clearTimeout");
    const [reading, cancelled] = [deferred(), deferred()];
    const web = new Web();
    web.places[document] = () =>
      new Response(
        new ReadableStream({
          pull: () => {
            reading.resolve();
            return new Promise(() => {});
          },
          cancel: () => cancelled.resolve(),
        }),
      );
    const failing = web.failure();
    await reading.promise;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await failing).toContain("it took longer than 10 s");
    await cancelled.promise;
  });

  test("a token must come in 20 seconds", async () => {
    holdClocks("setTimeout", "clearTimeout");
    const arrived = deferred();
    const web = new Web().describe(document, described).issue(metadata, issuer);
    web.places[`${issuer}/token`] = () => {
      arrived.resolve();
      return new Promise(() => {});
    };
    const failing = web.failure();
    await arrived.promise;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await failing).toContain("it took longer than 20 s");
  });
});

describe("odd HTTP, on Node", () => {
  test.each([
    [
      "a compressed document",
      (response: ServerResponse) => response.setHeader("content-encoding", "gzip").end("x"),
      "as gzip",
    ],
    [
      "headers of 100 KB",
      (response: ServerResponse) => response.setHeader("x", "y".repeat(100_000)).end(),
      "overflow",
    ],
    [
      "a status that does not exist",
      (response: ServerResponse) => response.writeHead(999).end(),
      "Could not fetch",
    ],
    ["a connection that breaks", (response: ServerResponse) => response.destroy(), "socket hang up"],
    [
      "half of a document",
      (response: ServerResponse) => {
        response.writeHead(200, { "content-length": 100 });
        response.write("{", () => response.destroy());
      },
      "aborted",
    ],
    [
      "a redirect without an address",
      (response: ServerResponse) => response.writeHead(302).end(),
      "not visible here",
    ],
    [
      "an endless document",
      (response: ServerResponse) => {
        const write = (): void => {
          while (response.write(" ".repeat(65_536)));
          response.once("drain", write);
        };
        write();
      },
      "more than 262144 bytes",
    ],
  ])("%s is refused", async (_, answer, problem) => {
    const closed = deferred();
    const port = await serve((request, response) => {
      request.socket.on("close", () => closed.resolve());
      answer(response);
    });
    const web = webWith(`http://127.0.0.1:${port}/notes.json`, "http://127.0.0.1:1/mcp");
    const failure = await web.failure({}, true);
    expect(failure).toContain(problem);
    expect(failure).toContain(`http://127.0.0.1:${port}/notes.json`);
    await closed.promise;
  });
});

test.each([
  [16_384, "https://docs.example.com/notes.json"],
  // The last character is missing.
  [16_385, "https://docs.example.com/notes.jso"],
])("of %i characters of WWW-Authenticate, the first 16384 are read", async (length, asked) => {
  const end = ", resource_metadata=https://docs.example.com/notes.json";
  const web = new Web().describe(asked, described).issue(metadata, issuer);
  web.challenge = `Bearer realm="${"x".repeat(length - 15 - end.length)}"${end}`;
  expect(web.challenge).toHaveLength(length);
  await web.connect();
  expect(web.urls[0]).toBe(asked);
});

describe("WWW-Authenticate of a megabyte", () => {
  test.each([
    ["words", "a ".repeat(500_000)],
    ["commas", ",".repeat(1_000_000)],
    ["blanks", `${" ".repeat(1_000_000)}=`],
    ["blanks after a name", `a${" ".repeat(1_000_000)}b`],
    ["quotes", '"'.repeat(1_000_000)],
    ["backslashes", `Bearer a="${"\\".repeat(1_000_000)}`],
    ["parameters", `Bearer ${"a=b,".repeat(250_000)}`],
    ["signs", "=".repeat(1_000_000)],
  ])("of %s does no harm [CL-401]", async (_, challenge) => {
    const web = new Web().describe(document, described).issue(metadata, issuer);
    web.challenge = challenge;
    expect((await web.connect()).url).toBe(`${issuer}/token`);
  });
});
