// Which URLs tokens and keys may travel to and from.

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** What is wrong with a URL of an authorization server or a resource; undefined if nothing is. */
export function urlProblem(text: unknown): string | undefined {
  if (typeof text !== "string" || !URL.canParse(text)) return "must be an absolute URL";
  const { protocol, hostname, hash, username, password } = new URL(text);
  if (hash !== "" || text.endsWith("#")) return "must not have a fragment";
  if (username !== "" || password !== "") return "must not have credentials in it";
  if (protocol === "https:" || (protocol === "http:" && loopback.test(hostname))) return undefined;
  return "must begin with https: (http: only for this machine)";
}
