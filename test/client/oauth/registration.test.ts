// How the client is known at an authorization server: registered by hand, by the address of its metadata, or by itself.
import { memoryStore, oauth, type OAuthOptions } from "halyard/client/oauth";
import { describe, expect, test } from "vitest";
import { ProtectedServer } from "../../support/protected-server.ts";
import { refusal, ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { failure, open, person } from "./support/person.ts";

const documentUrl = "https://app.example/client.json";

/** An issuer and a server that it protects; the issuer knows a client that was registered by hand. */
async function start(): Promise<{ issuer: ScriptedIssuer; server: ProtectedServer }> {
  const issuer = await ScriptedIssuer.start();
  issuer.clients.set("by-hand", {});
  return { issuer, server: await ProtectedServer.behind([issuer]) };
}

const clientAsked = (issuer: ScriptedIssuer): (string | undefined)[] =>
  issuer.of("/authorize").map(({ params }) => params["client_id"]);

describe("the id of the client", () => {
  const cimd = { client_id_metadata_document_supported: true };
  const rows: readonly [string, OAuthOptions, Record<string, unknown>, RegExp, number][] = [
    [
      "that was registered by hand comes first [REG-ORDER, REG-PREREG]",
      { clientId: "by-hand", clientMetadataUrl: documentUrl },
      cimd,
      /^by-hand$/,
      0,
    ],
    [
      "is the address of its metadata where that is supported [REG-ORDER, REG-CIMD-SUPPORT]",
      { clientMetadataUrl: documentUrl },
      cimd,
      /^https:\/\/app\.example\/client\.json$/,
      0,
    ],
    [
      "is registered where addresses are not supported [REG-ORDER, REG-CIMD-CHECK]",
      { clientMetadataUrl: documentUrl },
      {},
      /^client-\d/,
      1,
    ],
    ["is registered where there is no other [REG-OBTAIN]", {}, cimd, /^client-\d/, 1],
  ];

  test.each(rows)("%s", async (_, options, metadata, id, registrations) => {
    const { issuer, server } = await start();
    issuer.metadata = metadata;
    const client = await open(server, person(options));
    expect(await client.callTool("whoami")).toMatchObject({
      content: [{ text: `alice of ${issuer.issuer}` }],
    });
    expect(clientAsked(issuer)).toEqual([expect.stringMatching(id)]);
    expect(issuer.of("/register")).toHaveLength(registrations);
  });

  test("that cannot be obtained in any way fails with what to do, before anything is opened [REG-OBTAIN, REG-ORDER]", async () => {
    const { issuer, server } = await start();
    issuer.metadata = { registration_endpoint: undefined };
    const { problem, message } = await failure(open(server));
    expect(problem).toBe("registration");
    expect(message).toContain(issuer.issuer);
    expect(message).toContain("clientId");
    expect(issuer.of("/authorize")).toEqual([]);
  });

  test.each(["http://app.example/client.json", "https://app.example", "https://app.example/", "client.json"])(
    "cannot be the address %s [REG-CIMD-HTTPS]",
    (clientMetadataUrl) => {
      expect(() => oauth({ clientMetadataUrl })).toThrow(
        /clientMetadataUrl must be an https URL with a path/,
      );
    },
  );
});

describe("a client that registers itself", () => {
  test("says that it is native, where it is sent back to, and that it refreshes [REG-DCR-APPTYPE, REG-DCR-APPTYPE-VALUE, REG-DCR-SHOULD, CL-REDIRECT-REGISTERED, CL-REFRESH-GRANT]", async () => {
    const { issuer, server } = await start();
    await open(server, person({ clientName: "Notes of Alice" }));
    const [asked] = issuer.of("/authorize");
    expect(issuer.of("/register")[0]?.json).toEqual({
      client_name: "Notes of Alice",
      application_type: "native",
      redirect_uris: [asked?.params["redirect_uri"]],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
  });

  test("fails with what the authorization server said about its redirect URI [REG-DCR-FAILURE]", async () => {
    const { issuer, server } = await start();
    const body = { error: "invalid_redirect_uri", error_description: "http is not allowed here" };
    issuer.answers["/register"] = { status: 400, body };
    const { problem, message } = await failure(open(server));
    expect(problem).toBe("registration");
    expect(message).toMatch(/\/register .*http:\/\/127\.0\.0\.1:\d+\/callback.*invalid_redirect_uri/);
    expect(message).toContain("http is not allowed here");
    expect(issuer.of("/authorize")).toEqual([]);
  });

  test.each([
    { client_secret: "" },
    { client_secret: 5 },
    { client_secret: "s", client_secret_expires_at: "never" },
    { client_secret: "s", client_secret_expires_at: -1 },
    { client_secret: "s", client_secret_expires_at: undefined },
  ])("may be told what makes no sense: %j", async (odd) => {
    const { issuer, server } = await start();
    issuer.registration = odd;
    const client = await open(server);
    expect(await client.callTool("whoami")).toMatchObject({ content: [{ type: "text" }] });
  });

  test("does so once for all servers of an authorization server, and for every process that shares the store [REG-BIND-ISSUER]", async () => {
    const { issuer, server } = await start();
    const second = await ProtectedServer.behind([issuer], { path: "/other" });
    const store = memoryStore();
    await open(server, person({ store }));
    await open(second, person({ store }));
    expect(issuer.of("/register")).toHaveLength(1);
    expect(new Set(clientAsked(issuer)).size).toBe(1);
    expect(clientAsked(issuer)).toHaveLength(2);
  });

  test("does so again when the authorization server has forgotten it [REG-OBTAIN]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    issuer.clients.clear();
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    expect(issuer.of("/register")).toHaveLength(2);
  });

  test("does so again when its secret has expired [REG-OBTAIN]", async () => {
    const { issuer, server } = await start();
    issuer.metadata = { token_endpoint_auth_methods_supported: ["client_secret_basic"] };
    issuer.registration = { client_secret_expires_at: 1 };
    issuer.token = { refresh_token: undefined };
    const client = await open(server);
    issuer.registration = {};
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    expect(issuer.of("/register")).toHaveLength(2);
    expect(new Set(clientAsked(issuer)).size).toBe(2);
  });
});

describe("credentials belong to their authorization server", () => {
  test("each one sees only its own client, secret and tokens [REG-BIND-ISSUER, CL-AS-SEPARATE-STATE]", async () => {
    const issuers = [await ScriptedIssuer.start(), await ScriptedIssuer.start()];
    const auth = person();
    for (const issuer of issuers) {
      issuer.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
      const client = await open(await ProtectedServer.behind([issuer]), auth);
      issuer.forgetAccessTokens();
      await client.callTool("whoami");
    }
    for (const [own, other] of [issuers, issuers.toReversed()] as [ScriptedIssuer, ScriptedIssuer][]) {
      expect(own.grantsAsked).toEqual(["authorization_code", "refresh_token"]);
      expect(JSON.stringify(own.asked)).not.toContain(`of-${new URL(other.issuer).port}`);
    }
  });

  test("a server that moves to another authorization server gets nothing of the old one there [REG-NO-REUSE, CL-AS-SEPARATE-STATE]", async () => {
    const [first, second] = [await ScriptedIssuer.start(), await ScriptedIssuer.start()];
    const server = await ProtectedServer.behind([first, second]);
    server.announce(first.issuer);
    const client = await open(server);
    server.announce(second.issuer);
    first.forgetAccessTokens();
    expect(await client.callTool("whoami")).toMatchObject({
      content: [{ text: `alice of ${second.issuer}` }],
    });
    expect(first.grantsAsked).toEqual(["authorization_code"]);
    expect(second.of("/register")).toHaveLength(1);
    expect(second.grantsAsked).toEqual(["authorization_code"]);
    expect(JSON.stringify(second.asked)).not.toContain(`of-${new URL(first.issuer).port}`);
  });

  test("the address of its metadata is the same everywhere, without another registration [REG-CIMD-PORTABLE]", async () => {
    const [first, second] = [await ScriptedIssuer.start(), await ScriptedIssuer.start()];
    first.metadata = second.metadata = { client_id_metadata_document_supported: true };
    const server = await ProtectedServer.behind([first, second]);
    server.announce(first.issuer);
    const client = await open(server, person({ clientMetadataUrl: documentUrl }));
    server.announce(second.issuer);
    first.forgetAccessTokens();
    await client.callTool("whoami");
    expect([...clientAsked(first), ...clientAsked(second)]).toEqual([documentUrl, documentUrl]);
    expect([...first.of("/register"), ...second.of("/register")]).toEqual([]);
    // The refresh token stays where it came from, although the client has the same name.
    expect(second.grantsAsked).toEqual(["authorization_code"]);
  });

  test("a client that was registered by hand is not shown to another authorization server [REG-PREREG-MISMATCH, REG-BIND-ISSUER]", async () => {
    const { issuer, server } = await start();
    const home = "https://auth.example.com";
    const auth = person({ clientId: "by-hand", clientSecret: "kept", issuer: home });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("issuer");
    expect(message).toContain(issuer.issuer);
    expect(message).toContain(home);
    expect(JSON.stringify(issuer.asked)).not.toMatch(/by-hand|kept/);
  });

  test("a client that was registered by hand stays with the first authorization server that it was used at [REG-PREREG-MISMATCH, REG-NO-REUSE]", async () => {
    const { issuer: first, server } = await start();
    const second = await ScriptedIssuer.start();
    const client = await open(server, person({ clientId: "by-hand" }));
    server.announce(second.issuer);
    first.forgetAccessTokens();
    const { problem, message } = await failure(client.callTool("whoami"));
    expect(problem).toBe("issuer");
    expect(message).toContain(first.issuer);
    expect(message).toContain(second.issuer);
    expect(JSON.stringify(second.asked)).not.toContain("by-hand");
  });

  test("a client that the authorization server refuses fails with its name [REG-PREREG]", async () => {
    const { issuer, server } = await start();
    issuer.answers["/token"] = refusal("invalid_client", 401);
    const auth = person({ clientId: "by-hand", clientSecret: "wrong", issuer: issuer.issuer });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("denied");
    expect(message).toContain("invalid_client");
    expect(message).toContain(issuer.issuer);
  });
});
