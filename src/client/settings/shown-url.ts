// How a URL appears in errors.

/** The URL without what may be secret in it: a URL that was parsed has no odd characters. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
