// The pictures of docs/guides/why-silent.md: examples/silence, as a reader sees it who takes the steps of the guide.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Camera, follow } from "./camera.ts";

const program = fileURLToPath(new URL("../../examples/silence/main.ts", import.meta.url));

export async function takeSilence(camera: Camera): Promise<void> {
  const child = spawn(process.execPath, ["--import", "tsx", program], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let printed = "";
    for await (const text of child.stdout.setEncoding("utf8")) {
      printed += String(text);
      const url = /^http.*#token=.*$/m.exec(printed)?.[0];
      if (url !== undefined) return await takeSteps(camera, url);
    }
    throw new Error(`${program} ended without an address of its dashboard`);
  } finally {
    child.kill();
  }
}

async function takeSteps(camera: Camera, url: string): Promise<void> {
  const take = (file: string, path: string, height: number, shot: object = {}): Promise<void> =>
    camera.take(url, {
      file: `silence-${file}`,
      path,
      size: { width: 1280, height },
      theme: "light",
      ...shot,
    });
  const page = await camera.look(url, "sessions");
  await follow(page, "forgets-its-place");
  await sleep(36_000);
  await take("5-timeline", "sessions", 560, {
    prepare: (opened: typeof page) => follow(opened, "forgets-its-place"),
  });
  await take("1-refusals", "now", 560);
  await take("1-sessions", "sessions", 330);
  await take("2-streams", "streams", 450);
  await take("3-topics", "topics", 300);
  await take("4-pushes", "topics", 200, {
    prepare: (opened: typeof page) => opened.getByRole("searchbox").fill("berth:///5"),
  });
}
