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
  // The owner of / can replace everything. In a sandbox with user numbers of its own, that is not the number 0.
  const { uid: owner } = await stat("/");
  for (let at = folder; ; at = dirname(at)) {
    const isInner = at === folder;
    const trusted = isInner ? [self, root] : [self, root, owner];
    const [found, link] = [await statsOf(stat(at)), await statsOf(lstat(at))];
    const stranger = [found, link].find((each) => each && !trusted.includes(each.uid));
    if (found && isOpenToOthers(found, isInner)) {
      const mode = (found.mode & 0o7777).toString(8);
      const isOwn = found.uid === self;
      const isForAll = (found.mode & sticky) !== 0;
      const remedy = isForAll
        ? "make a folder of your own in it"
        : isOwn
          ? `run chmod go-w ${at}`
          : mounting(self);
      throw unsafe(at, `can be changed by other users (mode ${mode})`, remedy);
    }
    if (stranger) {
      const remedy = self === root ? `run chown ${root} ${at} if nobody else uses it` : mounting(self);
      throw unsafe(at, `belongs to another user (${stranger.uid})`, remedy);
    }
    if (at === dirname(at)) return;
  }
}

/** What is wrong with the owner of a file; undefined if nothing is. */
export function strangerOf(found: Stats, self: number): string | undefined {
  return found.uid === self || found.uid === root ? undefined : `belongs to another user (${found.uid})`;
}

function isOpenToOthers({ mode, uid, gid }: Stats, isInner: boolean): boolean {
  // Many systems give each user a group of the same number, which has no other member.
  const byOthers = uid === gid ? 0o002 : 0o022;
  return (mode & byOthers) !== 0 && (isInner || (mode & sticky) === 0);
}
function mounting(self: number): string {
  return `in a container, mount a folder that belongs to the user ${self}, with mode 700`;
}

function unsafe(folder: string, problem: string, remedy: string): OAuthError {
  const choice = "choose a path in a folder of your own, such as one in your home folder";
  return new OAuthError(
    "store",
    `The folder ${folder} is not safe for a token store, because it ${problem}: ${choice}, or ${remedy}`,
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
