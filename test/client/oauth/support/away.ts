// A client that stops where a person has to visit an address, so that the test visits it.
import { connect, type McpClient } from "halyard/client";
import { oauth, type OAuth, type OAuthOptions } from "halyard/client/oauth";
import { onTestFinished } from "vitest";

export interface Away {
  readonly auth: OAuth;
  /** Where the person has to go. */
  readonly address: URL;
  /** Every address that was shown so far. */
  readonly shown: readonly string[];
  readonly connecting: Promise<McpClient>;
}

/** Connects to `url`, and resolves once the address is shown. */
export async function connectAway(
  url: string,
  options: OAuthOptions = {},
  signal?: AbortSignal,
): Promise<Away> {
  const shown: string[] = [];
  let auth!: OAuth;
  let connecting!: Promise<McpClient>;
  const address = await new Promise<URL>((resolve, reject) => {
    const open = (at: string): void => {
      shown.push(at);
      resolve(new URL(at));
    };
    auth = oauth({ open, ...options });
    connecting = connectForTest(url, auth, signal);
    connecting.catch(reject);
  });
  return { auth, address, shown, connecting };
}

/** Connects; the client is closed when the test ends. */
export async function connectForTest(url: string, auth: OAuth, signal?: AbortSignal): Promise<McpClient> {
  const client = await connect(url, { auth, ...(signal && { signal }) });
  onTestFinished(() => client.close());
  return client;
}

/** The address that the person comes back to, with these parameters in place of those of the authorization server. */
export function backTo(address: URL, parameters: Readonly<Record<string, string>>): URL {
  const back = new URL(address.searchParams.get("redirect_uri") ?? "");
  const state = address.searchParams.get("state") ?? "";
  back.search = new URLSearchParams({ state, ...parameters }).toString();
  return back;
}
