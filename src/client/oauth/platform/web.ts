// The platform of browsers and workers: a person signs in in a popup, or the page is left for a while; there are no files.
import type { OAuthPlatform } from "./platform.ts";
import { beginSignIn, checkSignIn, returned } from "./web-sign-in.ts";

export const platform: OAuthPlatform = {
  checkSignIn,
  beginSignIn,
  returned,
  checkedFetch: undefined,
  addressesOf: undefined,
  fileStore: () => {
    throw new Error("not built yet");
  },
};
