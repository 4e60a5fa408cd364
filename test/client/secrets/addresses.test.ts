// Addresses in errors, events and logs: without credentials, query and fragment.
import { connect, type ClientEvent } from "halyard/client";
import { oauth } from "halyard/client/oauth";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Asked,
  failing,
  HttpScript,
  newestLegacy,
  newestModern,
  quick,
} from "../../support/http-script.ts";
import { Web } from "../oauth/support/web.ts";
import { shownBy } from "./echoes.ts";

const key = "q8Zx4kTw2Jm5rVd0";

describe.each([newestModern, newestLegacy])("the address of the server on %s", (revision) => {
  test.each<[string, (asked: Asked) => unknown]>([
    ["a refusal", ({ refuse }) => refuse(500, "no")],
    ["a refusal of credentials", ({ refuse }) => refuse(401, "no")],
    ["a lost connection", ({ socket }) => socket.destroy()],
    ["a gateway's loss", ({ refuse }) => refuse(504)],
    [
      "another type of content",
      ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    ],
    ["no response", ({ refuse }) => refuse(202)],
    ["a redirect to itself", ({ refuse, path }) => refuse(307, "", { location: path })],
    [
      "a redirect elsewhere",
      ({ refuse, path }) => refuse(307, "", { location: `https://other.example.com${path}#${key}` }),
    ],
    [
      "a redirect with a password",
      ({ refuse }) => refuse(307, "", { location: `https://ann:${key}@other.example.com/` }),
    ],
    ["a redirect to no URL", ({ refuse, path }) => refuse(307, "", { location: `http://[${path}` })],
    ["too much", ({ result }) => result({ a: "x".repeat(3000) })],
  ])("is shown without its query after %s", async (_, script) => {
    const server = await HttpScript.open(revision);
    const events: ClientEvent[] = [];
    const client = await connect(`${server.url}?apiKey=${key}`, {
      revision,
      backoff: { ...quick, maxAttempts: 1 },
      limits: { maxBytes: 2000 },
      observe: (event) => events.push(event),
    });
    onTestFinished(() => client.close());
    server.on("work", script);
    server.on("tools/call", script);
    const errors = [
      await failing(client.request("work")),
      await failing(client.listen({ resources: ["a:b"] })),
    ];
    for (const error of errors) expect(shownBy(error)).not.toContain(key);
    expect(shownBy(errors)).toContain(server.url);
    expect(shownBy(events)).not.toContain(key);
    expect(shownBy(client.state)).not.toContain(key);
  });

  test("is shown without its query if connect fails", async () => {
    const events: ClientEvent[] = [];
    const observe = (event: ClientEvent): void => void events.push(event);
    const server = await HttpScript.open(revision);
    for (const method of ["server/discover", "initialize"]) server.on(method, () => {});
    const silent = connect(`${server.url}?apiKey=${key}`, { revision, connectTimeoutMs: 50, observe });
    const closed = connect(`http://127.0.0.1:9/mcp?apiKey=${key}`, {
      revision,
      backoff: { ...quick, maxAttempts: 1 },
      observe,
    });
    const wrong = connect(`ftp://ann:${key}@example.com/?apiKey=${key}`, { observe });
    for (const error of await Promise.all([silent, closed, wrong].map(failing))) {
      expect(shownBy(error)).not.toContain(key);
      expect(error.message).toMatch(/127\.0\.0\.1|example\.com/);
    }
    expect(shownBy(events)).not.toContain(key);
  });

  test.each([
    ["javascript:alert(1)", "redirects to javascript:…"],
    ["data:text/html,<script>", "redirects to data:…"],
    ["mailto:ann@example.com", "redirects to mailto:…"],
    ["my-app://open/page?code=1", "redirects to my-app://open/page?…"],
  ])("a redirect to %s reads as what it is", async (location, shown) => {
    const server = await HttpScript.open(revision);
    const client = await connect(server.url, { revision, backoff: quick });
    onTestFinished(() => client.close());
    server.on("work", ({ refuse }) => refuse(307, "", { location }));
    const { message } = await failing(client.request("work"));
    expect(message).toContain(`${server.url} ${shown} (307)`);
  });
});

describe("OAuth", () => {
  const server = `https://mcp.example.com/mcp?apiKey=${key}`;
  const issuer = "https://auth.example.com";
  const document = `https://mcp.example.com/.well-known/oauth-protected-resource/mcp?apiKey=${key}`;
  const metadata = `${issuer}/.well-known/oauth-authorization-server`;
  const described = { resource: server, authorization_servers: [issuer] };

  /** Each goes wrong in another way. */
  const webs: Readonly<Record<string, (web: Web) => unknown>> = {
    "no metadata": () => {},
    "metadata that are no object": (web) => (web.places[document] = { body: "[]" }),
    "metadata that are no JSON": (web) => (web.places[document] = { body: "<p>" }),
    "metadata that fail": (web) => (web.places[document] = { status: 500 }),
    "metadata of another resource": (web) => web.describe(document, { ...described, resource: `${server}2` }),
    "metadata without an issuer": (web) =>
      web.describe(document, { ...described, authorization_servers: [] }),
    "an issuer with a query": (web) =>
      web.describe(document, { ...described, authorization_servers: [`${issuer}/?apiKey=${key}`] }),
    "an issuer with a password": (web) =>
      web.describe(document, {
        ...described,
        authorization_servers: [`https://ann:${key}@auth.example.com`],
      }),
    "an issuer without TLS": (web) =>
      web.describe(document, {
        ...described,
        authorization_servers: [`http://auth.example.com/?apiKey=${key}`],
      }),
    "an issuer that is not there": (web) => web.describe(document, described),
    "an issuer of another name": (web) =>
      web.describe(document, described).issue(metadata, `${issuer}/?apiKey=${key}`),
    "a redirect": (web) =>
      (web.places[document] = { status: 302, headers: { location: `https://a.example.com/?apiKey=${key}` } }),
  };

  test.each(Object.entries(webs))("shows addresses without their query: %s", async (_, spoil) => {
    const web = new Web(server);
    spoil(web);
    const events: ClientEvent[] = [];
    const { fetch } = web;
    const auth = oauth({ fetch, open: () => {} });
    const error = await failing(
      connect(server, { auth, fetch, backoff: quick, observe: (event) => events.push(event) }),
    );
    expect(error["code"]).toBe("OAUTH");
    expect(shownBy(error)).not.toContain(key);
    expect(shownBy(events)).not.toContain(key);
  });
});
