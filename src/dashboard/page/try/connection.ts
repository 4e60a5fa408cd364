// The page's client: connects it, closes it, and describes its state.
import { type ClientState, connect, type McpClient } from "halyard/client";
import { storeOf } from "../base/store.ts";
import { followCatalogue } from "./catalogue.ts";
import { forgetChanges } from "./changes.ts";
import { cancelQuestions, handlers } from "./questions.ts";
import { type Trouble, troubleOf } from "./trouble.ts";
import { keepLine } from "./wire-log.ts";

export interface Wanted {
  readonly endpoint: string;
  readonly revision: string;
  /** Sent to the endpoint alone, and kept nowhere but here. */
  readonly token: string;
}

/** The state of the page's connection to the endpoint. */
export type Connection =
  | { readonly phase: "none"; readonly trouble?: Trouble | undefined }
  | { readonly phase: "connecting"; readonly wanted: Wanted }
  | {
      readonly phase: "open";
      readonly wanted: Wanted;
      readonly client: McpClient;
      readonly state: ClientState;
    };

export const connection = storeOf<Connection>({ phase: "none" });

/** Ends connecting, or the resulting connection. */
let end: () => void = () => {};

/** Connects, after ending the previous connection. */
export async function open(wanted: Wanted): Promise<void> {
  close();
  const abort = new AbortController();
  end = () => abort.abort();
  connection.set({ phase: "connecting", wanted });
  const { endpoint, revision, token } = wanted;
  try {
    const client = await connect(endpoint, {
      ...handlers,
      info: { name: "halyard-dashboard", version: "1" },
      revision,
      ...(token !== "" && { auth: token }),
      signal: abort.signal,
      record: keepLine,
      // Without a handler, servers send no log messages, and the wire view would not show any.
      onLog: () => {},
    });
    if (abort.signal.aborted) return void client.close();
    const show = (state: ClientState): void => connection.set({ phase: "open", wanted, client, state });
    const forget = client.on("state", show);
    const unfollow = followCatalogue(client);
    end = () => {
      forget();
      unfollow();
      forgetChanges();
      void client.close().catch(() => {});
    };
    show(client.state);
  } catch (error) {
    if (!abort.signal.aborted) connection.set({ phase: "none", trouble: troubleOf(error) });
  }
}

/** Ends the connection. */
export function close(): void {
  end();
  end = () => {};
  cancelQuestions();
  connection.set({ phase: "none" });
}

/** What the page is doing, in words. */
export function describe(now: Connection): string {
  if (now.phase === "none") return now.trouble ? "Not connected" : "Disconnected";
  if (now.phase === "connecting") return `Connecting as ${now.wanted.revision}…`;
  const { client, state } = now;
  const server = client.server ? `${client.server.name} ${client.server.version}` : now.wanted.endpoint;
  return `${stateWords[state.name]} ${server}, ${client.revision}${state.name === "ready" ? "" : `: ${state.reason}`}`;
}

const stateWords: Readonly<Record<ClientState["name"], string>> = {
  connecting: "Connecting to",
  ready: "Connected to",
  reconnecting: "Reconnecting to",
  "needs-auth": "Credentials are required by",
  closed: "Disconnected from",
};
