// The catalogue of a server's tools, prompts and resources: lists, reads and tool calls, over one cache.
import type { ReadResourceResult } from "../settings/received.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import { ResultCache } from "./result-cache.ts";
import type { ClientCore } from "../calls/core.ts";
import { InvalidResponse } from "../settings/errors.ts";
import type { RememberedTool } from "../settings/server-facts.ts";
import { Definitions } from "./definitions.ts";
import { hasParamHeaders } from "./kinds.ts";
import { KnownTools } from "./known-tools.ts";
import { Lists } from "./lists.ts";
import { ToolCalls } from "./tool-calls.ts";
import type { CallOptions } from "../settings/call-options.ts";

/** The catalogue of one server, as its client sees it. */
export class ServerCatalogue {
  readonly lists: Lists;
  readonly definitions: Definitions;
  readonly toolCalls: ToolCalls;
  readonly #core: ClientCore;
  readonly #known: KnownTools;
  readonly #cache: ResultCache;

  constructor(core: ClientCore, hasCache: boolean, remembered?: readonly RememberedTool[]) {
    const known = (this.#known = new KnownTools(core, remembered));
    this.#core = core;
    this.#cache = new ResultCache(core, hasCache);
    this.lists = new Lists(core, this.#cache, known);
    this.definitions = new Definitions(core, this.lists, known);
    this.toolCalls = new ToolCalls(core, this.definitions, this.#cache);
  }

  /** The tools to remember for the next client, where calls repeat arguments as headers. */
  get tools(): readonly RememberedTool[] | undefined {
    const tools = hasParamHeaders(this.#core.peer) ? this.#known.remember() : [];
    return tools.length > 0 ? tools : undefined;
  }

  /** Reads a resource. The result is frozen, because the cache may return it to other callers. */
  async readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult> {
    const lookup = { method: "resources/read", params: { uri }, read: readContents };
    const { value } = await this.#cache.get(lookup, options);
    return value;
  }
}

function readContents(result: JsonObject): ReadResourceResult {
  const isQuestion = result["resultType"] === "input_required";
  if (!isQuestion && !Array.isArray(result["contents"]))
    throw new InvalidResponse("resources/read: the result has no array contents");
  return result as unknown as ReadResourceResult;
}
