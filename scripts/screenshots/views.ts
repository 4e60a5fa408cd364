// The pictures of every view, wide and narrow, light and dark: those that need nodes of a cluster, those of one node.
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { type Camera, follow, type Shot } from "./camera.ts";
import { followed, openScene, type Scene } from "./scene.ts";

const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } } as const;

type View = Pick<Shot, "path" | "prepare"> & { readonly name: string };

const ofOneNode: readonly View[] = [
  // First, while what happened at sea is still in view.
  { name: "timeline", path: "sessions", prepare: openTimeline },
  { name: "streams", path: "streams" },
  { name: "topics", path: "topics" },
  { name: "try-it", path: "try/unload", prepare: callTool },
];
const ofThreeNodes: readonly View[] = [
  { name: "now", path: "now" },
  { name: "calls", path: "calls" },
  { name: "call", path: "calls", prepare: openFailure },
  { name: "sessions", path: "sessions" },
  { name: "tools", path: "tools" },
];

/** `seconds`: how long clients work before the pictures are taken, which fills the plots. */
export async function takeThreeNodes(camera: Camera, seconds: number): Promise<void> {
  await inScene(await openScene(3, 1), async (scene) => {
    await camera.look(scene.url, "now");
    await scene.begin();
    await sleep(seconds * 1000);
    await takeAll(camera, scene.url, ofThreeNodes);
  });
}

export async function takeOneNode(camera: Camera): Promise<void> {
  await inScene(await openScene(1, 2), async (scene) => {
    const page = await camera.look(scene.url, "sessions");
    await scene.begin();
    await sleep(10_000);
    await openTimeline(page);
    await scene.sail();
    await takeAll(camera, scene.url, ofOneNode);
  });
}

async function inScene(scene: Scene, work: (scene: Scene) => Promise<void>): Promise<void> {
  await work(scene).finally(() => scene.close());
}

async function takeAll(camera: Camera, url: string, views: readonly View[]): Promise<void> {
  for (const { name, ...view } of views) {
    for (const [width, size] of Object.entries(sizes)) {
      for (const theme of ["light", "dark"] as const)
        await camera.take(url, { ...view, file: `${name}-${width}-${theme}`, size, theme });
    }
  }
}

async function openTimeline(page: Page): Promise<void> {
  await follow(page, followed);
  await page.getByRole("button", { name: "Fit" }).click();
}

async function openFailure(page: Page): Promise<void> {
  await page
    .getByRole("table", { name: "Calls" })
    .locator("tbody tr")
    .filter({ hasText: "The chart is torn" })
    .first()
    .click();
  await page.getByRole("region", { name: "Why it failed" }).waitFor();
}

async function callTool(page: Page): Promise<void> {
  await page.getByRole("combobox", { name: "berth" }).selectOption("2");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByText("Berth 2 is free").first().waitFor();
}
