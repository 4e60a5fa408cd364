// Negotiates a revision with a server: probes, initializes, tries again, and falls back to an older transport where needed.
import { connectTimeout } from "./opening.ts";
import { untilAborted } from "../../base/async/promises.ts";
import { clip } from "../../base/errors.ts";
import { encodeShape } from "../../protocol/codec.ts";
import { metaKeys } from "../../protocol/meta.ts";
import { type ClientCapabilities, type Implementation, readImplementation } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import {
  encodeNotification,
  isObject,
  type JsonObject,
  type RpcError,
  type RpcResponse,
} from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import { Attempts, backoffPause } from "../channel/backoff.ts";
import { beginBudget, type Channel, type ChannelRequest, type Transport } from "../channel/channel.ts";
import {
  CallTimeout,
  CannotStart,
  ConnectionLost,
  HttpFailure,
  InvalidResponse,
} from "../settings/errors.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { Backoff } from "../settings/limits.ts";
import type { ServerFacts } from "../settings/server-facts.ts";
import type { Reception } from "./reception.ts";
import {
  type HandshakeOutcome,
  isOpaque,
  isTransient,
  judgeInitialized,
  judgeProbe,
  type Request,
  type Step,
  type Wanted,
} from "./verdicts.ts";

/** The settings of a handshake. */
export interface HandshakeSettings {
  readonly info: Implementation;
  readonly answers: QuestionAnswers;
  readonly backoff: Backoff;
  readonly connectTimeoutMs: number;
  readonly takeId: () => number;
  readonly observe: ((event: ClientEvent) => void) | undefined;
}

/** One handshake: its transport, its revisions, and how often a request is tried. */
export interface HandshakeTask {
  readonly transport: Transport;
  readonly wanted: Wanted;
  readonly tries: number;
  readonly signal: AbortSignal;
  /** Opens a channel, and passes its messages to the client. */
  open(transport: Transport): Promise<Reception>;
}

/** The result of a handshake. */
export interface Agreed {
  readonly reception: Reception;
  readonly transport: Transport;
  readonly peer: ServerFacts;
}

/** How long a server on a pipe may be silent before it counts as a legacy one. */
const probeMs = 5000;

/** The replies to `initialize` of a server that has only the older transport. */
const olderStatuses: ReadonlySet<number> = new Set([400, 404, 405]);

/** The `_meta` that each request of a modern client carries. */
export function requestMeta(
  info: Implementation,
  capabilities: ClientCapabilities,
  revision: Revision,
): JsonObject {
  return {
    [metaKeys.protocolVersion]: revision.date,
    [metaKeys.clientInfo]: encodeShape(info, "implementation", revision),
    [metaKeys.clientCapabilities]: capabilities,
  };
}

/** Runs a handshake from its first step. If it fails, nothing stays open. */
export async function shakeHands(
  settings: HandshakeSettings,
  task: HandshakeTask,
  first: Step,
): Promise<Agreed> {
  const handshake = new Handshake(settings, task);
  try {
    return await handshake.run(first);
  } catch (error) {
    const failure = await handshake.explain(error);
    await handshake.close();
    throw failure;
  } finally {
    handshake.forget();
  }
}

class Handshake {
  readonly #settings: HandshakeSettings;
  readonly #task: HandshakeTask;
  readonly #attempts: Attempts;
  readonly #budget = beginBudget();
  #transport: Transport;
  #reception: Reception | undefined;
  /** Whether the server has responded to a probe. */
  #wasHeard = false;
  /** The error to report instead of a later failure. */
  #first: Error | undefined;
  /** The request that waits for its response. */
  #asked: ChannelRequest | undefined;
  /** A probe that timed out, but whose response still counts. */
  #unanswered: ChannelRequest | undefined;
  /** The step that the late response to that probe demands. */
  #late: Step | undefined;

  constructor(settings: HandshakeSettings, task: HandshakeTask) {
    this.#settings = settings;
    this.#task = task;
    this.#transport = task.transport;
    this.#attempts = new Attempts({ ...settings.backoff, maxAttempts: task.tries - 1 });
  }

  async run(first: Step): Promise<Agreed> {
    const ways = new Set<string>();
    let step = first;
    let last = "start";
    for (;;) {
      if (step.do === "fail") throw this.#first ?? step.error;
      if (step.do === "speak") return this.#agree(step.revision, step.result);
      // Each transition from one request to the next is taken once, so that a server cannot keep the client in a loop.
      const way = `${last}-${step.do}`;
      if (ways.has(way)) throw this.#first ?? step.because;
      ways.add(way);
      last = step.do;
      if (step.isDoubtful) this.#first ??= step.because;
      step = step.do === "probe" ? await this.#probe(step.revision) : await this.#initialize(step);
    }
  }

  /** Stops waiting for a probe. */
  forget(): void {
    this.#unanswered?.onAbandoned?.(new Silence());
  }

  /** Adds the exit code of a process, or its output besides messages, to an error. */
  async explain(error: unknown): Promise<unknown> {
    if (error instanceof ConnectionLost && error.cause instanceof CannotStart) return error.cause;
    if (!(error instanceof CallTimeout)) return error;
    const written = await this.#reception?.channel.written?.();
    return written
      ? connectTimeout(this.#settings.connectTimeoutMs, this.#transport.address, written)
      : error;
  }

  async close(): Promise<void> {
    const reception = this.#reception;
    this.#reception = undefined;
    await reception?.close();
  }

  async #probe(revision: Revision): Promise<Step> {
    const { info, answers, observe } = this.#settings;
    const { wanted } = this.#task;
    const params = { _meta: requestMeta(info, answers.capabilities(revision), revision) };
    // If silence means a legacy server, the probe has a short timeout. A client that accepts no legacy server waits longer.
    const isShort = this.#transport.kind !== "http" && wanted.legacy !== undefined;
    const finding = await this.#ask({ do: "probe", revision }, "server/discover", params, isShort);
    this.#wasHeard ||= finding.met === "result" || finding.met === "error";
    if (finding.met === "failure" && isOpaque(finding.error))
      observe?.({ type: "ignored", reason: finding.error.message });
    return judgeProbe(finding, this.#transport.kind, wanted);
  }

  async #initialize(step: Request): Promise<Step> {
    const { info, answers } = this.#settings;
    const { revision } = step;
    const params = {
      protocolVersion: revision.date,
      capabilities: answers.capabilities(revision),
      clientInfo: encodeShape(info, "implementation", revision),
    };
    const finding = await this.#ask(step, "initialize", params);
    if (this.#late) {
      // After `initialize` the server may treat this channel as legacy, so it is closed.
      await this.close();
      return this.#late;
    }
    const { older } = this.#transport;
    if (older === undefined || finding.met !== "failure" || !isOfOlder(finding.error))
      return judgeInitialized(finding, this.#task.wanted, this.#wasHeard);
    this.#first ??= finding.error;
    await this.close();
    this.#transport = older;
    return this.#initialize(step);
  }

  /** Sends a request, again after failures that may pass, and returns the finding. */
  async #ask(step: Request, method: string, params: JsonObject, isShort = false): Promise<HandshakeOutcome> {
    for (;;) {
      try {
        const reception = await this.#open(step);
        return readResponse(await this.#request(reception.channel, method, params, isShort));
      } catch (error) {
        if (this.#task.signal.aborted) throw this.#task.signal.reason;
        if (error instanceof Silence) return { met: "silence", error };
        const failure = error instanceof Error ? error : new InvalidResponse(String(error));
        if (!(await this.#waitsFor(failure, method))) return { met: "failure", error: failure };
      }
    }
  }

  /**
   * The channel for a request. It is a new one if the last has ended or, over HTTP, if the era and with it the headers change.
   */
  async #open({ revision, because }: Request): Promise<Reception> {
    const transport = this.#transport;
    const last = this.#reception;
    const isUsable = last && !last.end && (transport.kind !== "http" || last.revision?.era === revision.era);
    if (last?.end && transport.kind === "wire" && !transport.reopens) throw because ?? last.end;
    if (!isUsable) await this.close();
    this.#reception ??= await this.#task.open(transport);
    this.#reception.revision = revision;
    if (revision.era === "modern") this.#reception.channel.speak(revision);
    return this.#reception;
  }

  async #request(
    channel: Channel,
    method: string,
    params: JsonObject,
    isShort: boolean,
  ): Promise<RpcResponse> {
    const { signal } = this.#task;
    signal.throwIfAborted();
    const id = this.#settings.takeId();
    const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    // A server that does not know the probe does not know its cancellation either.
    const outgoing: ChannelRequest = { id, method, text, isUncancellable: true, budget: this.#budget };
    const abandon = (): void => outgoing.onAbandoned?.(signal.reason);
    this.#asked = outgoing;
    signal.addEventListener("abort", abandon);
    try {
      const response = channel.request(outgoing);
      return await (isShort ? this.#within(outgoing, response) : response);
    } finally {
      signal.removeEventListener("abort", abandon);
    }
  }

  /** The response to a probe, if it arrives in time. A server that responds later still counts as modern. */
  async #within(probe: ChannelRequest, response: Promise<RpcResponse>): Promise<RpcResponse> {
    const waitMs = Math.min(probeMs, this.#settings.connectTimeoutMs / 2);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Silence(waitMs)), waitMs);
    });
    try {
      return await Promise.race([response, silence]);
    } catch (error) {
      if (error instanceof Silence) this.#hearLate(probe, response);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #hearLate(probe: ChannelRequest, response: Promise<RpcResponse>): void {
    const { kind, reopens } = this.#transport;
    this.#unanswered = probe;
    const hear = (late: RpcResponse): void => {
      const step = judgeProbe(readResponse(late), kind, this.#task.wanted);
      if (step.do !== "speak" || (kind === "wire" && !reopens)) return;
      this.#late = step;
      if (this.#asked !== probe) this.#asked?.onAbandoned?.(new Silence());
    };
    response.then(hear, () => {});
  }

  /** Waits before another attempt. Resolves with false if there are no attempts left. */
  async #waitsFor(error: Error, method: string): Promise<boolean> {
    if (!isTransient(error, this.#transport.kind)) return false;
    const floorMs = (error instanceof HttpFailure && error.retryAfterMs) || 0;
    const waitMs = floorMs < this.#settings.connectTimeoutMs ? this.#attempts.next(floorMs) : undefined;
    if (waitMs === undefined) return false;
    const attempt = this.#attempts.made + 1;
    this.#settings.observe?.({ type: "retry", method, attempt, waitMs, reason: error.message });
    await backoffPause(waitMs, this.#task.signal).catch((reason: unknown) => {
      // The last failure says more than the timeout.
      throw reason instanceof CallTimeout ? error : reason;
    });
    return true;
  }

  async #agree(revision: Revision, result: JsonObject): Promise<Agreed> {
    const transport = this.#transport;
    const asked = this.#reception;
    const reception = asked ?? (await this.#open({ do: "probe", revision }));
    const { channel } = reception;
    reception.revision = revision;
    channel.speak(revision);
    if (asked && revision.era === "legacy") {
      await untilAborted(channel.send(encodeNotification("notifications/initialized")), this.#task.signal);
      await untilAborted(channel.listen(), this.#task.signal);
    }
    if (reception.end) throw reception.end;
    return { reception, transport, peer: peerOf(result, revision, transport) };
  }
}

/** The server did not respond to the probe in time. */
class Silence extends Error {
  constructor(waitMs = probeMs) {
    super(`The server did not respond to server/discover within ${waitMs} ms`);
  }
}

function isOfOlder(error: Error): boolean {
  return error instanceof HttpFailure && olderStatuses.has(error.status);
}

function readResponse(response: RpcResponse): HandshakeOutcome {
  if (!("error" in response)) return { met: "result", result: response.result };
  const { error } = response;
  return {
    met: "error",
    error: isRpcError(error) ? error : { code: 0, message: clip(JSON.stringify(error)) },
  };
}

function isRpcError(error: unknown): error is RpcError {
  return isObject(error) && typeof error["code"] === "number" && typeof error["message"] === "string";
}

/** The facts that the server sent about itself: a modern one in `_meta`, a legacy one in its result. */
function peerOf(result: JsonObject, revision: Revision, { address, hasHeaders }: Transport): ServerFacts {
  const { _meta, serverInfo, capabilities, instructions } = result;
  return {
    revision,
    server: readImplementation((isObject(_meta) && _meta[metaKeys.serverInfo]) || serverInfo),
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
    address,
    hasHeaders,
  };
}
