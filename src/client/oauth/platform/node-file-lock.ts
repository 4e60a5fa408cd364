// Locks between the processes of one machine.
//
// A lock is a folder that holds one file, which is named after the owner. To take the lock, a process renames a folder that holds
// its own file to the name of the lock: that fails while the lock holds a file. To release it, or to steal it from an owner that is
// gone, a process removes that file. A name is used once, so a thief that comes late removes nothing, and an owner that was halted
// and robbed finds its file gone.
import { randomBytes } from "node:crypto";
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { inBackground } from "../../../base/async/timers.ts";
import { untilAborted } from "../../../base/async/promises.ts";

/** How often an owner shows that it lives. */
const beatMs = 2000;
/** How long a waiter sees no sign of life before it steals a lock. The time for which the waiter was halted does not count. */
const staleMs = 20_000;
const firstPollMs = 4;
const longestPollMs = 250;

export interface HeldLock {
  /** An empty file that exists as long as this process has the lock. Moving it elsewhere releases the lock. */
  readonly file: string;
  release(): Promise<void>;
}

/** Waits for the lock `name` in `folder`, which is created if needed. */
export async function takeLock(folder: string, name: string, signal?: AbortSignal): Promise<HeldLock> {
  const owner = `${await self()}-${randomBytes(8).toString("hex")}`;
  const draft = join(folder, owner);
  const lock = join(folder, `${name}.lock`);
  const freeIfStale = watch(lock);
  try {
    await prepare(draft, owner);
    for (let pollMs = firstPollMs; !(await tryTake(draft, owner, lock));) {
      await freeIfStale(pollMs);
      // At random, so that waiters do not all look at once.
      await lockPause(pollMs * (0.5 + Math.random()), signal);
      pollMs = Math.min(pollMs * 1.3, longestPollMs);
    }
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
  return hold(lock, join(lock, owner));
}

/** Removes what killed processes have left in `folder`. */
export async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const isDraft = !name.endsWith(".lock");
    const isLeftover = isDraft && (await isGone(name));
    for (const owner of await readdir(path).catch(() => [])) {
      if (isLeftover || (await isGone(owner))) await unlink(join(path, owner)).catch(() => {});
    }
    // A draft of a process that lives may be empty for a moment, and is still needed.
    if (isLeftover || !isDraft) await rmdir(path).catch(() => {});
  }
}

async function prepare(draft: string, owner: string): Promise<void> {
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await writeFile(join(draft, owner), "", { mode: 0o600 });
}

/** How renaming fails where the name is taken: by a folder that holds something, and on Windows by any, or by an open file. */
export const takenCodes: ReadonlySet<unknown> = new Set([
  "ENOTEMPTY",
  "EEXIST",
  ...(process.platform === "win32" ? ["EPERM", "EACCES", "EBUSY"] : []),
]);

async function tryTake(draft: string, owner: string, lock: string): Promise<boolean> {
  try {
    await rename(draft, lock);
    return true;
  } catch (error) {
    const code = codeOf(error);
    // Another process has removed the draft.
    if (code === "ENOENT") await prepare(draft, owner);
    else if (!takenCodes.has(code)) throw error;
    return false;
  }
}

function hold(lock: string, file: string): HeldLock {
  const beat = inBackground(
    setInterval(() => {
      const now = new Date();
      utimes(file, now, now).catch(() => {});
    }, beatMs),
  );
  return {
    file,
    async release() {
      clearInterval(beat);
      await unlink(file).catch(() => {});
      await rmdir(lock).catch(() => {});
    },
  };
}

/** Watches a lock for signs of life of its owner. The function that it returns looks again after `passedMs`, and frees a stale lock. */
function watch(lock: string): (passedMs: number) => Promise<void> {
  let seen = "";
  let quietMs = 0;
  const isQuiet = async (file: string, passedMs: number): Promise<boolean> => {
    const found = await stat(file).catch(() => undefined);
    const sight = `${file} ${found?.mtimeMs}`;
    quietMs = sight === seen ? quietMs + passedMs : 0;
    seen = sight;
    return quietMs >= staleMs;
  };
  return async (passedMs) => {
    const owners = await readdir(lock).catch(() => []);
    // Windows renames no folder to the name of an empty one.
    if (owners.length === 0) await rmdir(lock).catch(() => {});
    for (const owner of owners) {
      const file = join(lock, owner);
      if ((await isGone(owner)) || (await isQuiet(file, passedMs))) await unlink(file).catch(() => {});
    }
  };
}

/** Whether the name is that of a process which no longer runs. */
async function isGone(owner: string): Promise<boolean> {
  const [space, pid = "", start] = owner.split("-");
  if (space !== (await self()).split("-")[0]) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return true;
  }
  // The number may belong to another process by now.
  const current = await startOf(pid);
  return current !== "" && start !== "" && current !== start;
}

let ownName: Promise<string> | undefined;

/** In which space process numbers count, which is another one in a container; the number of this process; and when it started. */
function self(): Promise<string> {
  ownName ??= (async () => {
    const space = await readlink("/proc/self/ns/pid").catch(() => "");
    return [space.replaceAll(/\D/g, ""), process.pid, await startOf("self")].join("-");
  })();
  return ownName;
}

/** When a process started, if the system says so, else ""; "ended" for a zombie. */
async function startOf(pid: string): Promise<string> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name of the program, in parentheses, may have blanks.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? "ended" : (fields[19] ?? "");
}

/** The code of an error of the system; undefined for others. */
export function codeOf(error: unknown): string | undefined {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : code;
}

/** Keeps the process alive meanwhile. */
export async function lockPause(timeMs: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeMs)));
  await untilAborted(passed, signal).finally(() => clearTimeout(timer));
}
