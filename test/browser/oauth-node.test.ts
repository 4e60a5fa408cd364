// A person who signs in for a program: it opens chromium, whose buttons the person presses, and listens for them to come back.
import { connect } from "halyard/client";
import { oauth, OAuthError } from "halyard/client/oauth";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { hasBrowser, openProfile } from "../support/browser.ts";
import { ProtectedServer } from "../support/protected-server.ts";

interface Started {
  readonly issuer: AuthorizationServer;
  readonly server: ProtectedServer;
  /** Opens the address in chromium and presses the buttons there. */
  readonly open: (press: (page: Page) => Promise<void>) => (url: string) => Promise<void>;
  /** The tabs that were opened. */
  readonly tabs: Page[];
}

async function start(): Promise<Started> {
  const issuer = await AuthorizationServer.startForTest({ pages: true });
  const server = await ProtectedServer.startForTest({
    authorizationServers: [issuer.issuer],
    requiredScopes: ["notes:read"],
  });
  const profile = await openProfile();
  const tabs: Page[] = [];
  const open = (press: (page: Page) => Promise<void>) => async (url: string) => {
    const page = await profile.open(url);
    tabs.push(page);
    await press(page);
  };
  return { issuer, server, open, tabs };
}

/** The authorization server remembers who has signed in, and only asks what to allow the next time. */
async function agree(page: Page): Promise<void> {
  const title = await page.title();
  if (title === "Sign in") await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Allow" }).click();
}

describe.skipIf(!hasBrowser)("oauth on Node, with a browser", () => {
  test("a person signs in once, comes back to a page that says so, and adds a scope later", async () => {
    const { issuer, server, open, tabs } = await start();
    const client = await connect(server.url, { auth: oauth({ open: open(agree) }) });
    onTestFinished(() => client.close());
    const { content } = await client.callTool("whoami");
    expect(content).toMatchObject([{ text: `alice of ${issuer.issuer}` }]);
    expect(tabs).toHaveLength(1);
    expect(new URL(tabs[0]?.url() ?? "").hostname).toBe("127.0.0.1");
    await tabs[0]?.getByText(/signed in/i).waitFor();
    const noted = await client.callTool("write_note");
    expect(noted.content).toMatchObject([{ text: "Noted" }]);
    expect(tabs).toHaveLength(2);
  });

  test("a person who refuses is told so in the page, and the program gets the reason", async () => {
    const { server, open, tabs } = await start();
    const refuse = (page: Page): Promise<void> => page.getByRole("button", { name: "Cancel" }).click();
    const error = await connect(server.url, { auth: oauth({ open: open(refuse) }) }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(OAuthError);
    expect(error).toMatchObject({ problem: "denied", message: expect.stringContaining("said no") });
    await tabs[0]?.getByText("You are not signed in").waitFor();
    await tabs[0]?.getByText("said no").waitFor();
  });
});
