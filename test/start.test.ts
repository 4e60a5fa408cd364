// The tutorials work: their files are written to an empty folder and run, and print what the page says.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readBlocks, readDocument } from "./support/documents.ts";
import { eventually } from "./support/turns.ts";

const serverPage = "docs/start/first-server.md";
const clientPage = "docs/start/first-client.md";
const root = fileURLToPath(new URL("..", import.meta.url));

/** A folder with the packages that the page installs. */
function makeProject(path: string): string {
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
function filesOfPage(path: string): Map<string, string> {
  const saved = readDocument(path).matchAll(/^.*[Ss]ave (?:this|it) as `(.+?)`.*:\n\n```ts\n([^]*?)^```$/gm);
  return new Map([...saved].map(([, name = "", code = ""]) => [name, code]));
}

/** Runs the client of a page in its folder, and answers what it printed. */
async function runClient(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", "client.mts"], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return stdout;
}

test(`${clientPage} leads to a client that calls a server`, async () => {
  const folder = makeProject(clientPage);
  const files = filesOfPage(clientPage);
  expect([...files.keys()]).toEqual(["server.mts", "client.mts"]);
  for (const [name, code] of files) writeFileSync(join(folder, name), code);
  try {
    expect(readBlocks(clientPage, "sh").at(-1)).toBe("npx tsx client.mts\n");
    expect(await runClient(folder)).toBe(readBlocks(clientPage, "text")[0]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test(`${serverPage} leads to a server that a client calls`, async () => {
  const folder = makeProject(serverPage);
  const files = filesOfPage(serverPage);
  expect([...files.keys()]).toEqual(["server.mts", "client.mts"]);
  const [, startServer, startClient] = readBlocks(serverPage, "sh");
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
    expect(await runClient(folder)).toBe(readBlocks(serverPage, "text")[0]);
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
  }
});
