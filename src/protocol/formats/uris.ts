// Formats of URIs (RFC 3986) and of URLs as people type them, each checked in linear time.
import { isIpv4, isIpv6 } from "./hosts.ts";

const badEscape = "%(?![0-9a-fA-F]{2})";

/** Splits a reference at its delimiters: each part ends at the first character that it cannot contain. */
const uriParts = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/;
const scheme = /^[a-z][a-z0-9+.-]*$/i;
const notUserInfo = new RegExp(`[^\\w.~!$&'()*+,;=:%-]|${badEscape}`);
const notName = new RegExp(`[^\\w.~!$&'()*+,;=%-]|${badEscape}`);
const notPath = new RegExp(`[^\\w.~!$&'()*+,;=:@/%-]|${badEscape}`);
const notQuery = new RegExp(`[^\\w.~!$&'()*+,;=:@/?%-]|${badEscape}`);
const futureAddress = /^v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+$/i;

export function isUri(text: string): boolean {
  return isReference(text, true);
}

export function isUriReference(text: string): boolean {
  return isReference(text, false);
}

function isReference(text: string, needsScheme: boolean): boolean {
  // Without a scheme, the first segment of a path cannot contain a colon.
  const colon = /^[^:/?#]*:/.test(text);
  const parts = uriParts.exec(text);
  if (parts === null || (needsScheme && !colon)) return false;
  const [, name, authority, path = "", query = "", fragment = ""] = parts;
  if (colon && !scheme.test(name ?? "")) return false;
  if (authority !== undefined && !isAuthority(authority)) return false;
  return !notPath.test(path) && !notQuery.test(query) && !notQuery.test(fragment);
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at !== -1 && notUserInfo.test(text.slice(0, at))) return false;
  const host = text.slice(at + 1);
  const port = /:\d*$/.exec(host)?.[0] ?? "";
  const name = host.slice(0, host.length - port.length);
  return isBracketed(name) ?? !notName.test(name);
}

/** Whether the address in brackets is valid; undefined if there are no brackets. */
function isBracketed(host: string): boolean | undefined {
  if (!host.startsWith("[") || !host.endsWith("]")) return undefined;
  const address = host.slice(1, -1);
  return isIpv6(address) || futureAddress.test(address);
}

const pageParts = /^(?:https?|ftp):\/\/([^\s/?#]+)(?:[/?#]\S*)?$/i;
const pageLabel = /^[a-z0-9\u00a1-\uffff](?:[a-z0-9\u00a1-\uffff-]*[a-z0-9\u00a1-\uffff])?$/i;

/** Whether `text` is an absolute URL with a host, as people type it: letters of any script may be unescaped. */
export function isUrl(text: string): boolean {
  const authority = pageParts.exec(text)?.[1];
  if (authority === undefined) return false;
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d{1,5}$/, "");
  if (host.length > 255) return false;
  return isBracketed(host) ?? (isIpv4(host) || host.split(".").every((label) => pageLabel.test(label)));
}
