// Takes the pictures of docs/images/dashboard: every view, wide and narrow, light and dark. `npm run screenshots -- --seconds 60` is
// quicker than the five minutes that fill the plots.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium, type Browser, type Page } from "playwright-core";
import { followed, openScene, type Scene } from "./scene.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "300" },
    only: { type: "string", default: "" },
    into: {
      type: "string",
      default: fileURLToPath(new URL("../../docs/images/dashboard/", import.meta.url)),
    },
  },
});
const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } } as const;
/** Until a view has asked twice. */
const settleMs = 2_500;
const themes = ["light", "dark"] as const;

interface Picture {
  readonly name: string;
  readonly scene: "cluster" | "single";
  readonly path: string;
  /** Does what a person does before the picture is taken. */
  prepare?(page: Page): Promise<unknown>;
}

const pictures: readonly Picture[] = [
  // First, while what happened at sea is still in view.
  { name: "timeline", scene: "single", path: "sessions", prepare: openTimeline },
  { name: "now", scene: "cluster", path: "now" },
  { name: "sessions", scene: "cluster", path: "sessions" },
  { name: "streams", scene: "single", path: "streams" },
  { name: "tools", scene: "cluster", path: "tools" },
  { name: "topics", scene: "single", path: "topics" },
  { name: "try-it", scene: "single", path: "try/unload", prepare: callTool },
];

async function openTimeline(page: Page): Promise<void> {
  await page.getByRole("link", { name: followed }).first().click();
  await page.getByRole("button", { name: "Fit" }).click();
}

async function callTool(page: Page): Promise<void> {
  await page.getByRole("combobox", { name: "berth" }).selectOption("2");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByText("Berth 2 is free").first().waitFor();
}

const browserPath = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((known) => existsSync(known));
if (browserPath === undefined) throw new Error("chromium is not installed: apt install chromium");

mkdirSync(values.into, { recursive: true });
const scenes: Record<Picture["scene"], Scene> = {
  cluster: await openScene(3, 1),
  single: await openScene(1, 2),
};
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
try {
  await watch(browser);
  for (const picture of pictures.filter(({ name }) => name.includes(values.only)))
    await take(browser, picture);
} finally {
  await browser.close();
  await Promise.all(Object.values(scenes).map((scene) => scene.close()));
}
process.exit();

/** Looks for a while, since figures begin when somebody looks, and follows a client at sea. */
async function watch(opened: Browser): Promise<void> {
  const context = await opened.newContext();
  for (const scene of Object.values(scenes)) {
    await openView(await context.newPage(), scene, "now");
    await scene.begin();
  }
  await sleep(Math.max(0, Number(values.seconds) - 30) * 1000);
  const page = await context.newPage();
  await openView(page, scenes.single, "sessions");
  await openTimeline(page);
  await scenes.single.sail();
}

async function take(opened: Browser, { name, scene, path, prepare }: Picture): Promise<void> {
  for (const size of Object.keys(sizes) as (keyof typeof sizes)[]) {
    for (const theme of themes) {
      const context = await opened.newContext({ viewport: sizes[size], colorScheme: theme });
      const page = await context.newPage();
      await openView(page, scenes[scene], path);
      await prepare?.(page);
      await sleep(settleMs);
      const file = `${values.into}/${name}-${size}-${theme}.png`;
      await page.screenshot({ path: file });
      console.log(`${file}: ${Math.round(statSync(file).size / 1024)} KB`);
      await context.close();
    }
  }
}

async function openView(page: Page, { url }: Scene, path: string): Promise<void> {
  await page.goto(url);
  await page.getByRole("navigation").first().waitFor();
  await page.evaluate(`location.hash = "#/${path}"`);
  await sleep(settleMs);
}
