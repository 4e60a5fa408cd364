// The files below a folder.
import { readdirSync } from "node:fs";

/** The paths of all files below `folder` that end in one of `endings`, in order, with forward slashes. */
export function filesBelow(folder: string, ...endings: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .toSorted();
}
