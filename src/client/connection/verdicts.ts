// How a client finds out which era a server speaks: what its first requests meet, and what follows from it.
import { errorCodes } from "../../errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject, type RpcError } from "../../wire/message.ts";
import type { Transport } from "../channel/channel.ts";
import {
  ConnectionLost,
  HttpFailure,
  InvalidResponse,
  NoCommonRevision,
  RpcRejection,
} from "../settings/errors.ts";

type Kind = Transport["kind"];

/** What a request of the handshake met: a result, an error response, no response because of a failure, or silence. */
export type Finding =
  | { readonly met: "result"; readonly result: unknown }
  | { readonly met: "error"; readonly error: RpcError }
  | { readonly met: "failure" | "silence"; readonly error: Error };

/** What the client does next. */
export type Step =
  | Request
  /** The server speaks this revision, as the result says. */
  | { readonly do: "speak"; readonly revision: Revision; readonly result: JsonObject }
  | { readonly do: "fail"; readonly error: Error };

/** A request of the handshake: `server/discover` or `initialize`. */
export interface Request {
  readonly do: "probe" | "initialize";
  readonly revision: Revision;
  /** What led to it. */
  readonly because?: Error | undefined;
  /** Whether that is what the client reports if the request fails too. */
  readonly isDoubtful?: boolean;
}

/** What a finding says about the server: it is a legacy one; nothing, so that the client tries `initialize`; or the client gives up. */
type Verdict = "legacy" | "undecided" | "fail";

/** What an error response to the probe says, by its code. Servers that lack the method use many others: all mean legacy. */
const byCode: ReadonlyMap<number, Verdict> = new Map([
  // A session that was not found, or a timeout of a gateway.
  [-32001, "undecided"],
  [errorCodes.headerMismatch, "undecided"],
  [errorCodes.missingClientCapability, "undecided"],
  // Without a list of versions: judgeVersions takes those with one.
  [errorCodes.unsupportedVersion, "undecided"],
]);

/** What an HTTP reply without a JSON-RPC message says, by its status. */
const byStatus: readonly (readonly [from: number, to: number, Verdict])[] = [
  // Refused for the caller, or for now, not for the era.
  [403, 403, "fail"],
  [408, 408, "fail"],
  [429, 429, "fail"],
  [400, 499, "legacy"],
];

/** What the loss of the channel says. Some legacy servers exit when the first request is not `initialize`: they get a new process. */
const byLoss: Readonly<Record<Kind, Verdict>> = { http: "fail", stdio: "undecided", wire: "undecided" };

/** What silence says. Some legacy servers on a pipe do not respond to methods that they do not know. */
const bySilence: Readonly<Record<Kind, Verdict>> = { http: "fail", stdio: "legacy", wire: "legacy" };

/** Replies that say "not now": the client sends the request again. */
const transientStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** Whether a failure is worth another try of the same request. */
export function isTransient(error: unknown, kind: Kind): boolean {
  if (error instanceof HttpFailure) return transientStatuses.has(error.status);
  if (!(error instanceof ConnectionLost) || isOpaque(error)) return false;
  return error.reason === "unreachable" || (error.reason === "cut" && kind === "http");
}

/** Whether a browser hides why it did not send a request: the server is down, or its CORS headers do not allow the request. */
export function isOpaque(error: Error): boolean {
  const { cause } = error;
  return (
    error instanceof ConnectionLost &&
    cause instanceof TypeError &&
    cause.cause === undefined &&
    (globalThis as { location?: unknown }).location !== undefined
  );
}

/** The revisions that a client may speak, newest first: all, or the one that its user asked for. */
export class Wanted {
  readonly revisions: readonly Revision[];
  /** The newest of the modern era, if there is one. */
  readonly modern: Revision | undefined;
  /** The newest of the legacy era, if there is one. */
  readonly legacy: Revision | undefined;

  constructor(all: readonly Revision[]) {
    this.revisions = all;
    this.modern = all.find(({ era }) => era === "modern");
    this.legacy = all.find(({ era }) => era === "legacy");
  }

  /** The newest one among those that the server offers. */
  pick(offered: readonly unknown[]): Revision | undefined {
    return this.revisions.find(({ date }) => offered.includes(date));
  }

  noneOf(offered: readonly string[], cause?: unknown): NoCommonRevision {
    return new NoCommonRevision(
      this.revisions.map(({ date }) => date),
      offered,
      { cause },
    );
  }
}

/** What follows from what `server/discover` met. */
export function judgeProbe(finding: Finding, kind: Kind, wanted: Wanted): Step {
  if (finding.met === "result") return judgeDiscovered(finding.result, wanted);
  if (finding.met === "error") {
    const { error } = finding;
    const offered = offeredBy(error);
    if (error.code === errorCodes.unsupportedVersion && offered) return judgeVersions(offered, wanted, error);
    return follow(byCode.get(error.code) ?? "legacy", new RpcRejection(error), wanted);
  }
  const verdict = finding.met === "silence" ? bySilence[kind] : verdictOfFailure(finding.error, kind);
  return follow(verdict, finding.error, wanted);
}

/** Whether a reply of that status may mean that the server does not know the modern era. */
export function saysLegacy(status: number): boolean {
  return verdictOfStatus(status) === "legacy";
}

function verdictOfStatus(status: number): Verdict {
  return byStatus.find(([from, to]) => status >= from && status <= to)?.[2] ?? "fail";
}

function verdictOfFailure(error: Error, kind: Kind): Verdict {
  if (error instanceof HttpFailure) return verdictOfStatus(error.status);
  if (!(error instanceof ConnectionLost)) return "fail";
  if (isOpaque(error)) return "undecided";
  // A channel that never opened says nothing about what the server speaks.
  return error.reason === "unreachable" ? "fail" : byLoss[kind];
}

function judgeDiscovered(result: unknown, wanted: Wanted): Step {
  const offered = isObject(result) ? stringsOf(result["supportedVersions"]) : undefined;
  if (!isObject(result) || offered === undefined) {
    const problem = "The server responded to server/discover without a list of supportedVersions";
    return { do: "fail", error: new InvalidResponse(problem) };
  }
  const revision = wanted.pick(offered);
  return revision?.era === "modern" ? { do: "speak", revision, result } : judgeVersions(offered, wanted);
}

/** What follows from the versions that the server lists: the newest common one decides. */
function judgeVersions(offered: readonly string[], wanted: Wanted, error?: RpcError): Step {
  const because = wanted.noneOf(offered, error && new RpcRejection(error));
  const revision = wanted.pick(offered);
  if (revision === undefined) return { do: "fail", error: because };
  return { do: revision.era === "modern" ? "probe" : "initialize", revision, because };
}

function follow(verdict: Verdict, error: Error, wanted: Wanted): Step {
  if (verdict === "fail") return { do: "fail", error };
  // Its user asked for a modern revision.
  if (wanted.legacy === undefined)
    return { do: "fail", error: verdict === "legacy" ? wanted.noneOf([], error) : error };
  return {
    do: "initialize",
    revision: wanted.legacy,
    because: error,
    isDoubtful: verdict === "undecided",
  };
}

/** What follows from what `initialize` met; `wasHeard`: the server has responded to a probe before. */
export function judgeInitialized(finding: Finding, wanted: Wanted, wasHeard: boolean): Step {
  if (finding.met === "result") return judgeAgreed(finding.result, wanted);
  if (finding.met !== "error") return { do: "fail", error: finding.error };
  const { error } = finding;
  const offered = offeredBy(error);
  if (offered) return judgeVersions(offered, wanted, error);
  const isModern =
    error.code === errorCodes.unsupportedVersion || (error.code === errorCodes.methodNotFound && !wasHeard);
  const because = new RpcRejection(error);
  if (isModern && wanted.modern) return { do: "probe", revision: wanted.modern, because };
  return { do: "fail", error: because };
}

function judgeAgreed(result: unknown, wanted: Wanted): Step {
  const agreed = isObject(result) ? result["protocolVersion"] : undefined;
  if (!isObject(result) || typeof agreed !== "string")
    return {
      do: "fail",
      error: new InvalidResponse("The server responded to initialize without a protocolVersion"),
    };
  const revision = wanted.pick([agreed]);
  return revision?.era === "legacy"
    ? { do: "speak", revision, result }
    : { do: "fail", error: wanted.noneOf([agreed]) };
}

/** The versions that an error lists as supported. */
function offeredBy({ data }: RpcError): readonly string[] | undefined {
  return isObject(data) ? stringsOf(data["supported"]) : undefined;
}

function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}
