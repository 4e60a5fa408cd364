// Ends a process and its descendants: first waits, then sends TERM, then KILL; also when this process dies.
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { isWindows, systemProgram } from "./node-program.ts";

/** How long the processes may take to vanish after they are killed. */
const killMs = 1000;

/** The interval between checks whether the processes have ended: the first, and the longest. */
const lookMs = { first: 5, most: 50 };

/** A process and its descendants. Start it with `detached` on POSIX, where its pid is the id of a group that its descendants join. */
export class ProcessTree {
  readonly #root: ChildProcess;

  constructor(root: ChildProcess) {
    this.#root = root;
    if (root.pid !== undefined) watchdog.add(root.pid);
  }

  /** Waits for the tree to end by itself, terminates it after `graceMs`, and kills it after as long again. */
  async end(graceMs: number): Promise<void> {
    const isGone =
      (await this.#isGoneWithin(graceMs)) ||
      (!isWindows() && this.#signal("SIGTERM") && (await this.#isGoneWithin(graceMs)));
    if (!isGone) {
      this.#kill();
      await this.#isGoneWithin(killMs);
    }
    if (this.#root.pid !== undefined) watchdog.remove(this.#root.pid);
  }

  async #isGoneWithin(timeMs: number): Promise<boolean> {
    const deadline = performance.now() + timeMs;
    for (let waitMs = lookMs.first; this.#isAlive(); waitMs = Math.min(2 * waitMs, lookMs.most)) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return false;
      await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, leftMs)));
    }
    return true;
  }

  #isAlive(): boolean {
    const { pid, exitCode, signalCode } = this.#root;
    if (pid === undefined) return false;
    if (exitCode === null && signalCode === null) return true;
    return !isWindows() && this.#signal(0) && hasRunning(pid);
  }

  /** Signals the group. Returns false if the group does not exist. */
  #signal(signal: "SIGTERM" | "SIGKILL" | 0): boolean {
    try {
      return process.kill(-(this.#root.pid ?? 0), signal);
    } catch {
      return false;
    }
  }

  #kill(): void {
    if (!isWindows()) this.#signal("SIGKILL");
    else
      spawn(systemProgram("taskkill.exe"), ["/pid", String(this.#root.pid), "/t", "/f"], {
        stdio: "ignore",
        windowsHide: true,
      }).on("error", () => this.#root.kill("SIGKILL"));
  }
}

/**
 * Whether a process of a group runs. One that has ended stays in its group until its parent or init asks for its exit code, which
 * never happens in a container without an init process. Only Linux shows this: elsewhere such a group counts as running.
 */
function hasRunning(group: number): boolean {
  if (process.platform !== "linux") return true;
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    const [state, , itsGroup] = readStat(name);
    return itsGroup === String(group) && state !== "Z";
  });
}

/** The state, the parent and the group of a process. The name before these fields may contain any character. */
function readStat(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ", 3);
  } catch {
    return [];
  }
}

/**
 * Reads the ids of groups from standard input, which closes when the process at its other end dies. Then it gives the groups two
 * seconds to end, terminates them, and kills them after two more.
 */
const watchdogScript = `
groups=
while read -r verb group; do
  case $verb in
    add) groups="$groups $group" ;;
    remove) kept=; for one in $groups; do [ "$one" = "$group" ] || kept="$kept $one"; done; groups=$kept ;;
  esac
done
for signal in TERM KILL; do
  for second in 1 2; do
    alive=
    for one in $groups; do kill -0 "-$one" && alive=yes; done
    [ "$alive" ] || exit 0
    sleep 1
  done
  for one in $groups; do kill "-$signal" "-$one"; done
done`;

/**
 * A shell beside this process, while it has process trees. It ends them if this process dies before: even SIGKILL closes a pipe.
 * It takes 2 MB and a millisecond to start. On Windows the
 * system ends the children of a process that dies, and their own children see the end of their input.
 */
class Watchdog {
  readonly #groups = new Set<number>();
  #shell: ChildProcess | undefined;

  add(group: number): void {
    if (isWindows()) return;
    this.#groups.add(group);
    if (this.#shell) this.#tell("add", group);
    else this.#start();
  }

  remove(group: number): void {
    if (!this.#groups.delete(group)) return;
    this.#tell("remove", group);
    if (this.#groups.size > 0) return;
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }

  #tell(verb: "add" | "remove", group: number): void {
    this.#shell?.stdin?.write(`${verb} ${group}\n`);
  }

  #start(): void {
    // Detached, so that it does not receive the signals to the group of this process.
    const shell = spawn("/bin/sh", ["-c", watchdogScript], {
      detached: true,
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    // Without a shell there is no watchdog, but servers still see the end of their input when this process dies.
    const ignore = (): void => {};
    shell.on("error", ignore);
    shell.stdin.on("error", ignore);
    shell.on("exit", () => {
      if (this.#shell === shell) this.#shell = undefined;
    });
    this.#shell = shell;
    for (const group of this.#groups) this.#tell("add", group);
  }
}

const watchdog = new Watchdog();
