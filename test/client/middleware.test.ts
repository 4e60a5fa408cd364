// Middleware of a client: it runs around every request, in order, and may change it.
import { connect, type ClientMiddleware } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { said, ScriptedServer } from "../support/scripted-wire.ts";

async function start(revision: string) {
  const server = new ScriptedServer({ revision });
  server.on("tools/call", ({ params }) => said(String(params?.["name"])));
  const client = await connect(server);
  onTestFinished(() => client.close());
  return { server, client };
}

describe.each(protocolRevisions.map(({ date }) => date))("middleware on %s", (revision) => {
  test("runs around every request, the first one outermost", async () => {
    const { client } = await start(revision);
    const steps: string[] = [];
    const noting =
      (name: string): ClientMiddleware =>
      async (request, next) => {
        steps.push(`${name} before ${request.method}`);
        const result = await next();
        steps.push(`${name} after`);
        return result;
      };
    client.use(noting("outer")).use(noting("inner"));
    await client.callTool("a");
    expect(steps).toEqual([
      "outer before tools/call",
      "inner before tools/call",
      "inner after",
      "outer after",
    ]);
  });

  test("changes the request, its options and the result", async () => {
    const { server, client } = await start(revision);
    const progress: unknown[] = [];
    client.use(async ({ params, options }, next) => {
      const renamed = { ...params, name: "b" };
      const onProgress = (step: unknown): void => void progress.push(step);
      const result = await next({ params: renamed, options: { ...options, onProgress } });
      return { ...result, structuredContent: { seen: true } };
    });
    server.on("tools/call", ({ id, params }, end) => {
      end.notify("notifications/progress", { progressToken: id, progress: 1 });
      return said(String(params?.["name"]));
    });
    await expect(client.callTool("a")).resolves.toMatchObject({
      content: [{ text: "b" }],
      structuredContent: { seen: true },
    });
    expect(progress).toHaveLength(1);
  });

  test("answers without the server, and sends a request more than once", async () => {
    const { server, client } = await start(revision);
    client.use(async ({ params }, next) => {
      if (params?.["name"] === "local") return { content: [] };
      await next();
      return next();
    });
    await expect(client.callTool("local")).resolves.toEqual({ content: [] });
    expect(server.of("tools/call")).toEqual([]);
    await client.callTool("twice");
    const ids = server.of("tools/call").map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  test("sees errors, and what it throws is what the caller gets", async () => {
    const { server, client } = await start(revision);
    const seen: unknown[] = [];
    client.use(async (_, next) =>
      next().catch((error: unknown) => {
        seen.push(error);
        throw new Error("Translated");
      }),
    );
    await expect(client.getPrompt("a")).rejects.toThrow("Translated");
    expect(seen).toMatchObject([{ code: -32601 }]);
    expect(server.of("prompts/get")).toHaveLength(1);
  });

  test("that returns no result is told so", async () => {
    const { client } = await start(revision);
    const silent = async (_: unknown, next: () => Promise<unknown>): Promise<void> => void (await next());
    client.use(silent as unknown as ClientMiddleware);
    await expect(client.callTool("a")).rejects.toThrow(/Return the value of `next\(\)`/);
  });
});
