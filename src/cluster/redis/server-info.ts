// The facts about a Redis server: whether it can be used, and whether a setting would lose data.
import { HalyardError } from "../../base/errors.ts";
import type { Subscriber } from "./connection.ts";

/** The oldest version of Redis that has every command of the engine. */
const oldest: readonly [major: number, minor: number] = [6, 2];

/** Reads the fields of `INFO`; none if the user has no permission. */
export async function readServerInfo(server: Subscriber): Promise<ReadonlyMap<string, string>> {
  const text = await server.call("", ["INFO"]).catch((error: unknown) => {
    if (/NOPERM|unknown command/i.test(String(error))) return "";
    throw error;
  });
  const lines = String(text).matchAll(/^(\w+):(.*?)\r?$/gm);
  return new Map(Array.from(lines, ([, name = "", value = ""]) => [name, value]));
}

/** Throws if the server cannot be used, or not yet. */
export function checkServer(info: ReadonlyMap<string, string>, isCluster: boolean): void {
  const version = info.get("redis_version") ?? `${oldest.join(".")}.0`;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    fail(`Redis ${version} is too old: update it to ${oldest.join(".")} or later, or to Valkey`);
  }
  if (info.get("redis_mode") === "cluster" && !isCluster) {
    fail(
      "Redis runs in cluster mode: pass a client of createCluster() or new Redis.Cluster() to redisBackplane",
    );
  }
  if (info.get("loading") === "1") fail("Redis still loads its data: try again when it has started");
  if (info.get("role") === "slave" && !isCluster) {
    fail("This Redis server is a replica, and cannot be written to: connect to the primary");
  }
}

/** Advice about the setting by which Redis removes keys when its memory is full; undefined if it removes none. */
export function evictionWarning(info: ReadonlyMap<string, string>): string | undefined {
  const policy = info.get("maxmemory_policy") ?? "noeviction";
  if (policy === "noeviction") return undefined;
  const effect = "when its memory is full, Redis silently removes sessions, tasks and messages";
  return `Redis has maxmemory-policy ${policy}: ${effect}. Set \`maxmemory-policy noeviction\``;
}

function fail(problem: string): never {
  throw new HalyardError("BACKPLANE_UNAVAILABLE", problem);
}
