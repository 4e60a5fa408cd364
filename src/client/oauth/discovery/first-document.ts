// Finds a document that may be at one of several addresses.
import { isObject } from "../../../base/wire/message.ts";
import { hiddenReason } from "../net/net.ts";
import type { Net } from "../net/net.ts";
import { shownUrl } from "../../settings/shown.ts";
import { OAuthError } from "../settings/errors.ts";

export interface FoundDocument {
  readonly url: string;
  readonly json: { readonly [name: string]: unknown };
}

/** Resolves with the first document that is there. Only a 4xx says that one is not; in a browser, that may be unreadable. */
export async function firstDocument(urls: readonly string[], net: Net): Promise<FoundDocument | undefined> {
  let unreadable: string | undefined;
  for (const url of new Set(urls)) {
    const { status, json } = await net.document(url);
    if (status === 0) unreadable ??= url;
    if (status < 200 || status > 299) continue;
    if (isObject(json)) return { url, json };
    throw new OAuthError("metadata", `${shownUrl(url)} must respond with a JSON object`);
  }
  if (unreadable === undefined) return undefined;
  throw new OAuthError("metadata", `Could not fetch ${shownUrl(unreadable)}: ${hiddenReason}`);
}
