// A person who signs in at pages that others wrote: follows redirects, and agrees to every form.

const maxPages = 20;

/** Visits the address, and comes back to the client: pass it as `open`. */
export async function signInByForms(address: string): Promise<void> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  let form: URLSearchParams | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie },
      ...(form && { method: "POST", body: form }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get("location");
    const action = /<form[^>]*action="([^"]*)"/.exec(text)?.[1];
    form = undefined;
    // What the page says about a failure is for people: the client may hear nothing of it.
    if (location === null && (!response.ok || action === undefined)) return;
    if (location === null) form = agree(text);
    url = new URL(location ?? action ?? "", url);
  }
  throw new Error(`Still at ${url.href}`);
}

/** Fills in a form: with what it has, or with a name. */
function agree(page: string): URLSearchParams {
  const form = new URLSearchParams();
  for (const [control] of page.matchAll(/<(?:input|button)[^>]*>/g)) {
    const [name, value] = ["name", "value"].map((one) => new RegExp(` ${one}="([^"]*)"`).exec(control)?.[1]);
    if (name !== undefined && value !== "deny") form.append(name, value ?? "alice");
  }
  return form;
}
