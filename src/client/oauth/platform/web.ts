// The platform of browsers and workers: a person signs in in a popup, or the page is left for a while; there are no files.
import type { OAuthPlatform } from "./platform.ts";

export const platform: OAuthPlatform = {
  beginSignIn: () => Promise.reject(new Error("not built yet")),
  returned: undefined,
  checkedFetch: undefined,
  addressesOf: undefined,
  fileStore: () => {
    throw new Error("not built yet");
  },
};
