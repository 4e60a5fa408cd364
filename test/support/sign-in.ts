// A person who signs in without a browser: follows redirects, and keeps cookies, until something is no redirect.

/** Where a walk has ended. */
export interface Arrival {
  readonly url: URL;
  /** Undefined if the walk stopped before this address was asked. */
  readonly response: Response | undefined;
}

/** Follows redirects from `url`; `stopsAt` ends the walk before an address is asked. */
export async function followRedirects(
  url: string | URL,
  stopsAt: (url: URL) => boolean = () => false,
): Promise<Arrival> {
  const cookies = new Map<string, string>();
  let at = new URL(url);
  for (let pages = 0; pages < 12; pages++) {
    if (stopsAt(at)) return { url: at, response: undefined };
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(at, { redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) return { url: at, response };
    await response.body?.cancel();
    at = new URL(location, at);
  }
  throw new Error(`Still at ${at.href}`);
}

/** Signs in where the authorization server asks nothing, and comes back to the client: pass it as `open`. */
export async function signInByFetch(url: string): Promise<void> {
  const { url: at, response } = await followRedirects(url);
  const text = await response?.text();
  if (response?.ok !== true) throw new Error(`${at.href} answered ${response?.status}: ${text}`);
}
