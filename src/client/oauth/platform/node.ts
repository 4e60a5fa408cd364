// The platform of Node, Bun and Deno: it listens for the person who comes back, sees addresses, and writes files. Servers and sockets are loaded when they are needed.
import { ConfigurationError } from "../../../base/errors.ts";
import { isLoopback } from "../../../base/addresses.ts";
import { FileStore } from "./node-file-store.ts";
import type { OAuthPlatform } from "./platform.ts";

export const platform: OAuthPlatform = {
  checkSignIn: ({ open, redirectUri }) => {
    const fail = (field: string, problem: string): never => {
      throw new ConfigurationError("INVALID_OPTION", { subject: "oauth", field }, problem);
    };
    if (open !== undefined && open !== "browser" && typeof open !== "function") {
      fail(
        "open",
        `cannot be ${JSON.stringify(open)} here: pass "browser", a function, or nothing to print the address`,
      );
    }
    if (redirectUri === undefined) return;
    const uri = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
    if (uri?.protocol !== "http:" || !isLoopback(uri) || uri.hash !== "") {
      fail(
        "redirectUri",
        `is ${JSON.stringify(redirectUri)}: pass an address of this machine such as "http://127.0.0.1/callback", where the client can listen`,
      );
    }
  },
  beginSignIn: async (options, registered) => {
    const { beginSignIn } = await import("./node-sign-in.ts");
    return beginSignIn(options, registered);
  },
  returned: undefined,
  checkedFetch: (refusalOf) => async (url, init) =>
    (await import("./node-fetch.ts")).checkedFetch(url, init, refusalOf),
  addressesOf: async (host) => (await import("./node-fetch.ts")).addressesOf(host),
  fileStore: (path) => new FileStore(path),
};
