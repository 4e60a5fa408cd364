// Sends requests with `node:http` to no address that was not checked: a name may resolve differently each time.
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { urlToHttpOptions } from "node:url";

type RefusalOf = (host: string, address: string) => Error | undefined;

/** Like `fetch`, without redirects and compression. The URL is checked, if it has an address in place of a name. */
export function checkedFetch(url: string, init: RequestInit, refusalOf: RefusalOf): Promise<Response> {
  const { method = "GET", headers, body, signal } = init;
  return new Promise((resolve, reject) => {
    const request = url.startsWith("https:") ? httpsRequest : httpRequest;
    const sending = request({
      ...urlToHttpOptions(new URL(url)),
      method,
      headers: { "accept-encoding": "identity", ...Object.fromEntries(new Headers(headers)) },
      lookup: checkedLookup(refusalOf),
      // A shared agent might have a connection to an address that was not checked.
      agent: false,
      ...(signal ? { signal } : {}),
    });
    sending.on("error", reject);
    sending.on("response", (message) => {
      try {
        resolve(toResponse(message));
      } catch (error) {
        message.destroy();
        reject(error as Error);
      }
    });
    sending.end(body === undefined || body === null ? undefined : String(body));
  });
}

export async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Resolves names, and leaves out addresses that are refused. */
function checkedLookup(refusalOf: RefusalOf): LookupFunction {
  return (host, options, callback) => {
    const resolve = async (): Promise<LookupAddress[]> => {
      const addresses = await lookup(host, { ...options, all: true });
      const refusals = addresses.map(({ address }) => refusalOf(host, address));
      const allowed = addresses.filter((_, index) => refusals[index] === undefined);
      if (allowed.length === 0) throw refusals[0] ?? new Error(`${host} has no address`);
      return allowed;
    };
    resolve().then(
      (allowed) => {
        const [{ address, family } = { address: "", family: 0 }] = allowed;
        if (options.all) callback(null, allowed);
        else callback(null, address, family);
      },
      (error: Error) => callback(error, []),
    );
  };
}

function toResponse(message: IncomingMessage): Response {
  const { rawHeaders, statusCode: status = 0 } = message;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const coding = headers.get("content-encoding") ?? "identity";
  if (coding !== "identity")
    throw new Error(`it sent the body as ${coding}, which the client did not accept`);
  const pieces = message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void message.destroy(),
  });
  return new Response([204, 205, 304].includes(status) ? null : body, { status, headers });
}
