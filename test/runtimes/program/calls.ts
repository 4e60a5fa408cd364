// What a client does with the server of the checks, over any transport.
import { type Change, connect, type McpClient, type StoredTask } from "halyard/client";
import { noteUri } from "./server.ts";

/** What a client of this revision sees of the server at `url`. */
export async function checkRevision(url: string, revision: string): Promise<object> {
  const client = await connect(url, {
    revision,
    tasks: true,
    onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
  });
  const changes = await changesOf(client);
  const asked = await call(client, "ask").catch((error: { code?: unknown }) => error.code);
  const task = await taskOf(client).catch((error: { code?: unknown }) => error.code);
  return { changes, asked, task, ...(await checkCalls(client)) };
}

/** Calls each tool, and closes the client. */
export async function checkCalls(client: McpClient): Promise<object> {
  const steps: unknown[] = [];
  const seen = {
    revision: client.revision,
    echo: await call(client, "echo", { text: "Grüße 🚢" }),
    big: (await call(client, "big", { size: 3_000_000 })).length,
    sent: (await call(client, "echo", { text: "y".repeat(1_000_000) })).length,
    steps: await textOf(client.callTool("steps", {}, { onProgress: ({ message }) => steps.push(message) })),
    progress: steps,
    failed: (await client.callTool("fail", {})).isError,
    cancelled: await client.callTool("wait", {}, { timeoutMs: 50 }).catch((error: Error) => error.name),
    report: await call(client, "report"),
    resource: (await client.readResource(noteUri)).contents,
    together: await Promise.all(["a", "b", "c", "d"].map((text) => call(client, "echo", { text }))),
  };
  await client.close();
  return seen;
}

/** Starts a task, and continues with what another process would have of it. */
async function taskOf(client: McpClient): Promise<string> {
  const stored = JSON.stringify(await client.startTask("report"));
  const task = await client.task(JSON.parse(stored) as StoredTask);
  return textOf(task.result());
}

/** What the client hears while it listens: over HTTP by a stream of its own. */
export async function changesOf(client: McpClient): Promise<unknown[]> {
  const heard: Change[] = [];
  let told: () => void = () => {};
  const listening = await client.listen({ tools: true, resources: [noteUri] }, (change) => {
    heard.push(change);
    told();
  });
  const next = (): Promise<void> => new Promise((resolve) => (told = resolve));
  for (const tool of ["add", "touch"]) await Promise.all([next(), call(client, tool)]);
  await listening.close();
  return heard.map(({ kind, uri, cause }) => [kind, uri ?? "", cause]);
}

export async function call(client: McpClient, tool: string, args: object = {}): Promise<string> {
  return textOf(client.callTool(tool, args as never));
}

async function textOf(result: ReturnType<McpClient["callTool"]>): Promise<string> {
  const [block] = (await result).content;
  return block?.type === "text" ? block.text : `no text: ${JSON.stringify(block)}`;
}
