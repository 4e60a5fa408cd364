// Checks the URLs that tokens and keys are sent to or fetched from.
import { isLoopback } from "../base/wire/loopback.ts";

/** Returns what is wrong with the URL of an authorization server or a resource. */
export function urlProblem(text: unknown): string | undefined {
  if (typeof text !== "string" || !URL.canParse(text)) return "must be an absolute URL";
  const url = new URL(text);
  const { protocol, hash, username, password } = url;
  if (hash !== "" || text.endsWith("#")) return "must not have a fragment";
  if (username !== "" || password !== "") return "must not contain credentials";
  if (protocol === "https:" || (protocol === "http:" && isLoopback(url))) return undefined;
  return "must start with https: (http: only for localhost)";
}
