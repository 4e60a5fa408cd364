// Processes find the same token expired: one refreshes it for all, even if some are killed meanwhile.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "halyard/client";
import { fileStore, oauth } from "halyard/client/oauth";
import { expect, test } from "vitest";
import type { Answer } from "../../support/answers.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { signInByFetch } from "../../support/sign-in.ts";
import { until } from "../../support/turns.ts";
import { locksOf, startStoreUser, type StoreUser, temporaryFolder } from "./support/store-processes.ts";

interface Race {
  readonly issuer: ScriptedIssuer;
  readonly server: ProtectedServer;
  readonly path: string;
  readonly users: readonly StoreUser[];
}

/** Signs in, makes the access token useless, and starts processes that call with it when the test says so. */
async function prepare(count: number, spoil: (issuer: ScriptedIssuer) => Promise<void>): Promise<Race> {
  const issuer = await ScriptedIssuer.start();
  const server = await ProtectedServer.behind([issuer]);
  const path = join(await temporaryFolder(), "tokens.json");
  issuer.tokenSeconds = 1;
  const auth = oauth({ store: fileStore(path), open: signInByFetch });
  await (await connect(server.url, { auth })).close();
  issuer.tokenSeconds = 300;
  await spoil(issuer);
  const users = Array.from({ length: count }, () =>
    startStoreUser("token-user", [server.url, path, String(100 / count)]),
  );
  await Promise.all(users.map((user) => user.said("ready")));
  issuer.asked.length = 0;
  return { issuer, server, path, users };
}

function go(users: readonly StoreUser[]): void {
  for (const user of users) user.process.stdin?.write("go\n");
}

const passed = async (): Promise<void> => {
  const end = Date.now() + 2000;
  await until(() => Date.now() > end);
};

/** Resolves when every process holds or awaits a lock; soon anyway, because the one that refreshes does not wait for ever. */
async function allWait({ path, users }: Race): Promise<void> {
  const areWaiting = async (): Promise<boolean> => {
    const names = (await locksOf(path)).join();
    return users.every(({ process: { pid } }) => names.includes(`-${pid}-`));
  };
  await until(areWaiting, 8000).catch(() => {});
}

/** The process that holds the lock for a refresh. */
async function ownerOf(path: string, users: readonly StoreUser[]): Promise<StoreUser> {
  const owner = (await locksOf(path)).find((name) => /\.lock\/./.test(name));
  const user = users.find(({ process: { pid } }) => owner?.includes(`-${pid}-`));
  if (user === undefined) throw new Error(`Nobody is ${owner}`);
  return user;
}

/** The tokens still work, and so does the next refresh. */
async function checkKept({ issuer, server, path }: Race): Promise<void> {
  issuer.forgetAccessTokens();
  issuer.asked.length = 0;
  const open = (): never => {
    throw new Error("Nobody has to sign in");
  };
  const client = await connect(server.url, { auth: oauth({ store: fileStore(path), open }) });
  await client.callTool("whoami");
  await client.close();
  expect(issuer.grantsAsked).toEqual(["refresh_token"]);
  expect(await locksOf(path)).toEqual([]);
}

/** Kills the process that refreshes when its request arrives. The others continue. */
async function survivors(race: Race, reply: Answer | undefined): Promise<readonly StoreUser[]> {
  const { issuer, users, path } = race;
  let killed: StoreUser | undefined;
  issuer.answers["/token"] = async () => {
    if (killed !== undefined) return undefined;
    await allWait(race);
    killed = await ownerOf(path, users);
    await killed.kill();
    return reply;
  };
  go(users);
  await Promise.all(users.map(({ exited }) => exited));
  return users.filter((user) => user !== killed);
}

test.each([
  ["has expired", passed],
  ["the server no longer takes", async (issuer: ScriptedIssuer) => issuer.forgetAccessTokens()],
])(
  "ten processes and a hundred calls refresh a token once that %s",
  { timeout: 120_000 },
  async (_why, spoil) => {
    const race = await prepare(10, spoil);
    const { issuer, users } = race;
    // The refresh takes until all others wait for it.
    issuer.answers["/token"] = async () => {
      await allWait(race);
      return undefined;
    };
    go(users);
    expect(await Promise.all(users.map(({ exited }) => exited))).toEqual(
      users.map(() => ({ code: 0, stderr: "" })),
    );
    expect(users.flatMap(({ lines }) => lines)).toEqual(users.flatMap(() => ["ready", "10 calls"]));
    expect(issuer.grantsAsked).toEqual(["refresh_token"]);
    delete issuer.answers["/token"];
    await checkKept(race);
  },
);

test(
  "another process refreshes if the first one is killed before its request is served",
  { timeout: 60_000 },
  async () => {
    const race = await prepare(4, passed);
    const others = await survivors(race, { status: 500 });
    expect(others.map(({ lines }) => lines)).toEqual(others.map(() => ["ready", "25 calls"]));
    expect(race.issuer.grantsAsked).toEqual(["refresh_token", "refresh_token"]);
    await checkKept(race);
  },
);

test(
  "one sign-in serves all if a process is killed with the only new token",
  { timeout: 60_000 },
  async () => {
    const race = await prepare(4, passed);
    const others = await survivors(race, undefined);
    expect(others.flatMap(({ lines }) => lines).toSorted()).toEqual([
      "25 calls",
      "25 calls",
      "25 calls",
      "ready",
      "ready",
      "ready",
      "sign-in",
    ]);
    expect(race.issuer.grantsAsked).toEqual(["refresh_token", "refresh_token", "authorization_code"]);
    await checkKept(race);
  },
);

test(
  "processes that are killed at any time leave a store that the next one can use",
  { timeout: 300_000 },
  async () => {
    const race = await prepare(10, passed);
    for (const [index, user] of race.users.entries()) {
      if (index % 2 === 0) race.issuer.forgetAccessTokens();
      go([user]);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 150));
      await user.kill();
      expect(JSON.parse(await readFile(race.path, "utf8"))).toBeTypeOf("object");
    }
    const last = startStoreUser("token-user", [race.server.url, race.path, "5"]);
    go([last]);
    expect(await last.exited).toEqual({ code: 0, stderr: "" });
    expect(last.lines.at(-1)).toBe("5 calls");
    await checkKept(race);
  },
);
