// What an endpoint of an authorization server replied, and how errors say it.
import { isObject } from "../../../wire/message.ts";
import { shown } from "../net/shown.ts";

export interface Reply {
  readonly response: Response;
  /** The JSON, without what is null; undefined if it is none. */
  readonly body: { readonly [name: string]: unknown } | undefined;
  /** The `error` of its body. */
  readonly error: string | undefined;
  /** What is wrong, if something is. */
  readonly problem: string;
}

export async function readReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const body = parse(text);
  const { error, error_description: description } = body ?? {};
  if (typeof error === "string") {
    const more = typeof description === "string" ? said(description) : "";
    return { response, body, error, problem: shown(error) + more };
  }
  const { ok, status } = response;
  const isPage = /^\s*</.test(text);
  // What is not a refusal may contain tokens.
  const what = isPage ? " and an HTML page" : ok ? (body ? "" : " and a body that is not JSON") : said(text);
  return { response, body, error: undefined, problem: `HTTP status ${status}${what}` };
}

function said(text: string): string {
  return text === "" ? "" : ` (${shown(text)})`;
}

/** Leaves out ID tokens too: nobody looks at them, so they need not be verified. */
function parse(text: string): Reply["body"] {
  try {
    const body: unknown = JSON.parse(text, (name, value: unknown) =>
      value === null || name === "id_token" ? undefined : value,
    );
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
