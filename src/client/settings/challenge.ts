// Reads `WWW-Authenticate`: the reason of a refusal, and the URL of the metadata.

/** The server's explanation of a refusal. */
export interface Challenge {
  readonly scheme: "Bearer" | "DPoP" | undefined;
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;
  /** Undefined if the server names no scopes. */
  readonly scope: readonly string[] | undefined;
  readonly resourceMetadata: string | undefined;
}

const maxHeader = 16_384;

/** A word, or a parameter: its name, and its value in quotes or without. A header of any form takes linear time. */
const part = /([^\s,;="]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s,;]*)))?/gs;

/**
 * Combines the challenges for bearer and DPoP tokens: the first value of each parameter counts. Servers write malformed headers,
 * so unreadable parts are skipped.
 */
export function parseChallenge(header = ""): Challenge {
  const text = header.slice(0, maxHeader);
  const found = new Map<string, string>();
  let scheme: Challenge["scheme"];
  let isOurs = true;
  let end = 0;
  for (const match of text.matchAll(part)) {
    const [all, name = "", quoted, plain] = match;
    const key = name.toLowerCase();
    const value = quoted?.replace(/\\(.)/gs, "$1") ?? plain;
    // Other words belong to a value without quotes.
    const mayBeScheme = end === 0 || text.slice(end, match.index).includes(",");
    end = match.index + all.length;
    if (value !== undefined) {
      if (isOurs && !found.has(key)) found.set(key, value);
    } else if (mayBeScheme) {
      isOurs = key === "bearer" || key === "dpop";
      if (isOurs) scheme ??= key === "bearer" ? "Bearer" : "DPoP";
    }
  }
  const scope = found.get("scope")?.match(/\S+/g) ?? undefined;
  return {
    scheme,
    error: found.get("error"),
    errorDescription: found.get("error_description"),
    scope,
    resourceMetadata: found.get("resource_metadata"),
  };
}
