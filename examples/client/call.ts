// A command-line caller: lists the tools of any server, or calls one, with its progress on standard error.
import { parseArgs } from "node:util";
import {
  type CallToolResult,
  connect,
  HalyardError,
  type JsonObject,
  type McpClient,
  RpcRejection,
} from "halyard/client";

const usage = `Usage: npx tsx examples/client/call.ts SERVER [TOOL [ARGUMENTS]]
  SERVER     a URL, or a command in quotes: "npx tsx examples/hello/server.ts"
  TOOL       the tool to call; without one, the tools are listed
  ARGUMENTS  a JSON object: '{"name":"Ada"}'
Options: --token TOKEN, --timeout SECONDS`;

const options = { token: { type: "string" }, timeout: { type: "string", default: "60" } } as const;

class UsageError extends Error {}

/** Runs one call; returns the exit code. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [server, tool, json = "{}"] = positionals;
  if (server === undefined) throw new UsageError(usage);
  const args = readArguments(json);
  const [command = "", ...rest] = server.split(" ");
  const target = /^https?:/.test(server) ? server : { command, args: rest };
  const client = await connect(target, {
    tasks: true,
    timeoutMs: Number(values.timeout) * 1000,
    ...(values.token !== undefined && { auth: values.token }),
    observe: (event) => {
      if (event.type === "retry") console.error(`${event.reason}: trying again in ${event.waitMs} ms`);
    },
  });
  const done = tool === undefined ? list(client) : call(client, tool, args);
  return await done.finally(() => client.close());
}

async function call(client: McpClient, tool: string, args: JsonObject): Promise<number> {
  const result = await client.callTool(tool, args, {
    onProgress: ({ progress, total, message = "" }) =>
      console.error(`${progress}${total === undefined ? "" : `/${total}`} ${message}`.trimEnd()),
  });
  print(result);
  return result.isError === true ? 2 : 0;
}

async function list(client: McpClient): Promise<number> {
  const { name = "The server", version = "" } = client.server ?? {};
  console.error(`${name} ${version} speaks ${client.revision}`);
  for (const { name: tool, description = "" } of await client.listTools())
    console.log(`${tool}: ${description.split("\n", 1)[0]}`);
  return 0;
}

function readArguments(json: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(json);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as JsonObject;
  } catch {
    // What is not JSON is no object either.
  }
  throw new UsageError(`The arguments are not a JSON object, such as '{"name":"Ada"}': ${json}`);
}

function print({ content, structuredContent, isError }: CallToolResult): void {
  const write = isError === true ? console.error : console.log;
  if (structuredContent !== undefined) return write(JSON.stringify(structuredContent, null, 2));
  for (const block of content)
    write(block.type === "text" ? block.text : `[${block.type}] ${JSON.stringify(block).slice(0, 200)}`);
}

process.exitCode = await main().catch((error: unknown) => {
  if (error instanceof RpcRejection)
    console.error(`${error.message} (${error.code})\nLeave out the tool to list those of the server`);
  else if (error instanceof HalyardError || error instanceof UsageError) console.error(error.message);
  else console.error(error);
  return 1;
});
