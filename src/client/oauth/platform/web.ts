// The platform of browsers and workers: a person signs in in a popup, or the page is left for a while; there are no files.
import { ConfigurationError } from "../../../base/errors.ts";
import type { OAuthPlatform } from "./platform.ts";
import { beginSignIn, checkSignIn, returned } from "./web-sign-in.ts";

export const platform: OAuthPlatform = {
  checkSignIn,
  beginSignIn,
  returned,
  checkedFetch: undefined,
  addressesOf: undefined,
  fileStore: (path) => {
    throw new ConfigurationError(
      "INVALID_OPTION",
      { subject: "fileStore", field: "path" },
      `${path} cannot be written here: pass memoryStore(), or a TokenStore of your own`,
    );
  },
};
