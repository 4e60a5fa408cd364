// What our client does with every server of the table: the same steps for each of them.
import type {
  CallOptions,
  ClientEvent,
  LogEntry,
  McpClient,
  Progress,
  RecordedLine,
  RpcRejection,
} from "halyard/client";
import { expect } from "vitest";
import { eventually } from "../../support/turns.ts";
import type { Started } from "./programs.ts";
import type { Script } from "./script.ts";
import type { ServerRow } from "./table.ts";

/** A client that is connected to the server of a row, and what it has heard. */
export interface Talk {
  readonly row: ServerRow;
  readonly script: Script;
  readonly started: Started;
  readonly client: McpClient;
  readonly logs: LogEntry[];
  readonly events: ClientEvent[];
  readonly lines: RecordedLine[];
}

export interface Step {
  readonly name: string;
  run(talk: Talk): Promise<void>;
}

type Result = Awaited<ReturnType<McpClient["callTool"]>>;

const textOf = ({ content }: Result): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("\n");

async function call(
  { client }: Talk,
  { tool, args }: { readonly tool: string; readonly args?: Record<string, unknown> },
  options?: CallOptions,
): Promise<Result> {
  return client.callTool(tool, args, options);
}

/** Calls a tool and finds the text in its result. */
async function hear(talk: Talk, spoken: Script["text"], options?: CallOptions): Promise<Result> {
  const result = await call(talk, spoken, options);
  expect(textOf(result)).toContain(spoken.text);
  expect(result.isError ?? false).toBe(false);
  return result;
}

const rejection = (promise: Promise<unknown>): Promise<RpcRejection> =>
  promise.then(
    (value) => Promise.reject(new Error(`Not rejected: ${JSON.stringify(value)}`)),
    (error: RpcRejection) => error,
  );

/** Counts the messages of a method that the client has sent. */
const sent = ({ lines }: Talk, method: string): number =>
  lines.filter(({ direction, message }) => {
    return direction === "sent" && (message as { readonly method?: string }).method === method;
  }).length;

export const steps = {
  connect: {
    name: "connect finds the revision and the name of the server",
    async run({ client, row }) {
      expect(client.revision).toBe(row.revision);
      expect(client.server?.name).toBe(row.serverName);
      expect(client.state.name).toBe("ready");
    },
  },
  lists: {
    name: "the four lists name what the server offers",
    async run({ client, script: { offers } }) {
      expect((await client.listTools()).map(({ name }) => name)).toContain(offers.tools);
      expect((await client.listResources()).map(({ uri }) => uri)).toContain(offers.resources);
      const templates = await client.listResourceTemplates();
      expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain(offers.templates);
      expect((await client.listPrompts()).map(({ name }) => name)).toContain(offers.prompts);
    },
  },
  pages: {
    name: "a list of several pages comes whole, and nothing twice",
    async run(talk) {
      const { client, script } = talk;
      const before = sent(talk, script.paged);
      const names =
        script.paged === "tools/list"
          ? (await client.listTools({ fresh: true })).map(({ name }) => name)
          : (await client.listResources({ fresh: true })).map(({ uri }) => uri);
      expect(sent(talk, script.paged) - before).toBeGreaterThan(1);
      expect(new Set(names).size).toBe(names.length);
    },
  },
  text: {
    name: "a call returns text",
    run: async (talk) => void (await hear(talk, talk.script.text)),
  },
  structured: {
    name: "a call returns structured content that matches the output schema",
    async run(talk) {
      const { structured } = talk.script;
      const result = await call(talk, structured, { strict: true });
      expect(result.structuredContent).toEqual(structured.content);
    },
  },
  failing: {
    name: "a call that fails returns isError",
    async run(talk) {
      const { failing } = talk.script;
      const result = await call(talk, failing);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain(failing.text);
    },
  },
  image: {
    name: "a call returns an image",
    async run(talk) {
      const { content } = await call(talk, talk.script.image);
      expect(content).toContainEqual(
        expect.objectContaining({ type: "image", mimeType: "image/png", data: expect.any(String) }),
      );
    },
  },
  progress: {
    name: "a call reports its progress, in order",
    async run(talk) {
      const { progress } = talk.script;
      const heard: Progress[] = [];
      await call(talk, progress, { onProgress: (step) => heard.push(step) });
      await eventually(() => expect(heard.at(-1)).toMatchObject(progress.last));
      expect(heard.map((step) => step.progress)).toEqual(
        heard.map((step) => step.progress).toSorted((a, b) => a - b),
      );
    },
  },
  cancel: {
    name: "a cancelled call rejects at once, and ends at the server",
    async run(talk) {
      const count = async (): Promise<string> => textOf(await call(talk, { tool: "waits" }));
      const [started = 0, cancelled = 0] = (await count()).match(/\d+/gu)?.map(Number) ?? [];
      const controller = new AbortController();
      const reason = new Error("No longer wanted");
      const rejected = rejection(call(talk, { tool: "wait" }, { signal: controller.signal }));
      await eventually(async () => expect(await count()).toContain(`${started + 1} started`));
      controller.abort(reason);
      expect(await rejected).toBe(reason);
      await eventually(async () => expect(await count()).toContain(`${cancelled + 1} cancelled`));
    },
  },
  log: {
    name: "log messages arrive, from the level that was set",
    async run(talk) {
      await talk.client.setLogLevel("debug");
      await call(talk, talk.script.log);
      await eventually(() => expect(JSON.stringify(talk.logs)).toContain(talk.script.log.text));
    },
  },
  completion: {
    name: "an argument of a prompt completes",
    async run({ client, script }) {
      const { prompt, argument, typed, values } = script.completion;
      const { completion } = await client.complete(
        { type: "ref/prompt", name: prompt },
        { name: argument, value: typed },
      );
      expect(completion.values).toEqual(values);
    },
  },
  read: {
    name: "a resource, and one of a template, can be read",
    async run({ client, script }) {
      for (const { uri, text } of [script.resource, script.fromTemplate]) {
        const { contents } = await client.readResource(uri);
        expect(contents).toContainEqual(
          expect.objectContaining({ uri, text: expect.stringContaining(text) }),
        );
      }
    },
  },
  prompt: {
    name: "a prompt is filled in",
    async run({ client, script: { prompt } }) {
      const { messages } = await client.getPrompt(prompt.name, prompt.args);
      const content = expect.objectContaining({ type: "text", text: expect.stringContaining(prompt.text) });
      expect(messages).toContainEqual({ role: "user", content });
    },
  },
  toolsChange: {
    name: "listening hears that the list of tools has changed, and the list is read again",
    async run(talk) {
      const { client, script } = talk;
      const names = async (): Promise<string[]> => (await client.listTools()).map(({ name }) => name);
      const before = await names();
      const listening = await client.listen({ tools: true });
      const changes = listening[Symbol.asyncIterator]();
      await call(talk, script.toolsChange);
      expect((await changes.next()).value).toEqual({ kind: "tools", cause: "changed" });
      expect(await names()).not.toEqual(before);
      await listening.close();
      await call(talk, script.toolsChange);
    },
  },
  resourceChange: {
    name: "listening hears that a resource has changed",
    async run(talk) {
      const { client, script } = talk;
      const { uri } = script.resource;
      const listening = await client.listen({ resources: [uri] });
      const changes = listening[Symbol.asyncIterator]();
      await call(talk, script.resourceChange);
      expect((await changes.next()).value).toEqual({ kind: "resource", uri, cause: "changed" });
      await listening.close();
    },
  },
  elicit: {
    name: "a form of the server is answered, with its defaults",
    run: async (talk) => void (await hear(talk, talk.script.elicit)),
  },
  sample: {
    name: "a request to the model is answered",
    run: async (talk) => void (await hear(talk, talk.script.sample)),
  },
  roots: {
    name: "the server learns the roots",
    async run(talk) {
      // Some servers ask for them before they can hear the answer, and keep what they had.
      await talk.client.rootsChanged();
      await eventually(() => hear(talk, talk.script.roots));
    },
  },
  task: {
    name: "a tool that runs as a task is waited for, and has a handle",
    async run(talk) {
      const { task } = talk.script;
      const [result, handle] = await Promise.all([
        hear(talk, task),
        talk.client.startTask(task.tool, task.args),
      ]);
      expect(result).toBeDefined();
      expect(handle.id).toEqual(expect.any(String));
      expect(textOf(await handle.result())).toContain(task.text);
      expect((await handle.status()).status).toBe("completed");
    },
  },
  resume: {
    name: "a call whose stream the server closes is resumed, and its result arrives once",
    async run(talk) {
      const calls = sent(talk, "tools/call");
      await hear(talk, { tool: "drop", text: "After the drop" });
      expect(sent(talk, "tools/call") - calls).toBe(1);
    },
  },
  ping: {
    name: "ping returns",
    run: async ({ client }) => expect(await client.ping()).toBeUndefined(),
  },
  unknownTool: {
    name: "an unknown tool is an error",
    async run(talk) {
      const result = talk.client.callTool("no_such_tool", {});
      if (talk.row.unknownTool === "isError") expect(await result).toMatchObject({ isError: true });
      else expect((await rejection(result)).code).toBe(talk.row.unknownTool ?? -32602);
    },
  },
  unknownMethod: {
    name: "an unknown method is an error",
    run: async ({ client }) => expect((await rejection(client.request("no/such"))).code).toBe(-32601),
  },
  close: {
    name: "close leaves no process and no socket, and nothing was odd",
    async run({ client, started, events }) {
      await client.close();
      expect(client.state.name).toBe("closed");
      const stderr = events.flatMap((event) => (event.type === "stderr" ? [event.line] : []));
      await eventually(async () => expect(await started.left({ stderr })).toBe(0));
      const odd = events.filter(({ type }) => ["ignored", "mismatch", "retry"].includes(type));
      expect(odd).toEqual([]);
    },
  },
} satisfies Record<string, Step>;

export type StepName = keyof typeof steps;
