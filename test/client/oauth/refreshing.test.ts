// When tokens are refreshed, and what a refresh that fails leaves alone.
import { connect, type McpClient } from "halyard/client";
import { memoryStore, oauth, type OAuthOptions, type TokenStore } from "halyard/client/oauth";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { passSeconds } from "../../support/clock.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { refusal, ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { signInByFetch } from "../../support/sign-in.ts";

/** A memory store whose entries a test can see, and that fails when the test says so. */
class OpenStore implements TokenStore {
  readonly inner = memoryStore();
  readonly keys = new Set<string>();
  isFull = false;

  get(key: string): Promise<string | undefined> {
    this.keys.add(key);
    return this.inner.get(key);
  }

  async replace(key: string, expected: string | undefined, next: string | undefined): Promise<boolean> {
    if (this.isFull) throw new Error("The disk is full");
    return this.inner.replace(key, expected, next);
  }

  exclusive<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.inner.exclusive(key, work, signal);
  }

  get #tokensKey(): string {
    return [...this.keys].find((key) => key.startsWith('["tokens"')) ?? "";
  }

  get tokens(): Promise<string | undefined> {
    return this.inner.get(this.#tokensKey);
  }

  /** Changes the store without taking its lock. */
  async overwrite(text: string | undefined): Promise<void> {
    await this.inner.replace(this.#tokensKey, await this.tokens, text);
  }
}

interface World {
  readonly issuer: ScriptedIssuer;
  readonly server: ProtectedServer;
  readonly store: OpenStore;
  readonly client: McpClient;
  /** Opens another client, with an `oauth` of its own. */
  open(store: TokenStore, options?: OAuthOptions): Promise<McpClient>;
}

/** A client that has signed in, and knows the id under which it is registered. */
async function signedIn(): Promise<World> {
  const issuer = await ScriptedIssuer.start();
  const server = await ProtectedServer.behind([issuer]);
  issuer.clients.set("app", {});
  const open = async (store: TokenStore, options: OAuthOptions = {}): Promise<McpClient> => {
    const auth = oauth({ clientId: "app", store, open: signInByFetch, ...options });
    const client = await connect(server.url, { auth });
    onTestFinished(() => client.close());
    return client;
  };
  const store = new OpenStore();
  const client = await open(store);
  return { issuer, server, store, client, open };
}

/** The two ways in which a client finds that its access token is of no use, and how often the server sees it then. */
const spoilt: readonly (readonly [string, (issuer: ScriptedIssuer) => void, number])[] = [
  ["has expired", () => passSeconds(400), 0],
  ["the server refuses", (issuer) => issuer.forgetAccessTokens(), 1],
];

describe.each(spoilt)("a token that %s", (_why, spoil, refusals) => {
  test("is refreshed once for all calls of two oauth() that share a store", async () => {
    const { issuer, store, client, open } = await signedIn();
    const other = await open(store);
    issuer.asked.length = 0;
    spoil(issuer);
    const clients = [client, other].flatMap((each) => Array.from({ length: 20 }, () => each));
    await Promise.all(clients.map((each) => each.callTool("whoami")));
    expect(issuer.grantsAsked).toEqual(["refresh_token"]);
  });

  test.each([
    ["500", () => ({ status: 500 })],
    ["no JSON", () => ({ body: "Try again" })],
    ["invalid_grant", () => refusal("invalid_grant")],
    ["invalid_client", () => refusal("invalid_client", 401)],
    ["a connection that is cut", undefined],
  ] as const)("gives way to a newer one that came while its refresh failed: %s", async (_how, answer) => {
    const { issuer, server, store, client, open } = await signedIn();
    const old = server.credentials.at(-1);
    const elsewhere = new OpenStore();
    await open(elsewhere);
    spoil(issuer);
    // A refresh by other code, which puts its tokens into the client's store.
    const newer = await open(elsewhere);
    await newer.callTool("whoami");
    const text = await elsewhere.tokens;
    issuer.asked.length = server.asked.length = 0;
    issuer.answers["/token"] = async () => {
      await store.overwrite(text);
      return answer?.() ?? { status: 200, headers: { "content-length": "5" } };
    };
    await client.callTool("whoami");
    expect(await store.tokens).toBe(text);
    expect(issuer.grantsAsked).toEqual(["refresh_token"]);
    expect(issuer.of("/authorize")).toEqual([]);
    expect(server.credentials.filter((each) => each === old)).toHaveLength(refusals);
  });

  test("is kept while its refresh fails, and refreshed when that works again", async () => {
    const { issuer, store, client } = await signedIn();
    const before = await store.tokens;
    spoil(issuer);
    issuer.answers["/token"] = { status: 503 };
    await expect(client.callTool("whoami")).rejects.toThrow("503");
    expect(await store.tokens).toBe(before);
    issuer.asked.length = 0;
    delete issuer.answers["/token"];
    await client.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["refresh_token"]);
  });

  test("leads to one sign-in if its refresh token is dead", async () => {
    const { issuer, client } = await signedIn();
    spoil(issuer);
    issuer.forgetRefreshTokens();
    issuer.asked.length = 0;
    await Promise.all(Array.from({ length: 10 }, () => client.callTool("whoami")));
    expect(issuer.grantsAsked).toEqual(["refresh_token", "authorization_code"]);
  });

  test("is not lost if the store cannot take the new one, which is stored later", async () => {
    const { issuer, store, client, open } = await signedIn();
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    store.isFull = true;
    spoil(issuer);
    issuer.asked.length = 0;
    await client.callTool("whoami");
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining("are only kept in memory: Error: The disk is full")],
    ]);
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["refresh_token", "refresh_token"]);
    store.isFull = false;
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    const other = await open(store);
    await other.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["refresh_token", "refresh_token", "refresh_token"]);
  });
});

test("tokens that are born expired are refreshed once in a while, not for ever", async () => {
  const { issuer, client } = await signedIn();
  issuer.token = { expires_in: 0 };
  passSeconds(400);
  issuer.asked.length = 0;
  for (let calls = 0; calls < 10; calls += 1) await client.callTool("whoami");
  expect(issuer.grantsAsked).toEqual(["refresh_token"]);
});
