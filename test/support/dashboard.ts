// A server with a dashboard on its own port, and requests to that as a page, a program or an attacker sends them.
import type { JsonObject, ServerOptions } from "halyard";
import { type Dashboard, dashboard, type DashboardOptions } from "halyard/dashboard";
import { type HttpServer, serveHttp, type ServeHttpOptions } from "halyard/node";
import { onTestFinished } from "vitest";
import { makeServer } from "./catalogue.ts";
import { type RawRequest, sendTo } from "./http.ts";
import type { HttpReply } from "./http-reply.ts";
import type { LogEntry } from "./log.ts";

export interface OpenDashboard {
  readonly page: Dashboard;
  readonly http: HttpServer;
  readonly log: LogEntry[];
  /** The port of the dashboard. */
  readonly port: number;
  readonly origin: string;
  readonly token: string;
  /** Sends a request to the port of the dashboard, and waits for the whole response. */
  send(request: RawRequest): Promise<HttpReply>;
  /** Sends what the page sends for a question. */
  ask(question: JsonObject, headers?: RawRequest["headers"]): Promise<HttpReply>;
}

/** Serves until the test ends; nothing is printed. */
export async function openDashboard(
  options: DashboardOptions = {},
  httpOptions: ServeHttpOptions = {},
  serverOptions: ServerOptions = {},
): Promise<OpenDashboard> {
  const page = dashboard({ onOpen: () => {}, ...options });
  const { server, log } = makeServer(serverOptions);
  const http = await serveHttp(server, { port: 0, graceMs: 50, ...httpOptions, dashboard: page });
  onTestFinished(() => http.close());
  const { port, origin, hash } = new URL(page.url ?? "");
  const token = decodeURIComponent(hash.replace("#token=", ""));
  const send = async (request: RawRequest): Promise<HttpReply> =>
    (await sendTo(Number(port), { method: "GET", path: "/", ...request })).complete();
  return {
    page,
    http,
    log,
    port: Number(port),
    origin,
    token,
    send,
    ask: (question, headers) =>
      send(asking(question, { origin, authorization: `Bearer ${token}`, ...headers })),
  };
}

/** The request that a page sends for a question. */
export function asking(question: unknown, headers: RawRequest["headers"] = {}): RawRequest {
  return {
    method: "POST",
    path: "/ask",
    headers: { "content-type": "application/json", ...headers },
    body: typeof question === "string" ? question : JSON.stringify(question),
  };
}

/** Why a request was refused. */
export function reasonOf({ text }: HttpReply): string {
  return (JSON.parse(text) as { error: { message: string } }).error.message;
}
