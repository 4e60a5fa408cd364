// What an endpoint of an authorization server replied, and how errors say it.
import { isObject } from "../../../wire/message.ts";
import { shown } from "../net/shown.ts";
import { Secrets } from "../../redaction/secrets.ts";

export interface Reply {
  readonly response: Response;
  /** The JSON, without what is null; undefined if it is none. */
  readonly body: { readonly [name: string]: unknown } | undefined;
  /** The `error` of its body. */
  readonly error: string | undefined;
  /** What is wrong, if something is. */
  readonly problem: string;
}

/** `secrets`: what the request contained. Some servers show in an error what they received. */
export async function readReply(response: Response, secrets: Secrets = new Secrets()): Promise<Reply> {
  const text = await response.text();
  const body = parse(text);
  const { ok, status } = response;
  const isRefusal = !ok || body?.["error"] !== undefined;
  const { error, error_description: description } = (isRefusal ? await secrets.clean(body) : body) ?? {};
  const inBrackets = (said: unknown): string => (said && typeof said === "string" ? ` (${shown(said)})` : "");
  if (typeof error === "string")
    return { response, body, error, problem: shown(error) + inBrackets(description) };
  const isPage = /^\s*</.test(text);
  // What is not a refusal may contain tokens.
  const what = isPage
    ? " and an HTML page"
    : ok
      ? body
        ? ""
        : " and a body that is not JSON"
      : inBrackets(await secrets.clean(text));
  return { response, body, error: undefined, problem: `HTTP status ${status}${what}` };
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
