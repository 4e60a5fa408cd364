// The platform of Node, Bun and Deno: it starts processes.
import { StdioTransport } from "./node-stdio.ts";
import type { Platform } from "./platform.ts";

export const platform: Platform = {
  commandTransport: (target, limits, observe) => new StdioTransport(target, limits, observe),
  send: undefined,
};
