// The page in the hands of others: foreign origins, missing and wrong tokens and frames get nothing, and data never becomes code.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type McpServer, result } from "halyard";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser, openProfile } from "../../support/browser.ts";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { joinAs, look, lookAt, patient, serveStage, type Stage } from "./support.ts";

/** A page of another origin, without any policy of its own. */
async function openForeign(body = ""): Promise<Page> {
  const http = createServer((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8").end(`<!doctype html><body>${body}`);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const { context } = await openProfile();
  const page = await context.newPage();
  await page.goto(`http://localhost:${(http.address() as AddressInfo).port}/`);
  return page;
}

function partsOf({ dashboard: { url = "" } }: Stage): { readonly origin: string; readonly token: string } {
  const { origin, hash } = new URL(url);
  return { origin, token: decodeURIComponent(hash.replace("#token=", "")) };
}

describe.skipIf(!hasBrowser)("strangers", patient, () => {
  test("a page of a foreign origin gets nothing, with or without the token", async () => {
    const stage = await serveStage();
    const { origin, token } = partsOf(stage);
    const page = await openForeign();
    const attempt = (path: string, init: object): Promise<string> =>
      page.evaluate<string>(`fetch(${JSON.stringify(origin + path)}, ${JSON.stringify(init)}).then(
        async (response) => response.status + " " + (await response.text()), (error) => error.name)`);
    const body = JSON.stringify({ ask: "about" });
    const authorization = `Bearer ${token}`;
    const json = { "content-type": "application/json" };
    const attempts = [
      ["/ask", { method: "POST", headers: { ...json, authorization }, body }],
      ["/ask", { method: "POST", headers: json, body }],
      // Requests that a browser sends without asking first.
      ["/ask", { method: "POST", headers: { "content-type": "text/plain" }, body }],
      ["/ask", { method: "POST", mode: "no-cors", body }],
      ["/", {}],
      ["/", { mode: "no-cors" }],
      ["/page.js", { mode: "no-cors" }],
    ] as const;
    for (const [path, init] of attempts) expect(await attempt(path, init)).toBe("TypeError");
    // The same request of the page itself gets an answer, so that it is the origin that matters.
    const own = await look(stage);
    const answered = await own.page.evaluate<number>(
      `fetch("/ask", ${JSON.stringify(attempts[0][1])}).then(({ status }) => status)`,
    );
    expect(answered).toBe(200);
  });

  test("a page that frames it, or loads its files, gets nothing", async () => {
    const { dashboard: page } = await serveStage();
    const url = page.url ?? "";
    const foreign = await openForeign(
      `<iframe src="${url}"></iframe><script src="${new URL("/page.js", url).href}"
        onerror="document.title = 'refused'" onload="document.title = 'loaded'"></script>`,
    );
    await expect.poll(() => foreign.title()).toBe("refused");
    await expect
      .poll(() => foreign.frames().map((frame) => frame.url()))
      .toEqual([foreign.url(), expect.stringMatching(/^chrome-error:/)]);
    const [, framed] = foreign.frames();
    expect(await framed?.locator("nav").count()).toBe(0);
  });

  test("without a token, or with a wrong one, the page shows nothing and says how to get one", async () => {
    const stage = await serveStage();
    const { origin, token } = partsOf(stage);
    const { context } = await openProfile();
    const page = await context.newPage();
    const answers: string[] = [];
    page.on("response", async (response) => {
      if (response.url().endsWith("/ask")) answers.push(`${response.status()} ${await response.text()}`);
    });
    await page.goto(origin);
    await page.getByRole("heading", { name: "This dashboard needs its token" }).waitFor();
    expect(answers).toEqual([]);
    const field = page.getByLabel("Token");
    for (const wrong of ["wrong-token-of-the-right-length-1", `${token}x`]) {
      await field.fill(wrong);
      await page.getByRole("button", { name: "Open the dashboard" }).click();
      await page.getByRole("alert").waitFor();
    }
    await expect.poll(() => answers.length).toBe(2);
    for (const answer of answers) {
      expect(answer).toMatch(/^401 /);
      expect(answer).not.toContain("harbour");
    }
    expect(await page.content()).not.toContain("harbour");
    await field.fill(stage.dashboard.url ?? "");
    await page.getByRole("button", { name: "Open the dashboard" }).click();
    await page.getByRole("navigation", { name: "Views" }).getByText("harbour").waitFor();
    // Another tab of the same browser has no token.
    const other = await context.newPage();
    await other.goto(origin);
    await other.getByRole("heading", { name: "This dashboard needs its token" }).waitFor();
  });
});

describe.skipIf(!hasBrowser)("the token", patient, () => {
  test("leaves the address bar and the history, and travels as a header alone", async () => {
    const stage = await serveStage();
    const { origin, token } = partsOf(stage);
    const { context } = await openProfile();
    const requests: string[] = [];
    context.on("request", (request) => requests.push(`${request.url()} ${request.postData()}`));
    const screen = await lookAt(stage.dashboard.url ?? "", "sessions", [], context);
    const { page } = screen;
    expect(page.url()).toBe(`${origin}/#/sessions`);
    await page.goBack();
    await page.getByRole("heading", { name: "Now" }).waitFor();
    expect(page.url()).toBe(`${origin}/`);
    await page.reload();
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    expect(requests.filter((request) => request.includes(token))).toEqual([]);
    const kept = await page.evaluate<string>("document.cookie + JSON.stringify({ ...localStorage })");
    expect(kept).toBe("{}");
    expect(await page.content()).not.toContain(token);
  });
});

const payloads = {
  script: "<script>alert('script')</script>",
  image: "<img src=x onerror=alert('image')>",
  link: "javascript:alert('link')",
} as const;
const { script, image, link } = payloads;

/** A server all of whose texts would like to run. */
function hostile(server: McpServer): void {
  const input = {
    type: "object",
    title: script,
    properties: {
      [image]: { type: "string", title: image, description: script },
      choice: { enum: [script, image], title: link },
    },
  } as const;
  server.tool("run", { title: script, description: image, input }, async (_, ctx) => {
    const asked = { type: "object", properties: { [image]: { type: "string", title: script } } } as const;
    ctx.progress(1, 2, image);
    await ctx.elicit(script, asked);
    return {
      content: [
        { type: "text", text: script },
        { type: "resource_link", uri: link, name: image, description: script },
        {
          type: "image",
          mimeType: "image/svg+xml",
          data: Buffer.from(`<svg>${script}</svg>`).toString("base64"),
        },
        { type: "resource", resource: { uri: link, mimeType: "text/html", text: image } },
      ],
    } as never;
  });
  server.tool("fail", { title: link }, () => result({ content: `${script} ${image}`, isError: true }));
  server.prompt(image, { description: script }, () => script);
  server.resource(link, { name: image, description: script }, () => image);
}

describe.skipIf(!hasBrowser)("hostile texts", patient, () => {
  test("stay text in every view that shows clients, calls and topics", async () => {
    const stage = await serveStage({ define: hostile });
    const screen = await look(stage);
    const { page } = screen;
    const text = (): Promise<string> => page.getByRole("main").innerText();
    const links = page.locator('a[href^="javascript" i], area, object, embed, iframe, main script, img');
    const names = { [newestModern]: script, [newestLegacy]: image };
    for (const [revision, name] of Object.entries(names)) {
      const client = await joinAs(stage.http.url, name, { revision });
      await client.listen({ resources: [link] });
      await client.callTool("fail");
      await expect(client.request("tools/call", { name: image, arguments: {} })).rejects.toThrow();
      await expect(client.request("prompts/get", { name: script })).rejects.toThrow();
    }
    stage.server.resources.updated(link);
    const shown = {
      now: [script, image],
      sessions: [script, image],
      streams: [script, image],
      tools: [script, image],
      topics: [script, link],
    };
    for (const [view, texts] of Object.entries(shown)) {
      await screen.go(view);
      for (const one of texts) await expect.poll(text).toContain(one);
      expect(await links.count()).toBe(0);
    }
    await screen.go("sessions");
    await page.getByRole("link", { name: script }).first().click();
    await page.getByRole("heading", { name: script }).waitFor();
    // A search comes back to the page, too.
    await screen.go("sessions");
    await page.getByRole("searchbox").fill("<b>nobody</b>");
    await page.getByText("No client matches “<b>nobody</b>”").waitFor();
    expect(await page.locator("main b:text('nobody')").count()).toBe(0);
  });

  test("stay text in a timeline and its messages", async () => {
    const stage = await serveStage({ define: hostile });
    const client = await joinAs(stage.http.url, image, { revision: newestLegacy });
    await client.listen({ resources: [link] });
    const screen = await look(stage, "sessions");
    const { page } = screen;
    await page.getByRole("link", { name: image }).click();
    await page.getByText("followed since").waitFor();
    await client.callTool("fail");
    await expect(client.request("tools/call", { name: script, arguments: { a: image } })).rejects.toThrow();
    stage.server.resources.updated(link);
    const entries = "Newest entries";
    await screen.rows(entries, link).waitFor();
    for (const name of ["fail", script]) {
      await screen.rows(entries, name).click();
      const panel = page.getByRole("complementary", { name: "Entry" });
      await panel.getByText(name, { exact: true }).waitFor();
      await panel.getByRole("button", { name: /^Show messages/ }).click();
      await panel.getByText(image).first().waitFor();
      await page.keyboard.press("Escape");
    }
    expect(await page.locator("main :is(img, script, iframe)").count()).toBe(0);
  });

  test.each([newestModern, newestLegacy])("stay text in Try it as %s", async (revision) => {
    const stage = await serveStage({ define: hostile, dashboard: { tryIt: true } });
    const screen = await look(stage, "try/run");
    const { page } = screen;
    await page.getByLabel("Revision").selectOption(revision);
    await page.getByText(`Connected to harbour 1.2.3, ${revision}`).waitFor();
    const catalogue = page.getByRole("navigation", { name: "Catalogue" });
    for (const one of [script, image, link]) await catalogue.getByText(one).first().waitFor();
    await page.getByRole("heading", { name: script }).waitFor();
    await page.locator("p.description").getByText(image).waitFor();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(script).first().waitFor();
    await dialog.getByRole("button", { name: "Accept" }).click();
    const outcome = page.getByRole("region", { name: "Result" });
    await outcome.getByText("OK", { exact: true }).waitFor();
    for (const one of [script, image, link]) expect(await outcome.innerText()).toContain(one);
    // Only pictures that cannot hold scripts are drawn, and a link leads to the page itself.
    expect(await outcome.locator("img").count()).toBe(0);
    await outcome.getByRole("link", { name: image }).click();
    await page.getByRole("button", { name: "Read", exact: true }).click();
    await outcome.getByText(image).waitFor();
    await screen.go("try/fail");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await outcome.getByText("The tool reports an error").waitFor();
    expect(await outcome.innerText()).toContain(`${script} ${image}`);
    expect(await page.locator('a[href^="javascript" i], main :is(script, iframe, img)').count()).toBe(0);
  });
});
