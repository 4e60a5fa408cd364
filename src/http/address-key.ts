// Under which key an address is counted: whoever has one IPv6 address has all that share its first 64 bits.

const ipv4InIpv6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The key of an address; of what is no IPv6 address, the text itself. */
export function addressKey(address: string): string {
  if (!address.includes(":")) return address;
  const ipv4 = ipv4InIpv6.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [left = "", right] = address.split("::", 2);
  const groups = groupsOf(left);
  if (right !== undefined) {
    const last = groupsOf(right);
    while (groups.length + last.length < 8) groups.push("0");
    groups.push(...last);
  }
  return groups.slice(0, 4).map(withoutZeros).join(":");
}

function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":");
}

/** The same group is written in several ways. */
function withoutZeros(group: string): string {
  return group.toLowerCase().replace(/^0+(?=.)/, "");
}
