// A listen stream that is dead although neither side closed it: its server fell silent, or the machine of the client slept.
import type { Change, ClientEvent } from "halyard/client";
import { afterEach, describe, expect, test, vi } from "vitest";
import { holdClocks, passSeconds, setWallClock } from "../../support/clock.ts";
import { type Asked, event, start, type Started } from "../../support/http-script.ts";
import { metaKeys } from "../../support/revisions.ts";
import { nextTurn } from "../../support/turns.ts";

afterEach(() => void vi.useRealTimers());

function acknowledgementOf({ message }: Asked): string {
  return event({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: {
      _meta: { [metaKeys.subscriptionId]: message.id },
      notifications: { toolsListChanged: true },
    },
  });
}

/** Lets so many seconds pass, a few at a time. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    vi.advanceTimersByTime(5000);
    await nextTurn();
  }
}

/** Lets time pass until it holds, but not a minute. */
async function passUntil(holds: () => boolean): Promise<void> {
  for (let steps = 0; !holds(); steps++) {
    if (steps > 5999) throw new Error(`Not true within a minute: ${holds.toString()}`);
    vi.advanceTimersByTime(10);
    await nextTurn();
  }
}

const isLost = (seen: ClientEvent): boolean => seen.type === "stream" && seen.state === "lost";

describe("a listen stream that is silent", () => {
  /** A listening whose server writes this after the acknowledgement, and then nothing. */
  async function silent(written: string): Promise<Started & { readonly changes: Change[] }> {
    holdClocks("setTimeout", "clearTimeout");
    const started = await start({ connectTimeoutMs: 1e9 }, (script) =>
      script.on("subscriptions/listen", (asked) => asked.stream()(acknowledgementOf(asked), written)),
    );
    const changes: Change[] = [];
    await started.client.listen({ tools: true }, (change) => void changes.push(change));
    // The comment arrives with the acknowledgement, or right after it.
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    return { ...started, changes };
  }

  test("after comments is opened again after 90 seconds, and the client says to read again [SUB-NO-STATE]", async () => {
    const { server, events, changes } = await silent(": alive\n\n");
    await pass(85);
    expect(events.filter(isLost)).toEqual([]);
    await pass(20);
    await passUntil(() => changes.length > 0);
    expect(changes).toEqual([{ kind: "tools", cause: "gap" }]);
    expect(server.of("subscriptions/listen")).toHaveLength(2);
    expect(server.of("subscriptions/listen")[0]?.response.destroyed).toBe(true);
  });

  test("from the start is opened again after 15 minutes", async () => {
    const { events, changes } = await silent("");
    await pass(14 * 60);
    expect(events.filter(isLost)).toEqual([]);
    await pass(75);
    await passUntil(() => changes.length > 0);
    expect(changes).toEqual([{ kind: "tools", cause: "gap" }]);
  });

  test("is opened again as soon when somebody sets the clock back", async () => {
    const { events, changes } = await silent(": alive\n\n");
    await pass(10);
    setWallClock(-3600);
    await pass(75);
    expect(events.filter(isLost)).toEqual([]);
    await pass(20);
    await passUntil(() => events.some(isLost));
    await passUntil(() => changes.length > 0);
    expect(changes).toEqual([{ kind: "tools", cause: "gap" }]);
  });

  test("and alive is kept when somebody sets the clock forward", async () => {
    const { server, events, changes } = await silent(": alive\n\n");
    await pass(10);
    setWallClock(3600);
    await pass(60);
    expect(events.filter(isLost)).toEqual([]);
    expect(changes).toEqual([]);
    expect(server.of("subscriptions/listen")).toHaveLength(1);
  });

  test("while the machine slept is opened again at once", async () => {
    const { events, changes } = await silent("");
    vi.setSystemTime(Date.now() + 3600_000);
    await pass(15);
    await passUntil(() => changes.length > 0);
    expect(changes).toEqual([{ kind: "tools", cause: "gap" }]);
    expect(events).toContainEqual(expect.objectContaining({ state: "lost", reason: "the machine slept" }));
  });
});

test("a connection that was idle while the machine slept carries nothing any more", async () => {
  const { server, client } = await start();
  server.on("work", ({ result }) => result());
  await client.request("work");
  passSeconds(10);
  await client.request("work");
  const [first, second] = server.of("work");
  expect(second?.socket).not.toBe(first?.socket);
});
