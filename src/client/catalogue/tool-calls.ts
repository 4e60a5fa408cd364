// Calls tools according to their definitions: repeats arguments as headers, and checks the structured result.
import { clip, errorCodes } from "../../base/errors.ts";
import { nearest } from "../../base/options.ts";
import type { CallToolResult } from "../settings/received.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { ResultCache } from "./result-cache.ts";
import type { ClientCore, CoreRequestOptions } from "../calls/core.ts";
import { OutputMismatch, RpcRejection } from "../settings/errors.ts";
import type { Definitions } from "./definitions.ts";
import { hasParamHeaders } from "./kinds.ts";
import { type MirroredArgument, mirroredHeaders } from "./known-tools.ts";
import type { ValueCheck } from "./output-check.ts";

/** The parameters of `tools/call`. */
export interface ToolCallParams extends JsonObject {
  readonly name: string;
  readonly arguments?: JsonObject | undefined;
}

/** How many names, and up to what length, are compared with the name of a call: the server chooses them. */
const maxNames = 500;
const maxNameLength = 100;

/** Sends tool calls, and checks their results. */
export class ToolCalls {
  readonly #core: ClientCore;
  readonly #definitions: Definitions;
  readonly #cache: ResultCache;

  constructor(core: ClientCore, definitions: Definitions, cache: ResultCache) {
    this.#core = core;
    this.#definitions = definitions;
    this.#cache = cache;
  }

  /**
   * Calls a tool. Where headers repeat arguments and the definition is unknown, it sends the call without them, as the
   * specification recommends. If the server refuses the headers, it lists the tools and sends the call once more: the server has
   * not run it. It adds to the given options, which belong to this call alone.
   */
  request(params: ToolCallParams, options?: CoreRequestOptions): Promise<JsonObject> {
    if (!hasParamHeaders(this.#core.peer)) return this.#send(params, options, undefined);
    return this.#requestWithHeaders(params, options);
  }

  async #requestWithHeaders(
    params: ToolCallParams,
    options: CoreRequestOptions | undefined,
  ): Promise<JsonObject> {
    const { name } = params;
    try {
      return await this.#send(params, options, this.#definitions.headersOf(name));
    } catch (error) {
      if (!(error instanceof RpcRejection) || error.code !== errorCodes.headerMismatch) throw error;
    }
    const refreshed = await this.#definitions.refresh(name, options);
    return this.#send(params, options, refreshed?.headers);
  }

  /** Adds the name that was probably meant to the rejection of a call, if the server lists no tool of the requested name. */
  async suggest(name: string, rejection: RpcRejection, options?: CoreRequestOptions): Promise<RpcRejection> {
    const tool = await this.#definitions.find(name, options);
    const names = this.#definitions.names.slice(0, maxNames).filter(({ length }) => length <= maxNameLength);
    if (tool !== undefined || names.length === 0 || name.length > maxNameLength) return rejection;
    const { code, message, data } = rejection;
    const known = Object.fromEntries(names.map((each) => [each, true]));
    const suggestion = clip(nearest(name, known));
    return new RpcRejection({ code, data, message: `${message}: ${suggestion}` }, rejection);
  }

  #send(
    params: ToolCallParams,
    options: CoreRequestOptions = {},
    headers: readonly MirroredArgument[] | undefined,
  ): Promise<JsonObject> {
    const { name, arguments: args } = params;
    // Changes the options in place: copying them would cost a third of a small call.
    const sent: CoreRequestOptions = Object.assign(options, {
      mirrored: headers && mirroredHeaders(headers, args),
      isRepeatable: () => this.#isRepeatable(name, options),
    });
    const { peer } = this.#core;
    const sending = this.#core.request("tools/call", params, sent);
    return peer.hasHeaders && peer.revision.era === "legacy" ? this.#forgetAfter(sending) : sending;
  }

  /** Over legacy HTTP, the notification of a change that the call made arrives on another stream, perhaps after the result. */
  async #forgetAfter(sending: Promise<JsonObject>): Promise<JsonObject> {
    try {
      return await sending;
    } finally {
      this.#cache.discardAll();
    }
  }

  /** Whether the tool's hints say that it may run twice. Called only if the `reissue` option trusts the hints. */
  async #isRepeatable(name: string, options: CoreRequestOptions | undefined): Promise<boolean> {
    const tool = await this.#definitions.find(name, options);
    return tool?.isRepeatable === true;
  }

  /**
   * Checks the structured content of a result, and returns the result. A mismatch throws if `isStrict`; otherwise it is reported,
   * and the first result of a tool is returned before the tools are listed and the validator is loaded.
   */
  check(
    name: string,
    result: CallToolResult,
    isStrict: boolean,
    options?: CoreRequestOptions,
  ): CallToolResult | Promise<CallToolResult> {
    const { resultType = "complete" } = result as { readonly resultType?: string };
    const isChecked = resultType === "complete" && result.isError !== true;
    if (!isChecked || this.#core.peer.revision.structuredContent === "none") return result;
    const known = this.#definitions.known(name);
    if (known === undefined ? result.structuredContent === undefined : known.output === undefined)
      return result;
    const check = known?.output?.ready;
    if (check !== undefined) return this.#judge(name, check, result, isStrict);
    const checked = this.#checkLater(name, result, isStrict, options);
    return isStrict ? checked : result;
  }

  async #checkLater(
    name: string,
    result: CallToolResult,
    isStrict: boolean,
    options: CoreRequestOptions | undefined,
  ): Promise<CallToolResult> {
    // The call itself has ended, so its limits apply to the listing only if the caller waits for the check.
    const { headers, ...limits } = options ?? {};
    const tool = await this.#definitions.find(name, { ...(headers && { headers }), ...(isStrict && limits) });
    const check = await tool?.output?.compile();
    return check === undefined ? result : this.#judge(name, check, result, isStrict);
  }

  #judge(
    name: string,
    check: ValueCheck,
    result: CallToolResult,
    isStrict: boolean,
  ): CallToolResult | Promise<CallToolResult> {
    const { structuredContent } = result;
    const problem =
      structuredContent === undefined ? "there is no structured content" : check(structuredContent);
    if (problem === undefined) return result;
    if (isStrict) return this.#refuse(name, problem, result);
    this.#core.observe({ type: "mismatch", tool: name, problem });
    return result;
  }

  async #refuse(name: string, problem: string, result: CallToolResult): Promise<never> {
    const [said, safe] = await this.#core.secrets.clean([problem, result] as const);
    throw new OutputMismatch(name, said, safe);
  }
}
