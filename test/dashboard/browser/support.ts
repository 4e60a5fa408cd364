// A server with a dashboard, clients of both eras connected to it, and a browser that looks at the page.
import { Client as OfficialClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { McpServer, type ServerOptions } from "halyard";
import { connect, type ConnectOptions, type McpClient } from "halyard/client";
import { type Dashboard, dashboard, type DashboardOptions } from "halyard/dashboard";
import { type HttpServer, serveHttp, type ServeHttpOptions } from "halyard/node";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { openProfile } from "../../support/browser.ts";
import { recordingLogger } from "../../support/log.ts";

/** For `describe`: a browser on a busy machine takes its time. */
export const patient = { timeout: 90_000 } as const;

export interface Stage {
  readonly server: McpServer;
  readonly http: HttpServer;
  readonly dashboard: Dashboard;
}

export interface StageOptions {
  readonly define?: (server: McpServer) => void;
  readonly dashboard?: DashboardOptions;
  readonly http?: ServeHttpOptions;
  readonly server?: ServerOptions;
}

/** Serves until the test ends; nothing is printed. */
export async function serveStage(options: StageOptions = {}): Promise<Stage> {
  const page = dashboard({ onOpen: () => {}, ...options.dashboard });
  const server = new McpServer(
    { name: "harbour", version: "1.2.3" },
    { logger: recordingLogger(), ...options.server },
  );
  options.define?.(server);
  const http = await serveHttp(server, { port: 0, graceMs: 50, ...options.http, dashboard: page });
  onTestFinished(() => http.close());
  return { server, http, dashboard: page };
}

/** Connects a client until the test ends. */
export async function joinAs(url: string, name: string, options: ConnectOptions = {}): Promise<McpClient> {
  const client = await connect(url, { info: { name, version: "1.0.0" }, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Connects a client of the official SDK until the test ends. */
export async function joinAsOfficial(url: string, name: string): Promise<OfficialClient> {
  const client = new OfficialClient({ name, version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  return client;
}

/** What a row is found by: a text in any of its columns, or the whole text of one column. */
export type RowText = string | RegExp | readonly [column: string, text: string];

/** The dashboard in a tab. */
export class Screen {
  readonly page: Page;
  /** Dialogs, errors of the console and requests to other origins; the test fails if any are left. */
  readonly troubles: string[] = [];

  constructor(page: Page, origins: readonly string[]) {
    this.page = page;
    page.setDefaultTimeout(20_000);
    page.on("dialog", (dialog) => {
      this.troubles.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      if (message.type() === "error") this.troubles.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith("http") && !origins.includes(origin))
        this.troubles.push(`request: ${request.url()}`);
    });
    onTestFinished(async () => {
      await page.title().catch(() => {});
      expect(this.troubles).toEqual([]);
    });
  }

  /** Opens a view by its address, such as `sessions`. */
  async go(view: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
  }

  /** The rows of a table that have this text, or exactly this text in a column. */
  rows(table: string, wanted: RowText = ""): Locator {
    const rows = this.page.getByRole("table", { name: table, exact: true }).locator("tbody tr");
    if (typeof wanted === "string" || wanted instanceof RegExp) return rows.filter({ hasText: wanted });
    const [column, text] = wanted;
    return rows.filter({
      has: this.page.locator(`td[data-title="${column}"]`).getByText(text, { exact: true }),
    });
  }

  /** What the column of the first such row shows now; empty if there is no such row. */
  async cell(table: string, row: RowText, column: string): Promise<string> {
    const cells = this.rows(table, row).locator(`td[data-title="${column}"]`);
    return ((await cells.allInnerTexts())[0] ?? "").trim();
  }

  /** A figure of the view Now. */
  async figure(name: string): Promise<string> {
    const figures = this.page.getByRole("region", { name: "Figures" }).locator(".stat");
    const texts = await figures.filter({ hasText: name }).locator(".stat-value").allInnerTexts();
    return texts[0] ?? "";
  }
}

/** Opens the page of a dashboard on a view, until the test ends. */
export async function look(stage: Pick<Stage, "dashboard" | "http">, view = "now"): Promise<Screen> {
  return lookAt(stage.dashboard.url ?? "", view, [new URL(stage.http.url).origin]);
}

/** Opens the page at an address with a token. */
export async function lookAt(
  url: string,
  view: string,
  endpoints: readonly string[] = [],
  context?: BrowserContext,
): Promise<Screen> {
  const tabs = context ?? (await openProfile()).context;
  const screen = new Screen(await tabs.newPage(), [new URL(url).origin, ...endpoints]);
  // Only what happens after the first question is seen: the page begins with Now.
  const isLooking = screen.page.waitForResponse((response) => {
    const asked = response.request().postDataJSON() as { readonly ask?: string } | null;
    return asked?.ask === "now" && response.ok();
  });
  await screen.page.goto(url);
  await isLooking;
  await screen.go(view);
  return screen;
}

const byteUnits: Readonly<Record<string, number>> = { B: 1, KB: 1_000, MB: 1_000_000 };

/** The bytes that a text such as `12.3 KB` stands for. */
export function bytesIn(text: string): number {
  const [, figure, unit = ""] = /([\d.]+) (B|KB|MB)$/.exec(text) ?? [];
  return Number(figure ?? Number.NaN) * (byteUnits[unit] ?? Number.NaN);
}

/** The milliseconds that a text such as `12.3 ms` or `1.20 s` stands for. */
export function msIn(text: string): number {
  const [, figure, unit] = /^([\d.]+) (µs|ms|s)$/.exec(text) ?? [];
  return Number(figure ?? Number.NaN) * ({ µs: 0.001, s: 1_000 }[unit ?? ""] ?? 1);
}
