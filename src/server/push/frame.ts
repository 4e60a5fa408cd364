// One pushed notification, encoded once; each subscription only adds its own id.
import { metaKeys } from "../../protocol/meta.ts";
import type { RequestId } from "../../base/wire/message.ts";

/** A notification for many listeners. */
export class Frame {
  /** Of two queued frames with the same key, the later replaces the earlier. */
  readonly mergeKey: string | undefined;
  /** The scopes that a reader must have. */
  readonly scopes: readonly string[] | undefined;
  /** Its place in the log of changes that all nodes share; undefined if it is not in that log. */
  readonly position: string | undefined;
  readonly #head: string;
  readonly #params: string;
  readonly #meta: string;
  #plain: string | undefined;
  #beforeStamp: string | undefined;

  constructor(
    method: string,
    params: object = {},
    mergeKey?: string,
    scopes?: readonly string[],
    position?: string,
  ) {
    const { _meta = {}, ...rest } = params as { _meta?: object };
    this.mergeKey = mergeKey;
    this.scopes = scopes;
    this.position = position;
    this.#head = `{"jsonrpc":"2.0","method":${JSON.stringify(method)}`;
    this.#params = members(rest);
    this.#meta = members(_meta);
  }

  /** The message for a listener without a subscription, such as a legacy session. */
  plain(): string {
    return (this.#plain ??= this.#write());
  }

  /** The message for one subscription, whose id is given as JSON. */
  stamped(id: string): string {
    return `${(this.#beforeStamp ??= this.#writeToStamp())}${id}}}}`;
  }

  #writeToStamp(): string {
    const meta = `"_meta":{${joined(this.#meta, `"${metaKeys.subscriptionId}":`)}`;
    return `${this.#head},"params":{${joined(this.#params, meta)}`;
  }

  #write(): string {
    const meta = this.#meta === "" ? "" : `"_meta":{${this.#meta}}`;
    const params = joined(this.#params, meta);
    return params === "" ? `${this.#head}}` : `${this.#head},"params":{${params}}}`;
  }
}

/** The JSON members of an object, without its braces. */
function members(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

function joined(first: string, second: string): string {
  return first === "" || second === "" ? first + second : `${first},${second}`;
}

/** The `_meta` that marks a message as belonging to the subscription opened by the request `id`. */
export function subscriptionMeta(id: RequestId): { readonly [key: string]: RequestId } {
  return { [metaKeys.subscriptionId]: id };
}
