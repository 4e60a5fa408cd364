// docs/guides/hosts.md: the entries that it shows for each application are well-formed, and start the server of the page.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "halyard/client";
import { expect, test } from "vitest";
import { readBlocks } from "./support/documents.ts";

const page = "docs/guides/hosts.md";
const root = fileURLToPath(new URL("..", import.meta.url));

interface Entry {
  readonly type?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
}

type Entries = Readonly<Record<string, Entry>>;

/** The entries of each block, whatever its language. */
const inJson: Entries[] = readBlocks(page, "json").map((block) => {
  const { mcpServers, servers } = JSON.parse(block) as { mcpServers?: Entries; servers?: Entries };
  return mcpServers ?? servers ?? {};
});

const inToml: Entries[] = readBlocks(page, "toml").map((block) =>
  Object.fromEntries(
    block.split(/^\[mcp_servers\./m).flatMap((table) => {
      const [, name, lines = ""] = /^([\w-]+)\]\n([^]*)/.exec(table) ?? [];
      const values = [...lines.matchAll(/^(\w+) = (.*)$/gm)].map(([, key = "", value = ""]) => [
        key,
        JSON.parse(value) as unknown,
      ]);
      return name === undefined ? [] : [[name, Object.fromEntries(values) as Entry]];
    }),
  ),
);

const inCommands = readBlocks(page, "sh").map((block) =>
  block
    .trim()
    .split("\n")
    .map((line): [string, Entry] => {
      const [before = "", after] = line.split(" -- ");
      const [command, ...args] = after?.split(" ") ?? [];
      const url = /http\S+/.exec(before)?.[0];
      const name = /mcp add (?:--transport http )?([\w-]+)/.exec(before)?.[1] ?? "";
      return [name, command === undefined ? { url: url ?? "" } : { command, args }];
    }),
);

const blocks = [...inJson, ...inToml, ...inCommands.map((block): Entries => Object.fromEntries(block))];
const entries = blocks.flatMap((block) => Object.values(block));

test(`${page} shows an entry over stdio and one over HTTP for each application that takes both`, () => {
  expect(inJson.map((block) => Object.keys(block))).toEqual([
    ["weather"], // Claude Desktop connects to no URL
    ["weather", "weather-http"],
    ["weather", "weather-http"],
    ["weather", "weather-http"],
  ]);
  expect(inToml.map((block) => Object.keys(block))).toEqual([["weather", "weather-http"]]);
  // An application refuses a second entry of the same name.
  expect(inCommands.map((block) => block.map(([name]) => name))).toEqual([
    ["weather", "weather-http"],
    ["weather", "weather-http"],
  ]);
});

test(`${page} names one URL, that of the first server of this documentation`, () => {
  expect(new Set(entries.flatMap(({ url }) => url ?? []))).toEqual(new Set(["http://127.0.0.1:3000/mcp"]));
});

test(`${page} starts a server that a client calls`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-hosts-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    for (const name of ["zod", "tsx", ".bin"])
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
    symlinkSync(root, join(folder, "node_modules", "halyard"));
    writeFileSync(join(folder, "server.mts"), readBlocks(page, "ts")[0] ?? "");
    const commands = entries.filter(({ command }) => command !== undefined);
    const placed = commands.map(({ command = "", args = [] }) =>
      [command, ...args.map((arg) => arg.replace(/^.*\/server\.mts$/, join(folder, "server.mts")))].join(" "),
    );
    expect(placed).toHaveLength(7);
    const [command = "", ...others] = new Set(placed);
    expect(others).toEqual([]);
    const [program = "", ...args] = command.split(" ");
    const client = await connect({ command: program, args, cwd: folder });
    const { content } = await client.callTool("forecast", { city: "Oslo" });
    await client.close();
    expect(content).toEqual([{ type: "text", text: "21 °C in Oslo" }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
