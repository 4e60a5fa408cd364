// Addresses: which belong to this machine, and which usually belong to one client.

/** The network of an IPv6 address; any other text unchanged. */
export function addressKey(address: string): string {
  if (!address.includes(":")) return address;
  // A dual-stack socket writes an IPv4 peer as `::ffff:192.0.2.1`.
  const ipv4 = address.includes(".") ? /^::ffff:([\d.]+)$/i.exec(address)?.[1] : undefined;
  return ipv4 ?? networkOf(address);
}

/** The first four groups as numbers, since an IPv6 address can be written in several ways. */
function networkOf(address: string): string {
  const groups: number[] = [];
  let gapAt = -1;
  let start = 0;
  while (start <= address.length) {
    const colon = address.indexOf(":", start);
    const end = colon < 0 ? address.length : colon;
    if (end > start) groups.push(Number.parseInt(address.slice(start, end), 16));
    else if (gapAt < 0) gapAt = groups.length;
    start = end + 1;
  }
  const zeros = 8 - groups.length;
  const at = (index: number): number => {
    if (gapAt < 0 || index < gapAt) return groups[index] ?? 0;
    return index < gapAt + zeros ? 0 : (groups[index - zeros] ?? 0);
  };
  return `${at(0)}:${at(1)}:${at(2)}:${at(3)}`;
}

/** Whether a URL names this machine: an address of 127.0.0.0/8, [::1] or `localhost`. */
export function isLoopback(url: URL): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
}

/** Whether an address, or a host name without a port, belongs to this machine. */
export function isLoopbackAddress(address: string): boolean {
  return address === "localhost" || address === "::1" || /^127(?:\.\d{1,3}){3}$/.test(address);
}
