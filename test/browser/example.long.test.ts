// The example of a web page, in chromium: it connects, signs a person in and calls a tool.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePorts } from "../deploy/site.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { hasBrowser, openProfile } from "../support/browser.ts";
import { ProtectedServer } from "../support/protected-server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Serves the example on this port; resolves with the address that it prints. */
async function serveExample(port: number, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ["--import", "tsx", "examples/browser/serve.ts", ...args], {
    cwd: root,
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [printed] = (await once(child.stdout, "data")) as [Buffer];
  return /http:\S+/.exec(String(printed))?.[0] ?? "";
}

describe.skipIf(!hasBrowser)("examples/browser", () => {
  test("lists the tools of the notebook, calls one, and hears of another", async () => {
    const [port = 0] = await freePorts(1);
    const page = await (await openProfile()).open(await serveExample(port));
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("Connected to notebook").waitFor();
    await page.getByLabel("Tool").selectOption("search_notes");
    await page.getByLabel("Arguments").fill('{"query":"lemon"}');
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText("note:///groceries").waitFor();
    await page.getByLabel("Arguments").fill("no JSON");
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText("SyntaxError").waitFor();
    const before = await page.getByRole("option").count();
    await page.getByLabel("Tool").selectOption("toggle_feature");
    await page.getByLabel("Arguments").fill("{}");
    await page.getByRole("button", { name: "Call" }).click();
    await expect.poll(() => page.getByRole("option").count()).not.toBe(before);
  });

  test("signs a person in", async () => {
    const [port = 0] = await freePorts(1);
    const issuer = await AuthorizationServer.startForTest({ pages: true, registersPages: true });
    const server = await ProtectedServer.startForTest({
      authorizationServers: [issuer.issuer],
      requiredScopes: ["notes:read"],
      http: { cors: { origins: [`http://localhost:${port}`] } },
    });
    const page = await (await openProfile()).open(await serveExample(port, server.url, issuer.issuer));
    const opened = page.waitForEvent("popup");
    await page.getByRole("button", { name: "Connect" }).click();
    const popup = await opened;
    await popup.getByRole("button", { name: "Sign in" }).click();
    await popup.getByRole("button", { name: "Allow" }).click();
    await page.getByText("Connected to notes").waitFor();
    await page.getByLabel("Tool").selectOption("whoami");
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText(`alice of ${issuer.issuer}`).waitFor();
  });
});
