// Checks the host and the origin of a request: a host of the dashboard, and its own page or no page.
import { clip } from "../../base/errors.ts";
import type { HttpRequest } from "../../transports/http/edge/request.ts";
import { RequestGuard, hostsFor } from "../../transports/http/guard.ts";

export class Visitors {
  readonly #guard: RequestGuard;

  /** `allowedHosts`: the hosts that browsers use, besides the loopback ones. */
  constructor(allowedHosts: readonly string[]) {
    // The guard would admit the pages of every allowed host, at any port; here only the page itself may send requests.
    this.#guard = new RequestGuard({ allowedHosts: hostsFor([], { allowedHosts }), allowedOrigins: ["*"] });
  }

  /** Returns why the request is refused, or undefined if it may pass. */
  check(request: HttpRequest): string | undefined {
    const problem = this.#guard.check(request);
    if (problem === undefined) return originProblem(request);
    return problem.endsWith("allowedHosts") ? `${problem} of dashboard()` : problem;
  }
}

function originProblem(request: HttpRequest): string | undefined {
  const origin = request.header("origin");
  if (origin === undefined) return isOfOtherSite(request) ? "Another site may not load this" : undefined;
  const host = request.authority ?? request.header("host") ?? "";
  const ofOrigin = /^https?:\/\/(.+)$/i.exec(origin)?.[1];
  if (ofOrigin?.toLowerCase() === host.toLowerCase()) return undefined;
  const remedy = "if a proxy is in between, it must pass on the Host header";
  return `Origin ${clip(origin)} is not that of the dashboard at ${clip(host)}: ${remedy}`;
}

/** Browsers name the site of requests without an origin. A link to the page is allowed, but not a frame with it. */
function isOfOtherSite(request: HttpRequest): boolean {
  const site = request.header("sec-fetch-site") ?? "none";
  if (site === "none" || site === "same-origin") return false;
  return request.header("sec-fetch-mode") !== "navigate" || request.header("sec-fetch-dest") !== "document";
}
