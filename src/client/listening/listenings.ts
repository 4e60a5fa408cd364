// Opens listenings, the same on every revision.
import { func, type Known, signal as abortSignal, type Table } from "../../base/kinds.ts";
import type { ClientCore } from "../calls/core.ts";
import { checkCallOptions } from "../settings/checks.ts";
import type { Backoff } from "../settings/limits.ts";
import { checkFilter, type ListenFilter } from "./filter.ts";
import { ListenStreams } from "./listen-streams.ts";
import {
  type Listening,
  type ListeningParts,
  type ListenOptions,
  LiveListening,
  type OnChange,
} from "./listening.ts";
import { SessionSubscriptions } from "./session-subscriptions.ts";

const knownOptions: Known<ListenOptions> = { signal: abortSignal };
const knownCallback: Table = { onChange: func };

/** The listenings of one client. */
export class Listenings {
  readonly #parts: ListeningParts;

  constructor(
    core: ClientCore,
    { backoff, timeoutMs }: { readonly backoff: Backoff; readonly timeoutMs: number },
  ) {
    const sources = { modern: new ListenStreams(core, timeoutMs), legacy: new SessionSubscriptions(core) };
    this.#parts = { core, backoff, source: () => sources[core.peer.revision.era] };
  }

  /** Resolves when the server has acknowledged the subscription. Rejects if it honours nothing of the filter. */
  async listen(
    filter: ListenFilter,
    onChange: OnChange | undefined,
    options: ListenOptions = {},
  ): Promise<Listening> {
    checkCallOptions("listen", options, knownOptions);
    checkCallOptions("listen", { onChange }, knownCallback);
    const wanted = checkFilter(filter);
    const { signal } = options;
    signal?.throwIfAborted();
    this.#parts.core.closed.throwIfAborted();
    const listening = new LiveListening(this.#parts, wanted, onChange);
    const stop = (): void => void listening.close();
    signal?.addEventListener("abort", stop);
    void listening.ended.then(() => signal?.removeEventListener("abort", stop));
    await listening.opened.catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    return listening;
  }
}
