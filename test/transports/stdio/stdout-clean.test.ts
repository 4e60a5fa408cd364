// Standard output belongs to the protocol: what else is printed goes to standard error.
import { PassThrough } from "node:stream";
import { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { startChild } from "../../support/child.ts";

describe.each(protocolRevisions)("standard output · $date", ({ date: revision, era }) => {
  test("carries nothing but messages, whatever the author prints [STDIO-STDOUT-CLEAN, STDIO-STDERR-LOG, STDIO-FRAME-NEWLINE]", async () => {
    const child = await startChild("server", { revision });
    expect(await child.client.request("tools/call", { name: "noisy" }, { id: "noisy" })).toMatchObject({
      content: [{ text: "quiet" }],
    });
    await child.client.close();
    const printed = ["serving", "console.log", "console.info", "process.stdout.write", "forged"];
    for (const text of printed) {
      expect(child.stderr()).toContain(text);
      expect(child.lines.join("\n")).not.toContain(text);
    }
    expect(child.lines).toHaveLength(era === "legacy" ? 2 : 1);
    for (const line of child.lines) expect(JSON.parse(line)).toHaveProperty("jsonrpc", "2.0");
  });
});

describe("standard output", () => {
  test("never carries a request of the server's [STDIO-MODERN-NO-SERVER-REQUESTS, BASE-SERVER-NO-REQUESTS]", async () => {
    const child = await startChild("server");
    await child.client.request("tools/list");
    await child.client.request("tools/call", { name: "noisy" });
    const params = child.client.withMeta({ notifications: { toolsListChanged: true } });
    child.client.send({ jsonrpc: "2.0", id: "sub", method: "subscriptions/listen", ...params });
    await child.client.close();
    const messages = child.lines.map((line) => JSON.parse(line) as object);
    expect(messages.length).toBeGreaterThan(3);
    expect(messages.filter((message) => "method" in message && "id" in message)).toEqual([]);
  });

  test("is left alone when the server is served on another stream", async () => {
    const before = process.stdout.write;
    const [input, output] = [new PassThrough(), new PassThrough()];
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const stdio = await serveStdio(server, { input, output });
    expect(process.stdout.write).toBe(before);
    await stdio.close();
    expect(process.stdout.write).toBe(before);
  });

  test("is given back when the server has been closed", async () => {
    const before = process.stdout.write;
    const input = new PassThrough();
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const stdio = await serveStdio(server, { input, endsProcess: false });
    expect(process.stdout.write).not.toBe(before);
    await stdio.close();
    expect(process.stdout.write).toBe(before);
  });

  test("cannot be used by two servers at once", async () => {
    const [first, second] = [1, 2].map(() => new McpServer({ name: "test", version: "1.0.0" })) as [
      McpServer,
      McpServer,
    ];
    const stdio = await serveStdio(first, { input: new PassThrough(), endsProcess: false });
    await expect(serveStdio(second, { input: new PassThrough(), endsProcess: false })).rejects.toThrow(
      "serveStdio: output is process.stdout, which is claimed already: close the other server, or pass another output",
    );
    await stdio.close();
  });

  test("may have a write of its own, as on Bun, which it has again afterwards", async () => {
    const own = process.stdout.write.bind(process.stdout);
    process.stdout.write = own;
    onTestFinished(() => void delete (process.stdout as { write?: unknown }).write);
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const stdio = await serveStdio(server, { input: new PassThrough(), endsProcess: false });
    expect(process.stdout.write).not.toBe(own);
    await stdio.close();
    expect(process.stdout.write).toBe(own);
  });
});
