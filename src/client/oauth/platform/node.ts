// The platform of Node, Bun and Deno: it listens for the person who comes back, sees addresses, and writes files. Each is loaded when it is needed.
import type { OAuthPlatform } from "./platform.ts";

export const platform: OAuthPlatform = {
  beginSignIn: () => Promise.reject(new Error("not built yet")),
  returned: undefined,
  checkedFetch: (refusalOf) => async (url, init) =>
    (await import("./node-fetch.ts")).checkedFetch(url, init, refusalOf),
  addressesOf: async (host) => (await import("./node-fetch.ts")).addressesOf(host),
  fileStore: () => {
    throw new Error("not built yet");
  },
};
