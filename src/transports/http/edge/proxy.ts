// Reads the address of a client from the headers of trusted proxies.

interface Headed {
  header(name: string): string | undefined;
}

/**
 * The address that the outermost of `proxies` trusted proxies saw; undefined if the headers lack it. Each proxy appends the address
 * of its own client, so anyone could have written the entries further ahead.
 */
export function forwardedAddress(request: Headed, proxies: number): string | undefined {
  if (proxies === 0) return undefined;
  const hops = request.header("x-forwarded-for")?.split(",") ?? forwardedFor(request.header("forwarded"));
  const address = hops.at(-Math.min(proxies, hops.length))?.trim();
  if (address === undefined || address === "" || address.length > maxLength) return undefined;
  return withoutPort(copyOf(address));
}

/** Every address or name that a proxy writes is shorter. */
const maxLength = 100;

/** A slice keeps the whole header in memory, and callers are kept longer than their headers. */
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
