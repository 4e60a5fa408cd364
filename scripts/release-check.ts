// Does everything of a release but publish: `npm run release:check`, or with the tag as an argument where one is pushed.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWith } from "./outcome.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const [tag = `v${version}`] = process.argv.slice(2);
const isWindows = process.platform === "win32";

const problems = [...treeProblems(), ...versionProblems()];
if (problems.length === 0) {
  npm(["run", "check"]);
  npm(["test"]);
  npm(["pack", "--dry-run", "--ignore-scripts"]);
  await tryPackage();
}
endWith(problems, `${tag} can be published: push the tag, and the workflow "Release" does it`);

function treeProblems(): string[] {
  const status = git("status", "--porcelain");
  return status === "" ? [] : [`The tree is not clean: commit or remove\n${status}`];
}

function versionProblems(): string[] {
  const found: string[] = [];
  if (tag !== `v${version}`)
    found.push(`The tag ${tag} is not that of package.json: its version is ${version}`);
  const [, newest] = /^## (.+)$/m.exec(readFileSync("CHANGELOG.md", "utf8")) ?? [];
  if (!newest?.startsWith(`${version} - `))
    found.push(
      `CHANGELOG.md begins with "## ${newest}": name its first part "## ${version} - <date of today>"`,
    );
  const tagged = git("tag", "--list", tag) === "" ? "" : git("rev-list", "-1", tag);
  if (tagged !== "" && tagged !== git("rev-parse", "HEAD"))
    found.push(`${tag} is the tag of another commit: raise the version in package.json`);
  return found;
}

/** Installs the package in an empty folder, and runs the server and the client with which README.md begins. */
async function tryPackage(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "halyard-release-"));
  try {
    npm(["pack", "--ignore-scripts", "--pack-destination", folder]);
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    npm(["install", "--no-audit", "--no-fund", `./halyard-${version}.tgz`, "zod"], folder);
    const [server = "", client = ""] = samples();
    writeFileSync(join(folder, "server.mjs"), changed(server, "port: 3000", "port: 0"));
    const child = spawn(process.execPath, ["server.mjs"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const url = await firstMatch(child.stdout, /Listening on (\S+)/);
      writeFileSync(join(folder, "client.mjs"), changed(client, "http://127.0.0.1:3000/mcp", url));
      const said = execFileSync(process.execPath, ["client.mjs"], { cwd: folder, encoding: "utf8" });
      if (!said.includes("21 °C in Oslo"))
        problems.push(`The first samples of README.md print ${said} with the installed package`);
    } finally {
      child.kill();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function samples(): string[] {
  return [...readFileSync("README.md", "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)].map(
    ([, code = ""]) => code,
  );
}

function changed(sample: string, from: string, to: string): string {
  if (!sample.includes(from)) throw new Error(`A sample of README.md has no ${from}`);
  return sample.replace(from, to);
}

async function firstMatch(output: AsyncIterable<Buffer>, pattern: RegExp): Promise<string> {
  let said = "";
  for await (const chunk of output) {
    said += String(chunk);
    const found = pattern.exec(said)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error(`The server of README.md ended, and has said: ${said}`);
}

/** On Windows npm is a batch file, which needs a shell. None of these arguments has a space. */
function npm(args: readonly string[], cwd = "."): void {
  execFileSync("npm", args, { cwd, stdio: "inherit", shell: isWindows });
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { encoding: "utf8" }).trim();
}
