// Pages of another origin than the server: what it must allow them, because browsers hide why a request failed.
import type { HttpRequest } from "./send.ts";

/** The headers that a browser sends without the server's permission. `content-type` is not among them: it is JSON here. */
const sentFreely = /^accept$|-language$/;

/** What the server must allow for a request that failed without a reason. Empty if it is not for another origin. */
export function permissionHint({ url, headers }: HttpRequest): string {
  const page = pageBeyond(url);
  if (!page) return "";
  const names = Object.keys(headers).filter((name) => !sentFreely.test(name));
  // A browser asks beforehand with OPTIONS if there are such headers, and sends no credentials with that.
  const asked = names[0]
    ? `, to OPTIONS without credentials also Access-Control-Allow-Headers: ${names.join(", ")}`
    : "";
  return `: if it runs, it must send Access-Control-Allow-Origin: ${page}${asked}; and connect-src of the page must allow it`;
}

/** The origin of the page, if this runs in one and the server has another. */
export function pageBeyond(url: string): string | undefined {
  const { origin } = (globalThis as { readonly location?: Partial<URL> }).location ?? {};
  return origin === new URL(url).origin ? undefined : origin;
}
