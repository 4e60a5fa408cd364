// Opens a dashboard in chromium and takes pictures of it.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { withPalette } from "./palette.ts";

/** Until a view has asked twice. */
const settleMs = 2_500;

export interface Shot {
  readonly file: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly theme: "light" | "dark";
  readonly path: string;
  /** Does what a person does before the picture is taken. */
  prepare?(page: Page): Promise<unknown>;
}

export class Camera {
  readonly #browser: Browser;
  readonly #folder: string;

  private constructor(browser: Browser, folder: string) {
    this.#browser = browser;
    this.#folder = folder;
  }

  static async open(folder: string): Promise<Camera> {
    const executablePath = [
      "/usr/bin/chromium",
      "/usr/bin/chromium-browser",
      "/usr/bin/google-chrome",
      "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ].find((known) => existsSync(known));
    if (executablePath === undefined) throw new Error("Chromium is not installed: run apt install chromium");
    mkdirSync(folder, { recursive: true });
    return new Camera(await chromium.launch({ executablePath, args: ["--no-sandbox"] }), folder);
  }

  /** Opens a view and leaves it open, since figures begin with the first look. `url` is the address with the token. */
  async look(url: string, path: string): Promise<Page> {
    return show(await this.#browser.newPage(), url, path);
  }

  async take(url: string, { file, size, theme, path, prepare }: Shot): Promise<void> {
    const context = await this.#browser.newContext({ viewport: size, colorScheme: theme });
    const page = await show(await context.newPage(), url, path);
    await prepare?.(page);
    await sleep(settleMs);
    const picture = withPalette(await page.screenshot());
    writeFileSync(`${this.#folder}/${file}.png`, picture);
    console.log(`${file}.png: ${Math.round(picture.length / 1024)} KB`);
    await context.close();
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

async function show(page: Page, url: string, path: string): Promise<Page> {
  await page.goto(url);
  await page.getByRole("navigation").first().waitFor();
  await page.evaluate(`location.hash = "#/${path}"`);
  await sleep(settleMs);
  return page;
}

/** Follows a client, from the list of sessions. */
export async function follow(page: Page, client: string): Promise<void> {
  await page.getByRole("link", { name: client }).first().click();
}
