// Requests that wait until a person has visited an address: what the client shows meanwhile, and what ends the wait.
import { HalyardError } from "halyard";
import {
  type AuthRefusal,
  CallTimeout,
  type ClientAuth,
  type ClientEvent,
  connect,
  type ConnectOptions,
  type McpClient,
} from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../../support/clock.ts";
import { failing, HttpScript, newestLegacy, newestModern, quick, start } from "../../support/http-script.ts";
import { deferred, until } from "../../support/turns.ts";

const page = "https://login.example.com/authorize?client_id=1&state=2";
/** As reasons and errors show it: `url` of the state has the query. */
const shownPage = "https://login.example.com/authorize?…";

/** Credentials that a person must obtain: `signIn` is what the person does. */
class Person implements ClientAuth {
  readonly refusals: AuthRefusal[] = [];
  token: string;
  #asked = deferred<AuthRefusal>();
  #visited = deferred<boolean>();

  constructor(token = "good") {
    this.token = token;
  }

  /** The first refusal; after a sign-in, the first one since. */
  get asked(): Promise<AuthRefusal> {
    return this.#asked.promise;
  }

  headers(): Record<string, string> {
    return { authorization: this.token };
  }

  async refused(refusal: AuthRefusal): Promise<boolean> {
    this.refusals.push(refusal);
    this.#asked.resolve(refusal);
    return this.#visited.promise;
  }

  signIn(token = "good"): void {
    this.token = token;
    this.#visited.resolve(true);
    this.#asked = deferred();
    this.#visited = deferred();
  }

  /** From now on, each sign-in fails. */
  fail(reason: Error): void {
    this.refused = async (refusal) => {
      this.refusals.push(refusal);
      throw reason;
    };
  }
}

/** Refuses every token but "good". */
function guard(server: HttpScript, ...methods: string[]): void {
  for (const method of methods)
    server.on(method, ({ headers, refuse, result }) =>
      headers.authorization === "good" ? result({ a: 1 }) : refuse(401),
    );
}

const states = (events: readonly ClientEvent[]): object[] =>
  events.flatMap((event) => (event.type === "state" ? [event.state] : []));

describe.each([newestModern, newestLegacy])("on %s", (revision) => {
  test("the state names the address to visit as soon as it is known, until somebody has signed in", async () => {
    const auth = new Person();
    const { server, client } = await start({ revision, auth });
    guard(server, "work");
    const heard: object[] = [];
    client.on("state", (state) => heard.push(state));
    auth.token = "old";
    const working = client.request("work");
    const { prompt } = await auth.asked;
    expect(client.state).toEqual({ name: "needs-auth", reason: "Waiting for credentials" });
    prompt(page);
    prompt(page);
    const waiting = { name: "needs-auth", reason: `Sign in at ${shownPage}`, url: page };
    expect(client.state).toEqual(waiting);
    auth.signIn();
    expect(await working).toMatchObject({ a: 1 });
    expect(heard).toEqual([
      { name: "needs-auth", reason: "Waiting for credentials" },
      waiting,
      { name: "ready", reason: "No longer waiting for credentials" },
    ]);
    prompt("https://login.example.com/late");
    expect(client.state.name).toBe("ready");
  });

  test("the address stays as long as one of several calls waits, whichever heard of it", async () => {
    const auth = new Person();
    const { server, client } = await start({ revision, auth });
    guard(server, "work");
    auth.token = "old";
    const abort = new AbortController();
    const first = client.request("work", {}, { signal: abort.signal }).catch((reason: unknown) => reason);
    const { prompt, signal } = await auth.asked;
    const second = client.request("work");
    await server.next("work", 2);
    await until(() => auth.refusals.length === 2);
    abort.abort("enough");
    expect(await first).toBe("enough");
    expect(signal.aborted).toBe(true);
    prompt(page);
    expect(client.state).toMatchObject({ name: "needs-auth", url: page });
    auth.signIn();
    await second;
    expect(client.state.name).toBe("ready");
  });
});

test("before connect resolves, observe hears the address", async () => {
  const server = await HttpScript.open();
  server.on("server/discover", ({ headers, refuse, result }) =>
    headers.authorization === "good"
      ? result({ supportedVersions: [newestModern], capabilities: {} })
      : refuse(401),
  );
  const auth = new Person("old");
  const events: ClientEvent[] = [];
  const connecting = connect(server.url, { backoff: quick, auth, observe: (event) => events.push(event) });
  const { prompt } = await auth.asked;
  prompt(page);
  auth.signIn();
  const client = await connecting;
  onTestFinished(() => client.close());
  expect(states(events)).toEqual([
    { name: "connecting", reason: `Connecting to ${server.url}` },
    { name: "needs-auth", reason: "Waiting for credentials" },
    { name: "needs-auth", reason: `Sign in at ${shownPage}`, url: page },
    { name: "connecting", reason: "No longer waiting for credentials" },
    { name: "ready", reason: "Connected" },
  ]);
});

describe("time", () => {
  /** Connects to a server that takes only "good", without a network; the test moves the clocks. */
  function open(auth: Person, options: ConnectOptions = {}): Promise<McpClient> {
    holdClocks("setTimeout", "clearTimeout");
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      if (new Headers(init?.headers).get("authorization") !== "good")
        return new Response("", { status: 401 });
      const { method, id } = JSON.parse(String(init?.body)) as { method: string; id: number };
      const isProbe = method === "server/discover";
      const result = isProbe ? { supportedVersions: [newestModern], capabilities: {} } : { a: 1 };
      return Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } });
    };
    return connect("https://mcp.example.com/mcp", {
      auth,
      fetch: fetch as typeof globalThis.fetch,
      ...options,
    });
  }

  test("of connect stands still while a person signs in, and runs anew afterwards", async () => {
    const auth = new Person("old");
    const connecting = failing(open(auth, { connectTimeoutMs: 1000 }));
    const { prompt } = await auth.asked;
    await vi.advanceTimersByTimeAsync(900);
    prompt(page);
    await vi.advanceTimersByTimeAsync(3_600_000);
    auth.signIn("neither");
    const { signal } = await auth.asked;
    await vi.advanceTimersByTimeAsync(999);
    expect(signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await connecting).toMatchObject({ code: "TIMEOUT", limit: "connectTimeoutMs" });
  });

  test("of connect runs while nobody has named an address", async () => {
    const auth = new Person("old");
    const connecting = failing(open(auth, { connectTimeoutMs: 1000 }));
    await auth.asked;
    await vi.advanceTimersByTimeAsync(1000);
    expect(await connecting).toMatchObject({ code: "TIMEOUT", limit: "connectTimeoutMs" });
  });

  test("of a call continues, and its end says who was waited for", async () => {
    const auth = new Person();
    const client = await open(auth);
    onTestFinished(() => client.close());
    auth.token = "old";
    const calls = [
      client.request("work", {}, { timeoutMs: 1000 }),
      client.request("work", {}, { timeoutMs: 5000, maxTimeMs: 1000 }),
    ].map(failing);
    const { prompt } = await auth.asked;
    prompt(page);
    await vi.advanceTimersByTimeAsync(1000);
    for (const error of await Promise.all(calls)) {
      expect(error).toBeInstanceOf(CallTimeout);
      expect(error.message).toContain(`waiting for a user to sign in at ${shownPage}: raise`);
    }
    expect(client.state).toMatchObject({ name: "ready" });
    expect(client.state.url).toBeUndefined();
  });
});

test("an abort ends connect with its reason, while it waits for a person", async () => {
  const server = await HttpScript.open();
  server.on("server/discover", ({ refuse }) => refuse(401));
  const auth = new Person("old");
  const abort = new AbortController();
  const connecting = failing(connect(server.url, { backoff: quick, auth, signal: abort.signal }));
  const { prompt, signal } = await auth.asked;
  prompt(page);
  abort.abort("enough");
  expect(await connecting).toBe("enough");
  expect(signal.aborted).toBe(true);
});

describe.each([newestModern, newestLegacy])("the end of a client of %s", (revision) => {
  test("ends the wait of all calls at once, and asks nobody to sign in", async () => {
    const auth = new Person();
    const { server, client } = await start({ revision, auth });
    guard(server, "work");
    server.on("DELETE", ({ refuse }) => refuse(401));
    auth.token = "old";
    const calls = [client.request("work"), client.request("work")].map(failing);
    await until(() => auth.refusals.length === 2);
    auth.refusals[0]?.prompt(page);
    await client.close();
    for (const error of await Promise.all(calls))
      expect(error).toMatchObject({ code: "CONNECTION_LOST", reason: "closed" });
    expect(auth.refusals.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(client.state).toEqual({ name: "closed", reason: "You closed the client" });
    expect(server.of("DELETE")).toHaveLength(revision === newestLegacy ? 1 : 0);
  });
});

test("a client whose session is gone does not try again when nobody can sign in", async () => {
  const refused = new HalyardError("OAUTH", "The person said no");
  const auth = new Person();
  const { server, client } = await start({ revision: newestLegacy, auth });
  server.on("work", ({ refuse }) => refuse(404));
  server.on("initialize", ({ refuse }) => refuse(401));
  auth.fail(refused);
  expect(await failing(client.request("work"))).toBe(refused);
  expect(auth.refusals).toHaveLength(1);
  expect(client.state).toMatchObject({ name: "needs-auth", reason: "The person said no", error: refused });
});
