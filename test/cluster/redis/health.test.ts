// Health checks of a server on a real Redis that goes away and comes back: degraded, never out of service.
import { createClient } from "@redis/client";
import { serveHttp } from "halyard/node";
import { redisBackplane } from "halyard/redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { EngineProcess, hasEngine } from "../../support/engines.ts";
import { modernPost, sendTo } from "../../support/http.ts";
import { httpServer, modernCall } from "../../support/http-server.ts";
import { until } from "../../support/turns.ts";

describe.runIf(hasEngine("redis-server"))("health on Redis", () => {
  async function start(): Promise<{ redis: EngineProcess; port: number; health: () => Promise<string> }> {
    const redis = await EngineProcess.start("redis-server");
    onTestFinished(() => redis.stop());
    const client = createClient({ url: redis.url }).on("error", () => {});
    const backplane = redisBackplane(client, { leaseMs: 500 });
    const { port, close } = await serveHttp(httpServer({ backplane }).server, { port: 0, health: true });
    onTestFinished(close);
    const health = async (): Promise<string> => {
      const reply = await fetch(`http://127.0.0.1:${port}/health`);
      return `${reply.status} ${await reply.text()}`;
    };
    return { redis, port, health };
  }

  test("says degraded while Redis is stopped, serves modern calls, and says ok when it is back", async () => {
    const { redis, port, health } = await start();
    expect(await health()).toBe("200 ok");
    await redis.kill();
    await until(async () => (await health()) === "200 degraded");
    const call = await sendTo(port, modernPost(modernCall(1, "echo", { text: "still here" })));
    expect(JSON.stringify(await call.answer())).toContain("still here");
    expect(await health()).toBe("200 degraded");
    await redis.start();
    await until(async () => (await health()) === "200 ok");
  });

  test("says degraded when Redis hangs, although its connections stay open", async () => {
    const { redis, health } = await start();
    redis.pause();
    await until(async () => (await health()) === "200 degraded");
    redis.resume();
    await until(async () => (await health()) === "200 ok");
  });
});
