// The examples that ask and that take long, with every official client and by hand: as examples/README.md says.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { JsonObject } from "halyard";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBlocks } from "../support/documents.ts";
import { type Example, startExample } from "../support/example.ts";
import { type InteropClient, officialClients } from "./clients.ts";

const rows = officialClients.map((row) => Object.assign({}, row));

/** Runs the named example for the tests of a describe block. */
function running(name: string): () => Example {
  let example: Example;
  beforeAll(async () => {
    example = await startExample(name);
  });
  afterAll(async () => {
    expect(await example.stop()).toBe(0);
  });
  return () => example;
}

/** Does something with a client of its own. */
async function withClient(
  { connect }: (typeof rows)[number],
  { url }: Example,
  use: (client: InteropClient) => Promise<void>,
): Promise<void> {
  const unused = (): never => {
    throw new Error("The example is another process");
  };
  const client = await connect({ kind: "url", url, stats: unused, close: async () => {} });
  await use(client);
  expect(client.errors).toEqual([]);
  await client.close();
}

/** Sends what README.md shows for one tool, line by line; a line may name what the replies before it have brought. */
async function byHand({ url }: Example, first: string): Promise<JsonObject[]> {
  const blocks = readBlocks("examples/README.md", "sh");
  const isFunction = (code: string): boolean => code.startsWith("mcp() {");
  const send = blocks.find(isFunction) ?? "";
  const others = blocks.filter((code) => !isFunction(code));
  const lines =
    others
      .find((block) => block.includes(first))
      ?.trim()
      .split("\n") ?? [];
  const replies: JsonObject[] = [];
  const known: Record<string, string> = {};
  for (const line of lines) {
    const filled = line.replaceAll(/REQUEST_STATE|TASK_ID|QUESTION/g, (name) => known[name] ?? name);
    const script = `${send.replace("http://127.0.0.1:3000/mcp", url)}\n${filled}`;
    const { stdout } = await promisify(execFile)("sh", ["-c", script]);
    const { result } = JSON.parse(stdout) as { result: JsonObject };
    replies.push(result);
    const { requestState, taskId, inputRequests } = result;
    const [question] = Object.keys((inputRequests as object | undefined) ?? {});
    const brought = { REQUEST_STATE: requestState, TASK_ID: taskId, QUESTION: question };
    for (const [name, value] of Object.entries(brought)) if (typeof value === "string") known[name] = value;
  }
  return replies;
}

describe("examples/confirm-before-delete", () => {
  const example = running("confirm-before-delete");

  test("asks by hand, and deletes with the answer", async () => {
    const [question, deleted] = await byHand(example(), "delete_file");
    expect(question).toMatchObject({
      resultType: "input_required",
      inputRequests: { confirm: { params: { message: expect.stringMatching(/^Delete old.txt\?/) } } },
    });
    expect(deleted).toMatchObject({ content: [{ text: "Deleted old.txt" }] });
  });

  test.each(rows)("asks $name, and then there is no such file", async (row) => {
    // What one client deletes, no other finds.
    const own = await startExample("confirm-before-delete");
    await withClient(row, own, async (client) => {
      const [deleted, missing] = [
        await client.call("delete_file", { name: "notes.txt" }),
        await client.call("delete_file", { name: "notes.txt" }),
      ];
      expect(deleted).toMatchObject({ content: [{ text: "Deleted notes.txt" }] });
      expect(missing).toMatchObject({ isError: true, content: [{ text: "There is no file notes.txt" }] });
      expect(client.asked).toHaveLength(1);
    });
    expect(await own.stop()).toBe(0);
  });
});

describe("examples/sampling-summary", () => {
  const example = running("sampling-summary");

  test("asks by hand for a summary, and passes it on", async () => {
    const [question, summary] = await byHand(example(), "summarise");
    expect(question).toMatchObject({ resultType: "input_required" });
    expect(summary).toMatchObject({ content: [{ text: "Rain, and no complaints." }] });
  });

  test.each(rows)("asks $name for all parts at once, and then for the whole", async (row) => {
    await withClient(row, example(), async (client) => {
      const { content } = await client.call("summarise", { text: "It rained. ".repeat(800) });
      expect(content).toEqual([{ type: "text", text: "shoe" }]);
      expect(client.asked.map(({ method }) => method)).toEqual(Array(4).fill("sampling/createMessage"));
      expect(JSON.stringify(client.asked.at(-1)?.params?.["messages"])).toContain("shoe\\nshoe\\nshoe");
    });
  });

  test("does what it can for a client without a model", async () => {
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "summarise",
        arguments: { text: "It rained. Nobody minded." },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    };
    const headers = {
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "summarise",
    };
    const reply = await fetch(example().url, { method: "POST", headers, body: JSON.stringify(body) });
    expect(await reply.json()).toMatchObject({ result: { content: [{ text: "It rained." }] } });
  });
});

describe("examples/long-task", () => {
  const example = running("long-task");

  test("is a task by hand, and can be cancelled", async () => {
    const [created, status, cancelled] = await byHand(example(), "write_report");
    expect(created).toMatchObject({ resultType: "task", status: "working", pollIntervalMs: 500 });
    expect(status).toMatchObject({ taskId: created?.["taskId"], status: "working" });
    expect(cancelled).toMatchObject({ resultType: "complete" });
  });

  test.each(rows)("is an ordinary call with progress for $name", async (row) => {
    await withClient(row, example(), async (client) => {
      const messages: (string | undefined)[] = [];
      const onProgress = ({ message }: { message?: string | undefined }): void => void messages.push(message);
      const { content } = await client.call("write_report", { pages: 3, msPerPage: 20 }, { onProgress });
      expect(content).toEqual([{ type: "text", text: "A report of 3 pages" }]);
      expect(messages.slice(0, 2)).toEqual(["Page 1 of 3", "Page 2 of 3"]);
    });
  });

  test("is a task for the client that knows tasks, and its status is its progress", async () => {
    const row = rows.find(({ name }) => name === "sdk 1");
    if (row === undefined) throw new Error("There is no such client");
    await withClient(row, example(), async ({ tasks }) => {
      const params = { name: "write_report", arguments: { pages: 100, msPerPage: 20 } };
      const heard: string[] = [];
      for await (const message of tasks?.callToolStream(params, undefined, { task: {} }) ?? []) {
        if (!("task" in message)) continue;
        const { taskId, status, statusMessage } = message.task;
        heard.push(`${status}: ${statusMessage ?? ""}`);
        if (heard.at(-1)?.startsWith("working: Page ")) await tasks?.cancelTask(taskId);
      }
      expect(heard).toContainEqual(expect.stringMatching(/^working: Page \d+ of 100$/));
      expect(heard.at(-1)).toMatch(/^cancelled/);
    });
  });
});
