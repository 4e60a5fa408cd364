// An example over HTTP, in a process of its own.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Example {
  readonly url: string;
  /** Ends it as an operator would. Resolves to the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `examples/<name>/server.ts` on a free port, and waits until it says where it is. */
export async function startExample(name: string): Promise<Example> {
  const child = spawn(process.execPath, ["--import", "tsx", `examples/${name}/server.ts`], {
    cwd: root,
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      const found = /^Serving on (\S+)$/m.exec(printed)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exited.then((code) => reject(new Error(`${name} ended with ${String(code)} before it was ready`)));
  });
  return {
    url,
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}
