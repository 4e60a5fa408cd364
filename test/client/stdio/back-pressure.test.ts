// A server that does not read: messages wait, and fail when it ends.
import { ConnectionLost } from "halyard/client";
import { expect, test } from "vitest";
import { nextTurn } from "../../support/turns.ts";
import { pidsOf, serverCommand, start, type Started } from "./start.ts";

const text = "x".repeat(1_000_000);

/** A server that has stopped reading, and a message that waits for it. */
async function sendToStopped(
  started: Started,
): Promise<{ pid: number; sent: Promise<void>; isSettled: () => boolean }> {
  const [pid = 0] = await pidsOf(started);
  process.kill(pid, "SIGSTOP");
  let settled = false;
  const sent = started.client.notify("notifications/custom", { text }).finally(() => (settled = true));
  sent.catch(() => {});
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  return { pid, sent, isSettled: () => settled };
}

test("a message waits until the server reads", async () => {
  const started = await start(serverCommand());
  const { pid, sent, isSettled } = await sendToStopped(started);
  expect(isSettled()).toBe(false);
  process.kill(pid, "SIGCONT");
  await sent;
  expect(await started.client.callTool("echo", { text: "hello" })).toMatchObject({
    content: [{ text: "hello" }],
  });
});

test("a message that waits rejects when the server dies, and so does a call", async () => {
  const started = await start(serverCommand());
  const { pid, sent } = await sendToStopped(started);
  const call = started.client.callTool("echo", { text });
  process.kill(pid, "SIGKILL");
  await expect(sent).rejects.toThrow(ConnectionLost);
  await expect(call).rejects.toThrow(ConnectionLost);
});

test("closing does not wait for a server that does not read", async () => {
  const started = await start(serverCommand([], { graceMs: 50 }));
  const { sent } = await sendToStopped(started);
  await started.client.close();
  await expect(sent).rejects.toThrow(ConnectionLost);
});
