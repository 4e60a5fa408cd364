// The stores of tokens: what every store does, and what the one in a file does besides.
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { fileStore, memoryStore, OAuthError, type TokenStore } from "halyard/client/oauth";
import { ConfigurationError } from "halyard";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../../support/clock.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";
import { locksOf, temporaryFolder } from "./support/store-processes.ts";

const stores: Readonly<Record<string, () => Promise<TokenStore>>> = {
  memoryStore: async () => memoryStore(),
  fileStore: async () => fileStore(join(await temporaryFolder(), "tokens.json")),
};

describe.each(Object.entries(stores))("%s", (_name, create) => {
  test("keeps texts under keys, whatever is in them", async () => {
    const store = await create();
    const texts = [
      "",
      "plain",
      "two\nlines",
      "“quoted” \\ \0 😀",
      "__proto__",
      "toString",
      "x".repeat(100_000),
    ];
    for (const text of texts) {
      expect(await store.get(text)).toBe(undefined);
      expect(await store.replace(text, undefined, text)).toBe(true);
    }
    expect(await Promise.all(texts.map((text) => store.get(text)))).toEqual(texts);
  });

  test("replaces only what is expected, and removes", async () => {
    const store = await create();
    expect(await store.replace("key", "other", "first")).toBe(false);
    expect(await store.get("key")).toBe(undefined);
    expect(await store.replace("key", undefined, "first")).toBe(true);
    expect(await store.replace("key", undefined, "second")).toBe(false);
    expect(await store.replace("key", "first", "second")).toBe(true);
    expect(await store.replace("key", "first", undefined)).toBe(false);
    expect(await store.get("key")).toBe("second");
    expect(await store.replace("key", "second", undefined)).toBe(true);
    expect(await store.get("key")).toBe(undefined);
    expect(await store.replace("key", undefined, undefined)).toBe(true);
  });

  test("lets one of many win that replace the same text", async () => {
    const store = await create();
    const names = Array.from({ length: 20 }, (_, index) => `writer ${index}`);
    const done = await Promise.all(names.map((name) => store.replace("key", undefined, name)));
    expect(done.filter(Boolean)).toEqual([true]);
    expect(await store.get("key")).toBe(names[done.indexOf(true)]);
  });

  test("runs work for one key in turn, and for others meanwhile", async () => {
    const store = await create();
    const [begun, gate] = [deferred(), deferred()];
    const order: string[] = [];
    const first = store.exclusive("key", async () => {
      begun.resolve();
      await gate.promise;
      order.push("first");
      return 1;
    });
    await begun.promise;
    const second = store.exclusive("key", async () => order.push("second"));
    await store.exclusive("other", async () => order.push("other"));
    gate.resolve();
    expect(await first).toBe(1);
    await second;
    expect(order).toEqual(["other", "first", "second"]);
  });

  test("rejects like the work, and lets the next one in", async () => {
    const store = await create();
    const fails = store.exclusive("key", () => Promise.reject(new RangeError("no")));
    await expect(fails).rejects.toThrow(RangeError);
    expect(await store.exclusive("key", async () => "next")).toBe("next");
  });

  test("stops waiting when the signal says so, and keeps the order of the others", async () => {
    const store = await create();
    const [begun, gate] = [deferred(), deferred()];
    const abort = new AbortController();
    const order: string[] = [];
    const first = store.exclusive("key", async () => {
      begun.resolve();
      await gate.promise;
      order.push("first");
    });
    await begun.promise;
    const gone = store.exclusive("key", async () => order.push("never"), abort.signal);
    const last = store.exclusive("key", async () => order.push("last"));
    abort.abort(new RangeError("enough"));
    await expect(gone).rejects.toThrow(RangeError);
    await expect(store.exclusive("key", async () => order.push("never"), abort.signal)).rejects.toThrow(
      "enough",
    );
    gate.resolve();
    await Promise.all([first, last]);
    expect(order).toEqual(["first", "last"]);
  });
});

/** The warnings of this process while the test runs. */
function warnings(): string[] {
  const heard: string[] = [];
  const hear = ({ message }: Error): void => void heard.push(message);
  process.on("warning", hear);
  onTestFinished(() => void process.off("warning", hear));
  return heard;
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

describe("the file", () => {
  test("is created for its owner alone, with its folder, and stays so [AUTH-TOKEN-STORAGE]", async () => {
    const folder = join(await temporaryFolder(), "new", "deep");
    const path = join(folder, "tokens.json");
    const store = fileStore(path);
    expect(await store.get("key")).toBe(undefined);
    await expect(stat(folder)).rejects.toThrow("ENOENT");
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    for (const [expected, next] of [
      [undefined, "one"],
      ["one", "two"],
    ] as const) {
      await store.replace("key", expected, next);
      expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ key: next });
      expect(await modeOf(path)).toBe("600");
    }
    expect(await Promise.all([folder, join(folder, ".."), `${path}.locks`].map(modeOf))).toEqual([
      "700",
      "700",
      "700",
    ]);
    expect(await locksOf(path)).toEqual([]);
    expect((await readdir(folder)).toSorted()).toEqual(["tokens.json", "tokens.json.locks"]);
  });

  test("that others can read loses that mode, with a warning", async () => {
    const path = join(await temporaryFolder(), "tokens.json");
    await writeFile(path, '{"key":"text"}');
    await chmod(path, 0o644);
    const heard = warnings();
    expect(await fileStore(path).get("key")).toBe("text");
    expect(await modeOf(path)).toBe("600");
    await until(() => heard.length > 0);
    expect(heard).toEqual([expect.stringContaining(`${path} could be used by others (mode 644)`)]);
  });

  test.each(["{", "[]", '{"key":1}', "null", "\0\0"])(
    "that is damaged counts as empty, and is kept beside the new one: %j",
    async (text) => {
      const folder = await temporaryFolder();
      const path = join(folder, "tokens.json");
      await writeFile(path, text, { mode: 0o600 });
      const heard = warnings();
      const store = fileStore(path);
      expect(await store.get("key")).toBe(undefined);
      expect(await readFile(path, "utf8")).toBe(text);
      expect(await store.replace("key", undefined, "new")).toBe(true);
      expect(await store.get("key")).toBe("new");
      const kept = (await readdir(folder)).filter((name) => name.includes("damaged"));
      expect(kept).toHaveLength(1);
      expect(await readFile(join(folder, kept[0] ?? ""), "utf8")).toBe(text);
      expect(await modeOf(join(folder, kept[0] ?? ""))).toBe("600");
      await until(() => heard.length > 0);
      expect(heard).toEqual([expect.stringContaining(`kept as ${join(folder, kept[0] ?? "")}`)]);
    },
  );

  test("that is empty is no damage", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "tokens.json");
    await writeFile(path, "", { mode: 0o600 });
    expect(await fileStore(path).replace("key", undefined, "new")).toBe(true);
    expect((await readdir(folder)).toSorted()).toEqual(["tokens.json", "tokens.json.locks"]);
  });

  test("is the target of a link, also of one that leads nowhere yet", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "real"));
    await symlink("real", join(folder, "linked"));
    await symlink("linked/tokens.json", join(folder, "link.json"));
    const [byLink, direct] = [join(folder, "link.json"), join(folder, "real", "tokens.json")];
    const [one, other] = [fileStore(byLink), fileStore(direct)];
    expect(await one.replace("key", undefined, "text")).toBe(true);
    expect(await other.get("key")).toBe("text");
    expect(await readlink(byLink)).toBe("linked/tokens.json");
    const order: string[] = [];
    await one.exclusive("key", async () => {
      const waits = other.exclusive("key", async () => order.push("other"));
      expect(await locksOf(direct)).not.toEqual([]);
      await one.replace("key", "text", "next");
      order.push("one");
      return { waits };
    });
    await until(() => order.length === 2);
    expect(order).toEqual(["one", "other"]);
    expect(await readdir(folder)).not.toContain("link.json.locks");
  });

  test.each([
    ["is a folder", async (path: string) => void (await mkdir(path)), "is not a file"],
    [
      "is too large",
      async (path: string) => {
        const file = await open(path, "w", 0o600);
        await file.truncate(16 * 1024 * 1024 + 1);
        await file.close();
      },
      "has 16777217 bytes, more than 16777216",
    ],
    ["is a link to itself", (path: string) => symlink(path, path), "a link that leads to itself"],
  ])("that %s is an error that says so", async (_what, make, problem) => {
    const path = join(await temporaryFolder(), "tokens.json");
    await make(path);
    const store = fileStore(path);
    for (const attempt of [() => store.get("key"), () => store.replace("key", undefined, "text")]) {
      const error: unknown = await attempt().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(OAuthError);
      expect(error).toMatchObject({ problem: "store", message: expect.stringContaining(problem) });
    }
  });

  test("in a folder that is none is an error with the remedy", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "file"), "");
    const store = fileStore(join(folder, "file", "tokens.json"));
    await expect(store.exclusive("key", async () => {})).rejects.toThrow(
      /^Could not lock the token store .*tokens.json \(ENOTDIR\): a part of the path is not a folder/,
    );
  });

  test.each(["", "~/tokens.json", undefined as unknown as string])("is not called %j", (path) => {
    expect(() => fileStore(path)).toThrow(ConfigurationError);
    expect(() => fileStore(path)).toThrow("fileStore: path must be the path of a file");
  });
});

describe("a lock", () => {
  test("holds between two stores of one process", async () => {
    const path = join(await temporaryFolder(), "tokens.json");
    const both = [fileStore(path), fileStore(path)];
    let [inside, most] = [0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, (inside += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
    };
    await Promise.all(both.flatMap((store) => [1, 2, 3, 4, 5].map(() => store.exclusive("key", work))));
    expect(most).toBe(1);
    expect(await locksOf(path)).toEqual([]);
  });

  test("of an owner that shows life is never stolen, and that of a silent one in another container is", async () => {
    const path = join(await temporaryFolder(), "tokens.json");
    holdClocks("setTimeout", "clearTimeout", "setInterval", "clearInterval");
    const [begun, gate] = [deferred(), deferred()];
    const first = fileStore(path).exclusive("key", () => {
      begun.resolve();
      return gate.promise;
    });
    await begun.promise;
    const order: string[] = [];
    const second = fileStore(path).exclusive("key", async () => void order.push("second"));
    /** Lets so many seconds pass for the one who waits, as long as it does: its timer is there beside that of the owner. */
    const pass = async (seconds: number): Promise<void> => {
      for (let steps = seconds * 4; steps > 0 && order.length === 0; steps -= 1) {
        while (vi.getTimerCount() < 2 && order.length === 0) await nextTurn();
        vi.advanceTimersByTime(250);
      }
    };
    await pass(60);
    expect(order).toEqual([]);
    const [name = "", file = ""] = (await locksOf(path)).filter((each) => each.includes(".lock"));
    const renamed = join(`${path}.locks`, name, "elsewhere-1-1-1");
    await rename(join(`${path}.locks`, file), renamed);
    await pass(300);
    expect(order).toEqual(["second"]);
    gate.resolve();
    await Promise.all([first, second]);
    expect(await locksOf(path)).toEqual([]);
  });
});
