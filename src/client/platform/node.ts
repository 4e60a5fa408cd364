// The platform of Node, Bun and Deno: it starts processes, and sends HTTP requests by `node:http`.
import { nodeSend } from "./node-send.ts";
import { StdioTransport } from "./node-stdio.ts";
import type { Platform } from "./platform.ts";

export const platform: Platform = {
  commandTransport: (target, limits, observe) => new StdioTransport(target, limits, observe),
  createSend: nodeSend,
};
