// A site as the guide builds it, on loopback: nginx with a certificate of its own, and servers behind it.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { createServer, type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { defined, finish, type RawRequest, sendTo } from "../support/http.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { EngineProcess } from "../support/engines.ts";
import { hasPrograms, withSystemFolders } from "../support/programs.ts";
import { until } from "../support/turns.ts";
import { nginxConfiguration, publicHost, root, serverArguments } from "./guide.ts";

const secret = "a-secret-that-all-instances-share-and-nobody-else";

/** Whether the guides of nginx can be run. */
export const canServeSites: boolean = hasPrograms("nginx", "openssl");

/** A process, what it has said, and how it ended. */
export class Process {
  readonly child: ChildProcess;
  said = "";
  readonly exited: Promise<number | null>;

  constructor(command: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...withSystemFolders, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding("utf8").on("data", (text: string) => (this.said += text));
    }
    this.exited = new Promise((resolve) => child.on("close", (code) => resolve(code)));
  }

  /** Resolves once `isUp`; fails with what the process has said when it has ended before. */
  async up(isUp: () => Promise<boolean>): Promise<void> {
    await until(async () => {
      if (this.child.exitCode !== null) throw new Error(`It ended: ${this.said}`);
      return isUp();
    }, 10_000);
  }

  async stop(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.exited;
  }
}

export class Site {
  readonly port: number;
  readonly certificate: string;
  readonly servers: ReadonlyMap<number, Process>;
  readonly #folder: string;
  readonly #nginx: Process;
  readonly #redis: EngineProcess | undefined;

  private constructor(
    folder: string,
    port: number,
    nginx: Process,
    servers: ReadonlyMap<number, Process>,
    redis: EngineProcess | undefined,
  ) {
    this.#folder = folder;
    this.#redis = redis;
    this.port = port;
    this.#nginx = nginx;
    this.servers = servers;
    this.certificate = readFileSync(join(folder, "fullchain.pem"), "utf8");
  }

  /** Starts nginx and so many servers. */
  static async open(issuer: string, count = 1): Promise<Site> {
    const folder = mkdtempSync(join(tmpdir(), "halyard-deploy-"));
    makeCertificate(folder);
    const [port = 0, secondPort = 0, ...instances] = await freePorts(2 + count);
    const nginx = startNginx(folder, nginxConfiguration({ folder, port, secondPort, instances }));
    const redis = count > 1 ? await EngineProcess.start("redis-server") : undefined;
    const given = { ISSUER: issuer, REQUEST_STATE_KEYS: secret, ...(redis && { TEST_REDIS: redis.url }) };
    const servers = instances.map((instance) => {
      const args = serverArguments(count > 1);
      return [instance, new Process(process.execPath, args, { ...given, PORT: String(instance) })] as const;
    });
    const site = new Site(folder, port, nginx, new Map(servers), redis);
    try {
      await nginx.up(() => isListening(port));
      for (const [instance, server] of servers) await server.up(() => isHealthy(instance));
    } catch (error) {
      await site.close();
      throw error;
    }
    return site;
  }

  /** Sends a request to the public name, from an address of this machine. */
  send(request: RawRequest, address = "127.0.0.1"): Promise<HttpReply> {
    const { method = "POST", path = "/mcp", body, signal } = request;
    const headers = { host: publicHost, ...defined(request.headers) };
    const target = { method, path, headers, localAddress: address, ...(signal && { signal }) };
    return finish(httpsRequest({ ...this.#way, ...target }), body);
  }

  /** `fetch` that finds the public name here, and trusts its certificate. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (url.host !== publicHost) return fetch(request);
    const body = Buffer.from(await request.arrayBuffer());
    const headers = { ...Object.fromEntries(request.headers), host: publicHost };
    const target = { method: request.method, path: url.pathname + url.search, headers };
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest({ ...this.#way, ...target, signal: request.signal }, (response) => {
        const { statusCode: status = 0 } = response;
        const given = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        const stream = status === 204 ? null : (Readable.toWeb(response) as ReadableStream);
        resolve(new Response(stream, { status, headers: Object.fromEntries(given) }));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  };

  /** Sends a request over HTTP/2; resolves with status and body. */
  sendHttp2(request: RawRequest): Promise<{ readonly status: number; readonly text: string }> {
    const secured = { ca: this.certificate, servername: publicHost, ALPNProtocols: ["h2"] };
    const session = connectHttp2(`https://${publicHost}`, {
      createConnection: () => connectTls({ host: "127.0.0.1", port: this.port, ...secured }),
    });
    const { method = "POST", path = "/mcp", body } = request;
    const head = { ":method": method, ":path": path, ":authority": publicHost, ...defined(request.headers) };
    return new Promise((resolve, reject) => {
      session.on("error", reject);
      const stream = session.request(head);
      let status = 0;
      let text = "";
      stream.on("response", (headers) => (status = headers[":status"] ?? 0));
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      stream.on("end", () => session.close(() => resolve({ status, text })));
      stream.end(body as string | undefined);
    });
  }

  /** What nginx has written, to whichever log. */
  logs(): string {
    const files = ["start.log", "error.log", "mcp.log", "mcp-error.log"];
    return files.map((file) => readFileSync(join(this.#folder, file), "utf8")).join("\n");
  }

  async close(): Promise<void> {
    await Promise.all([this.#nginx, ...this.servers.values()].map((process) => process.stop()));
    await this.#redis?.stop();
    rmSync(this.#folder, { recursive: true });
  }

  get #way(): RequestOptions {
    return {
      host: "127.0.0.1",
      port: this.port,
      servername: publicHost,
      ca: this.certificate,
      agent: false,
    };
  }
}

/** Starts nginx with its files in the folder. */
export function startNginx(folder: string, configuration: string): Process {
  const path = join(folder, "nginx.conf");
  writeFileSync(path, configuration);
  return new Process("nginx", ["-p", folder, "-c", path, "-e", join(folder, "start.log")]);
}

function makeCertificate(folder: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const files = ["-keyout", join(folder, "privkey.pem"), "-out", join(folder, "fullchain.pem")];
  const names = ["-subj", `/CN=${publicHost}`, "-addext", `subjectAltName=DNS:${publicHost}`];
  execFileSync("openssl", ["req", "-x509", "-days", "1", ...key, ...files, ...names], {
    env: withSystemFolders,
    stdio: "pipe",
  });
}

/** Free ports, all found before any is released, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) server.close();
  return ports;
}

export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** The health check of the guide. */
async function isHealthy(port: number): Promise<boolean> {
  if (!(await isListening(port))) return false;
  const reply = await sendTo(port, { method: "GET", path: "/.well-known/oauth-protected-resource" });
  await reply.complete();
  return reply.status === 200;
}
