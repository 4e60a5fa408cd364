// What the page of the tests lets them do with its client.
import type { JsonObject } from "halyard";
import type { Change, ClientEvent, ConnectOptions, ListenFilter, Progress } from "halyard/client";
import type { OAuthOptions } from "halyard/client/oauth";

export interface SubjectOptions extends ConnectOptions {
  /** Signs a person in with these options. */
  readonly oauth?: OAuthOptions;
  /** Keeps the tokens where all tabs find them. */
  readonly sharesTokens?: boolean;
}

/** One client in a page, as `mcp` in its global scope. Values go through JSON. */
export interface Subject {
  /** Connects; resolves with the revision. */
  connect(url: string, options?: SubjectOptions): Promise<string>;
  /** The same, after a press of the button "Connect". */
  connectOnClick(url: string, options?: SubjectOptions): Promise<string>;
  /** The names of the tools. */
  tools(): Promise<string[]>;
  /** Calls a tool; resolves with its text and the progress before it. */
  call(name: string, args?: JsonObject): Promise<{ readonly text: string; readonly progress: Progress[] }>;
  /** Listens; resolves with what the server announces. */
  listen(filter: ListenFilter): Promise<ListenFilter>;
  /** The changes that were heard. */
  readonly changes: Change[];
  /** What `observe` received. */
  readonly events: ClientEvent[];
  /** The name of the state of the client. */
  readonly state: string;
  close(): Promise<void>;
}
