// The examples that sign in, and the first program of the guide, against a real authorization server and a protected server.
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, onTestFinished, test } from "vitest";
import { AuthorizationServer, registered } from "../../support/authorization-server.ts";
import { readBlocks } from "../../support/documents.ts";
import { copyPackage } from "../../support/package-copy.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { signInByFetch } from "../../support/sign-in.ts";
import { eventually } from "../../support/turns.ts";
import { type CommandLine, startProgram } from "./support/command-line.ts";
import { temporaryFolder } from "./support/store-processes.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** The error without the scope. */
const tools = "whoami\n";

async function start(): Promise<{ issuer: AuthorizationServer; server: ProtectedServer }> {
  const issuer = await AuthorizationServer.startForTest();
  const server = await ProtectedServer.startForTest({
    authorizationServers: [issuer.issuer],
    requiredScopes: ["notes:read"],
  });
  return { issuer, server };
}

/** The person visits the address that the program has printed. */
async function signIn(program: CommandLine): Promise<void> {
  const address = await eventually(() => {
    const [found] = /^http\S+$/m.exec(program.stderr()) ?? [];
    expect(found).toBeDefined();
    return found ?? "";
  });
  await signInByFetch(address);
}

async function outcome(program: CommandLine): Promise<{ code: number | null; out: string; err: string }> {
  const code = await program.exited;
  return { code, out: program.stdout(), err: program.stderr() };
}

test("sign-in.ts signs a person in once, lists the tools, and signs out", { timeout: 60_000 }, async () => {
  const { issuer, server } = await start();
  const tokens = join(await temporaryFolder(), "tokens.json");
  const run = (...args: string[]): CommandLine =>
    startProgram(["--import", "tsx", "examples/client/sign-in.ts", "--tokens", tokens, ...args], {}, root);

  const first = run(server.url);
  await signIn(first);
  expect(await outcome(first)).toMatchObject({ code: 0, out: tools });
  expect((await stat(tokens)).mode & 0o777).toBe(0o600);

  expect(await outcome(run(server.url))).toEqual({ code: 0, out: tools, err: "" });
  expect(issuer.asked.get("/auth")).toBe(1);

  expect(await outcome(run("--sign-out", server.url))).toEqual({
    code: 0,
    out: "",
    err: `Signed out of ${server.url}\n`,
  });
  const again = run(server.url);
  await signIn(again);
  expect((await outcome(again)).code).toBe(0);
});

test(
  "sign-in.ts says in one line why nobody could sign in, and how it is used",
  { timeout: 60_000 },
  async () => {
    const { server } = await start();
    server.describeAs({
      resource: "https://other.example/mcp",
      authorization_servers: ["https://a.example"],
    });
    const run = (...args: string[]): CommandLine =>
      startProgram(["--import", "tsx", "examples/client/sign-in.ts", ...args], {}, root);
    const tokens = join(await temporaryFolder(), "tokens.json");
    const failed = await outcome(run("--tokens", tokens, server.url));
    expect(failed).toMatchObject({ code: 1, out: "" });
    expect(failed.err).toMatch(/^Not signed in \(resource\): .*"https:\/\/other\.example\/mcp".*\n$/);
    expect(await outcome(run())).toMatchObject({ code: 1, err: expect.stringMatching(/^Usage: /) });
  },
);

test(
  "service.ts calls a tool with its secret or its key, and says what is missing",
  { timeout: 60_000 },
  async () => {
    const { issuer, server } = await start();
    const run = (environment: Record<string, string>): CommandLine => {
      const args = ["--import", "tsx", "examples/client/service.ts", server.url, "whoami"];
      return startProgram(args, { MCP_ISSUER: issuer.issuer, ...environment }, root);
    };
    const { clientId, clientSecret } = registered.robot;
    const bySecret = run({ MCP_CLIENT_ID: clientId, MCP_CLIENT_SECRET: clientSecret });
    expect(await outcome(bySecret)).toEqual({ code: 0, out: `robot of ${issuer.issuer}\n`, err: "" });

    const byKey = run({
      MCP_CLIENT_ID: registered.keyRobot.clientId,
      MCP_PRIVATE_KEY: await pemOf(issuer.robotKey.jwk),
    });
    expect(await outcome(byKey)).toEqual({ code: 0, out: `key-robot of ${issuer.issuer}\n`, err: "" });

    const wrong = await outcome(run({ MCP_CLIENT_ID: clientId, MCP_CLIENT_SECRET: "guessed" }));
    expect(wrong).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/invalid_client.*\n$/) });
    expect(wrong.err).not.toContain("guessed");
    expect(await outcome(run({}))).toMatchObject({ code: 1, err: expect.stringMatching(/^Usage: /) });
  },
);

test(
  "the first program of docs/guides/signing-in.md does what the guide says",
  { timeout: 60_000 },
  async () => {
    const { issuer, server } = await start();
    const copy = await copyPackage(["oauth4webapi"]);
    onTestFinished(() => copy.remove());
    const [code = ""] = readBlocks("docs/guides/signing-in.md", "ts");
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    const file = join(copy.folder, "sign-in.mjs");
    await writeFile(file, ts.transpileModule(code, { compilerOptions }).outputText);
    const first = startProgram([file, server.url], {}, copy.folder);
    await signIn(first);
    const { out, err } = await outcome(first);
    expect(out).toBe(tools);
    expect(err).toMatch(new RegExp(`^To sign in at .*, visit this address:\n${issuer.issuer}/auth`));
    const second = startProgram([file, server.url], {}, copy.folder);
    expect(await outcome(second)).toEqual({ code: 0, out, err: "" });
  },
);

async function pemOf(jwk: object): Promise<string> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const key = await crypto.subtle.importKey("jwk", jwk, algorithm, true, ["sign"]);
  const bytes = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${bytes}\n-----END PRIVATE KEY-----\n`;
}
