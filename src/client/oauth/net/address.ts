// Where a host is: on the internet, in a private network, or on this machine.

export type Place = "public" | "private" | "loopback" | "link-local" | "reserved";

/** The first range that contains an address decides. Some clouds serve secrets to their machines outside of link-local ranges. */
const ranges: readonly (readonly [Place, string])[] = [
  ["link-local", "169.254.0.0/16 fe80::/10"],
  ["link-local", "fd00:ec2::254/128 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32"],
  ["loopback", "0.0.0.0/8 127.0.0.0/8"],
  ["private", "10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15"],
  ["private", "fc00::/7 fec0::/10 64:ff9b:1::/48"],
  ["reserved", "192.0.2.0/24 192.88.99.0/24 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3"],
  ["reserved", "2001::/23 2001:db8::/32 3fff::/20"],
  ["public", "0.0.0.0/0 2000::/3"],
];

/** IPv6 ranges whose addresses contain the IPv4 address that packets reach, and the bit where it begins. `::1` is one of them. */
const containing = [
  ["64:ff9b::/96", 96],
  ["2002::/16", 16],
  ["::/96", 96],
] as const;

/** What the bits of an IPv4 address begin with, among those of IPv6. */
const bitsOfV4 = "0".repeat(80) + "1".repeat(16);

/** Returns where the `hostname` of a URL is; undefined for a name that only DNS can place. */
export function placeOf(hostname: string): Place | undefined {
  if (/(?:^|\.)localhost\.?$/.test(hostname)) return "loopback";
  if (!/^\[|^\d+(?:\.\d+){3}$/.test(hostname)) return undefined;
  const bits = bitsOf(hostname.replace(/[[\]]/g, ""));
  const start = containing.find(([range]) => isWithin(bits, range))?.[1];
  const reached = start === undefined ? bits : bitsOfV4 + bits.slice(start, start + 32);
  return (
    ranges.find(([, list]) => list.split(" ").some((range) => isWithin(reached, range)))?.[0] ?? "reserved"
  );
}

/** Returns where an address that DNS has returned is. */
export function placeOfAddress(address: string): Place {
  // A URL writes each address in one way.
  const url = `http://${address.includes(":") ? `[${address.replace(/%.*/, "")}]` : address}`;
  return (URL.canParse(url) && placeOf(new URL(url).hostname)) || "reserved";
}

function isWithin(bits: string, range: string): boolean {
  const [address = "", length] = range.split("/");
  return bits.startsWith(bitsOf(address).slice(0, Number(length) + (address.includes(":") ? 0 : 96)));
}

/** The 128 bits of an address, as a URL writes it. */
function bitsOf(address: string): string {
  if (!address.includes(":")) return bitsOfV4 + toBits(address.split("."), 10, 8);
  const [head = [], tail = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return toBits([...head, ...zeros, ...tail], 16, 16);
}

function toBits(numbers: readonly string[], radix: number, width: number): string {
  return numbers.map((text) => Number.parseInt(text, radix).toString(2).padStart(width, "0")).join("");
}
