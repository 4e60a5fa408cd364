// Answers a batch. The reply is one array, so responses wait for the slowest call: they are encoded and counted as they come.
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { errorCodes } from "../../base/errors.ts";
import { isObject, readMessage, type RpcRequest, type RpcResponse } from "../../base/wire/message.ts";
import type { Exchange } from "../context/connection.ts";
import type { Core } from "./core.ts";
import { dispatch, refuse } from "./dispatch.ts";
import { encodeSafely } from "./failure.ts";

/** The encoded responses to a batch. */
export class BatchReply {
  readonly text: string;

  constructor(responses: readonly string[]) {
    this.text = `[${responses.join(",")}]`;
  }
}

/**
 * How many turns of the microtask queue a call has to end before the next one begins. Most calls end in that time, so their results
 * are counted one by one; a call that waits for something else does not delay the others.
 */
const maxTurns = 50;

/** Answers the messages of a batch, which run side by side. Resolves with undefined if none needs a response. */
export async function answerBatch(
  core: Core,
  batch: readonly unknown[],
  exchange: Exchange,
): Promise<BatchReply | RpcResponse | undefined> {
  const problem = batchProblem(core, batch, exchange);
  if (problem) {
    return refuse(core, exchange, undefined, { code: errorCodes.invalidRequest, message: problem });
  }
  const building = new BuildingReply(core, exchange);
  const running: Promise<void>[] = [];
  for (const [at, value] of batch.entries()) {
    const read = readMessage(value);
    if (building.isFull && read.ok && read.kind === "request") {
      building.refuse(at, read.message);
      continue;
    }
    const answering = dispatch(core, read, exchange);
    if (answering instanceof Promise) {
      const done = building.putLater(at, answering);
      running.push(done);
      await Promise.race([done, turnsOf(maxTurns)]);
    } else building.put(at, answering);
  }
  await Promise.all(running);
  return building.end();
}

/** Resolves after this many turns of the microtask queue. */
async function turnsOf(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined;
}

/** The reply to a batch while its calls run. */
class BuildingReply {
  readonly #core: Core;
  readonly #exchange: Exchange;
  readonly #max: number;
  /** By the place of the message in the batch; those without a response have none. */
  readonly #texts: string[] = [];
  #length = 0;
  #failure: unknown;
  isFull = false;

  constructor(core: Core, exchange: Exchange) {
    this.#core = core;
    this.#exchange = exchange;
    this.#max = core.settings.limits.maxBatchReplyLength;
  }

  put(at: number, response: RpcResponse | undefined): void {
    if (response === undefined) return;
    const text = encodeSafely(this.#core, response);
    const length = this.#length + text.length;
    // Two bytes for each character, as messages are weighed.
    this.isFull ||= length > this.#max || this.#exchange.load?.adds(2 * text.length) === false;
    if (this.isFull && text.length > maxErrorLength) this.#texts[at] = this.#drop(response);
    else {
      this.#texts[at] = text;
      this.#length = length;
    }
  }

  /** Adds a response that is not ready. Only a message that expects no response rejects: the client may send that again. */
  async putLater(at: number, answering: Promise<RpcResponse | undefined>): Promise<void> {
    try {
      this.put(at, await answering);
    } catch (error) {
      this.#failure = error;
    }
  }

  /** Refuses a call that has not begun. */
  refuse(at: number, { id }: RpcRequest): void {
    const message = `The reply to this batch has reached its limit, so this call did not run: send it again by itself`;
    const refusal = refuse(this.#core, this.#exchange, id, { code: errorCodes.invalidRequest, message });
    this.#texts[at] = JSON.stringify(refusal);
  }

  /** The whole reply. A failure is thrown only if the batch has no call: a client that sends calls again would run them twice. */
  end(): BatchReply | undefined {
    const texts = Object.values(this.#texts);
    const error = this.#failure;
    if (texts.length === 0 && error !== undefined) throw error;
    if (error !== undefined)
      this.#log.error("A response in a batch did not reach the node that asked", { error });
    return texts.length === 0 ? undefined : new BatchReply(texts);
  }

  get #log(): RateLimitedLog {
    return RateLimitedLog.of(this.#core.settings.logger);
  }

  /** The error of a call that ran and whose result has no room. */
  #drop({ id }: RpcResponse): string {
    const message = `The call ran, but its result was dropped: the reply to this batch would exceed ${this.#max} characters, or what its caller may use. Call it by itself`;
    this.#log.warn("Dropped a result: the reply to a batch is too long");
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code: errorCodes.internal, message } });
  }
}

/** Characters of a response that is kept even if the reply has reached its limit, since an error in its place is no shorter. */
const maxErrorLength = 512;

function batchProblem(core: Core, batch: readonly unknown[], exchange: Exchange): string | undefined {
  const { maxBatch } = core.settings.limits;
  if (!exchange.connection.revision?.hasBatches) return "Batches are not part of this protocol revision";
  if (batch.length === 0) return "A batch must not be empty";
  if (batch.length > maxBatch) return `A batch may have at most ${maxBatch} messages, not ${batch.length}`;
  if (batch.some((value) => isObject(value) && value["method"] === "initialize"))
    return "initialize must not be in a batch";
  return undefined;
}
