// An address at which no MCP server answers: the error names the address, what is probably wrong, and what to do.
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createSocketServer, type Server } from "node:net";
import { connect } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeCertificate } from "../../support/certificate.ts";
import { cpuTime } from "../../support/cpu-time.ts";
import { failing, quick } from "../../support/http-script.ts";

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Answers every request like this. */
function answering(status: number, body: string, type = "text/html; charset=utf-8"): Promise<number> {
  const answer: RequestListener = (_, reply) => reply.writeHead(status, { "content-type": type }).end(body);
  return listen(createServer(answer));
}

async function closedPort(): Promise<number> {
  const server = createSocketServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const nginx = (line: string): string =>
  `<html>\r\n<head><title>${line}</title></head>\r\n<body>\r\n<center><h1>${line}</h1></center>\r\n<hr><center>nginx/1.24.0</center>\r\n</body>\r\n</html>\r\n`;

interface Row {
  readonly open: () => Promise<number>;
  /** @default {"http"} */
  readonly scheme?: string;
  readonly path?: string;
  /** With `{host}` for host and port. */
  readonly says: string;
}

const rows: Readonly<Record<string, Row>> = {
  "a port at which nothing listens": {
    open: closedPort,
    says: "Could not reach http://{host}/mcp: nothing listens at {host}: start the server, or check host and port (ECONNREFUSED)",
  },
  "https to a server without TLS": {
    open: () => answering(200, ""),
    scheme: "https",
    says: "Could not reach https://{host}/mcp: it does not speak TLS at this port: write http instead of https (EPROTO)",
  },
  "http to a server with TLS": {
    open: () => listen(createSecureServer(makeCertificate())),
    says: "The connection to http://{host}/mcp broke: ECONNRESET: socket hang up: if the server uses TLS, write https instead of http",
  },
  "a certificate that is not trusted": {
    open: () => listen(createSecureServer(makeCertificate())),
    scheme: "https",
    says: "Could not reach https://{host}/mcp: its certificate is not trusted here: name that of its issuer in NODE_EXTRA_CA_CERTS, or DENO_CERT in Deno (DEPTH_ZERO_SELF_SIGNED_CERT)",
  },
  "a wrong path": {
    open: () =>
      answering(
        404,
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n<body>\n<pre>Cannot POST /</pre>\n</body>\n</html>',
      ),
    path: "/",
    says: "http://{host}/ answered 404: Error: Cannot POST /: check the path of the URL, which often ends with /mcp",
  },
  "a web site": {
    open: () =>
      answering(
        200,
        "<html><title>Example</title><script>if (a < b) c()</script><h1>Welcome &amp; more</h1>",
      ),
    path: "/",
    says: "http://{host}/ answered 200 with a web page (Example: Welcome & more): check the path of the URL, which often ends with /mcp, and whether a proxy wants you to sign in",
  },
  "a page with comments and entities": {
    open: () =>
      answering(
        418,
        "<html><title>Attention Required! | Cloudflare</title><!--[if lt IE 7]> old > <![endif]-->Sorry, you&#39;re blocked&hellip; it&#X27;s <!-- x -->&copy;&nbsp;2026 &mdash; &lt;b&gt; &#0;&#173;&#xD800; &unknown;",
      ),
    says: "http://{host}/mcp answered 418: Attention Required! | Cloudflare: Sorry, you're blocked… it's © 2026 — <b> &unknown;",
  },
  "a gateway whose server is down": {
    open: () => answering(502, nginx("502 Bad Gateway")),
    says: "A gateway before http://{host}/mcp lost the server: 502: 502 Bad Gateway nginx/1.24.0",
  },
  "http to a port of nginx with TLS": {
    open: () => answering(400, nginx("400 The plain HTTP request was sent to HTTPS port")),
    says: "http://{host}/mcp answered 400: 400 The plain HTTP request was sent to HTTPS port nginx/1.24.0",
  },
};

describe.each(["node:http", "fetch"])("connect by %s to", (by) => {
  test.each(Object.entries(rows))("%s", async (name, { open, scheme = "http", path = "/mcp", says }) => {
    const host = `127.0.0.1:${await open()}`;
    const error = await failing(
      connect(`${scheme}://${host}${path}`, { backoff: quick, ...(by === "fetch" && { fetch }) }),
    );
    let expected = says.replaceAll("{host}", host);
    // The global fetch has words of its own for the same.
    if (by === "fetch" && name === "https to a server without TLS")
      expected = expected.replace("EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER");
    if (by === "fetch" && name === "http to a server with TLS")
      expected = expected.replace("ECONNRESET: socket hang up", "UND_ERR_SOCKET: other side closed");
    expect(error.message).toBe(expected);
  });
});

test("connect to a host that does not exist", async () => {
  const lookup = Object.assign(new TypeError("fetch failed"), {
    cause: Object.assign(new Error("getaddrinfo ENOTFOUND mpc.example.com"), {
      code: "ENOTFOUND",
      syscall: "getaddrinfo",
    }),
  });
  const error = await failing(
    connect("https://mpc.example.com/mcp", { backoff: quick, fetch: () => Promise.reject(lookup) }),
  );
  expect(error.message).toBe(
    "Could not reach https://mpc.example.com/mcp: there is no host mpc.example.com: check how it is spelled (ENOTFOUND)",
  );
});

test.each<[string, (digit: number) => string]>([
  ["as numbers", (code) => `&#${code};`],
  ["as numbers after zeros", (code) => `&#${"0".repeat(12)}${code};`],
  ["as hexadecimal numbers after zeros", (code) => `&#x${"0".repeat(9)}${code.toString(16)};`],
  ["with invisible characters between", (code) => `${String.fromCharCode(code)}&#173;&#x200b;`],
  ["with control characters between", (code) => `${String.fromCharCode(code)}&#7;`],
])("a page that repeats the token %s shows none", async (_, encode) => {
  const token = "sk-4f9a81c2e77b05d3";
  const body = `<p>No: ${[...token].map((each) => encode(each.charCodeAt(0))).join("")}</p>`;
  const port = await answering(418, body);
  const { message } = await failing(connect(`http://127.0.0.1:${port}/mcp`, { auth: token }));
  expect(message).toContain("answered 418: No:");
  expect(message.replaceAll(/\p{C}/gu, "")).not.toContain(token);
});

test.each([
  ["tags that do not end", "<a ".repeat(1_000_000)],
  ["comments that do not end", "<!--".repeat(1_000_000)],
  ["scripts that do not end", "<script>".repeat(500_000)],
  ["spaces", `<p>${" ".repeat(4_000_000)}`],
  ["entities that do not end", `<p>${"&am".repeat(1_000_000)}`],
])("a page of megabytes with %s costs next to nothing", async (_, body) => {
  const fetch = async (): Promise<Response> =>
    new Response(body, { status: 418, headers: { "content-type": "text/html" } });
  const answer = (): Promise<Error> => failing(connect("https://mcp.example.com/mcp", { fetch }));
  const { message } = await answer();
  expect(await cpuTime(answer)).toBeLessThan(1000);
  expect(message.length).toBeLessThan(400);
});
