// Checks one message of a server against the official schema of its revision.
import { createRequire } from "node:module";
import type { ErrorObject, ValidateFunction } from "ajv";
import type { JsonObject } from "halyard";
import { inject } from "vitest";

type Checks = Readonly<Record<string, ValidateFunction | undefined>>;

const require = createRequire(import.meta.url);

/** Finds what is wrong with the messages of one revision, if anything is. */
export class MessageChecker {
  readonly #checks: Checks;
  readonly #leavesOutUnreadableIds: boolean;

  constructor(revision: string) {
    this.#checks = require(`${inject("compiledSchemas")}/${revision}.cjs`) as Checks;
    this.#leavesOutUnreadableIds = revision >= "2025-11-25";
  }

  /** `answered` is the method of the request that a response is for, or all of them if its id was used again. */
  problem(message: JsonObject, answered: readonly string[]): string | undefined {
    return this.#envelopeProblem(message) ?? this.#bodyProblem(message, answered);
  }

  #envelopeProblem(message: JsonObject): string | undefined {
    const { jsonrpc, id, method, result, error } = message;
    const known = method === undefined ? responseKeys : requestKeys;
    const unknown = Object.keys(message).find((key) => !known.has(key));
    if (unknown !== undefined) return `/${unknown}: unknown key`;
    if (jsonrpc !== "2.0") return "/jsonrpc: must be 2.0";
    if (method !== undefined) return id === undefined || isId(id) ? undefined : "/id: no request id";
    if ((result === undefined) === (error === undefined)) return "needs either a result or an error";
    if (isId(id)) return undefined;
    // What HTTP refuses has no id in any revision. JSON-RPC demands null for an id that cannot be read, which no schema
    // before 2025-11-25 allows, and later ones leave it out.
    const isWithout = id === undefined || (id === null && !this.#leavesOutUnreadableIds);
    return error !== undefined && isWithout ? undefined : "/id: not the id of a request";
  }

  #bodyProblem(message: JsonObject, answered: readonly string[]): string | undefined {
    const { method, params, error, result } = message as Body;
    if (method !== undefined) {
      return this.#unfit(method, params === undefined ? {} : { params }, `params ${method}`);
    }
    if (error !== undefined) {
      const own = `error ${error.code}`;
      return this.#unfit("error", error, this.#checks[own] === undefined ? "error" : own);
    }
    if (answered.length === 0) return "answers no request that was sent";
    const problems = answered.map((request) =>
      this.#unfit(`result of ${request}`, result, this.#resultKind(request, result)),
    );
    return problems.includes(undefined) ? undefined : problems.join(" | ");
  }

  /** A call may be answered with a task, and some requests with a question, in place of their own result. */
  #resultKind(request: string, result: JsonObject = {}): string {
    const isTask = result["resultType"] === "task" || result["task"] !== undefined;
    if (isTask && request === "tools/call") return "result of a task";
    const isQuestion = result["resultType"] === "input_required" && mayAsk.has(request);
    return isQuestion ? "result of a question" : `result ${request}`;
  }

  #unfit(what: string, value: unknown, kind: string): string | undefined {
    const validate = this.#checks[kind];
    if (validate === undefined) return `${what}: the revision does not have it`;
    return validate(value) ? undefined : `${what}: ${describe(validate.errors ?? [])}`;
  }
}

interface Body {
  readonly method?: string;
  readonly params?: unknown;
  readonly error?: { readonly code: number };
  readonly result?: JsonObject;
}

const requestKeys = new Set(["jsonrpc", "id", "method", "params"]);
const responseKeys = new Set(["jsonrpc", "id", "result", "error"]);
const mayAsk = new Set(["tools/call", "prompts/get", "resources/read"]);

function isId(id: unknown): boolean {
  return typeof id === "string" || Number.isInteger(id);
}

/** The errors that are deepest in the message: above them are only the alternatives that did not fit. */
function describe(errors: readonly ErrorObject[]): string {
  const depth = Math.max(...errors.map(depthOf));
  const deepest = errors.filter((error) => depthOf(error) === depth).map(sentence);
  return [...new Set(deepest)].join("; ");
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split("/").length;
}

function sentence({ instancePath, message, params }: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty } = params as Record<string, string | undefined>;
  const key = additionalProperty ?? unevaluatedProperty;
  return key === undefined ? `${instancePath || "/"} ${message}` : `${instancePath}/${key}: unknown key`;
}
