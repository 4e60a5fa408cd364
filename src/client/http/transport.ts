// The transport over HTTP: Streamable HTTP, and HTTP+SSE of 2024-11-05 for older servers at the same address.
import { later } from "../../base/async/later.ts";
import { ConfigurationError } from "../../base/errors.ts";
import type { Channel, Receiver, Transport } from "../channel/channel.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { AuthOption, HeaderFields } from "../settings/auth.ts";
import { shownUrl } from "../settings/shown.ts";
import type { Backoff, ClientLimits } from "../settings/limits.ts";
import { type AuthEvents, Credentials } from "./auth.ts";
import { HttpChannel, type HttpChannelOptions } from "./channel.ts";
import { checkHeaders } from "./headers.ts";
import { Requester } from "./requester.ts";
import { sendByFetch } from "./send-by-fetch.ts";
import type { Send } from "./send.ts";

export interface HttpTransportOptions extends AuthEvents {
  /** @default {`fetch`} */
  readonly send?: Send | undefined;
  /** @default {the global `fetch`} */
  readonly fetch?: typeof fetch | undefined;
  /** Added to every request. */
  readonly headers?: HeaderFields | undefined;
  readonly auth?: AuthOption | undefined;
  /** The secrets of the client, to which the transport adds what it sends. */
  readonly secrets: Secrets;
  readonly limits: ClientLimits;
  readonly backoff: Backoff;
}

export class HttpTransport implements Transport {
  readonly kind = "http";
  readonly hasHeaders = true;
  readonly reopens = true;
  readonly address: string;
  readonly older: Transport;
  readonly secrets: Secrets;
  readonly credentials: (() => string | Promise<string>) | undefined;
  readonly #options: HttpChannelOptions;

  /** The transport to a URL. Rejects if it is not an HTTP URL. */
  static async to(url: string | URL, options: HttpTransportOptions): Promise<HttpTransport> {
    return new HttpTransport(await checkUrl(url), options);
  }

  private constructor(dialled: string, options: HttpTransportOptions) {
    this.address = shownUrl(dialled);
    this.secrets = options.secrets;
    const { limits, backoff, secrets } = options;
    const credentials = new Credentials(options.auth, dialled, options, secrets);
    const send = options.send ?? sendByFetch(options.fetch ?? globalThis.fetch);
    const requester = new Requester(send, credentials);
    const isFixed = options.auth === undefined || typeof options.auth === "string";
    this.credentials = isFixed ? undefined : () => credentials.current();
    const headers = checkHeaders(options.headers ?? {});
    secrets.addAll(Object.entries(headers));
    secrets.addAll(new URL(dialled).searchParams);
    this.#options = { url: dialled, requester, headers, limits, backoff };
    this.older = olderTransport(this, this.#options);
  }

  async open(receiver: Receiver): Promise<Channel> {
    return new HttpChannel(this.#options, receiver);
  }
}

const openOlder = later(
  () => import("./legacy-sse.ts"),
  ({ openLegacySse }) => openLegacySse,
);

function olderTransport({ address, secrets }: Transport, options: HttpChannelOptions): Transport {
  return {
    kind: "http",
    address,
    secrets,
    hasHeaders: false,
    reopens: true,
    open: async (receiver, signal) => (await openOlder.get())(options, receiver, signal),
  };
}

const notHttp = later(
  () => import("../settings/wrong-target.ts"),
  (module) => module.notHttp,
);

async function checkUrl(target: string | URL): Promise<string> {
  const fail = (problem: string): never => {
    throw new ConfigurationError("INVALID_OPTION", { subject: "connect", field: "target" }, problem);
  };
  // A real host name never has "$", so this is a variable that was not filled in.
  const isFilledIn = !/^\w+:\/\/[^/]*\$/.test(String(target));
  const url = isFilledIn && URL.canParse(String(target)) ? new URL(target) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    return fail((await notHttp.get())(String(target)));
  if (url.username || url.password)
    fail("must not contain credentials: pass them with the option auth or headers");
  url.hash = "";
  return url.href;
}
