// What a stdio server writes besides messages: standard error, banners, and lines that are too long.
import { connect, InvalidResponse } from "halyard/client";
import { describe, expect, test } from "vitest";
import { scriptCommand, serverCommand, start } from "./start.ts";
import { until } from "../../support/turns.ts";

describe("standard error", () => {
  test("is reported line by line, and is no error by itself [STDIO-STDERR-NOT-ERROR, STDIO-STDERR-HANDLE]", async () => {
    const { client, stderr } = await start(serverCommand());
    expect(await client.callTool("say", { number: 3 })).toMatchObject({ content: [{ text: "said" }] });
    await until(() => stderr().length === 3);
    expect(stderr()).toEqual(["line 1", "line 2", "line 3"]);
    await client.callTool("say", { number: 1 });
    expect(client.state.name).toBe("ready");
  });

  test("is kept within maxStderrBytes, the last lines, for the error of a server that ends", async () => {
    const { client } = await start(serverCommand(), { limits: { maxStderrBytes: 30 } });
    await client.callTool("say", { number: 100 });
    const error = await client.callTool("exit", { number: 7 }).catch((reason: unknown) => reason);
    const kept = ["Its last lines on standard error:", "line 100", "out of memory", "exit"].join("\n");
    expect((error as Error).message).toContain(kept);
  });

  test("a line longer than maxStderrBytes is cut", async () => {
    const script = 'process.stderr.write("y".repeat(1e6) + "\\nshort\\n"); process.exitCode = 1';
    const lines: string[] = [];
    const observe = (event: { type: string; line?: string }): void =>
      void (event.line && lines.push(event.line));
    await expect(connect(scriptCommand(script), { observe })).rejects.toThrow("short");
    expect(lines.slice(0, 2)).toEqual([`${"y".repeat(200)}…`, "short"]);
  });
});

describe("standard output", () => {
  test("a banner is ignored and reported", async () => {
    const { client, ignored } = await start(serverCommand(["--banner"]));
    expect(await client.callTool("echo", { text: "hello" })).toMatchObject({ content: [{ text: "hello" }] });
    expect(ignored()).toEqual([
      "A line of standard output is not a message: Welcome to the server",
      "A line of standard output is not a message: [INFO] ready",
    ]);
  });

  test("no more than 100 lines that are not messages are reported", async () => {
    const { client, ignored } = await start(serverCommand());
    await client.callTool("garbage", { number: 250 });
    await client.callTool("echo", { text: "after" });
    expect(ignored()).toHaveLength(100);
  });

  test("a message of megabytes arrives whole", async () => {
    const { client } = await start(serverCommand());
    const { content } = await client.callTool("repeat", { number: 5_000_000 });
    expect(content).toEqual([{ type: "text", text: "x".repeat(5_000_000) }]);
  });

  test("a message past maxBytes fails its call, and the others continue", async () => {
    const { client } = await start(serverCommand(), { limits: { maxBytes: 100_000 } });
    const long = client.callTool("repeat", { number: 300_000 });
    const short = client.callTool("echo", { text: "hello" });
    await expect(long).rejects.toThrow(InvalidResponse);
    await expect(long).rejects.toThrow("larger than 100000 bytes");
    expect(await short).toMatchObject({ content: [{ text: "hello" }] });
  });
});
