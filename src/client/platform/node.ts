// The platform of Node, Bun and Deno: it starts processes, and sends HTTP requests with `node:http`. Each part is loaded when it
// is needed.
import type { Platform } from "./platform.ts";

export const platform: Platform = {
  commandTransport: async (target, limits, secrets, observe) => {
    const { StdioTransport } = await import("./node-stdio.ts");
    return new StdioTransport(target, limits, secrets, observe);
  },
  createSend: async (fetch) => {
    if (fetch) return (await import("./node-unreachable.ts")).nodeSendByFetch(fetch);
    const { nodeSend } = await import("./node-send.ts");
    return nodeSend();
  },
  variable: (name) => process.env[name],
};
