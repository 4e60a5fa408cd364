// Checks that a text is a resource URI and safe to look up.

const uri = /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i;
const escapedDotOrSlash = /%2e|%2f|%5c/gi;
const parentSegment = /[:/\\]\.\.(?:[/\\?#]|$)/;

/** Characters of a URI. Matching costs time and memory for each. Past it, the server responds with -32602. */
export const maxUriLength = 8192;

/** Whether `text` is an absolute URI (RFC 3986) within `maxUriLength`. The pattern has no nested repetition, so it is linear. */
export function isResourceUri(text: string): boolean {
  return text.length <= maxUriLength && uri.test(text);
}

/** Whether a `file:` URI has a `..` segment, escaped or not. */
export function climbsOut(text: string): boolean {
  if (!/^file:/i.test(text)) return false;
  return parentSegment.test(text.replace(escapedDotOrSlash, decodeURIComponent));
}
