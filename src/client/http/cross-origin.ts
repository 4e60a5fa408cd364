// For pages of another origin than the server: names what the server must allow, because browsers hide why a request failed.
import type { SentRequest } from "./send.ts";

/**
 * The headers that a browser sends without the server's permission. `content-type` is not one of them, because it is JSON here.
 */
const sentFreely = /^accept$|-language$/;

/**
 * Names what the server must allow, for a request that failed without a reason. Empty if the server has the origin of the page.
 */
export function permissionHint({ url, headers }: SentRequest): string {
  const page = pageBeyond(url);
  if (!page) return "";
  const names = Object.keys(headers).filter((name) => !sentFreely.test(name));
  // If there are such headers, the browser first sends an OPTIONS request, without credentials.
  const asked = names[0]
    ? `, to OPTIONS without credentials also Access-Control-Allow-Headers: ${names.join(", ")}`
    : "";
  return `: if it runs, it must send Access-Control-Allow-Origin: ${page}${asked}; and connect-src of the page must allow it`;
}

/** The origin of the page, if this runs in a page of another origin than the server. */
export function pageBeyond(url: string): string | undefined {
  const { origin } = (globalThis as { readonly location?: Partial<URL> }).location ?? {};
  return origin === new URL(url).origin ? undefined : origin;
}
