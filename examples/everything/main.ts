// Starts the conformance fixture, over HTTP or over standard input and output.
import { parseArgs } from "node:util";
import type { ServerMode } from "halyard";
import { bearerAuth } from "halyard/auth";
import { type HttpServer, serveHttp } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { assertBackplaneUrl, type ConnectedBackplane, connectBackplane } from "../backplane.ts";
import { scopesSupported } from "./notes.ts";
import { createEverythingServer } from "./server.ts";

const usage =
  "Usage: npm run everything -- (--port N [--host H]... [--legacy-sse] [--oauth-issuer URL --resource URL] [--backplane URL] | --stdio) [--mode stateless|stateful|both]";

type Command =
  | { readonly kind: "stdio"; readonly mode: ServerMode }
  | {
      readonly kind: "http";
      readonly mode: ServerMode;
      readonly port: number;
      readonly hosts: readonly string[];
      readonly legacySse: boolean;
      /** The issuer and audience of the tokens that the server requires; without it, anybody may call. */
      readonly oauth: { readonly issuer: string; readonly resource: string } | undefined;
      /** Where the engine is that this node shares with others. */
      readonly backplane: string | undefined;
    };

/** Parses the command line. Throws an error that says what is wrong with it. */
function readCommand(): Command {
  const { values } = parseArgs({
    options: {
      port: { type: "string" },
      host: { type: "string", multiple: true },
      mode: { type: "string", default: "both" },
      "legacy-sse": { type: "boolean", default: false },
      "oauth-issuer": { type: "string" },
      resource: { type: "string" },
      backplane: { type: "string" },
      stdio: { type: "boolean", default: false },
    },
  });
  const { mode, port, host, stdio, "legacy-sse": legacySse } = values;
  const { "oauth-issuer": issuer, resource, backplane } = values;
  if (!isMode(mode)) throw new Error(`--mode ${mode} is not a mode`);
  if (stdio) {
    if ([port, host, issuer, resource, backplane].some((value) => value !== undefined) || legacySse) {
      throw new Error(
        "--stdio goes with none of --port, --host, --legacy-sse, --oauth-issuer, --resource and --backplane",
      );
    }
    return { kind: "stdio", mode };
  }
  if (port === undefined) throw new Error("--port or --stdio is missing");
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new Error(`--port ${port} is not a port`);
  const oauth = readOauth(issuer, resource);
  if (backplane !== undefined) assertBackplaneUrl(backplane);
  const hosts = host ?? ["127.0.0.1"];
  return { kind: "http", mode, port: Number(port), hosts, legacySse, oauth, backplane };
}

function readOauth(
  issuer: string | undefined,
  resource: string | undefined,
): { readonly issuer: string; readonly resource: string } | undefined {
  if (issuer !== undefined && resource !== undefined) return { issuer, resource };
  if (issuer === undefined && resource === undefined) return undefined;
  throw new Error("--oauth-issuer and --resource go together");
}

function isMode(mode: string): mode is ServerMode {
  return ["both", "stateful", "stateless"].includes(mode);
}

async function start(command: Command): Promise<void> {
  if (command.kind === "stdio") await serveStdio(createEverythingServer({ mode: command.mode }));
  else await startHttp(command);
}

async function startHttp(command: Command & { readonly kind: "http" }): Promise<void> {
  const { mode, port, hosts, legacySse, oauth } = command;
  const connected = command.backplane === undefined ? undefined : await connectBackplane(command.backplane);
  // The server exists before its address, so the tool that reports on the endpoint reads it when it is called.
  let http: HttpServer | undefined;
  const server = createEverythingServer({
    mode,
    httpStats: () => http?.stats(),
    isProtected: oauth !== undefined,
    ...(connected && { backplane: connected.backplane }),
  });
  const allowedHosts = hosts.map((host) => (host.includes(":") ? `[${host}]` : host));
  const auth =
    oauth && bearerAuth({ resource: oauth.resource, authorizationServers: [oauth.issuer], scopesSupported });
  if (oauth) allowedHosts.push(new URL(oauth.resource).host);
  const handleSignals = connected === undefined;
  const options = { port, host: hosts, allowedHosts, legacySse, handleSignals, ...(auth && { auth }) };
  http = await serveHttp(server, options);
  if (connected) closeBothOnSignals(http, connected);
  console.error(`Serving on ${http.url}`);
}

/** The server still needs the engine while it closes, so the connection closes after it. */
function closeBothOnSignals(http: HttpServer, connected: ConnectedBackplane): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, async () => {
      await http.close();
      await connected.close();
      process.exit();
    });
  }
}

/** Ends the process with the reason on standard error. */
function fail(error: unknown, exitCode: number, hint = ""): never {
  console.error(`${error instanceof Error ? error.message : String(error)}${hint}`);
  process.exit(exitCode);
}

function readCommandOrFail(): Command {
  try {
    return readCommand();
  } catch (error) {
    return fail(error, 2, `\n${usage}`);
  }
}

await start(readCommandOrFail()).catch((error: unknown) => fail(error, 1));
