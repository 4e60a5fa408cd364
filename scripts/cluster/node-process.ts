// A node of examples/cluster in a process of its own, whose lines are passed on.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class NodeProcess {
  readonly name: string;
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(name: string, url: string, child: ChildProcess) {
    this.name = name;
    this.url = url;
    this.#child = child;
  }

  /** Starts a node on a free port, and resolves once it serves. `onLine` gets what it prints. */
  static async start(name: string, backplane: string, onLine: (line: string) => void): Promise<NodeProcess> {
    const args = ["examples/cluster/server.ts", "--name", name, "--port", "0", "--backplane", backplane];
    const child = spawn(process.execPath, ["--import", "tsx", ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`Node ${name} ended with ${code} before it was ready`)));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const served = /^Serving on (\S+)$/.exec(line)?.[1];
        if (served === undefined) onLine(line);
        else resolve(served);
      });
    });
    return new NodeProcess(name, url, child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves once the process is gone. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill(signal);
    await gone;
  }
}
