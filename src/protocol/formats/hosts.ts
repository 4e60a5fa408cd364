// Formats of host names, IP addresses and email addresses.

const byte = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

export function isIpv4(text: string): boolean {
  return ipv4.test(text);
}

/** Eight groups; `::` replaces omitted ones, and an IPv4 address may replace the last two. */
export function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  const endsInIpv4 = last.includes(".") && text.endsWith(last) && isIpv4(last);
  if (endsInIpv4) groups.pop();
  const count = groups.length + (endsInIpv4 ? 2 : 0);
  return (
    groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) && (halves.length === 2 ? count < 8 : count === 8)
  );
}

export function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => label.test(part));
}

const quoted = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/;
const dotted = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

export function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(at, 0));
  const host = text.slice(at + 1);
  if (local.length > 64 || !(quoted.test(local) || dotted.test(local))) return false;
  if (!host.startsWith("[") || !host.endsWith("]")) return isHostname(host);
  const address = host.slice(1, -1);
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address);
}
