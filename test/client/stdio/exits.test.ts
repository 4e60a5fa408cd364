// Servers that end by themselves, wholly or in part, while a client uses them.
import { ConnectionLost } from "halyard/client";
import { expect, test } from "vitest";
import { isRunning, pidsOf, serverCommand, start, untilGone } from "./start.ts";
import { until } from "../../support/turns.ts";

async function lossOf(call: Promise<unknown>): Promise<ConnectionLost> {
  const error = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConnectionLost);
  return error as ConnectionLost;
}

test("a call whose server exits rejects with the code and the last lines of standard error", async () => {
  const { client } = await start(serverCommand());
  const error = await lossOf(client.callTool("exit", { number: 3 }));
  expect(error).toMatchObject({ reason: "exited", mayHaveRun: true });
  expect(error.message).toContain("exited with code 3");
  expect(error.message).toContain("out of memory");
});

test("a call whose server is killed rejects with the signal", async () => {
  const { client } = await start(serverCommand());
  const error = await lossOf(client.callTool("abort"));
  expect(error.message).toContain("was ended by SIGKILL");
});

test("a client whose server ended is closed, with the reason", async () => {
  const { client } = await start(serverCommand());
  await lossOf(client.callTool("exit", { number: 3 }));
  await until(() => client.state.name === "closed");
  expect(client.state.reason).toContain("exited with code 3");
});

test("restart starts the server again, and what came before is lost [STDIO-RESTART]", async () => {
  const started = await start(serverCommand([], { restart: true }), { backoff: { firstMs: 1 } });
  const before = await pidsOf(started);
  expect(await lossOf(started.client.callTool("exit", { number: 1 }))).toMatchObject({ mayHaveRun: true });
  const after = await pidsOf(started);
  expect(after).not.toEqual(before);
  expect(started.client.state.name).toBe("ready");
});

test("a server that closes its output and lives on is ended", async () => {
  const started = await start(serverCommand(["--stubborn"], { graceMs: 50 }));
  const pids = await pidsOf(started);
  await lossOf(started.client.callTool("close_output"));
  await untilGone(pids);
});

test("a server that closes its input and lives on is ended when something is sent", async () => {
  const started = await start(serverCommand(["--stubborn"], { graceMs: 50 }));
  const pids = await pidsOf(started);
  await started.client.callTool("close_input");
  await lossOf(started.client.callTool("echo", { text: "hello" }));
  await untilGone(pids);
});

test("what a server started ends with it, also if it holds the server's streams", async () => {
  const started = await start(serverCommand(["--child", "--hold-streams"], { graceMs: 50 }));
  const [, child = 0] = await pidsOf(started);
  expect(isRunning(child)).toBe(true);
  await lossOf(started.client.callTool("abort"));
  await untilGone([child]);
});
