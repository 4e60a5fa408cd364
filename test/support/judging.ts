// Judges values by a plain JSON Schema as users do: a tool has it as its output schema and returns the value.
import { type JsonSchema, McpServer, result } from "halyard";
import { connect, RpcRejection } from "halyard/testing";
import { newestModern } from "./revisions.ts";

/** Returns whether each value matches. Throws the error of registering the schema, if it is refused. */
export type Judge = (value: unknown) => Promise<boolean>;

/** Calls `use` with the judge of a schema, and with the warnings that registering it logged. */
export async function judging<T>(
  output: JsonSchema,
  use: (judge: Judge, warnings: readonly string[]) => Promise<T>,
): Promise<T> {
  const warnings: string[] = [];
  const ignore = (): void => {};
  const logger = {
    debug: ignore,
    info: ignore,
    warn: (text: string) => void warnings.push(text),
    error: ignore,
  };
  const server = new McpServer({ name: "judge", version: "1.0.0" }, { logger });
  let returned: unknown;
  server.tool("t", { output }, () => result({ content: [], structured: returned }) as never);
  const client = await connect(server, { revision: newestModern });
  try {
    return await use(async (value) => {
      returned = value;
      try {
        await client.request("tools/call", { name: "t" });
        return true;
      } catch (error) {
        if (error instanceof RpcRejection && error.code === -32603) return false;
        throw error;
      }
    }, warnings);
  } finally {
    await client.close();
  }
}
