// Requests that wait until a person has visited an address: what the client shows meanwhile, and what ends the wait.
import { type AuthRefusal, type ClientAuth, type ClientEvent, connect } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { HttpScript, newestLegacy, newestModern, quick, start } from "../../support/http-script.ts";
import { deferred, until } from "../../support/turns.ts";

const page = "https://login.example.com/authorize?client_id=1&state=2";

/** Credentials that a person must obtain: `signIn` is what the person does. */
class Person implements ClientAuth {
  readonly refusals: AuthRefusal[] = [];
  token: string;
  readonly #asked = deferred<AuthRefusal>();
  readonly #visited = deferred<boolean>();

  constructor(token = "good") {
    this.token = token;
  }

  /** The first refusal. */
  get asked(): Promise<AuthRefusal> {
    return this.#asked.promise;
  }

  headers(): Record<string, string> {
    return { authorization: this.token };
  }

  refused(refusal: AuthRefusal): Promise<boolean> {
    this.refusals.push(refusal);
    this.#asked.resolve(refusal);
    return this.#visited.promise;
  }

  signIn(token = "good"): void {
    this.token = token;
    this.#visited.resolve(true);
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
    const waiting = { name: "needs-auth", reason: `Sign in at ${page}`, url: page };
    expect(client.state).toEqual(waiting);
    auth.signIn();
    expect(await working).toMatchObject({ a: 1 });
    expect(heard).toEqual([
      { name: "needs-auth", reason: "Waiting for credentials" },
      waiting,
      { name: "ready", reason: "The credentials were obtained" },
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
    { name: "needs-auth", reason: `Sign in at ${page}`, url: page },
    { name: "connecting", reason: "The credentials were obtained" },
    { name: "ready", reason: "Connected" },
  ]);
});
