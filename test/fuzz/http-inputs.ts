// Inputs for an HTTP server: whole requests that are nearly right, and bytes that are hardly requests any more.
import type { Input } from "./input.ts";
import { mutateBytes, mutatedText } from "./mutate-json.ts";
import type { Random } from "./random.ts";

type Header = readonly [name: string, value: string];

interface Request {
  line: string;
  headers: Header[];
  body: string;
}

const modernVersion: Header = ["MCP-Protocol-Version", "2026-07-28"];
const inSession: readonly Header[] = [
  ["Mcp-Session-Id", "{{session}}"],
  ["MCP-Protocol-Version", "2025-11-25"],
];

/** A POST of a nearly right message, with headers that suit it where it can be read. */
function postOf(random: Random): Request {
  const body = mutatedText(random);
  const headers: Header[] = [
    ["Host", "localhost"],
    ["Content-Type", "application/json"],
    ["Accept", random.chance(0.8) ? "application/json, text/event-stream" : random.pick(accepts)],
    ["Content-Length", "{{length}}"],
  ];
  if (body.includes('"io.modelcontextprotocol/protocolVersion"')) headers.push(...mirroredOf(body));
  else if (!body.includes('"initialize"') || random.chance(0.2)) headers.push(...inSession);
  if (random.chance(0.08)) return { line: "POST /messages?sessionId={{stream}} HTTP/1.1", headers, body };
  return { line: "POST /mcp HTTP/1.1", headers, body };
}

function mirroredOf(body: string): Header[] {
  const [, method = "x"] = /"method":"([\w/]+)"/.exec(body) ?? [];
  const [, name] = /"(?:name|uri|taskId)":"([\w:/.{}-]+)"/.exec(body) ?? [];
  return [
    modernVersion,
    ["Mcp-Method", method],
    ...(name === undefined ? [] : ([["Mcp-Name", name]] as const)),
  ];
}

function get(headers: readonly Header[], path = "/mcp", method = "GET"): Request {
  const common: Header[] = [
    ["Host", "localhost"],
    ["Accept", "text/event-stream"],
  ];
  return { line: `${method} ${path} HTTP/1.1`, headers: [...common, ...headers], body: "" };
}

const accepts = [
  "*/*",
  "text/*",
  "application/json;q=0",
  ",,,;",
  "text/event-stream",
  "application/json",
  "image/png",
];
const hosts = [
  "localhost",
  "LOCALHOST:1",
  "[::1]:80",
  "evil.example",
  "localhost.evil",
  "127.0.0.1:99999",
  "",
  "a@b",
  "localhost, evil",
];
const origins = [
  "http://localhost",
  "null",
  "https://evil.example",
  "http://localhost:1@evil",
  "http://",
  "file://",
  "http://[::1",
];
const types = [
  "application/json; charset=utf-16",
  "text/plain",
  "application/json, text/plain",
  "APPLICATION/JSON",
  ";",
  "multipart/form-data",
];
const wild = [
  "",
  " ",
  "\t",
  "\x80\xff",
  "x".repeat(3000),
  "x".repeat(20_000),
  "=?base64?w6k=?=",
  "=?base64?!!?=",
  "__proto__",
  "0",
  "-1",
  "{{session}}",
  "{{event}}",
];

const values: Readonly<Record<string, readonly string[]>> = {
  Accept: accepts,
  Host: hosts,
  Origin: origins,
  "Content-Type": types,
  "MCP-Protocol-Version": ["2024-11-05", "2025-11-25", "2026-07-28", "2026-07-28, 2025-11-25", "1"],
  "Mcp-Session-Id": ["{{session}}", "{{session}}x", "{{session}}, {{session}}", "none"],
  "Mcp-Method": ["tools/call", "tools/list", "initialize", "TOOLS/CALL"],
  "Mcp-Name": ["test_simple_text", "=?base64?dGVzdA==?=", "=?base64?"],
  "Mcp-Param-Region": ["a", "=?base64?/w==?="],
  "Last-Event-ID": ["{{event}}", "{{event}}0", "g.0", "p.1", "gAAAAAAAAAAAAAAAAAAAAAA.0"],
  "Content-Length": ["0", "1", "5000000", "-1", "1e3", "99999999999999999999", "{{length}}"],
  "Transfer-Encoding": ["chunked", "gzip, chunked", "identity", "chunked, chunked"],
  "Content-Encoding": ["gzip", "identity"],
  Expect: ["100-continue", "200-ok"],
  Connection: ["close", "keep-alive", "upgrade"],
  Upgrade: ["websocket", "h2c"],
  Authorization: ["Bearer x", "Basic Og==", "Bearer"],
  Cookie: ["a=b"],
  "X-Forwarded-Host": ["evil.example"],
  "X-Forwarded-For": ["::1, evil"],
};
const names = Object.keys(values);

function changeHeader(headers: Header[], random: Random): void {
  const at = random.below(headers.length);
  const [name = ""] = headers[at] ?? [];
  const other = random.pick(names);
  const valueOf = (of: string): string => random.pick(random.chance(0.75) ? (values[of] ?? wild) : wild);
  switch (random.below(5)) {
    case 0:
      headers.splice(at, 1);
      break;
    case 1:
      headers.push([random.chance(0.5) ? other.toUpperCase() : other, valueOf(other)]);
      break;
    case 2:
      headers.push([name.toLowerCase(), valueOf(name)]);
      break;
    case 3:
      if (headers.length < 20) for (let n = 0; n < 120; n++) headers.push([`X-Many-${n}`, "1"]);
      break;
    default:
      headers[at] = [name, valueOf(name)];
  }
}

const lines = [
  "GET /mcp HTTP/1.1",
  "GET /sse HTTP/1.1",
  "POST /sse HTTP/1.1",
  "DELETE /mcp HTTP/1.1",
  "OPTIONS /mcp HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "HEAD /mcp HTTP/1.1",
  "PUT /mcp HTTP/1.1",
  "TRACE /mcp HTTP/1.1",
  "CONNECT localhost:80 HTTP/1.1",
  "BREW /mcp HTTP/1.1",
  "POST //mcp HTTP/1.1",
  "POST /mcp/../mcp HTTP/1.1",
  "POST /mcp?sessionId={{session}} HTTP/1.1",
  "POST http://evil.example/mcp HTTP/1.1",
  "POST /%6dcp HTTP/1.1",
  "POST /messages HTTP/1.1",
  "POST /messages?sessionId=%FF&sessionId=__proto__ HTTP/1.1",
  "GET /.well-known/oauth-protected-resource HTTP/1.1",
  "GET /mcp HTTP/1.0",
  "POST /mcp HTTP/2.0",
  "PRI * HTTP/2.0",
  "GET /mcp",
  `GET /${"a".repeat(10_000)} HTTP/1.1`,
];

const textOf = ({ line, headers, body }: Request): string =>
  `${line}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;

/** The body in chunks, some of which lie about their size. */
function chunked(request: Request, random: Random): Request {
  const headers = request.headers.filter(([name]) => name !== "Content-Length" || random.chance(0.2));
  const edges = [0, ...random.cuts(request.body.length, 4), request.body.length];
  const chunks = edges.slice(1).map((end, at) => request.body.slice(edges[at], end));
  const sizes = (length: number): string =>
    random.chance(0.9) ? length.toString(16) : random.pick(["0", "ffffffff", "-1", "g", "1;a=b", " 3"]);
  const body = chunks
    .filter((chunk) => chunk !== "")
    .map((chunk) => `${sizes(chunk.length)}\r\n${chunk}\r\n`)
    .join("");
  const end = random.pick(["0\r\n\r\n", "0\r\nX-Trailer: 1\r\n\r\n", "0\r\n", ""]);
  return { line: request.line, headers: [...headers, ["Transfer-Encoding", "chunked"]], body: body + end };
}

type Maker = (random: Random) => { readonly text: string; readonly complete: boolean };

const makers: Readonly<Record<string, Maker>> = {
  "JSON-RPC body": (random) => ({ text: textOf(postOf(random)), complete: true }),
  headers: (random) => {
    const request = random.chance(0.7) ? postOf(random) : get(inSession);
    for (let round = 1 + random.below(3); round > 0; round--) changeHeader(request.headers, random);
    return { text: textOf(request), complete: false };
  },
  "resume id": (random) => {
    const id = random.chance(0.4)
      ? mutateBytes("{{event}}", random)
      : random.pick(values["Last-Event-ID"] ?? []);
    const line = id.replaceAll(/[\r\n\0]/g, "");
    return { text: textOf(get([...inSession, ["Last-Event-ID", line]])), complete: false };
  },
  "session routes": (random) => {
    const path = random.pick(["/mcp", "/mcp", "/sse", "/messages?sessionId={{stream}}"]);
    const method = random.pick(["GET", "GET", "DELETE", "HEAD", "OPTIONS"]);
    return { text: textOf(get(inSession, path, method)), complete: false };
  },
  "request line": (random) => {
    const request = random.chance(0.5) ? postOf(random) : get(inSession);
    return { text: textOf({ ...request, line: random.pick(lines) }), complete: false };
  },
  chunks: (random) => ({ text: textOf(chunked(postOf(random), random)), complete: false }),
  pipeline: (random) => {
    const lengths = (request: Request): string =>
      textOf(request).replace("{{length}}", String(request.body.length));
    const count = 2 + random.below(6);
    return { text: Array.from({ length: count }, () => lengths(postOf(random))).join(""), complete: false };
  },
  "raw bytes": (random) => {
    let text = textOf(postOf(random));
    for (let round = 1 + random.below(4); round > 0; round--) text = mutateBytes(text, random);
    return { text, complete: false };
  },
};

const weights = Object.keys(makers).flatMap((kind) =>
  kind === "JSON-RPC body" ? Array(6).fill(kind) : [kind],
) as string[];

export function httpInput(random: Random): Input {
  const kind = random.pick(weights);
  const { text, complete } = (makers[kind] as Maker)(random);
  return { kind, text, complete, cuts: random.chance(0.3) ? random.cuts(text.length, 4) : [] };
}

/** Lines for standard input. */
export function lineInput(random: Random): Input {
  const ends = ["\n", "\n", "\n", "\r\n", "\n\n"];
  const text = Array.from(
    { length: 1 + random.below(4) },
    () => mutatedText(random) + random.pick(ends),
  ).join("");
  return {
    kind: "lines",
    text,
    complete: false,
    cuts: random.chance(0.3) ? random.cuts(text.length, 4) : [],
  };
}
