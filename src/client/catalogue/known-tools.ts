// The definitions of tools that the client has seen and that have not changed since, by name; and the headers in which calls repeat
// arguments.
import { listChanged } from "../../protocol/notifications.ts";
import type { Tool } from "../settings/received.ts";
import { argumentAt, findParamHeaders, type ParamHeader } from "../../protocol/param-headers.ts";
import { sizeOf } from "../../base/wire/size.ts";
import type { ClientCore } from "../calls/core.ts";
import type { RememberedTool } from "../settings/server-facts.ts";
import { CompiledChecks, OutputCheck } from "./output-check.ts";
import { encodeHeaderValue } from "../../protocol/header-value.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { HeaderFields } from "../settings/auth.ts";

/** The facts that calls need of a tool. */
export class KnownTool {
  readonly tool: Tool;
  /** About how many bytes it takes. */
  readonly size: number;
  readonly output: OutputCheck | undefined;
  #headers: readonly ParamHeader[] | undefined;

  constructor(tool: Tool, core: ClientCore, checks: CompiledChecks) {
    this.tool = tool;
    this.size = sizeOf(tool);
    this.output = tool.outputSchema === undefined ? undefined : new OutputCheck(tool, core, checks);
  }

  /** The arguments that calls over HTTP repeat as headers. */
  get headers(): readonly ParamHeader[] {
    if (this.#headers === undefined) {
      const read = findParamHeaders(this.tool.inputSchema);
      this.#headers = read.ok ? read.headers : [];
    }
    return this.#headers;
  }

  /** Whether the server declares that calling the tool twice has the same effect as calling it once. */
  get isRepeatable(): boolean {
    const { readOnlyHint, idempotentHint } = this.tool.annotations ?? {};
    return readOnlyHint === true || idempotentHint === true;
  }
}

/** Learns tools from every list, and forgets them when they may have changed. At its limits it learns no more tools. */
export class KnownTools {
  readonly #core: ClientCore;
  readonly #tools = new Map<string, KnownTool>();
  #checks = new CompiledChecks();
  #size = 0;
  #moment = 0;
  #isFull = false;
  /** The headers of tools that an earlier client has seen. */
  #remembered: ReadonlyMap<string, readonly MirroredArgument[]>;

  constructor(core: ClientCore, remembered: readonly RememberedTool[] = []) {
    this.#core = core;
    this.#remembered = new Map(remembered.map(({ name, headers = [] }) => [name, headers]));
    const forget = (): void => this.#forget();
    core.onNotification(listChanged.tools, forget);
    core.onGap(forget);
    core.onReopened(forget);
    core.onCredentials(forget);
  }

  /** How often everything was forgotten. A list that was requested at an earlier count may be out of date. */
  get moment(): number {
    return this.#moment;
  }

  /** Whether there was no room for a tool since everything was forgotten, so that further pages need not be read. */
  get isFull(): boolean {
    return this.#isFull;
  }

  find(name: string): KnownTool | undefined {
    return this.#tools.get(name);
  }

  /** The arguments of a tool that calls repeat as headers; undefined if that is not known. */
  headersOf(name: string): readonly MirroredArgument[] | undefined {
    return this.#tools.get(name)?.headers ?? this.#remembered.get(name);
  }

  /** The tools to remember for the next client. */
  remember(): readonly RememberedTool[] {
    const all = new Map(this.#remembered);
    for (const [name, { headers }] of this.#tools) all.set(name, headers);
    return [...all].map(([name, mirrored]) => {
      const headers = mirrored.map((header) => ({ name: header.name, path: header.path }));
      return headers.length > 0 ? { name, headers } : { name };
    });
  }

  /** The names of all that are known. */
  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  /** Learns frozen tools from a list that was requested at the moment `since`. */
  learn(tools: readonly Tool[], since: number): void {
    if (since !== this.#moment) return;
    for (const tool of tools) if (this.#tools.get(tool.name)?.tool !== tool) this.#add(tool);
  }

  #add(tool: Tool): void {
    const { maxListItems, maxListBytes } = this.#core.limits;
    const before = this.#tools.get(tool.name);
    if (before !== undefined) {
      this.#tools.delete(tool.name);
      this.#size -= before.size;
    }
    const known = new KnownTool(tool, this.#core, this.#checks);
    this.#isFull = this.#tools.size >= maxListItems || this.#size + known.size > maxListBytes;
    if (this.#isFull) return;
    this.#tools.set(tool.name, known);
    this.#size += known.size;
  }

  #forget(): void {
    this.#tools.clear();
    this.#remembered = new Map();
    this.#checks = new CompiledChecks();
    this.#size = 0;
    this.#isFull = false;
    this.#moment++;
  }
}

/** An argument that a header repeats. */
export type MirroredArgument = Pick<ParamHeader, "name" | "path">;

/**
 * The headers that repeat `args`, with names in lower case. An argument that is absent or null has no header. Neither has an
 * array or object, which the server rejects for its type.
 *
 * @throws {RangeError} if an integer is not safe: the server could not compare it
 */
export function mirroredHeaders(
  headers: readonly MirroredArgument[],
  args: JsonObject | undefined,
): HeaderFields {
  const mirrored: { [name: string]: string } = {};
  for (const { name, path } of headers) {
    const value = argumentAt(args, path);
    if (value === undefined || value === null || typeof value === "object") continue;
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
      throw new RangeError(
        `The argument ${path.join(".")} is ${value}, which is not a safe integer: the header Mcp-Param-${name} cannot carry it`,
      );
    mirrored[`mcp-param-${name.toLowerCase()}`] = encodeHeaderValue(String(value));
  }
  return mirrored;
}
