// Checks the URLs that tokens and keys are sent to or fetched from.

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Returns what is wrong with the URL of an authorization server or a resource. */
export function urlProblem(text: unknown): string | undefined {
  if (typeof text !== "string" || !URL.canParse(text)) return "must be an absolute URL";
  const { protocol, hostname, hash, username, password } = new URL(text);
  if (hash !== "" || text.endsWith("#")) return "must not have a fragment";
  if (username !== "" || password !== "") return "must not contain credentials";
  if (protocol === "https:" || (protocol === "http:" && loopback.test(hostname))) return undefined;
  return "must start with https: (http: only for localhost)";
}
