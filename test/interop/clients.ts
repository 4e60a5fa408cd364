// The official clients behind one face, each driving a server over stdio or HTTP.
import {
  Client as ClientV2,
  type ClientOptions,
  StreamableHTTPClientTransport as HttpV2,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect } from "vitest";
import { watchTransport } from "../support/schemas/watch-transport.ts";
import { eventually } from "../support/turns.ts";
import { answering, type Asked } from "./answers.ts";
import type { Target } from "./ways.ts";

/** A notification as it reached the client's own handler. */
export interface Heard {
  readonly method: string;
  readonly params?: { readonly [name: string]: unknown } | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  readonly meta?: { readonly [name: string]: unknown };
}

export interface CallResult {
  readonly content: readonly { readonly type: string; readonly [name: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

interface Page {
  readonly names: string[];
  readonly nextCursor: string | undefined;
}

/** What the steps need of a client. */
export interface InteropClient {
  /** Every question of the server. */
  readonly asked: readonly Asked[];
  /** The tasks of 2025-11-25, which only version 1 knows. */
  readonly tasks?: ClientV1["experimental"]["tasks"];
  /** Every notification that reached the client and belongs to no request. */
  readonly heard: readonly Heard[];
  /** Everything that the client did not understand. */
  readonly errors: readonly Error[];
  readonly revision: string | undefined;
  readonly serverName: string | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: object | undefined;
  /** The tools and prompts as they are published. */
  tools(): Promise<{ readonly [key: string]: unknown }[]>;
  prompts(): Promise<{ readonly [key: string]: unknown }[]>;
  toolNames(): Promise<string[]>;
  /** One page of the tools; version 2 turns the pages by itself, and its first is the whole. */
  toolPage(cursor?: string): Promise<Page>;
  promptNames(): Promise<string[]>;
  resourceUris(): Promise<string[]>;
  templateUris(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallResult>;
  read(uri: string): Promise<unknown>;
  contents(uri: string): Promise<unknown>;
  prompt(name: string, args: Record<string, string>): Promise<unknown>;
  /** The whole of a prompt: its description and messages. */
  messages(name: string, args: Record<string, string>): Promise<unknown>;
  complete(ref: Reference, argument: { name: string; value: string }): Promise<string[]>;
  /** Asks for log messages from that level on: what the next call needs for it, or nothing once it has been agreed. */
  logsFrom(level: "debug" | "error"): Promise<CallOptions>;
  /** Asks to be told when the tools or the resource change, until the returned function is called. */
  watch(uri: string): Promise<() => Promise<unknown>>;
  /** Makes the server end. Resolves with how the client noticed it. */
  terminate(): Promise<string>;
  /** Ends the session over HTTP; answers the id that it had. */
  endSession(): Promise<string | undefined>;
  close(): Promise<void>;
}

type Reference = { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };

export interface Row {
  readonly name: string;
  readonly era: "modern" | "legacy";
  /** What the client makes of a resource that is not there: version 2 has one code for both eras. */
  readonly notFoundCode: number;
  /** Whether the client joins the pages of a list by itself. */
  readonly turnsPages: boolean;
  connect(target: Target): Promise<InteropClient>;
}

const info = { name: "interop", version: "1.0.0" };

/** The official clients, in every way that they can speak to a server. */
export const officialClients: readonly Row[] = [
  {
    name: "client 2 by default",
    era: "legacy",
    notFoundCode: -32602,
    turnsPages: true,
    connect: (target) => connectV2(target, {}),
  },
  {
    name: "client 2 pinned to 2026-07-28",
    era: "modern",
    notFoundCode: -32602,
    turnsPages: true,
    connect: (target) => connectV2(target, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
  },
  {
    name: "client 2 choosing for itself",
    era: "modern",
    notFoundCode: -32602,
    turnsPages: true,
    connect: (target) => connectV2(target, { versionNegotiation: { mode: "auto" } }),
  },
  { name: "sdk 1", era: "legacy", notFoundCode: -32002, turnsPages: false, connect: connectV1 },
];

/** What both clients say that they can do, and answer when they are asked. */
const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

/** How both start a program. */
function commandOf(path: string): { command: string; args: string[] } {
  return { command: process.execPath, args: ["--import", "tsx", path] };
}

async function connectV2(target: Target, options: ClientOptions): Promise<InteropClient> {
  const client = new ClientV2(info, { capabilities, ...options });
  const { asked, ...answers } = answering();
  client.setRequestHandler("elicitation/create", answers.elicit);
  client.setRequestHandler("sampling/createMessage", answers.sample);
  client.setRequestHandler("roots/list", answers.roots);
  const transport = watchTransport(
    target.kind === "url" ? new HttpV2(new URL(target.url)) : new StdioV2(commandOf(target.path)),
  );
  const seen = record(client);
  await client.connect(transport);
  return {
    ...seen,
    ...common(client),
    asked,
    revision: client.getNegotiatedProtocolVersion(),
    call: (name, args, { meta, signal, onProgress } = {}) =>
      client.callTool(
        { name, arguments: args ?? {}, ...(meta && { _meta: meta }) },
        { ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) },
      ),
    logsFrom: async (level) =>
      client.getProtocolEra() === "legacy"
        ? logsFromLegacy(client, level)
        : { meta: { "io.modelcontextprotocol/logLevel": level } },
    async watch(uri) {
      if (client.getProtocolEra() === "legacy") return watchLegacy(client, uri);
      const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
      return () => subscription.close();
    },
    async terminate() {
      if (client.getProtocolEra() === "legacy") return terminate(client, target, transport);
      const subscription = await client.listen({ toolsListChanged: true });
      await end(target, transport);
      return subscription.closed;
    },
    endSession: () => endSession(transport),
  };
}

async function connectV1(target: Target): Promise<InteropClient> {
  const client = new ClientV1(info, { capabilities });
  const { asked, ...answers } = answering();
  client.setRequestHandler(ElicitRequestSchema, answers.elicit);
  client.setRequestHandler(CreateMessageRequestSchema, answers.sample);
  client.setRequestHandler(ListRootsRequestSchema, answers.roots);
  const transport = watchTransport(
    target.kind === "url" ? new HttpV1(new URL(target.url)) : new StdioV1(commandOf(target.path)),
  );
  const seen = record(client);
  const revision = revisionOf(transport);
  // Its own declarations do not hold under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<ClientV1["connect"]>[0]);
  return {
    ...seen,
    ...common(client),
    asked,
    tasks: client.experimental.tasks,
    revision: revision(),
    call: async (name, args, { meta, signal, onProgress } = {}) => {
      const params = { name, arguments: args ?? {}, ...(meta && { _meta: meta }) };
      const options = { ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) };
      return (await client.callTool(params, undefined, options)) as CallResult;
    },
    logsFrom: (level) => logsFromLegacy(client, level),
    watch: (uri) => watchLegacy(client, uri),
    terminate: () => terminate(client, target, transport),
    endSession: () => endSession(transport),
  };
}

type AnyTransport = StdioV1 | StdioV2 | HttpV1 | HttpV2;

/** Version 1 keeps the revision to itself and only tells its transport. */
function revisionOf(transport: StdioV1 | HttpV1): () => string | undefined {
  if (transport instanceof HttpV1) return () => transport.protocolVersion;
  let revision: string | undefined;
  Object.assign(transport, { setProtocolVersion: (version: string) => (revision = version) });
  return () => revision;
}

/** What the two versions spell alike. */
function common(client: ClientV1 | ClientV2) {
  return {
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities(),
    tools: async () => (await client.listTools()).tools,
    prompts: async () => (await client.listPrompts()).prompts,
    toolNames: async () => (await client.listTools()).tools.map((tool) => tool.name),
    toolPage: async (cursor?: string) => {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      return { names: page.tools.map((tool) => tool.name), nextCursor: page.nextCursor };
    },
    promptNames: async () => (await client.listPrompts()).prompts.map((prompt) => prompt.name),
    resourceUris: async () => (await client.listResources()).resources.map((resource) => resource.uri),
    templateUris: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate),
    read: async (uri: string) => {
      const [contents] = (await client.readResource({ uri })).contents;
      return contents && "text" in contents ? contents.text : contents;
    },
    contents: async (uri: string) => (await client.readResource({ uri })).contents,
    messages: async (name: string, args: Record<string, string>) => {
      const { description, messages } = await client.getPrompt({ name, arguments: args });
      return { description, messages };
    },
    prompt: async (name: string, args: Record<string, string>) => {
      const [message] = (await client.getPrompt({ name, arguments: args })).messages;
      return message?.content;
    },
    complete: async (ref: Reference, argument: { name: string; value: string }) =>
      (await client.complete({ ref, argument })).completion.values,
    close: () => client.close(),
  };
}

function record(client: ClientV1 | ClientV2): { heard: Heard[]; errors: Error[] } {
  const heard: Heard[] = [];
  const errors: Error[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => void heard.push({ method, params });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
  client.onerror = (error) => {
    // Both versions handle a notification a moment after a response, so that progress which arrives together with the
    // result of its call finds the call gone.
    if (!error.message.includes("progress notification for an unknown token")) errors.push(error);
  };
  return { heard, errors };
}

async function logsFromLegacy(client: ClientV1 | ClientV2, level: "debug" | "error"): Promise<CallOptions> {
  await client.setLoggingLevel(level);
  return {};
}

async function watchLegacy(client: ClientV1 | ClientV2, uri: string): Promise<() => Promise<unknown>> {
  await client.subscribeResource({ uri });
  return () => client.unsubscribeResource({ uri });
}

/** A legacy client over HTTP gets no message when the server ends: its next request fails. */
async function terminate(
  client: ClientV1 | ClientV2,
  target: Target,
  transport: AnyTransport,
): Promise<string> {
  if (target.kind === "program") {
    const closed = new Promise<string>((resolve) => {
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
      client.onclose = () => resolve("closed");
    });
    await end(target, transport);
    return closed;
  }
  // The client opens its GET stream on its own, a moment after it has connected.
  await eventually(() => expect(target.stats().streams).toBe(1));
  await end(target, transport);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
  client.onerror = () => {};
  return client.ping().then(
    () => "still there",
    () => "closed",
  );
}

async function end(target: Target, transport: AnyTransport): Promise<void> {
  if (target.kind === "url") return target.close();
  const pid = "pid" in transport ? transport.pid : null;
  if (pid === null) throw new Error("The server is not running");
  process.kill(pid, "SIGTERM");
}

async function endSession(transport: AnyTransport): Promise<string | undefined> {
  if (!("terminateSession" in transport)) return undefined;
  const { sessionId } = transport;
  await transport.terminateSession();
  return sessionId;
}
