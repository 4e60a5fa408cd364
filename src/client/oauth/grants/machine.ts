// The grants in which no person takes part: there is nothing to wait for, and nothing to give back.
import type { TokenEndpointResponse } from "oauth4webapi";
import { OAuthError } from "../settings/errors.ts";
import type { TextSource } from "../settings/options.ts";
import type { Grant, Party } from "./grant.ts";

export function machineGrant(obtain: (party: Party) => Promise<TokenEndpointResponse>): Grant {
  const begin: Grant["begin"] = async () => ({
    obtain: (party, { signal }) => obtain({ ...party, signal }),
    end() {},
  });
  return { byPerson: false, begin };
}

/** The current text of an option. Rejects if there is none. */
export async function textOf(option: string, source: TextSource): Promise<string> {
  const text = typeof source === "function" ? await source() : source;
  // Files that hold a token end with a line break.
  if (typeof text === "string" && text.trim() !== "") return text.trim();
  throw new OAuthError("token", `The function ${option} returned no text`);
}
