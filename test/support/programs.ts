// The programs that some tests need besides Node, and where they are. Without one, `npm test` skips its tests.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { isEverything } from "./tier.ts";

export type ProgramName = "redis-server" | "nats-server" | "chromium" | "nginx" | "openssl" | "schema-tests";

/** The environment of a server that is tested. Debian has nginx in a folder that is not in everyone's PATH. */
export const withSystemFolders: NodeJS.ProcessEnv =
  process.platform === "win32"
    ? process.env
    : { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/usr/local/sbin` };

/** Where chromium or Chrome is; undefined if this machine has neither. */
export const chromiumPath: string | undefined = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
].find((path) => existsSync(path));

/** The official JSON-Schema-Test-Suite as Debian has it. HALYARD_SCHEMA_TESTS names the folder `tests` of a newer copy. */
export const schemaTests: string =
  process.env["HALYARD_SCHEMA_TESTS"] ?? "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests";

interface Program {
  /** What Debian calls it. */
  readonly debianPackage: string;
  readonly isInstalled: () => boolean;
}

/** Every program, by the name that the end of a run shows. */
export const programs: Readonly<Record<ProgramName, Program>> = {
  "redis-server": { debianPackage: "redis-server", isInstalled: () => starts("redis-server", "--version") },
  "nats-server": { debianPackage: "nats-server", isInstalled: () => starts("nats-server", "--version") },
  chromium: { debianPackage: "chromium", isInstalled: () => chromiumPath !== undefined },
  nginx: { debianPackage: "nginx", isInstalled: () => starts("nginx", "-v") },
  openssl: { debianPackage: "openssl", isInstalled: () => starts("openssl", "version") },
  "schema-tests": {
    debianPackage: "libtest-json-schema-acceptance-perl",
    isInstalled: () => existsSync(schemaTests),
  },
};

const found = new Map<ProgramName, boolean>();

/** Whether the tests of these programs run: all are installed, or everything runs and a missing one fails. */
export function hasPrograms(...names: readonly ProgramName[]): boolean {
  return isEverything || names.every(isInstalled);
}

/** Whether a program is installed. Each is tried once in a process. */
export function isInstalled(name: ProgramName): boolean {
  const known = found.get(name) ?? programs[name].isInstalled();
  found.set(name, known);
  return known;
}

function starts(command: string, argument: string): boolean {
  return spawnSync(command, [argument], { env: withSystemFolders }).status === 0;
}
