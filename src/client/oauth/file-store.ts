// The token store in a file, on runtimes that have files.
import { platform } from "#oauth-platform";
import type { TokenStore } from "./settings/token-store.ts";

/**
 * Keeps tokens in a file of mode 600, so that they outlive the process. Processes that name the same file share the tokens: one of them
 * refreshes, or lets a person sign in, while the others wait. A store is for one person: its tokens work for everyone who can read it.
 *
 * Node, Bun and Deno only. The folder `<path>.locks` beside the file says who writes; a file that is damaged is kept beside it. Uses reject
 * with an `OAuthError` if the folder belongs to another user, or if others can write to it; on Windows that is not checked.
 *
 * @throws {ConfigurationError} in browsers, and if `path` cannot be one
 *
 * @example
 * ```ts
 * import { homedir } from "node:os";
 * import { join } from "node:path";
 * import { fileStore, oauth } from "halyard/client/oauth";
 *
 * const auth = oauth({ store: fileStore(join(homedir(), ".config", "my-app", "tokens.json")) });
 * ```
 */
export function fileStore(path: string): TokenStore {
  return platform.fileStore(path);
}
