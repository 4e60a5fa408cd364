// The platform of browsers and workers: HTTP requests go through `fetch`, and no process can be started.
import { ConfigurationError } from "../../base/errors.ts";
import type { Platform } from "./platform.ts";

export const platform: Platform = {
  commandTransport: async ({ command }) => {
    throw new ConfigurationError(
      "INVALID_OPTION",
      { subject: "connect", field: "command" },
      `${command} cannot be started here: connect to a URL, or run the client on Node, Bun or Deno`,
    );
  },
  createSend: undefined,
  variable: () => undefined,
};
