// The address of a client behind proxies that are trusted to say it.

/** Whatever has headers. */
interface Headed {
  header(name: string): string | undefined;
}

/**
 * The address that the outermost of `proxies` trusted proxies saw; undefined when it is not said. Each proxy adds the
 * address of its own client at the end, so what stands further ahead was written by whoever wanted to.
 */
export function forwardedAddress(request: Headed, proxies: number): string | undefined {
  if (proxies === 0) return undefined;
  const hops = request.header("x-forwarded-for")?.split(",") ?? forwardedFor(request.header("forwarded"));
  const address = hops.at(-Math.min(proxies, hops.length))?.trim();
  if (address === undefined || address === "" || address.length > maxLength) return undefined;
  return withoutPort(copyOf(address));
}

/** No address, nor a name that stands for one, is as long as this: no proxy wrote what is longer. */
const maxLength = 100;

/** A part of a text keeps the whole in memory, and callers are remembered for longer than their headers should be. */
function copyOf(text: string): string {
  return ` ${text}`.slice(1);
}

/** RFC 7239: `for=192.0.2.60;proto=https, for="[2001:db8::1]:4711"`. */
function forwardedFor(header: string | undefined): string[] {
  const hops = header?.split(",") ?? [];
  return hops.map((hop) => /(?:^|;)\s*for="?([^";]+)"?/i.exec(hop)?.[1] ?? "");
}

function withoutPort(address: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1];
  return bracketed ?? address.replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
}
