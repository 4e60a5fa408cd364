// Listens for changes of the lists of several servers, also of servers that connect later.
import { AsyncClosing, type AsyncDisposal } from "../base/async/ending.ts";
import { flag, func, type Known, needed, type Table } from "../base/kinds.ts";
import { checkOptions } from "../base/options.ts";
import type { McpClient } from "./client.ts";
import { checkFilter, gapsOf, type ListenFilter } from "./listening/filter.ts";
import type { Listening } from "./listening/listening.ts";
import type { OnServerChange } from "./named-options.ts";
import { toError } from "./settings/errors.ts";

/** The lists to listen for at several servers. Resources belong to one server: listen with its client. */
export type ServersFilter = Omit<ListenFilter, "resources">;

const knownFilter: Known<ServersFilter> = { tools: flag, prompts: flag, resourceList: flag };
const knownCallback: Table = { onChange: needed(func) };

/** An open listening for changes of several servers. */
export interface ServersListening extends AsyncDisposal {
  /** The servers that are not listened to, and why: they announce no lists, or could not be reached. */
  readonly errors: ReadonlyMap<string, Error>;
  /** Unsubscribes from all servers. */
  close(): Promise<void>;
}

export class LiveServersListening extends AsyncClosing implements ServersListening {
  readonly errors: Map<string, Error> = new Map();
  readonly #filter: ListenFilter;
  readonly #onChange: OnServerChange;
  readonly #onClosed: () => void;
  readonly #open = new Map<string, Listening>();
  #isClosed = false;

  constructor(filter: ServersFilter, onChange: OnServerChange, onClosed: () => void) {
    super();
    checkOptions({ subject: "listen" }, filter, knownFilter);
    checkOptions({ subject: "listen" }, { onChange }, knownCallback);
    this.#filter = checkFilter(filter);
    this.#onChange = onChange;
    this.#onClosed = onClosed;
  }

  async add(server: string, client: McpClient): Promise<void> {
    try {
      const onChange = this.#onChange;
      const listening = await client.listen(this.#filter, (change) => onChange({ ...change, server }));
      if (this.#isClosed) return await listening.close();
      this.errors.delete(server);
      this.#follow(server, client, listening);
    } catch (error) {
      this.errors.set(server, toError(error));
    }
  }

  #follow(server: string, client: McpClient, listening: Listening): void {
    void this.#open.get(server)?.close();
    this.#open.set(server, listening);
    const isCurrent = (): boolean => this.#open.get(server) === listening;
    const forget = client.on("state", ({ name, error, reason }) => {
      if (!isCurrent()) return;
      if (name === "closed") this.errors.set(server, toError(error ?? reason));
      if (name === "ready") this.errors.delete(server);
    });
    void listening.ended.then((error) => {
      forget();
      if (error !== undefined && isCurrent()) this.errors.set(server, toError(error));
    });
  }

  /** Adds a server that connected late or again. Everything that the listener knows of it may have changed. */
  async addLate(server: string, client: McpClient): Promise<void> {
    await this.add(server, client);
    const honoured = this.#open.get(server)?.honoured ?? {};
    for (const change of gapsOf(honoured)) {
      try {
        await this.#onChange({ ...change, server });
      } catch {
        // Ignored, as for other changes: the next change is delivered.
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#onClosed();
    await Promise.all([...this.#open.values()].map((listening) => listening.close()));
  }
}
