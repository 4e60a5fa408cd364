// A copy of the built package as users have it: in node_modules, outside of this repository.
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface PackageCopy {
  /** A folder whose `node_modules` has the copy, and the given packages of this repository. */
  readonly folder: string;
  /** The file that an import such as `halyard` of the copy loads. */
  resolve(entry: string): string;
  remove(): Promise<void>;
}

export async function copyPackage(packages: readonly string[] = []): Promise<PackageCopy> {
  const folder = await mkdtemp(join(tmpdir(), "halyard-copy-"));
  const home = join(folder, "node_modules", "halyard");
  await mkdir(home, { recursive: true });
  for (const part of ["dist", "package.json"])
    await cp(join(root, part), join(home, part), { recursive: true });
  for (const name of packages) {
    const installed = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    await symlink(installed, join(folder, "node_modules", name));
  }
  return {
    folder,
    resolve: (entry) => createRequire(join(folder, "index.js")).resolve(entry),
    remove: () => rm(folder, { recursive: true }),
  };
}
