// A slow or stalled engine: requests that need it take longer, and others do not.
import { describe, expect, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { hasEngine } from "../support/engines.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import {
  allBack,
  arrived,
  engineNames,
  hasBeen,
  isUpdate,
  modernStatus,
  numbersOn,
  push,
  timesOf,
  twoNodes,
} from "./engine-cluster.ts";

expectNoUnhandledRejections();

const note = { uri: "note:///a" };

describe.each(engineNames)("%s", (name) => {
  test.each([200, 2000])(
    "%s ms for each command: everything works, in order and once",
    async (delayMs) => {
      const { one, other } = await twoNodes(name);
      // The first session lets the engine keep sessions long enough.
      await SessionClient.open(one);
      await SessionClient.open(other);
      for (const { proxy } of [one, other]) proxy.slowDown(delayMs);
      const client = await SessionClient.open(one);
      expect((await client.start("resources/subscribe", note)).status).toBe(200);
      const stream = await clientAt(other, client).get();
      const pushes = [1, 2, 3, 4, 5].map((data) => push(one, client.id, data));
      // Neither waits for the engine.
      expect(await client.request("tools/call", { name: "echo" })).toHaveProperty("result");
      expect(await modernStatus(one)).toBe(200);
      expect(await Promise.all(pushes)).toEqual([true, true, true, true, true]);
      await until(() => numbersOn(stream).length === 5, 30_000);
      await one.server.resources.updated(note.uri);
      await stream.message(isUpdate, 30_000);
      const place = stream.lastEventId;
      await stream.vanish();
      await push(other, client.id, 6);
      const resumed = await client.get(place);
      await resumed.message(({ params }) => (params as { data?: unknown } | undefined)?.data === 6, 30_000);
      expect(numbersOn(stream, resumed)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await client.delete()).toBe(204);
      expect(timesOf(one, "lost") + timesOf(other, "lost")).toBe(0);
      for (const { proxy } of [one, other]) proxy.heal();
    },
    120_000,
  );
});

describe.skipIf(!hasEngine("redis-server"))("CLIENT PAUSE", () => {
  test("shorter than the deadline: pushes wait, and arrive in order and once", async () => {
    const { engine, one, other } = await twoNodes("redis-server");
    const client = await SessionClient.open(one);
    const stream = await clientAt(other, client).get();
    engine.cli("client", "pause", "1500");
    const pushes = [1, 2, 3].map((data) => push(one, client.id, data));
    expect(await modernStatus(one)).toBe(200);
    expect(await client.request("tools/call", { name: "echo" })).toHaveProperty("result");
    expect(await Promise.all(pushes)).toEqual([true, true, true]);
    await arrived(stream, 3);
    expect(numbersOn(stream)).toEqual([1, 2, 3]);
  });

  test("longer than the deadline: pushes fail, and then everything works again", async () => {
    const { engine, one, other } = await twoNodes("redis-server");
    const client = await SessionClient.open(one);
    const stream = await clientAt(other, client).get();
    engine.cli("client", "pause", "12000");
    await expect(push(one, client.id, 1)).rejects.toMatchObject({ code: "BACKPLANE_UNAVAILABLE" });
    await hasBeen(one, "lost");
    await expect(push(one, client.id, 2)).rejects.toMatchObject({ code: "BACKPLANE_UNAVAILABLE" });
    await until(
      () => timesOf(one, "back") === 1 && timesOf(other, "back") === timesOf(other, "lost"),
      30_000,
    );
    await allBack(one);
    await push(one, client.id, 3);
    await arrived(stream, 3);
    const numbers = numbersOn(stream);
    expect(numbers.at(-1)).toBe(3);
    expect(new Set(numbers).size).toBe(numbers.length);
  }, 60_000);
});
