// Decides which addresses may be asked for one MCP server.
import { platform } from "#oauth-platform";
import { OAuthError, shown } from "../settings/errors.ts";
import { shownUrl } from "../../settings/shown.ts";

const maxUrl = 2048;
const trust = "If you trust it, pass the address of the authorization server as `issuer`";

/** What decides which addresses may be asked. */
export interface AddressOptions {
  /** The URL of the MCP server: private addresses are allowed as far as it has one itself. */
  readonly server: string;
  /** Addresses that the user has given: their hosts are trusted wherever they are. */
  readonly trusted: readonly string[];
  readonly fetch?: typeof fetch | undefined;
}

export class AddressGuard {
  readonly #server: URL;
  readonly #origins: ReadonlySet<string>;
  readonly #hosts: ReadonlySet<string>;
  readonly #seesAddresses: boolean;
  /** Where the server is, once that is known. */
  #place: Place | undefined;

  constructor({ server, trusted, fetch }: AddressOptions) {
    const given = [server, ...trusted].map((url) => new URL(url));
    this.#server = new URL(server);
    this.#origins = new Set(given.map(({ origin }) => origin));
    this.#hosts = new Set(given.map(({ hostname }) => bare(hostname)));
    this.#seesAddresses = fetch === undefined;
  }

  /** Rejects if an address must not be asked, as far as the URL shows it. */
  async check(url: string): Promise<void> {
    if (!URL.canParse(url) || url.length > maxUrl)
      throw refusal(`${shown(url)} is not a URL, or longer than ${maxUrl} characters`);
    const { protocol, hostname, username, password, origin } = new URL(url);
    const place = placeOf(hostname);
    const mayBePlain = place === "loopback" || this.#origins.has(origin);
    if (protocol !== "https:" && !(protocol === "http:" && mayBePlain))
      throw refusal(`${shown(url)} must begin with https: (http: only on localhost). ${trust}`);
    if (username !== "" || password !== "" || url.includes("#"))
      throw refusal(`${shownUrl(url)} has credentials or a fragment: metadata needs URLs without`);
    this.#place ??= placeOf(this.#server.hostname) ?? (await this.#resolvedPlace());
    const problem = place && this.#problemOf(hostname, hostname, place);
    if (problem) throw problem;
  }

  /** Why an address to which `host` resolves must not be asked. */
  refusalOf(host: string, address: string): OAuthError | undefined {
    return this.#problemOf(host, address, placeOfAddress(address));
  }

  #problemOf(host: string, address: string, place: Place): OAuthError | undefined {
    const isAsNear = place === this.#place || (place === "private" && this.#place === "loopback");
    if (place === "public" || isAsNear || this.#hosts.has(bare(host))) return undefined;
    const at = host === address ? host : `${host} (${address})`;
    return refusal(`${this.#server.origin} leads to ${at}, a ${place} address. ${trust}`);
  }

  /** A name never counts as loopback: its owner can point it there once the client has connected. */
  async #resolvedPlace(): Promise<Place> {
    const host = bare(this.#server.hostname);
    const resolving = this.#seesAddresses ? platform.addressesOf?.(host) : undefined;
    const places = ((await resolving?.catch(() => [])) ?? []).map(placeOfAddress);
    const isInside = places.length > 0 && !places.includes("public") && !places.includes("reserved");
    return isInside ? "private" : "public";
  }
}

function refusal(message: string): OAuthError {
  return new OAuthError("forbidden-address", message);
}

/** The host without the brackets and the last dot of a URL. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$|\.$/g, "");
}

type Place = "public" | "private" | "loopback" | "link-local" | "reserved";

/** What addresses begin with, in hexadecimal digits. The first row that fits decides. */
type Ranges = readonly (readonly [Place, RegExp])[];

const v4: Ranges = [
  // 169.254.0.0/16, and where clouds serve secrets to their machines: 100.100.100.200, 168.63.129.16, 192.0.0.192
  ["link-local", /^(?:a9fe|646464c8|a83f8110|c00000c0)/],
  // 0.0.0.0/8, 127.0.0.0/8
  ["loopback", /^(?:00|7f)/],
  // 10.0.0.0/8, 100.64.0.0/10, 172.16.0.0/12, 192.0.0.0/24, 192.168.0.0/16, 198.18.0.0/15
  ["private", /^(?:0a|64[4-7]|ac1|c00000|c0a8|c61[23])/],
  // 224.0.0.0/3, 192.0.2.0/24, 192.88.99.0/24, 198.51.100.0/24, 203.0.113.0/24
  ["reserved", /^(?:[ef]|c00002|c05863|c63364|cb0071)/],
  ["public", /^/],
];

const v6: Ranges = [
  // fe80::/10, fd00:ec2::254
  ["link-local", /^(?:fe[89ab]|fd000ec20{21}254)/],
  // fc00::/7, fec0::/10, 64:ff9b:1::/48
  ["private", /^(?:f[cd]|fe[c-f]|0064ff9b0001)/],
  // 2001::/23, 2001:db8::/32, 3fff::/20
  ["reserved", /^(?:20010[01]|20010db8|3fff0)/],
  // 2000::/3
  ["public", /^[23]/],
  ["reserved", /^/],
];

/** IPv6 addresses that lead to the IPv4 address in them: 64:ff9b::/96, ::ffff:0:0/96, ::/96 (with `::1`), 2002::/16. */
const containing = /^(?:0064ff9b0{16}|0{20}(?:0000|ffff))(.{8})$|^2002(.{8}).{20}$/;

/** Returns where the `hostname` of a URL is; undefined for a name that only DNS can place. */
function placeOf(hostname: string): Place | undefined {
  if (/(?:^|\.)localhost\.?$/.test(hostname)) return "loopback";
  if (!/^\[|^\d+(?:\.\d+){3}$/.test(hostname)) return undefined;
  const digits = digitsOf(hostname);
  const [, last, inner] = containing.exec(digits) ?? [];
  const reached = last ?? inner ?? digits;
  return (reached.length === 8 ? v4 : v6).find(([, beginning]) => beginning.test(reached))?.[0];
}

/** Returns where an address that DNS has returned is. */
function placeOfAddress(address: string): Place {
  // A URL writes each address in one way.
  const url = `http://${address.includes(":") ? `[${address.replace(/%.*/, "")}]` : address}`;
  return (URL.canParse(url) && placeOf(new URL(url).hostname)) || "reserved";
}

/** The digits of an address, as a URL writes it. */
function digitsOf(host: string): string {
  if (!host.startsWith("["))
    return host
      .split(".")
      .map((byte) => pad(Number(byte).toString(16), 2))
      .join("");
  const [head = "", tail = ""] = host
    .slice(1, -1)
    .split("::")
    .map((part) =>
      part
        .split(":")
        .filter(Boolean)
        .map((group) => pad(group, 4))
        .join(""),
    );
  return head + pad("", 32 - head.length - tail.length) + tail;
}

function pad(digits: string, length: number): string {
  return digits.padStart(length, "0");
}
