// What a runtime offers to OAuth beyond the web: Node listens on a port, opens a browser, checks addresses and writes files.
import type { OpenOption } from "../settings/options.ts";
import type { TokenStore } from "../settings/token-store.ts";

/** How a person signs in. */
export interface SignInOptions {
  readonly open: OpenOption | undefined;
  readonly redirectUri: string | undefined;
}

/** A place that the authorization server sends a person back to. */
export interface SignIn {
  readonly redirectUri: string;
  /**
   * Shows `url` to a person, and resolves with the parameters with which they come back with that `state`. Others are ignored.
   * If the page is left for that, `returned` gives `kept` back with the parameters.
   */
  answer(url: string, state: string, kept: string): Promise<URLSearchParams>;
  /** Tells the person who has come back how it ended, rejects an answer that is still awaited, and frees the place. Works once. */
  end(problem?: string): void;
}

/** An answer to a sign-in for which the page was left, and what was kept for it. */
export interface ReturnedAnswer {
  readonly parameters: URLSearchParams;
  readonly kept: string;
}

/** The parts of OAuth that differ between runtimes. The import `#oauth-platform` is the one of the current runtime. */
export interface OAuthPlatform {
  /** Throws a ConfigurationError if a sign-in with these options cannot work on this runtime. */
  checkSignIn(options: SignInOptions): void;
  /** `registered`: the redirect URI with which the client is registered, which is used again if possible. */
  beginSignIn(options: SignInOptions, registered: string | undefined): Promise<SignIn>;
  /**
   * The answer that this page was loaded with after it was left for a sign-in, once, if `isMine` knows what was kept; undefined
   * where no page can be left.
   */
  readonly returned: ((isMine: (kept: string) => boolean) => ReturnedAnswer | undefined) | undefined;
  /**
   * Returns a `fetch` that connects only to addresses without a refusal, whatever a name resolves to; undefined where a runtime
   * cannot see addresses.
   */
  readonly checkedFetch:
    | ((
        refusalOf: (host: string, address: string) => Error | undefined,
      ) => (url: string, init: RequestInit) => Promise<Response>)
    | undefined;
  /** The addresses of a host; undefined where a runtime cannot see them. */
  readonly addressesOf: ((host: string) => Promise<readonly string[]>) | undefined;
  /** Keeps tokens in a file. Throws where there are no files. */
  fileStore(path: string): TokenStore;
}
