// A tool with limits of its own, which hold for all callers together.
import { expect } from "vitest";
import { call, makeServer, textOf } from "../../support/catalogue.ts";
import { deferred, until } from "../../support/turns.ts";
import { openDoor } from "../mounts.ts";
import type { MessageRow } from "../row.ts";

function limitedServer(limits: { timeoutMs?: number; maxConcurrent?: number }) {
  const { server } = makeServer();
  const gate = deferred();
  let running = 0;
  let aborted = 0;
  server.tool("hold", limits, async (_, ctx) => {
    ctx.signal.addEventListener("abort", () => void aborted++);
    running++;
    await gate.promise;
    running--;
    return "held";
  });
  server.tool("free", {}, () => "free");
  return { server, gate, running: () => running, aborted: () => aborted };
}

export const toolLimitRows: readonly MessageRow[] = [
  {
    over: "messages",
    name: "a call that takes too long is ended for its client, and its handler is notified",
    limit: "timeoutMs",
    async attack(mount) {
      const { server, gate, aborted } = limitedServer({ timeoutMs: 20 });
      const client = await (await openDoor(mount, server)).connect();
      const result = await call(client, "hold");
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain("20 ms");
      expect(aborted()).toBe(1);
      gate.resolve();
    },
  },
  {
    over: "messages",
    name: "one call too many of a tool is answered at once, whoever makes it, and giving up makes no room",
    limit: "maxConcurrent",
    async attack(mount) {
      const { server, gate, running } = limitedServer({ maxConcurrent: 2, timeoutMs: 50 });
      const door = await openDoor(mount, server);
      const [one, other] = [await door.connect(), await door.connect()];
      const held = [call(one, "hold"), call(other, "hold")];
      await until(() => running() === 2);
      for (const client of [one, other]) {
        const busy = await call(client, "hold");
        expect(busy.isError).toBe(true);
        expect(textOf(busy)).toContain("busy");
        expect(textOf(await call(client, "free"))).toBe("free");
      }
      for (const late of await Promise.all(held)) expect(late.isError).toBe(true);
      expect(textOf(await call(one, "hold"))).toContain("busy");
      expect(running()).toBe(2);
      gate.resolve();
      await until(() => running() === 0);
      expect(textOf(await call(one, "hold"))).toBe("held");
    },
  },
];
