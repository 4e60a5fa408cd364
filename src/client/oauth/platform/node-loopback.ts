// The server on loopback that a person comes back to: it takes only an answer with the state of a sign-in.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { OAuthError } from "../settings/errors.ts";

/** A person who has come back. */
export interface Visit {
  readonly parameters: URLSearchParams;
  /** Shows how the sign-in ended. */
  reply(problem?: string): void;
}

const maxConnections = 32;
const requestMs = 10_000;

/** The servers of this process by redirect URI: sign-ins that need the same port share one. */
const listening = new Map<string, Loopback>();

export class Loopback {
  readonly #server: Server;
  readonly #states = new Map<string, (visit: Visit) => void>();
  readonly #opened: Promise<unknown>;
  /** Connections that have asked for nothing: browsers open some ahead. The others end with their response. */
  readonly #silent = new Set<Socket>();
  #uri: URL;
  #users = 0;

  private constructor(uri: URL) {
    this.#uri = uri;
    this.#server = createServer(
      { requestTimeout: requestMs, headersTimeout: requestMs, connectionsCheckingInterval: requestMs / 10 },
      (request, response) => this.#visited(request, response),
    );
    this.#server.maxConnections = maxConnections;
    this.#server.on("connection", (socket) => {
      this.#silent.add(socket.unref().once("close", () => this.#silent.delete(socket)));
    });
    // "localhost" may be either address; browsers try both.
    const host = uri.hostname === "localhost" ? "127.0.0.1" : uri.hostname.replace(/[[\]]/g, "");
    this.#opened = once(this.#server.listen(Number(uri.port), host).unref(), "listening");
  }

  /** Listens where `uri` says: at its port, else at the port of `registered` if that is free, else at any. */
  static async at(uri: URL, registered: string | undefined): Promise<Loopback> {
    try {
      return await Loopback.#share(withKnownPort(uri, registered)).catch(() => Loopback.#share(uri));
    } catch (cause) {
      const remedy = uri.port === "" ? "" : ". Stop what uses the port, or leave the port out of redirectUri";
      throw new OAuthError(
        "sign-in",
        `Cannot wait at ${uri.host} for the answer to the sign-in: ${(cause as Error).message}${remedy}`,
        { cause },
      );
    }
  }

  static async #share(uri: URL): Promise<Loopback> {
    const loopback = listening.get(uri.href) ?? new Loopback(uri);
    loopback.#users++;
    if (uri.port !== "") listening.set(uri.href, loopback);
    try {
      await loopback.#opened;
    } catch (error) {
      listening.delete(uri.href);
      throw error;
    }
    loopback.#uri = new URL(uri);
    loopback.#uri.port = String((loopback.#server.address() as AddressInfo).port);
    listening.set(loopback.redirectUri, loopback);
    return loopback;
  }

  get redirectUri(): string {
    return this.#uri.href;
  }

  /** Passes on the first visit with this `state`. */
  expect(state: string, visited: (visit: Visit) => void): void {
    this.#states.set(state, visited);
  }

  /** One sign-in less needs this server; the last one closes it. */
  release(): void {
    if (--this.#users > 0) return;
    listening.delete(this.#uri.href);
    this.#server.close();
    for (const socket of this.#silent) socket.destroy();
  }

  #visited(request: IncomingMessage, response: ServerResponse): void {
    this.#silent.delete(request.socket);
    const [path, query = ""] = (request.url ?? "").split("?", 2);
    // Another host name is a page that has made its name resolve to this address.
    if (request.headers.host !== this.#uri.host) return send(response, 421, "Wrong host");
    if (path !== this.#uri.pathname) return send(response, 404, "Not found");
    if (request.method !== "GET") return send(response, 405, "Method not allowed");
    const parameters = new URLSearchParams(query);
    const state = parameters.get("state") ?? "";
    const visited = this.#states.get(state);
    this.#states.delete(state);
    if (!visited) return send(response, 400, "This is not the sign-in that is under way", "Begin it again.");
    visited({
      parameters,
      reply: (problem) =>
        problem === undefined
          ? send(response, 200, "You are signed in", "You can close this window.")
          : send(response, 400, "You are not signed in", problem),
    });
  }
}

/** `registered`, if that is `uri` with a port. */
function withKnownPort(uri: URL, registered: string | undefined): URL {
  if (uri.port !== "" || registered === undefined || !URL.canParse(registered)) return uri;
  const known = new URL(uri);
  known.port = new URL(registered).port;
  return known.href === registered ? known : uri;
}

const style = "body{font:1.1rem system-ui;margin:4rem auto;max-width:40rem;padding:0 1rem}";
const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
};

function send(response: ServerResponse, status: number, title: string, text = ""): void {
  const escaped = text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
  response.writeHead(status, headers);
  response.end(
    `<!doctype html><html lang="en"><title>${title}</title><style>${style}</style><h1>${title}</h1><p>${escaped}</p></html>\n`,
  );
}
