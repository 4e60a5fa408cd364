// The tutorial works: its files are written to an empty folder and run, and print what the page says.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readBlocks, readDocument } from "./support/documents.ts";
import { eventually } from "./support/turns.ts";

const path = "docs/start/first-server.md";
const root = fileURLToPath(new URL("..", import.meta.url));

/** A folder with the packages that the page installs. */
function makeProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "halyard-start-"));
  const install = /^npm install (?!-)(.*)$/m.exec(readDocument(path))?.[1]?.split(" ") ?? [];
  for (const name of [...install, "tsx"]) {
    const place = join(folder, "node_modules", name);
    mkdirSync(join(place, ".."), { recursive: true });
    symlinkSync(name === "halyard" ? root : join(root, "node_modules", name), place);
  }
  return folder;
}

/** The files of the page by the name under which it saves them. */
function filesOfPage(): Map<string, string> {
  const saved = readDocument(path).matchAll(/^Save this as `(.+)`:\n\n```ts\n([^]*?)^```$/gm);
  return new Map([...saved].map(([, name = "", code = ""]) => [name, code]));
}

test(`${path} leads to a server that a client calls`, async () => {
  const folder = makeProject();
  const files = filesOfPage();
  expect([...files.keys()]).toEqual(["server.mts", "client.mts"]);
  const [, startServer, startClient] = readBlocks(path, "sh");
  expect([startServer, startClient]).toEqual(["npx tsx server.mts\n", "npx tsx client.mts\n"]);

  writeFileSync(join(folder, "server.mts"), files.get("server.mts")?.replace("port: 3000", "port: 0") ?? "");
  const server = spawn(process.execPath, ["--import", "tsx", "server.mts"], { cwd: folder });
  let printed = "";
  server.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  try {
    await eventually(() => expect(printed).toMatch(/^Listening on http.*\n$/));
    const url = printed.trim().replace("Listening on ", "");
    const client = files.get("client.mts")?.replace("http://127.0.0.1:3000/mcp", url) ?? "";
    writeFileSync(join(folder, "client.mts"), client);
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", "client.mts"], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: "1" },
    });
    expect(stdout).toBe(readBlocks(path, "text")[0]);
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
  }
});
