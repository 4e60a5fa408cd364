// The catalogue of the connected server, read again when the server announces a change.
import type { Change, McpClient } from "halyard/client";
import { storeOf } from "../base/store.ts";
import { noteChange } from "./changes.ts";
import { type Entry, readEntries } from "./entries.ts";
import { type Trouble, troubleOf } from "./trouble.ts";

export interface Catalogue {
  readonly entries: readonly Entry[];
  /** Undefined until it is read. */
  readonly readAt: number | undefined;
  readonly troubles: readonly Trouble[];
  /** Whether the server announces changes of its lists. */
  readonly isLive: boolean;
}

const nothing: Catalogue = { entries: [], readAt: undefined, troubles: [], isLive: false };
export const catalogue = storeOf<Catalogue>(nothing);

/** Shows the catalogue of a server until you call the returned function. */
export function followCatalogue(client: McpClient): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const read = async (): Promise<void> => {
    const { entries, failures } = await readEntries(client);
    if (signal.aborted) return;
    catalogue.set({ ...catalogue.get(), entries, troubles: failures.map(troubleOf), readAt: Date.now() });
  };
  const onChange = (change: Change): Promise<void> => {
    noteChange(change);
    return read();
  };
  void read();
  void listenToLists(client, onChange, signal).then((isLive) => {
    if (!signal.aborted) catalogue.set({ ...catalogue.get(), isLive });
  });
  return () => {
    stop.abort();
    catalogue.set(nothing);
  };
}

async function listenToLists(
  client: McpClient,
  onChange: (change: Change) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const { tools, prompts, resources } = client.capabilities;
  const filter = {
    tools: tools?.listChanged === true,
    prompts: prompts?.listChanged === true,
    resourceList: resources?.listChanged === true,
  };
  if (!Object.values(filter).includes(true)) return false;
  return client.listen(filter, onChange, { signal }).then(
    () => true,
    () => false,
  );
}
