// Starts the servers of the interop tests: a process for each program that listens on a port, and our own in this process.
import { type ChildProcess, spawn } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { McpServer, ServerOptions } from "halyard";
import type { CommandTarget, Target } from "halyard/client";
import { serveHttp } from "halyard/node";
import { afterAll } from "vitest";
import { mountNodes } from "../../interop/nodes.ts";
import { application } from "./servers/halyard.mjs";

/** A server that a client can connect to. */
export interface Started {
  readonly target: Target;
  /** How many of the client's sockets, or processes, are still there. */
  left(heard: { readonly stderr: readonly string[] }): Promise<number>;
}

export type Start = () => Promise<Started>;

const root = new URL("servers/", import.meta.url);
const everything = new URL(import.meta.resolve("@modelcontextprotocol/server-everything/package.json"));

/** The path of a program: one of this folder, or the published server with every feature. */
function pathOf(program: string): string {
  const url = program === "everything" ? new URL("dist/index.js", everything) : new URL(program, root);
  return fileURLToPath(url);
}

/** A server on stdio, which the client starts and ends. */
export function onStdio(program: string, mode = "stdio"): Start {
  const preload = new URL("pid.mjs", root).href;
  const target: CommandTarget = {
    command: process.execPath,
    args: ["--import", preload, pathOf(program), mode],
    // For those that do not end when their input does.
    graceMs: 300,
  };
  return async () => ({
    target,
    async left({ stderr }) {
      const pid = Number(stderr.find((line) => line.startsWith("pid "))?.slice(4));
      return isAlive(pid) ? 1 : 0;
    },
  });
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) throw new Error("The server has not told its process id");
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The processes of this test file, by program and mode. */
const processes = new Map<string, Promise<Listening>>();

interface Listening {
  readonly child: ChildProcess;
  readonly port: number;
}

afterAll(async () => {
  for (const starting of processes.values()) {
    const { child } = await starting;
    const exited = once(child, "exit");
    child.disconnect();
    await exited;
  }
});

/** A server at a path of a program that listens; rows with the same program and mode share its process. */
export function onPort(program: string, path: string, ...mode: readonly string[]): Start {
  const key = [program, ...mode].join(" ");
  return async () => {
    const starting = processes.get(key) ?? listen(program, mode);
    processes.set(key, starting);
    const { child, port } = await starting;
    return {
      target: `http://127.0.0.1:${port}${path}`,
      async left() {
        child.send("sockets");
        const [{ sockets }] = (await once(child, "message")) as [{ sockets: number }];
        return sockets;
      },
    };
  };
}

async function listen(program: string, mode: readonly string[]): Promise<Listening> {
  const preload = new URL("harness.mjs", root).href;
  const child = spawn(process.execPath, ["--import", preload, pathOf(program), ...mode], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { child, port };
}

/** The sockets on which servers of this process have received requests. */
const sockets = new Set<Socket>();
subscribe("http.server.request.start", (message) => {
  const { socket } = message as { readonly socket: Socket };
  if (sockets.has(socket)) return;
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
});

/** Closes what the rows of this file have started. */
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

function inThisProcess(url: string, close: () => Promise<void>): Started {
  closing.push(close);
  const port = Number(new URL(url).port);
  return {
    target: url,
    left: async () => [...sockets].filter(({ localPort }) => localPort === port).length,
  };
}

/** Our own server without a transport. */
export const inMemory: Start = async () => ({ target: application()(), left: async () => 0 });

/** Our own server over HTTP. */
export const overHttp: Start = async () => {
  const http = await serveHttp(application()(), { port: 0, graceMs: 200 });
  return inThisProcess(http.url, () => http.close());
};

/** Three nodes of our own server in front of which a balancer sends each request to the next one. */
export const clustered: Start = async () => {
  const create: (options: ServerOptions) => McpServer = application();
  const { url, close } = await mountNodes(undefined, create);
  return inThisProcess(url, close);
};
