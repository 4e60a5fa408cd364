// A Node that is too old: every entry says which one is needed, before it fails at something that this one lacks.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";

const { engines, exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
  engines: { node: string };
  exports: Record<string, unknown>;
};
const entries = Object.keys(exports)
  .filter((subpath) => subpath !== "./package.json")
  .map((subpath) => `halyard${subpath.slice(1)}`);

/** Imports entries in a process that says it is another Node, and lacks what that lacks; returns what each import says. */
async function importOn(version: string): Promise<Record<string, string>> {
  // Node's own modules need what is removed here.
  const disguise = `
    import "node:http";
    import "node:https";
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
    if (!${version.startsWith("20.19")}) delete Array.prototype.toSorted;`;
  const code = `
    const said = {};
    for (const entry of ${JSON.stringify(entries)})
      said[entry] = await import(entry).then(() => "loaded", (error) => String(error));
    console.log(JSON.stringify(said));`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(disguise)}`, "--input-type=module"];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, "--eval", code]);
  return JSON.parse(stdout) as Record<string, string>;
}

const everyEntry = (said: string): object => Object.fromEntries(entries.map((entry) => [entry, said]));

test.each(["18.20.8", "20.18.3"])(
  "every entry refuses Node %s, and names the version it needs",
  async (version) => {
    const needed = engines.node.replace(">=", "");
    expect(await importOn(version)).toEqual(
      everyEntry(
        `Error: Halyard needs Node ${needed} or later, and this is Node ${version}: install a newer version`,
      ),
    );
  },
);

test("every entry loads on the oldest Node of engines", async () => {
  expect(await importOn(`${engines.node.replace(">=", "")}.0`)).toEqual(everyEntry("loaded"));
});

test("a bundle has no code for that", async () => {
  const { outputFiles } = await build({
    stdin: { contents: entries.map((entry) => `export * from "${entry}";`).join("\n"), resolveDir: "." },
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "bundle",
    external: ["jose", "oauth4webapi", "zod", "@nats-io/*", "@redis/client"],
    write: false,
  });
  expect(outputFiles.map(({ text }) => text).join("\n")).not.toContain("Halyard needs Node");
});
