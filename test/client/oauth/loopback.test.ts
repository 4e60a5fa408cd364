// Signing in on Node: how the address is shown, and the server on loopback that the person comes back to.
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, connect as connectSocket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "halyard/client/oauth";
import { describe, expect, onTestFinished, test } from "vitest";
import { ProtectedServer } from "../../support/protected-server.ts";
import { ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { followRedirects, signInByFetch } from "../../support/sign-in.ts";
import { eventually } from "../../support/turns.ts";
import { backTo, connectAway } from "./support/away.ts";
import { startCommandLine } from "./support/command-line.ts";

async function start() {
  const issuer = await ScriptedIssuer.start();
  return { issuer, server: await ProtectedServer.behind([issuer]) };
}

function redirectUriOf(address: URL): URL {
  return new URL(address.searchParams.get("redirect_uri") ?? "");
}

/** A port on loopback that was free just now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Takes a port until the test ends. */
async function takePort(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
}

function statusOf(url: URL, method: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    sent.on("error", reject).end();
  });
}

describe("the loopback server", () => {
  test("answers with a page that nothing can be loaded into, and is gone afterwards", async () => {
    const { server } = await start();
    const { address, connecting } = await connectAway(server.url);
    const { response, url } = await followRedirects(address);
    await connecting;
    expect(response?.status).toBe(200);
    const page = await response?.text();
    expect(page).toContain("You are signed in");
    expect(page).toContain("You can close this window.");
    expect(Object.fromEntries(response?.headers ?? [])).toMatchObject({
      "content-security-policy": expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'$/),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      connection: "close",
    });
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test.each([
    ["another path", "/favicon.ico", "GET", {}, 404],
    ["the root", "/", "GET", {}, 404],
    ["another method", "", "POST", {}, 405],
    ["HEAD", "", "HEAD", {}, 405],
    ["another host", "", "GET", { host: "rebound.example:80" }, 421],
    ["localhost for 127.0.0.1", "", "GET", { host: "localhost" }, 421],
  ] as const)("takes no answer from a request with %s", async (_, path, method, headers, status) => {
    const { issuer, server } = await start();
    const { address, connecting } = await connectAway(server.url);
    const back = backTo(address, { code: "theirs", iss: issuer.issuer });
    if (path !== "") back.pathname = path;
    expect(await statusOf(back, method, headers)).toBe(status);
    expect(issuer.of("/token")).toEqual([]);
    await signInByFetch(address.href);
    expect((await connecting).state.name).toBe("ready");
  });

  test("listens on 127.0.0.1 only, at a port of its own", async () => {
    const { server } = await start();
    const [one, other] = [await connectAway(server.url), await connectAway(server.url)];
    const [uri, otherUri] = [redirectUriOf(one.address), redirectUriOf(other.address)];
    expect(uri.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(otherUri.port).not.toBe(uri.port);
    const socket = connectSocket(Number(uri.port), "::1");
    const [error] = await once(socket, "error");
    expect(error).toBeInstanceOf(Error);
  });

  test("cuts off connections that ask for nothing when the sign-in is over", async () => {
    const { server } = await start();
    const { address, connecting } = await connectAway(server.url);
    const socket = connectSocket(Number(redirectUriOf(address).port), "127.0.0.1");
    await once(socket, "connect");
    const closed = once(socket, "close");
    await signInByFetch(address.href);
    await connecting;
    await closed;
  });

  test("listens at the redirectUri that you pass, as it is written", async () => {
    const { server } = await start();
    const redirectUri = `http://localhost:${await freePort()}`;
    const { address, connecting } = await connectAway(server.url, { redirectUri });
    expect(address.searchParams.get("redirect_uri")).toBe(redirectUri);
    await signInByFetch(address.href);
    expect((await connecting).state.name).toBe("ready");
  });

  test("fails if the port of redirectUri is taken", async () => {
    const { server } = await start();
    const port = await freePort();
    await takePort(port);
    const failing = connectAway(server.url, { redirectUri: `http://127.0.0.1:${port}/callback` });
    await expect(failing).rejects.toMatchObject({ problem: "sign-in" });
    await expect(failing).rejects.toThrow(/127\.0\.0\.1:\d+ .* leave the port out of redirectUri/s);
  });

  test("serves several sign-ins at once that need the same port", async () => {
    const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
    const [first, second] = [await start(), await start()];
    const one = await connectAway(first.server.url, { redirectUri });
    const other = await connectAway(second.server.url, { redirectUri });
    await signInByFetch(other.address.href);
    expect((await other.connecting).state.name).toBe("ready");
    await signInByFetch(one.address.href);
    expect((await one.connecting).state.name).toBe("ready");
    await expect(fetch(redirectUri)).rejects.toThrow("fetch failed");
  });

  test("uses the registered port again, or another if that is taken", async () => {
    const { issuer, server } = await start();
    const store = memoryStore();
    const ports: string[] = [];
    const signInAgain = async (): Promise<void> => {
      issuer.forgetAccessTokens();
      issuer.forgetRefreshTokens();
      const { address, connecting } = await connectAway(server.url, { store });
      ports.push(redirectUriOf(address).port);
      await signInByFetch(address.href);
      await connecting;
    };
    await signInAgain();
    await signInAgain();
    expect(ports[1]).toBe(ports[0]);
    expect(issuer.of("/register")).toHaveLength(1);
    await takePort(Number(ports[0]));
    await signInAgain();
    expect(ports[2]).not.toBe(ports[0]);
    expect(issuer.of("/register")).toHaveLength(2);
  });
});

describe("a command line", () => {
  /** The address on standard error, once it is there. */
  const printed = (stderr: () => string): Promise<string> =>
    eventually(() => {
      const [address] = /^http.*$/m.exec(stderr()) ?? [];
      if (address === undefined) throw new Error(`No address: ${stderr()}`);
      return address;
    });

  test("prints the address in full with the host of the authorization server, waits, and ends", async () => {
    const { issuer, server } = await start();
    const { stdout, stderr, exited } = startCommandLine(server.url, {});
    const address = await printed(stderr);
    expect(stderr()).toContain(`To sign in at ${new URL(issuer.issuer).host}, visit this address:\n`);
    expect(new URL(address).searchParams.get("code_challenge_method")).toBe("S256");
    await signInByFetch(address);
    expect(await exited).toBe(0);
    expect(stdout()).toBe("ready\n");
  });

  test("ends at once when it has given up, though the person could still sign in", async () => {
    const { server } = await start();
    const { stdout, exited } = startCommandLine(server.url, { givesUp: true });
    expect(await exited).toBe(0);
    expect(stdout()).toMatch(/^http.*\nGave up\n$/);
  });

  test("says that there is no browser where there is no display, and prints the address", async () => {
    const { server } = await start();
    const { stderr, exited } = startCommandLine(server.url, { open: "browser" });
    await signInByFetch(await printed(stderr));
    expect(stderr()).toContain("No browser can be opened here: there is no display. To sign in at");
    expect(await exited).toBe(0);
  });

  test("says that no browser was found, below the address", async () => {
    const { server } = await start();
    const { stderr, exited } = startCommandLine(server.url, { open: "browser" }, { DISPLAY: ":0", PATH: "" });
    await signInByFetch(await printed(stderr));
    expect(await exited).toBe(0);
    expect(stderr()).toMatch(/^http.*\nNo browser can be opened here: .*xdg-open/m);
  });

  test("passes the address to the browser as it is, without a shell [SEC-AUTHURL-NO-SHELL]", async () => {
    const { issuer, server } = await start();
    const folder = mkdtempSync(join(tmpdir(), "browser-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [opened, touched] = [join(folder, "opened"), join(folder, "touched")];
    writeFileSync(
      join(folder, "xdg-open"),
      `#!/bin/sh\nprintf '%s\\n' "$@" > '${opened}.part'\nmv '${opened}.part' '${opened}'\n`,
    );
    chmodSync(join(folder, "xdg-open"), 0o755);
    issuer.metadata = {
      authorization_endpoint: `${issuer.origin}/authorize?a=$(touch\${IFS}${touched})&b=\`touch\${IFS}${touched}\`;touch\${IFS}${touched}`,
    };
    const environment = { DISPLAY: ":0", PATH: `${folder}:${process.env["PATH"]}` };
    const { stderr, exited } = startCommandLine(server.url, { open: "browser" }, environment);
    const address = await printed(stderr);
    await eventually(() => expect(readFileSync(opened, "utf8")).toBe(`${address}\n`));
    expect(existsSync(touched)).toBe(false);
    await signInByFetch(address);
    expect(await exited).toBe(0);
  });
});
