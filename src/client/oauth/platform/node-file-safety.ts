// Refuses folders in which another user of the computer could read or replace the file of a token store. Node shows no such rights
// on Windows, so that nothing is checked there.
import type { Stats } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { OAuthError } from "../settings/errors.ts";
import { codeOf } from "./node-file-lock.ts";

const sticky = 0o1000;
const root = 0;

/**
 * Throws if others could replace the folder, or what is in it, as far as it exists. Of the folders around it, those are safe in which
 * only the owner of a file can replace it, such as /tmp.
 */
export async function checkFolder(folder: string): Promise<void> {
  const self = process.getuid?.();
  if (self === undefined) return;
  for (let at = folder; ; at = dirname(at)) {
    const [found, link] = [await statsOf(stat(at)), await statsOf(lstat(at))];
    const problem = found && (problemOf(found, self, at === folder) ?? strangerOf(link, self));
    if (problem) throw unsafe(at, problem);
    if (at === dirname(at)) return;
  }
}

/** What is wrong with the owner of a file; undefined if nothing is. */
export function strangerOf(found: Stats | undefined, self: number): string | undefined {
  if (found === undefined || found.uid === self || found.uid === root) return undefined;
  return `belongs to another user (${found.uid})`;
}

function problemOf(found: Stats, self: number, isInner: boolean): string | undefined {
  const { mode, uid, gid } = found;
  // Many systems give each user a group of the same number, which nobody else is in.
  const byOthers = uid === gid ? 0o002 : 0o022;
  const isOpen = (mode & byOthers) !== 0 && (isInner || (mode & sticky) === 0);
  return isOpen
    ? `can be changed by other users (mode ${(mode & 0o7777).toString(8)})`
    : strangerOf(found, self);
}

function unsafe(folder: string, problem: string): OAuthError {
  const remedy = `choose a path in a folder of your own, such as one in your home folder, or run chmod go-w on it if it is yours`;
  return new OAuthError(
    "store",
    `The folder ${folder} is not safe for a token store, because it ${problem}: ${remedy}`,
  );
}

async function statsOf(looking: Promise<Stats>): Promise<Stats | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
