// The guard in front of every route: checks the host, the origin and the content type of requests.
import type { Auth, Authenticate } from "../../auth/authenticate.ts";
import { clip, ConfigurationError } from "../../base/errors.ts";
import { isLoopbackAddress } from "../../base/addresses.ts";
import { refuseWith } from "./edge/replies.ts";
import type { HttpRequest, HttpResponder } from "./edge/request.ts";

interface GuardOptions {
  /** The host names that clients may use; `*` for any. */
  readonly allowedHosts: readonly string[];
  /** The origins whose pages may send requests; `*` for any. */
  readonly allowedOrigins: readonly string[];
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** The options that name the allowed hosts; `auth.resource` is the default of `allowedHosts`. */
interface Names {
  readonly allowedHosts?: readonly string[] | undefined;
  readonly auth?: Auth | Authenticate | undefined;
  readonly trustProxy?: boolean | number | undefined;
}

/** Returns the allowed hosts. Throws if other machines can reach one of the addresses, and no host was given. */
export function hostsFor(
  addresses: readonly string[],
  { allowedHosts: named, auth, trustProxy = false }: Names,
): string[] {
  const door = typeof auth === "object" ? auth : undefined;
  door?.checkPlace?.({ addresses, allowedHosts: named ?? [], trustProxy });
  const resource = door?.resource;
  const allowedHosts = named ?? (resource === undefined ? undefined : [new URL(resource).host]);
  const outside = addresses.find((address) => !isLoopbackAddress(address));
  if (outside !== undefined && allowedHosts === undefined) {
    const where = { subject: "serveHttp", field: "allowedHosts" };
    const remedy = `is missing: other machines may reach ${outside}, so list the hosts that clients use, such as ["mcp.example.com"]`;
    throw new ConfigurationError("INVALID_OPTION", where, remedy);
  }
  const own = addresses
    .filter(isLoopbackAddress)
    .map((address) => (address.includes(":") ? `[${address}]` : address));
  return [...loopbackNames, ...own, ...(allowedHosts ?? [])];
}

/** Checks host and origin. It remembers the last ones it allowed, since most requests repeat them. */
export class RequestGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  #lastHost: string | undefined;
  #lastOrigin: string | undefined;

  constructor(options: GuardOptions) {
    this.#hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
    this.#origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
  }

  /** Returns why the request is refused, or undefined if it may pass. */
  check(request: HttpRequest): string | undefined {
    const host = request.header("host");
    if (host === undefined && request.header(":authority") !== undefined) return http2Problem;
    if (host !== this.#lastHost || host === undefined) {
      if (!this.#isHostAllowed(host)) return hostProblem(host);
      this.#lastHost = host;
    }
    const { authority } = request;
    if (authority !== undefined && !this.#isHostAllowed(authority)) return hostProblem(authority);
    return this.checkOrigin(request);
  }

  /** Checks the origin only, for the health path: a probe uses the address of the machine as its host. */
  checkOrigin(request: HttpRequest): string | undefined {
    const origin = request.header("origin");
    if (origin === undefined || origin === this.#lastOrigin) return undefined;
    if (!this.#isOriginAllowed(origin))
      return `Origin ${clip(origin)} is not allowed: add it to cors.origins if its pages may call, or to allowedOrigins`;
    this.#lastOrigin = origin;
    return undefined;
  }

  /** Whether a `Host` header names an allowed host; an entry without a port allows any port. */
  #isHostAllowed(host: string | undefined): boolean {
    if (this.#hosts.has("*")) return true;
    if (host === undefined) return false;
    const whole = host.toLowerCase();
    return this.#hosts.has(whole) || this.#hosts.has(whole.replace(/:\d+$/, ""));
  }

  /** Whether an `Origin` header names an allowed origin, or a page of an allowed host. */
  #isOriginAllowed(origin: string): boolean {
    const whole = origin.toLowerCase();
    if (this.#origins.has("*") || this.#origins.has(whole)) return true;
    const host = /^https?:\/\/([^/]+)$/.exec(whole)?.[1];
    return host !== undefined && !this.#hosts.has("*") && this.#isHostAllowed(host);
  }
}

function hostProblem(host: string | undefined): string {
  if (host === undefined) return "The request has no Host header: a proxy in front must pass it on";
  const isEvery = /^(?:0\.0\.0\.0|\[::\])(?::|$)/.test(host);
  const remedy = isEvery
    ? "it is an address to listen on, so connect to 127.0.0.1"
    : "add it to allowedHosts";
  return `Host ${clip(host)} is not allowed: ${remedy}`;
}

const http2Problem = "node:http2 is not supported: use node:http, or put a proxy that speaks HTTP/2 in front";

/**
 * Refuses every content type but JSON, and returns whether it did: a browser sends some types for any page, without a preflight
 * request.
 */
export function refuseContentType(request: HttpRequest, responder: HttpResponder): boolean {
  const type = request.header("content-type");
  if (type === json || type?.split(";", 1)[0]?.trim().toLowerCase() === json) return false;
  refuseWith(responder, 415, `Content-Type must be ${json}`);
  return true;
}

const json = "application/json";
