// Starts the conformance fixture, over HTTP or over standard input and output.
import { parseArgs } from "node:util";
import type { ServerMode } from "halyard";
import { type HttpServer, serveHttp } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { createEverythingServer } from "./server.ts";

const usage =
  "Usage: npm run everything -- (--port N [--host H]... [--legacy-sse] | --stdio) [--mode stateless|stateful|both]";

type Command =
  | { readonly kind: "stdio"; readonly mode: ServerMode }
  | {
      readonly kind: "http";
      readonly mode: ServerMode;
      readonly port: number;
      readonly hosts: readonly string[];
      readonly legacySse: boolean;
    };

/** What the command line asks for. Throws an error that says what is wrong with it. */
function readCommand(): Command {
  const { values } = parseArgs({
    options: {
      port: { type: "string" },
      host: { type: "string", multiple: true },
      mode: { type: "string", default: "both" },
      "legacy-sse": { type: "boolean", default: false },
      stdio: { type: "boolean", default: false },
    },
  });
  const { mode, port, host, stdio, "legacy-sse": legacySse } = values;
  if (!isMode(mode)) throw new Error(`--mode ${mode} is not a mode`);
  if (stdio) {
    if (port !== undefined || host !== undefined || legacySse) {
      throw new Error("--stdio goes with none of --port, --host and --legacy-sse");
    }
    return { kind: "stdio", mode };
  }
  if (port === undefined) throw new Error("--port or --stdio is missing");
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new Error(`--port ${port} is not a port`);
  return { kind: "http", mode, port: Number(port), hosts: host ?? ["127.0.0.1"], legacySse };
}

function isMode(mode: string): mode is ServerMode {
  return ["both", "stateful", "stateless"].includes(mode);
}

async function start(command: Command): Promise<void> {
  const { mode } = command;
  if (command.kind === "stdio") {
    await serveStdio(createEverythingServer({ mode }));
    return;
  }
  const { port, hosts, legacySse } = command;
  // The server is there before its address: a tool that reports on the endpoint asks for it when it is called.
  let http: HttpServer | undefined;
  const server = createEverythingServer({ mode, httpStats: () => http?.stats() });
  const allowedHosts = hosts.map((host) => (host.includes(":") ? `[${host}]` : host));
  http = await serveHttp(server, { port, host: hosts, allowedHosts, legacySse });
  console.error(`Serving on ${http.url}`);
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
