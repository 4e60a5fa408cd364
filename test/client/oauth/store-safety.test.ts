// A token store among other users of the computer: it refuses a place in which they could read or replace its file.
import { spawnSync } from "node:child_process";
import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileStore } from "halyard/client/oauth";
import { describe, expect, test } from "vitest";
import { startStoreUser, temporaryFolder } from "./support/store-processes.ts";

const isRoot = process.getuid?.() === 0;
/** Users that have no account, so that they own nothing else. */
const [victim, attacker] = [23_401, 23_402];

/** A folder of a folder that only this user can change. */
async function folderWith(mode: number, name = "shared"): Promise<string> {
  const folder = join(await temporaryFolder(), name);
  await mkdir(folder);
  await chmod(folder, mode);
  return folder;
}

/** What each use of a store at that path comes to. */
async function uses(path: string): Promise<string[]> {
  const store = fileStore(path);
  const attempts = [
    store.get("key"),
    store.replace("key", undefined, "secret"),
    store.exclusive("key", async () => "ran"),
  ];
  return Promise.all(attempts.map((attempt) => attempt.then(String, (error: Error) => error.message)));
}

describe.skipIf(process.platform === "win32")("a folder", () => {
  test.each([
    ["that all can write to", 0o777],
    ["that a group can write to", 0o770],
    ["that all can write to, although only owners can remove", 0o1777],
  ])("%s is refused, with the remedy", async (_, mode) => {
    const folder = await folderWith(mode);
    // A group that is not the one of this user alone.
    if (isRoot) await chown(folder, 0, attacker);
    const { uid, gid } = await stat(folder);
    const path = join(folder, "tokens.json");
    if (mode === 0o770 && uid === gid) return;
    for (const outcome of await uses(path)) {
      expect(outcome).toContain(`The folder ${folder} is not safe for a token store`);
      expect(outcome).toContain(`can be changed by other users (mode ${mode.toString(8)})`);
      expect(outcome).toContain("choose a path in a folder of your own");
      expect(outcome).toContain(
        mode === 0o1777 ? "make a folder of your own in it" : `run chmod go-w ${folder}`,
      );
    }
    expect(await readdir(folder)).toEqual([]);
  });

  test("around it that all can change is refused, unless only owners can remove there", async () => {
    const outer = await folderWith(0o777);
    const inner = join(outer, "inner");
    await mkdir(inner, { mode: 0o700 });
    for (const outcome of await uses(join(inner, "tokens.json")))
      expect(outcome).toContain(`The folder ${outer} is not safe`);
    await chmod(outer, 0o1777);
    expect(await uses(join(inner, "tokens.json"))).toEqual(["undefined", "true", "ran"]);
    expect(await uses(join(outer, "new", "tokens.json"))).toEqual(["undefined", "true", "ran"]);
  });

  test("that a link leads through is refused if others can change the link", async () => {
    const [own, shared] = [await folderWith(0o700), await folderWith(0o777)];
    await symlink(own, join(shared, "folder"));
    await symlink(join(own, "tokens.json"), join(shared, "tokens.json"));
    for (const path of [join(shared, "folder", "tokens.json"), join(shared, "tokens.json")])
      for (const outcome of await uses(path)) expect(outcome).toContain(`The folder ${shared} is not safe`);
    expect(await readdir(own)).toEqual([]);
  });

  test("of this user is used, also if others can read it", async () => {
    expect(await uses(join(await folderWith(0o755), "tokens.json"))).toEqual(["undefined", "true", "ran"]);
  });
});

describe.runIf(isRoot)("another user", () => {
  test.each([
    ["owns the folder", (folder: string) => chown(folder, attacker, attacker)],
    [
      "has made the folder of locks before",
      async (folder: string) => {
        await mkdir(join(folder, "tokens.json.locks"));
        await chmod(join(folder, "tokens.json.locks"), 0o777);
        await chown(join(folder, "tokens.json.locks"), attacker, attacker);
      },
    ],
    [
      "has made the folder of locks before, as a link",
      async (folder: string) => {
        const elsewhere = await folderWith(0o777, "elsewhere");
        await chown(elsewhere, attacker, attacker);
        await symlink(elsewhere, join(folder, "tokens.json.locks"));
      },
    ],
    [
      "has made the file before",
      async (folder: string) => {
        await writeFile(join(folder, "tokens.json"), '{"key":"of the attacker"}', { mode: 0o644 });
        await chown(join(folder, "tokens.json"), attacker, attacker);
      },
    ],
  ])("who %s gets nothing, and gives nothing", async (_, prepare) => {
    const folder = await folderWith(0o700);
    await prepare(folder);
    const [read = "", replaced = "", locked = ""] = await uses(join(folder, "tokens.json"));
    expect(replaced).toContain(`${folder}`);
    expect(replaced).toMatch(/belongs to another user \(23402\)|can be changed by other users \(mode 777\)/);
    // What others made is neither believed nor waited for.
    expect(read).not.toBe("of the attacker");
    expect(locked).toSatisfy(
      (outcome: string) =>
        outcome === "ran" || outcome.includes("another user") || outcome.includes("other users"),
    );
  });

  test("who mounted the folder for this one reads what to do", async () => {
    const volume = await folderWith(0o755, "volume");
    await chown(volume, victim, victim);
    for (const outcome of await uses(join(volume, "tokens.json")))
      expect(outcome).toContain(`belongs to another user (${victim})`);
    expect((await uses(join(volume, "tokens.json")))[0]).toContain(
      `run chown 0 ${volume} if nobody else uses it`,
    );
    const shared = await folderWith(0o2777, "volume");
    await chmod(join(shared, ".."), 0o755);
    const user = startStoreUser("store-user", [join(shared, "tokens.json"), "once"], {
      uid: victim,
      gid: victim,
    });
    await user.exited;
    expect(user.lines[0]).toContain(`mount a folder that belongs to the user ${victim}, with mode 700`);
  });

  test("cannot be told from the system in a sandbox with user numbers of its own, which is no reason to refuse a home folder", async () => {
    const home = await folderWith(0o755, "home");
    await chmod(join(home, ".."), 0o755);
    await chown(home, victim, victim);
    const script = `
      import { fileStore } from ${JSON.stringify(import.meta.resolve("halyard/client/oauth"))};
      const store = fileStore(${JSON.stringify(join(home, ".config", "tokens.json"))});
      console.log(await store.replace("key", undefined, "secret").catch((error) => error.message));`;
    const asVictim = ["--reuid", `${victim}`, "--regid", `${victim}`, "--clear-groups"];
    const sandbox = ["unshare", "--user", "--map-current-user"];
    const node = [process.execPath, "--input-type=module", "--eval", script];
    const { stdout, status } = spawnSync("setpriv", [...asVictim, ...sandbox, ...node], { encoding: "utf8" });
    // On some systems only root can create a sandbox.
    if (status === 0) expect(stdout).toBe("true\n");
  });

  test("who waits in a shared folder sees no token of one who stores it there; one with a folder of his own can", async () => {
    const shared = await folderWith(0o1777);
    await chmod(join(shared, ".."), 0o755);
    const path = join(shared, "tokens.json");
    await mkdir(`${path}.locks`);
    await chmod(`${path}.locks`, 0o777);
    await chown(`${path}.locks`, attacker, attacker);
    const as = { uid: victim, gid: victim };
    const user = startStoreUser("store-user", [path, "once"], as);
    await user.exited;
    expect(JSON.parse(user.lines[0] ?? "{}")).toMatchObject({
      problem: "store",
      message: expect.stringContaining(shared),
    });
    expect(await readdir(shared, { recursive: true })).toEqual(["tokens.json.locks"]);
    const own = join(shared, "own");
    await mkdir(own);
    await chown(own, victim, victim);
    const bystander = startStoreUser("store-user", [join(own, "tokens.json"), "increment", "2"], as);
    expect(await bystander.exited).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(await readFile(join(own, "tokens.json"), "utf8"))).toEqual({ count: "2" });
  });
});
