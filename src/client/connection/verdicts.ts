// How a client finds out the era of a server: the outcomes of its first requests, and the next step for each.
import { errorCodes } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject, type RpcError } from "../../base/wire/message.ts";
import type { Transport } from "../channel/channel.ts";
import {
  ConnectionLost,
  HttpFailure,
  InvalidResponse,
  NoCommonRevision,
  RpcRejection,
} from "../settings/errors.ts";
import type { Remembered } from "../settings/server-facts.ts";

type Kind = Transport["kind"];

/** The outcome of a handshake request: a result, an error response, a failure without a response, or silence. */
export type HandshakeOutcome =
  | { readonly met: "result"; readonly result: unknown }
  | { readonly met: "error"; readonly error: RpcError }
  | { readonly met: "failure" | "silence"; readonly error: Error };

/** The next step of the client. */
export type Step =
  | Request
  /** The result agrees on this revision. */
  | { readonly do: "speak"; readonly revision: Revision; readonly result: JsonObject }
  | { readonly do: "fail"; readonly error: Error };

/** A request of the handshake: `server/discover` or `initialize`. */
export interface Request {
  readonly do: "probe" | "initialize";
  readonly revision: Revision;
  /** The error that led to the request. */
  readonly because?: Error | undefined;
  /** Whether the client reports `because` if this request fails too. */
  readonly isDoubtful?: boolean;
}

/**
 * What an outcome says about the server: it is legacy; it is undecided, so the client tries `initialize`; or the client gives up.
 */
type Verdict = "legacy" | "undecided" | "fail";

/**
 * The verdict for an error response to the probe, by its code. Servers without the method use many other codes: all mean legacy.
 */
const byCode: ReadonlyMap<number, Verdict> = new Map([
  // A session that was not found, or a timeout of a gateway.
  [-32001, "undecided"],
  [errorCodes.headerMismatch, "undecided"],
  [errorCodes.missingClientCapability, "undecided"],
  // Errors without a list of versions. `judgeVersions` handles the others.
  [errorCodes.unsupportedVersion, "undecided"],
]);

/** The verdict for an HTTP reply without a JSON-RPC message, by its status. */
const byStatus: readonly (readonly [from: number, to: number, Verdict])[] = [
  // The server refuses this caller, or for now, whatever the era.
  [403, 403, "fail"],
  [408, 408, "fail"],
  [429, 429, "fail"],
  [400, 499, "legacy"],
];

/**
 * The verdict when the channel is lost. Some legacy servers exit if the first request is not `initialize`, so the client starts a
 * new process.
 */
const byLoss: Readonly<Record<Kind, Verdict>> = { http: "fail", stdio: "undecided", wire: "undecided" };

/** The verdict for silence. Some legacy servers on a pipe do not respond to unknown methods. */
const bySilence: Readonly<Record<Kind, Verdict>> = { http: "fail", stdio: "legacy", wire: "legacy" };

/** Statuses after which the client sends the request again later. */
const transientStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** Whether a failure is worth another try of the same request. */
export function isTransient(error: unknown, kind: Kind): boolean {
  if (error instanceof HttpFailure) return transientStatuses.has(error.status);
  if (!(error instanceof ConnectionLost) || isOpaque(error)) return false;
  return error.reason === "unreachable" || (error.reason === "cut" && kind === "http");
}

/**
 * Whether a browser hides why it did not send a request: the server may be down, or its CORS headers do not allow the request.
 */
export function isOpaque(error: Error): boolean {
  const { cause } = error;
  return (
    error instanceof ConnectionLost &&
    cause instanceof TypeError &&
    cause.cause === undefined &&
    (globalThis as { location?: unknown }).location !== undefined
  );
}

/** The revisions that a client may speak, newest first: all, or those that its user chose. */
export class Wanted {
  readonly revisions: readonly Revision[];
  /** The newest modern revision, if there is one. */
  readonly modern: Revision | undefined;
  /** The newest legacy revision, if there is one. */
  readonly legacy: Revision | undefined;

  constructor(all: readonly Revision[]) {
    this.revisions = all;
    this.modern = all.find(({ era }) => era === "modern");
    this.legacy = all.find(({ era }) => era === "legacy");
  }

  /** The newest revision that the server offers too. */
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

/** The step after the outcome of `server/discover`. */
export function judgeProbe(finding: HandshakeOutcome, kind: Kind, wanted: Wanted): Step {
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
  // A channel that never opened tells nothing about the server's era.
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

/** The step after the server listed its versions: the newest common one decides. */
function judgeVersions(offered: readonly string[], wanted: Wanted, error?: RpcError): Step {
  const because = wanted.noneOf(offered, error && new RpcRejection(error));
  const revision = wanted.pick(offered);
  if (revision === undefined) return { do: "fail", error: because };
  return { do: revision.era === "modern" ? "probe" : "initialize", revision, because };
}

function follow(verdict: Verdict, error: Error, wanted: Wanted): Step {
  if (verdict === "fail") return { do: "fail", error };
  // The user chose a modern revision.
  if (wanted.legacy === undefined)
    return { do: "fail", error: verdict === "legacy" ? wanted.noneOf([], error) : error };
  return {
    do: "initialize",
    revision: wanted.legacy,
    because: error,
    isDoubtful: verdict === "undecided",
  };
}

/** The step after the outcome of `initialize`. `wasHeard`: the server has responded to a probe before. */
export function judgeInitialized(finding: HandshakeOutcome, wanted: Wanted, wasHeard: boolean): Step {
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

/** A server may change, so after this time the client asks again. */
const freshMs = 24 * 60 * 60 * 1000;

/** Whether remembered facts are recent enough. */
export function isFresh({ at }: Remembered): boolean {
  return Math.abs(Date.now() - at) < freshMs;
}

/** The first step of a handshake. Remembered facts save the discovery of a modern server, and the probe of a legacy one. */
export function firstStep(wanted: Wanted, remembered?: Remembered): Step {
  const known = remembered && isFresh(remembered) ? wanted.pick([remembered.revision]) : undefined;
  if (remembered && known?.era === "modern")
    return { do: "speak", revision: known, result: resultOf(remembered) };
  const { modern, legacy } = wanted;
  if (legacy && (known || modern === undefined)) return { do: "initialize", revision: legacy };
  if (modern) return { do: "probe", revision: modern };
  return { do: "fail", error: wanted.noneOf([]) };
}

/** The result of a handshake with the remembered facts. */
function resultOf({ server, capabilities, instructions }: Remembered): JsonObject {
  return { serverInfo: server, capabilities, instructions };
}
