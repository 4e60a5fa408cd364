// The packed package in a folder of its own, and the compilers that users compile it with.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readSamples } from "../support/documents.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const run = promisify(execFile);
const aMinute = { timeout: 60_000 };

/** What a user has installed beside the package, with which it is compiled. */
const beside = ["jose", "oauth4webapi", "zod", "@types/node"];

/** A folder of a user. */
export interface UserFolder {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Packs the package, and unpacks it into the `node_modules` of a new folder, which has the programs of `fixtures` too. */
export async function unpackPackage(): Promise<UserFolder> {
  const folder = await mkdtemp(join(tmpdir(), "halyard-compiled-"));
  const home = join(folder, "node_modules/halyard");
  await mkdir(home, { recursive: true });
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", pack, { cwd: root, ...aMinute });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run("tar", ["-xzf", join(folder, filename), "-C", home, "--strip-components=1"], aMinute);
  for (const name of beside) {
    await mkdir(dirname(join(folder, "node_modules", name)), { recursive: true });
    await symlink(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  await cp(join(here, "fixtures"), folder, { recursive: true });
  await cp(join(root, "examples/client/terminal-form.ts"), join(folder, "terminal-form.ts"));
  await writeAgents(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** Writes the agents of the documentation, and what stands for the packages of the model providers. */
async function writeAgents(folder: string): Promise<void> {
  const providers = { anthropic: "@anthropic-ai/sdk", openai: "openai" };
  const samples = readSamples("docs/guides/agent.md");
  for (const [index, [name, provider]] of Object.entries(providers).entries()) {
    const home = join(folder, "node_modules", provider);
    await mkdir(home, { recursive: true });
    await cp(join(root, `test/support/providers/${name}.ts`), join(home, "index.ts"));
    const manifest = { name: provider, version: "1.0.0", type: "module", exports: "./index.ts" };
    await writeFile(join(home, "package.json"), JSON.stringify(manifest));
    await writeFile(join(folder, `agent-${name}.ts`), samples[index]?.code ?? "");
  }
}

/** Installs every compiler of package.json, in the versions of the lock. Returns the folder that has them. */
export async function installCompilers(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "compilers-"));
  for (const file of ["package.json", "package-lock.json"]) await cp(join(here, file), join(folder, file));
  await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, timeout: 240_000 });
  return folder;
}

/** What a compiler prints of the folder's files with these options: nothing, if all is well. */
export async function compile(
  compiler: string,
  { folder }: UserFolder,
  files: readonly string[],
  options: object,
): Promise<string> {
  const compilerOptions = { target: "es2022", strict: true, skipLibCheck: false, noEmit: true, ...options };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = [join(compiler, "bin/tsc"), "--project", folder, "--pretty", "false"];
  const failed = (error: { stdout: string; message: string }): { stdout: string } =>
    error.stdout === "" ? (Promise.reject(error) as never) : error;
  const { stdout } = await run(process.execPath, tsc, { cwd: folder, timeout: 300_000 }).catch(failed);
  return stdout;
}
