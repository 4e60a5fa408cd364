// Processes share the file of a store: none loses another's writes, and the others continue if one is killed or halted.
import { chmod, chown, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileStore } from "halyard/client/oauth";
import { describe, expect, test } from "vitest";
import { until } from "../../support/turns.ts";
import { locksOf, startStoreUser, temporaryFolder } from "./support/store-processes.ts";

async function newPath(): Promise<string> {
  return join(await temporaryFolder(), "tokens.json");
}

test("ten processes that add one a hundred times each come to a thousand", { timeout: 120_000 }, async () => {
  const path = await newPath();
  const users = Array.from({ length: 10 }, () => startStoreUser("store-user", [path, "increment", "100"]));
  const ends = await Promise.all(users.map(({ exited }) => exited));
  expect(ends).toEqual(users.map(() => ({ code: 0, stderr: "" })));
  expect(await fileStore(path).get("count")).toBe("1000");
  expect(await locksOf(path)).toEqual([]);
});

test(
  "a process that is killed while it writes leaves a whole file, and no lock",
  { timeout: 300_000 },
  async () => {
    const path = await newPath();
    const store = fileStore(path);
    for (let kills = 50; kills > 0; kills -= 1) {
      const users = ["one", "two"].map((key) => startStoreUser("store-user", [path, "write", key]));
      await Promise.all(users.map((user) => user.said("wrote")));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      await Promise.all(users.map((user) => user.kill()));
      const kept = JSON.parse(await readFile(path, "utf8")) as Record<string, string>;
      for (const [index, key] of ["one", "two"].entries()) {
        const text = kept[key] ?? "";
        expect(text).toMatch(/^\d{10}x{20000}$/);
        // What it said last is what is kept, or just about to be.
        const said = users[index]?.lines.findLast((line) => line.startsWith("wrote"));
        expect(Number(text.slice(0, 10)) - Number(said?.slice(-10))).toBeOneOf([0, 1]);
      }
    }
    await store.exclusive("one", () => store.replace("end", undefined, "here"));
    await store.exclusive("two", async () => {});
    expect(await locksOf(path)).toEqual([]);
  },
);

test("the lock of a process that was killed is free at once", { timeout: 15_000 }, async () => {
  const path = await newPath();
  const user = startStoreUser("store-user", [path, "hold", "alive"]);
  await user.said("held");
  let isKilled = false;
  const next = fileStore(path).exclusive("key", async () => isKilled);
  await until(async () => (await locksOf(path)).length === 4);
  isKilled = true;
  await user.kill();
  expect(await next).toBe(true);
  expect(await locksOf(path)).toEqual([]);
});

test("a process ends though it holds a lock", { timeout: 15_000 }, async () => {
  const path = await newPath();
  const user = startStoreUser("store-user", [path, "hold"]);
  expect(await user.exited).toEqual({ code: 0, stderr: "" });
  expect(user.lines).toEqual(["held"]);
  await fileStore(path).exclusive("key", async () => {});
  expect(await locksOf(path)).toEqual([]);
});

test.runIf(process.platform === "linux")(
  "a process that was halted while it wrote, and robbed of its lock, does not overwrite what came later",
  { timeout: 60_000 },
  async () => {
    const path = await newPath();
    const store = fileStore(path);
    const user = startStoreUser("store-user", [path, "write", "key"]);
    await user.said("wrote");
    const isHalted = async (): Promise<boolean> =>
      / T /.test(await readFile(`/proc/${user.process.pid}/stat`, "utf8"));
    for (let robberies = 0; robberies < 10;) {
      user.process.kill("SIGSTOP");
      await until(isHalted);
      const name = (await locksOf(path)).find((each) => /^file\.lock./.test(each)) ?? "none";
      const stolen = join(`${path}.locks`, name);
      const { length } = user.lines;
      // It has written what it is about to rename.
      if (((await stat(stolen).catch(() => undefined))?.size ?? 0) > 0) {
        robberies += 1;
        await unlink(stolen);
        expect(await store.replace(`robbery ${robberies}`, undefined, "kept")).toBe(true);
      }
      user.process.kill("SIGCONT");
      await until(() => user.lines.length > length + 4);
      if (robberies > 0) expect(await store.get(`robbery ${robberies}`)).toBe("kept");
    }
  },
);

describe("a process that cannot write says why, and changes nothing", () => {
  const asAnotherUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

  test.runIf(process.platform !== "win32")("to a folder that it may only read", async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o555);
    const user = startStoreUser("store-user", [join(folder, "tokens.json"), "once"], asAnotherUser);
    expect(await user.exited).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(user.lines[0] ?? "")).toEqual({
      name: "OAuthError",
      problem: "store",
      message: `Could not write the token store ${join(folder, "tokens.json")} (EACCES): let this user write to the file and its folder, or choose another path`,
    });
  });

  test.runIf(process.getuid?.() === 0)("to a file of another user that all can read", async () => {
    const folder = await temporaryFolder();
    await chown(folder, 65_534, 65_534);
    const path = join(folder, "tokens.json");
    await writeFile(path, '{"key":"text"}');
    await chmod(path, 0o644);
    const user = startStoreUser("store-user", [path, "once"], asAnotherUser);
    expect(await user.exited).toEqual({ code: 0, stderr: "" });
    expect(user.lines[0]).toContain("can be used by others (mode 644), and belongs to another user");
    expect(await readFile(path, "utf8")).toBe('{"key":"text"}');
    expect(await locksOf(path)).toEqual([]);
  });

  test.runIf(process.platform !== "win32")("where there is no room", async () => {
    const path = await newPath();
    await fileStore(path).replace("other", undefined, "text");
    const user = startStoreUser("store-user", [path, "once"], { shell: "trap '' XFSZ; ulimit -f 1" });
    expect(await user.exited).toEqual({ code: 0, stderr: "" });
    expect(user.lines[0]).toContain(`Could not write the token store ${path} (EFBIG)`);
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ other: "text" });
    expect(await locksOf(path)).toEqual([]);
  });
});
