// Whether a text is a resource URI that is safe to look up.

const uri = /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i;
const escapedDotOrSlash = /%2e|%2f|%5c/gi;
const parentSegment = /[:/\\]\.\.(?:[/\\?#]|$)/;

/** What matching may cost grows with the length of the URI, so that has a limit. */
export const maxUriLength = 8192;

/** An absolute URI in the characters of RFC 3986, of at most 8192. The pattern has no nested repetition: it is linear. */
export function isResourceUri(text: string): boolean {
  return text.length <= maxUriLength && uri.test(text);
}

/** Whether a `file:` URI climbs out of a directory, plainly or in disguise. */
export function climbsOut(text: string): boolean {
  if (!/^file:/i.test(text)) return false;
  return parentSegment.test(text.replace(escapedDotOrSlash, decodeURIComponent));
}
