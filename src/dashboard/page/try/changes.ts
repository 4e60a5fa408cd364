// The subscriptions of the page, and the received changes, newest first.
import type { Change, Listening, McpClient } from "halyard/client";
import { storeOf } from "../base/store.ts";
import { type Trouble, troubleOf } from "./trouble.ts";

export interface ChangeRow {
  readonly number: number;
  readonly at: number;
  readonly change: Change;
}

const maxRows = 200;
export const changes = storeOf<readonly ChangeRow[]>([]);
let count = 0;

export function noteChange(change: Change): void {
  count += 1;
  changes.set([{ number: count, at: Date.now(), change }, ...changes.get()].slice(0, maxRows));
}

export interface Subscriptions {
  readonly uris: readonly string[];
  readonly trouble: Trouble | undefined;
}

const none: Subscriptions = { uris: [], trouble: undefined };
export const subscriptions = storeOf<Subscriptions>(none);
let listening: Promise<Listening | undefined> = Promise.resolve(undefined);

/** Subscribes to a resource, or unsubscribes. All share one listening, because a browser has few connections. */
export async function toggleSubscription(client: McpClient, uri: string): Promise<void> {
  const { uris } = subscriptions.get();
  const wanted = uris.includes(uri) ? uris.filter((other) => other !== uri) : [...uris, uri];
  subscriptions.set({ uris: wanted, trouble: undefined });
  const before = listening;
  listening = listenTo(client, wanted).catch((error: unknown) => {
    // The previous subscription stays closed, so the list is cleared.
    subscriptions.set({ uris: [], trouble: troubleOf(error) });
    return undefined;
  });
  await listening;
  await (await before)?.close();
}

async function listenTo(client: McpClient, uris: readonly string[]): Promise<Listening | undefined> {
  return uris.length === 0 ? undefined : client.listen({ resources: uris }, noteChange);
}

/** Forgets all changes, because their client is closed. */
export function forgetChanges(): void {
  listening = Promise.resolve(undefined);
  subscriptions.set(none);
  changes.set([]);
}
