// Passes progress notifications to the calls that requested them, by their token.
import type { JsonObject, RequestId } from "../../base/wire/message.ts";
import { type ClientEvent, tellThrown } from "../settings/events.ts";
import type { SentCall } from "./call.ts";
import type { ClientCore } from "./core.ts";
import type { Progress } from "../settings/call-options.ts";

/** The calls that asked for progress, by the id of their current attempt. */
export class ProgressRoutes {
  readonly #calls = new Map<unknown, SentCall>();
  readonly #observe: ((event: ClientEvent) => void) | undefined;

  constructor(observe: ((event: ClientEvent) => void) | undefined) {
    this.#observe = observe;
  }

  add(call: SentCall): void {
    this.#calls.set(call.id, call);
  }

  remove(id: RequestId): void {
    this.#calls.delete(id);
  }

  /** Passes the parameters of a notification to its call. Ignores notifications after the end of the call. */
  receive(params: JsonObject): void {
    const call = this.#calls.get(params["progressToken"]);
    if (call === undefined) return;
    call.sign();
    const { onProgress } = call.options;
    const thrown = tellThrown.bind(undefined, this.#observe);
    if (onProgress) reportProgress(params, onProgress, call.what, thrown);
  }
}

/** Passes the parameters of a notification to `onProgress`, unless they are malformed. Reports what the function throws. */
export function reportProgress(
  { progress, total, message }: JsonObject,
  onProgress: (progress: Progress) => void,
  what: string,
  thrown: ClientCore["thrown"],
): void {
  if (typeof progress !== "number") return;
  try {
    onProgress({
      progress,
      total: typeof total === "number" ? total : undefined,
      message: typeof message === "string" ? message : undefined,
    });
  } catch (error) {
    thrown(onProgress, `onProgress of ${what} threw: ${String(error)}`);
  }
}
