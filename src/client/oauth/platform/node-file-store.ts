// A token store in a file that only its owner can read, shared by all processes that name it.
import { createHash } from "node:crypto";
import { copyFile, type FileHandle, mkdir, open, readlink, realpath, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ConfigurationError } from "../../../base/errors.ts";
import { isObject, isTexts } from "../../../base/wire/message.ts";
import { OAuthError } from "../settings/errors.ts";
import { inTurn, type TokenStore } from "../settings/token-store.ts";
import { checkFolder, strangerOf } from "./node-file-safety.ts";
import { codeOf, type HeldLock, lockPause, sweep, takeLock, takenCodes } from "./node-file-lock.ts";

/** Bytes of the file of a `fileStore`. Past it, `fileStore` throws an `OAuthError`, and the file stays as it is. */
const maxFileBytes = 16 * 1024 * 1024;
const maxLinks = 32;
const maxRenames = 20;
const renamePauseMs = 20;

/** What a file has; undefined if it is damaged. */
type Entries = ReadonlyMap<string, string> | undefined;

export class FileStore implements TokenStore {
  readonly #path: string;
  /** In this process, one at a time waits for a lock. */
  readonly #turns = inTurn();
  readonly #writes = inTurn();
  #swept: Promise<void> | undefined;

  constructor(path: string) {
    if (typeof path !== "string" || path === "" || /^~[/\\]/.test(path)) {
      const problem = `must be the path of a file, not ${JSON.stringify(path)}: for your home folder, write join(homedir(), "tokens.json")`;
      throw new ConfigurationError("INVALID_OPTION", { subject: "fileStore", field: "path" }, problem);
    }
    this.#path = resolve(path);
  }

  get(key: string): Promise<string | undefined> {
    return this.#attempt("read", async (file) => (await readEntries(file))?.get(key));
  }

  replace(key: string, expected: string | undefined, next: string | undefined): Promise<boolean> {
    const replaceOnce = async (file: string): Promise<boolean | "robbed"> => {
      const lock = await this.#take(file, "file");
      try {
        const entries = await readEntries(file);
        if (entries?.get(key) !== expected) return false;
        if (next === expected) return true;
        const changed = new Map(entries);
        if (next === undefined) changed.delete(key);
        else changed.set(key, next);
        if (entries === undefined) await keepDamaged(file);
        return (await write(lock, changed, file)) || "robbed";
      } finally {
        await lock.release();
      }
    };
    return this.#writes("", () =>
      this.#attempt("write", async (file) => {
        for (;;) {
          const done = await replaceOnce(file);
          if (done !== "robbed") return done;
        }
      }),
    );
  }

  exclusive<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const locked = async (): Promise<T> => {
      const take = (file: string): Promise<HeldLock> =>
        this.#take(file, createHash("sha256").update(key).digest("hex").slice(0, 32), signal);
      const lock = await this.#attempt("lock", take);
      try {
        return await work();
      } finally {
        await lock.release();
      }
    };
    return this.#turns(key, locked, signal);
  }

  async #take(file: string, name: string, signal?: AbortSignal): Promise<HeldLock> {
    const folder = `${file}.locks`;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await checkFolder(folder);
    await (this.#swept ??= sweep(folder));
    return takeLock(folder, name, signal);
  }

  async #attempt<T>(verb: string, action: (file: string) => Promise<T>): Promise<T> {
    try {
      return await action(await followLinks(this.#path));
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || error instanceof OAuthError) throw error;
      const problem = `Could not ${verb} the token store ${this.#path} (${code}): ${remedies[code] ?? "look at the cause"}`;
      throw new OAuthError("store", problem, { cause: error });
    }
  }
}

const noAccess = "let this user write to the file and its folder, or choose another path";

const remedies: Readonly<Record<string, string>> = {
  EACCES: noAccess,
  EPERM: noAccess,
  EROFS: noAccess,
  ENOSPC: "the disk is full. Free some space",
  EDQUOT: "the quota of this user is used up. Free some space",
  ENOTDIR: "a part of the path is not a folder. Choose another path",
  EISDIR: "it is a folder. Choose the path of a file in it",
  EBUSY: "the file cannot be replaced. If it is mounted, mount its folder instead",
};

/** Where the file really is, also if it does not exist yet. Throws if others could change that. */
async function followLinks(path: string): Promise<string> {
  let at = path;
  for (let links = 0; links < maxLinks; links += 1) {
    const folder = await realpath(dirname(at)).catch(() => dirname(at));
    for (const way of new Set([dirname(at), folder])) await checkFolder(way);
    at = join(folder, basename(at));
    const target = await readlink(at).catch(() => undefined);
    if (target === undefined) return at;
    at = resolve(folder, target);
  }
  throw new OAuthError(
    "store",
    `The token store ${path} is a link that leads to itself: choose another path`,
  );
}

async function readEntries(path: string): Promise<Entries> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return new Map();
    throw error;
  }
  try {
    await checkFile(path, file);
    return parse(await file.readFile("utf8"));
  } finally {
    await file.close();
  }
}

/** Throws unless it is a file of a sensible size, and takes away the right of others to read and write it. */
async function checkFile(path: string, file: FileHandle): Promise<void> {
  const found = await file.stat();
  const refuse = (problem: string, cause?: unknown): never => {
    throw new OAuthError("store", `The token store ${path} ${problem}`, { cause });
  };
  if (!found.isFile()) refuse("is not a file: choose the path of a file");
  if (found.size > maxFileBytes)
    refuse(`has ${found.size} bytes, more than ${maxFileBytes}: remove it, or choose another path`);
  // Where there are no users with numbers, there are no such rights.
  if (process.getuid === undefined) return;
  const stranger = strangerOf(found, process.getuid());
  if (stranger) refuse(`${stranger}: choose another path`);
  if ((found.mode & 0o077) === 0) return;
  const rights = (found.mode & 0o777).toString(8);
  await file.chmod(0o600).catch((cause: unknown) => {
    refuse(`can be used by others (mode ${rights}), and belongs to another user: choose another path`, cause);
  });
  warn(
    `${path} could be used by others (mode ${rights}). Its mode is 600 now. If somebody may have read it, sign out`,
  );
}

function parse(text: string): Entries {
  if (text === "") return new Map();
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isTexts(Object.values(value))
      ? new Map(Object.entries(value as Record<string, string>))
      : undefined;
  } catch {
    return undefined;
  }
}

/** Copies, because moving would be wrong if the lock was lost and the file is a new one. */
async function keepDamaged(path: string): Promise<void> {
  const copy = `${path}.damaged-${Date.now()}`;
  await copyFile(path, copy);
  warn(`${path} is damaged: it is replaced, and kept as ${copy}. You may have to sign in again`);
}

/** Replaces the file as a whole. Resolves with false if the lock was lost: then nothing has changed. */
async function write(lock: HeldLock, entries: ReadonlyMap<string, string>, path: string): Promise<boolean> {
  const text = JSON.stringify(Object.fromEntries(entries));
  if (Buffer.byteLength(text) > maxFileBytes) {
    throw new OAuthError(
      "store",
      `The token store ${path} would have more than ${maxFileBytes} bytes: choose another path`,
    );
  }
  try {
    // It exists as long as the lock is held; a new one would not belong to the lock.
    const file = await open(lock.file, "r+");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await renameOver(lock.file, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function renameOver(from: string, to: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rename(from, to);
    } catch (error) {
      // On Windows, another process may just be reading the file.
      if (tries === maxRenames || !takenCodes.has(codeOf(error))) throw error;
      await lockPause(renamePauseMs);
    }
  }
}

function warn(message: string): void {
  process.emitWarning(message, "HalyardWarning");
}
