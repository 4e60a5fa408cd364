// The conformance fixture in a process of its own.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Everything {
  /** Where its endpoint is. */
  readonly url: string;
  readonly pid: number;
  /** What came on standard error so far. */
  readonly stderr: () => string;
  /** Ends it as an operator would. Resolves to the exit code. */
  stop(): Promise<number | null>;
  /** Ends it as a machine that loses its power. Resolves once it is gone. */
  kill(): Promise<void>;
  /** Halts it, as a machine that hangs. */
  pause(): void;
  resume(): void;
}

/** The command that starts the fixture with these arguments. */
export function everythingCommand(...args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, "--import", "tsx", "examples/everything/main.ts", ...args];
}

/** Starts the fixture over HTTP on a free port, and waits until it is ready. */
export function startEverything(...args: readonly string[]): Promise<Everything> {
  return startReady(everythingCommand("--port", "0", ...args));
}

/** Starts a server that says on standard error where it serves, and waits until it is ready. */
export async function startReady([command, ...rest]: readonly [string, ...string[]]): Promise<Everything> {
  const child = spawn(command, rest, { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
  let stderr = "";
  const ready = new Promise<string>((resolve) => {
    let isReady = false;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      const url = isReady ? undefined : /^Serving on (\S+)$/m.exec(stderr)?.[1];
      if (url === undefined) return;
      isReady = true;
      resolve(url);
    });
  });
  const failed = exited.then((code): never => {
    throw new Error(`The fixture ended with ${String(code)} before it was ready: ${stderr}`);
  });
  // Once it is ready, its end is no failure.
  failed.catch(() => {});
  const url = await Promise.race([ready, failed]);
  const stop = (): Promise<number | null> => {
    child.kill("SIGTERM");
    return exited;
  };
  return {
    url,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    stop,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}
