// Chromium without a window, and sites for it: each has an origin of its own, and a policy that forbids all but what it names.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, expect, onTestFinished } from "vitest";
import { chromiumPath, hasPrograms } from "./programs.ts";
import { until } from "./turns.ts";

/** Whether tests in a browser run. */
export const hasBrowser: boolean = hasPrograms("chromium");

let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

/** Starts chromium, or uses the one of this test file. */
function startBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("chromium is not installed");
  browser ??= chromium.launch({
    executablePath: chromiumPath,
    // Root cannot use the sandbox; these pages are the tests' own.
    args: ["--no-sandbox"],
    // Popups without a click are blocked, as in the browsers of people.
    ignoreDefaultArgs: ["--disable-popup-blocking"],
  });
  return browser;
}

/** A person's browser: its tabs share what pages store, and nothing with other profiles. */
export interface Profile {
  readonly context: BrowserContext;
  /** Resolves with what pages tried and their policy forbade, once it is so many: the test expects that. */
  takeViolations(count: number): Promise<string[]>;
  /** Opens a page in a tab of its own. */
  open(url: string): Promise<Page>;
}

/** Opens a profile, until the test ends; it fails if a page has violated its policy, or left an exception uncaught. */
export async function openProfile(): Promise<Profile> {
  const context = await (await startBrowser()).newContext();
  const violations: string[] = [];
  const uncaught: string[] = [];
  await context.exposeFunction("reportViolation", (text: string) => void violations.push(text));
  await context.addInitScript(`addEventListener("securitypolicyviolation", (event) =>
    reportViolation(event.effectiveDirective + " " + event.blockedURI))`);
  context.on("weberror", (error) => uncaught.push(String(error.error())));
  /** What pages have reported before they are asked something arrives before the answer. */
  const hearAll = async (): Promise<void> => {
    await Promise.all(context.pages().map((page) => page.title().catch(() => {})));
  };
  onTestFinished(async () => {
    await hearAll();
    await context.close();
    expect({ violations, uncaught }).toEqual({ violations: [], uncaught: [] });
  });
  return {
    context,
    async takeViolations(count) {
      await until(() => violations.length >= count);
      await hearAll();
      return violations.splice(0);
    },
    async open(url) {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
  };
}

export interface SiteOptions {
  /** The script of each page by the path of the page: files of TypeScript. */
  readonly pages: Readonly<Record<string, URL>>;
  /** The origins that its pages may connect to; it can be changed before a page is loaded. */
  readonly connectTo: readonly string[];
}

/** A site whose pages load scripts of their own origin only, and cannot run texts as code. */
export interface Site {
  readonly origin: string;
  connectTo: readonly string[];
}

/** Serves pages, each with nothing but its script, until the test ends. */
export async function serveSite({ pages, connectTo }: SiteOptions): Promise<Site> {
  const scripts = await bundle(Object.values(pages));
  const http = createServer(({ url = "" }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const script = scripts.get(pathname);
    const page = pages[pathname];
    if (script !== undefined) return response.setHeader("content-type", "text/javascript").end(script);
    if (page === undefined) return response.writeHead(404).end();
    response.setHeader("content-security-policy", policyOf(site.connectTo));
    response.setHeader("content-type", "text/html; charset=utf-8").end(htmlOf(scriptOf(page)));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const { port } = http.address() as AddressInfo;
  // Another name than that of the servers: pages are not even of the same site.
  const site: Site = { origin: `http://localhost:${port}`, connectTo };
  return site;
}

function policyOf(connectTo: readonly string[]): string {
  const sources = connectTo.length > 0 ? connectTo.join(" ") : "'none'";
  return `default-src 'none'; script-src 'self'; connect-src ${sources}; frame-ancestors 'none'`;
}

/** Where the script of a page is found in its site. */
function scriptOf(page: URL): string {
  return `/${basename(page.pathname, ".ts")}.js`;
}

function htmlOf(script: string): string {
  return `<!doctype html><title>Test</title><body><script type="module" src="${script}"></script>`;
}

/** Bundles the scripts as pages load them: what they share, and what they load later, in files of their own. */
async function bundle(entries: readonly URL[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: entries.map((entry) => fileURLToPath(entry)),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    write: false,
    outdir: "/",
    entryNames: "[name]",
    logLevel: "error",
  });
  return new Map(outputFiles.map(({ path: file, contents }) => [file, contents]));
}
