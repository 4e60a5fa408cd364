// Writes the text of requests: one JSON.stringify each, with `_meta` as text that was written before.
import { metaKeyProblem, metaKeys } from "../../protocol/meta.ts";
import type { Implementation, LogLevel } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import { requestMeta } from "../connection/handshake.ts";
import type { SentCall } from "./call.ts";

/** Writes requests of one client. */
export class RequestText {
  readonly #info: Implementation;
  readonly #answers: QuestionAnswers;
  #revision: Revision | undefined;
  /** The members of `_meta` that every request of that revision has, without braces. */
  #meta = "";

  constructor(info: Implementation, answers: QuestionAnswers) {
    this.#info = info;
    this.#answers = answers;
  }

  /** The text of a call's next attempt. `logLevel`: the level that a modern request sets for its log messages. */
  write(revision: Revision, call: SentCall, logLevel: LogLevel | undefined): string {
    const { id, method, params, options } = call;
    if (options.verbatim) return JSON.stringify({ jsonrpc: "2.0", id, method, params });
    let meta = revision === this.#revision ? this.#meta : this.#writeMeta(revision);
    if (call.hasToken) meta = joined(`"progressToken":${id}`, meta);
    if (logLevel !== undefined && revision.era === "modern")
      meta = joined(meta, `"${metaKeys.logLevel}":"${logLevel}"`);
    const own = params?.["_meta"];
    const body =
      own === undefined && options.meta === undefined
        ? paramsText(params, meta)
        : paramsText({ ...params, _meta: undefined }, merged(own, options.meta, meta));
    const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
    return body === "" ? `${head}}` : `${head},"params":${body}}`;
  }

  #writeMeta(revision: Revision): string {
    this.#revision = revision;
    this.#meta = "";
    if (revision.era === "modern") {
      const meta = requestMeta(this.#info, this.#answers.capabilities(revision), revision);
      this.#meta = JSON.stringify(meta).slice(1, -1);
    }
    return this.#meta;
  }
}

/** The text of `params` with these members of `_meta`; empty if there are none. */
function paramsText(params: JsonObject | undefined, meta: string): string {
  const text = params === undefined ? "{}" : JSON.stringify(params);
  if (meta === "") return text === "{}" ? "" : text;
  return `${text.slice(0, -1)}${text === "{}" ? "" : ","}"_meta":{${meta}}}`;
}

/** The members of the caller's `_meta` and of the option `meta`, which the client's own members override. */
function merged(own: unknown, option: JsonObject | undefined, meta: string): string {
  const written = isObject(own) ? own : {};
  const ours = JSON.parse(`{${meta}}`) as JsonObject;
  checkMetaKeys(written);
  checkMetaKeys(option);
  for (const key in option)
    if (key === "progressToken" || ofProtocol.has(key))
      throw new RangeError(`meta has the key "${key}", which the client sets itself: leave it out`);
  return JSON.stringify({ ...written, ...option, ...ours }).slice(1, -1);
}

const ofProtocol: ReadonlySet<string> = new Set(Object.values(metaKeys));

/** Throws if the caller's `_meta` has a key that is malformed, or that MCP reserves and does not define. */
export function checkMetaKeys(meta: unknown): void {
  if (!isObject(meta)) return;
  for (const key in meta) {
    const problem = ofProtocol.has(key) ? undefined : metaKeyProblem(key);
    if (problem !== undefined) throw new RangeError(`_meta ${problem}`);
  }
}

function joined(one: string, other: string): string {
  return one === "" ? other : other === "" ? one : `${one},${other}`;
}
