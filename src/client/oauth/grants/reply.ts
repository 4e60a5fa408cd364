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
  const { error, error_description: description } = body ?? {};
  const redactor = response.ok && error === undefined ? undefined : await secrets.redactor();
  const show = (said: string): string => shown(redactor?.text(said) ?? said);
  const inBrackets = (said: unknown): string => (said && typeof said === "string" ? ` (${show(said)})` : "");
  if (typeof error === "string")
    return {
      response,
      body,
      error: redactor?.text(error),
      problem: show(error) + inBrackets(description),
    };
  const { ok, status } = response;
  const isPage = /^\s*</.test(text);
  // What is not a refusal may contain tokens.
  const what = isPage
    ? " and an HTML page"
    : ok
      ? body
        ? ""
        : " and a body that is not JSON"
      : inBrackets(text);
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
