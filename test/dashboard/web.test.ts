// A dashboard on a runtime without Node: mounted for web-standard requests, and nothing else.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { asking } from "../support/dashboard.ts";

const token = "a-token-that-is-long-enough";

/** The entries as a bundler for such a runtime finds them. It fails at a module of Node. */
async function bundled(): Promise<
  typeof import("halyard/dashboard") & typeof import("halyard") & typeof import("halyard/fetch")
> {
  const folder = await mkdtemp(join(tmpdir(), "halyard-dashboard-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const names = { halyard: "McpServer", "halyard/dashboard": "dashboard", "halyard/fetch": "fetchHandler" };
  const lines = Object.entries(names).map(([entry, name]) => `export { ${name} } from "${entry}";`);
  const outfile = join(folder, "bundle.mjs");
  const stdin = { contents: lines.join("\n"), resolveDir: import.meta.dirname };
  await build({ stdin, bundle: true, format: "esm", platform: "browser", outfile });
  return (await import(outfile)) as Awaited<ReturnType<typeof bundled>>;
}

test("is mounted as fetchHandler; a port and node:http are refused with the remedy", async () => {
  const { dashboard, fetchHandler, McpServer } = await bundled();
  const page = dashboard({ token });
  const handler = fetchHandler(new McpServer({ name: "test", version: "1.0.0" }), { dashboard: page });
  const send = (path: string, init = {}): Promise<Response> =>
    page.fetchHandler(new Request(`http://localhost/dashboard/${path}`, init));
  expect(await (await send("")).text()).toMatch(/^<!doctype html>/i);
  const asked = asking({ ask: "about" }, { authorization: `Bearer ${token}` });
  expect((await send("ask", asked)).status).toBe(200);
  await handler.close();
  const problem = "needs node:http, which this runtime lacks: mount fetchHandler of the dashboard instead";
  expect(() => page.nodeHandler).toThrow(`dashboard: nodeHandler ${problem}`);
  await expect(page.serve({})).rejects.toThrow(`dashboard: port ${problem}`);
});
