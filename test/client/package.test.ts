// The client as users get it: bundled for a browser it has no code of Node or of servers, and installed it starts servers.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, type Metafile } from "esbuild";
import { McpServer } from "halyard";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyPackage, type PackageCopy } from "../support/package-copy.ts";

let copy: PackageCopy;

beforeAll(async () => {
  copy = await copyPackage();
});

afterAll(() => copy.remove());

async function bundleFor(platform: "browser" | "node"): Promise<{ code: string; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: 'export { connect } from "halyard/client";', resolveDir: copy.folder },
    bundle: true,
    format: "esm",
    platform,
    metafile: true,
    write: false,
    outdir: "out",
  });
  return { code: outputFiles.map(({ text }) => text).join("\n"), metafile };
}

async function importBundle(code: string): Promise<typeof import("halyard/client")> {
  const file = join(copy.folder, "bundle.mjs");
  await writeFile(file, code);
  return (await import(/* @vite-ignore */ file)) as typeof import("halyard/client");
}

describe("bundled for a browser", () => {
  test("it imports no module of Node, and has no process to start", async () => {
    const { code, metafile } = await bundleFor("browser");
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
    expect(imports.filter(({ external }) => external)).toEqual([]);
    expect(/child_process|["']node:/.exec(code)).toBeNull();
  });

  test("it has no code of servers", async () => {
    const { code } = await bundleFor("browser");
    const classes = [...code.matchAll(/^\s*(?:(?:var )?(\w+) = )?class(?: (\w+))?/gm)].map(
      ([, a, b]) => a ?? b,
    );
    expect(classes).toContain("ConnectionLost");
    for (const name of ["McpServer", "Pipe", "Hub"]) expect(classes).not.toContain(name);
  });

  test("it has no code of OAuth", async () => {
    const { metafile } = await bundleFor("browser");
    const files = Object.keys(metafile.inputs).filter((file) => /oauth/.test(file));
    expect(files).toEqual([]);
  });

  test("it refuses a command with the remedy", async () => {
    const { connect } = await importBundle((await bundleFor("browser")).code);
    await expect(connect({ command: "node" })).rejects.toThrow(
      "connect: command node cannot be started here: connect to a URL, or run the client on Node, Bun or Deno",
    );
  });
});

test("split, it loads what it needs when it needs it, and says what it cannot load", async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export { connect } from "halyard/client";', resolveDir: copy.folder },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    outExtension: { ".js": ".mjs" },
    outdir: join(copy.folder, "split"),
    write: false,
  });
  await mkdir(join(copy.folder, "split"));
  for (const { path, text } of outputFiles)
    if (!text.includes('subscriptions/listen";')) await writeFile(path, text);
  const file = join(copy.folder, "split", "stdin.mjs");
  const { connect } = (await import(/* @vite-ignore */ file)) as typeof import("halyard/client");
  const server = new McpServer({ name: "demo", version: "1.0.0" });
  server.tool("hello", {}, () => "Hello");
  await using client = await connect(server);
  expect((await client.callTool("hello")).content).toEqual([{ type: "text", text: "Hello" }]);
  await expect(client.listen({ tools: true })).rejects.toMatchObject({ code: "CANNOT_LOAD" });
});

test("bundled for Node it starts processes", async () => {
  const { code } = await bundleFor("node");
  expect(code).toContain("node:child_process");
});

test("installed in an empty folder it starts a server and calls it", async () => {
  const server = `
    import { McpServer } from "halyard";
    import { serveStdio } from "halyard/stdio";
    const server = new McpServer({ name: "demo", version: "1.0.0" });
    server.tool("hello", {}, () => "Hello");
    await serveStdio(server);`;
  const client = `
    import { connect } from "halyard/client";
    const client = await connect({ command: process.execPath, args: ["server.mjs"] });
    const { content } = await client.callTool("hello");
    console.log(client.revision, content[0].text);
    await client.close();`;
  await writeFile(join(copy.folder, "server.mjs"), server);
  await writeFile(join(copy.folder, "client.mjs"), client);
  const { stdout } = await promisify(execFile)(process.execPath, ["client.mjs"], { cwd: copy.folder });
  expect(stdout).toBe("2026-07-28 Hello\n");
});
