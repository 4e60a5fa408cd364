// Decides which addresses may be asked for one MCP server.
import { platform } from "#oauth-platform";
import { OAuthError, shown } from "../settings/errors.ts";
import { type Place, placeOf, placeOfAddress } from "./address.ts";
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
