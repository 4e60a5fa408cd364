// Strangers cannot fill the log: what they make the server say is counted after a few lines.
import { McpServer } from "halyard";
import { expect, test } from "vitest";
import { passSeconds, stopClock } from "../../support/clock.ts";
import { describeEdges, modernPost } from "../../support/http.ts";
import { recordingLogger } from "../../support/log.ts";
import { modernRequest } from "../../support/raw.ts";

describeEdges("requests that are refused", (open) => {
  test("are ten lines a second in the log, and the next one says how many were left out", async () => {
    const logger = recordingLogger();
    stopClock();
    const edge = await open(new McpServer({ name: "test", version: "1.0.0" }, { logger }));
    const knock = async (): Promise<void> => {
      const foreign = { origin: "https://evil.example" };
      const reply = await edge.send(modernPost(modernRequest(1, "tools/list"), foreign));
      expect(reply.status).toBe(403);
      await reply.complete();
    };
    const warnings = (): unknown[] => logger.entries.filter(({ level }) => level === "warn");
    for (let at = 0; at < 25; at++) await knock();
    expect(warnings()).toHaveLength(10);
    passSeconds(1);
    await knock();
    expect(warnings()).toHaveLength(11);
    expect(warnings().at(-1)).toMatchObject({ details: { leftOut: 15 } });
  });

  test.each([
    ["throws", () => Promise.reject(new Error("cannot tell")), 500],
    ["has a problem", () => ({ status: 503, message: "Not now", problem: "down" }) as const, 503],
  ] as const)(
    "an auth that %s for hundreds of callers is ten lines a second, too",
    async (_, auth, status) => {
      const logger = recordingLogger();
      stopClock();
      const edge = await open(new McpServer({ name: "test", version: "1.0.0" }, { logger }), { auth });
      for (let at = 0; at < 100; at++) {
        const reply = await edge.send(modernPost(modernRequest(1, "tools/list")));
        expect(reply.status).toBe(status);
        await reply.complete();
      }
      expect(logger.entries.filter(({ level }) => level === "error")).toHaveLength(10);
    },
  );
});
