// The headers of a client's requests: the protocol's own, and those that the user adds.
import { ConfigurationError } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { ChannelRequest } from "../channel/channel.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { HeaderFields } from "../settings/auth.ts";

/** The headers that only the transport sets. */
const ofTransport: ReadonlySet<string> = new Set(
  "accept content-type content-length content-encoding transfer-encoding host connection last-event-id mcp-protocol-version mcp-session-id mcp-method".split(
    " ",
  ),
);

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Excludes line breaks, which would start another header. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;
const visible = /^[\x21-\x7e]+$/;

/** Returns the headers with names in lower case. Throws if one cannot be sent, or belongs to the transport. */
export function checkHeaders(headers: HeaderFields): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    const value = headers[name] as string;
    if (ofTransport.has(lower))
      throw invalid(`must not contain ${name}, which the transport sets: remove it`);
    checked[lower] = value;
  }
  checkSendable(headers, "headers");
  return checked;
}

/**
 * Throws if a header cannot be sent. The error leaves out the value, which the errors of runtimes would show. `field`: the option
 * with the header.
 */
export function checkSendable(headers: HeaderFields, field: string): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!token.test(name))
      throw invalid(`contains ${JSON.stringify(name)}, which is not a header name`, field);
    if (!sendable.test(value))
      throw invalid(
        `gives ${name} a value with characters that HTTP does not allow${sendable.test(value.trim()) ? ": trim() it" : ""}`,
        field,
      );
  }
}

function invalid(problem: string, field = "headers"): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", { subject: "client", field }, problem);
}

/** Whether a session id has only the characters that the protocol allows. */
export function isSessionId(text: string): boolean {
  return visible.test(text);
}

const ofPosts = { accept: "application/json, text/event-stream", "content-type": "application/json" };

/** The headers of one channel, which change with its revision and session. */
export class ChannelHeaders {
  readonly #common: HeaderFields;
  readonly #secrets: Secrets;
  #posts: HeaderFields;
  #others: HeaderFields;
  #isModern = false;

  /** `common`: the headers that the user adds to every request. The headers of a single call are added to `secrets`. */
  constructor(common: HeaderFields, secrets: Secrets) {
    this.#common = common;
    this.#secrets = secrets;
    this.#posts = { ...common, ...ofPosts };
    this.#others = common;
  }

  use(revision: Revision | undefined, sessionId: string | undefined): void {
    const agreed: Record<string, string> = {};
    if (revision?.hasVersionHeader) agreed["mcp-protocol-version"] = revision.date;
    if (sessionId !== undefined) agreed["mcp-session-id"] = sessionId;
    this.#isModern = revision?.era === "modern";
    this.#posts = { ...this.#common, ...ofPosts, ...agreed };
    this.#others = { ...this.#common, ...agreed };
  }

  ofRequest({ method, headers, mirrored }: ChannelRequest): Record<string, string> {
    const fields = this.#isModern ? { ...this.#posts, "mcp-method": method } : { ...this.#posts };
    if (headers !== undefined) {
      const added = checkHeaders(headers);
      this.#secrets.addAll(Object.entries(added));
      Object.assign(fields, added);
    }
    return mirrored === undefined ? fields : Object.assign(fields, mirrored);
  }

  /** The headers of a notification, or of an answer to the server. */
  ofMessage(text: string): Record<string, string> {
    if (!this.#isModern) return { ...this.#posts };
    return { ...this.#posts, "mcp-method": (JSON.parse(text) as { method: string }).method };
  }

  ofGet(lastEventId: string | undefined): Record<string, string> {
    const fields: Record<string, string> = { ...this.#others, accept: "text/event-stream" };
    if (lastEventId !== undefined) fields["last-event-id"] = lastEventId;
    return fields;
  }

  ofDelete(): Record<string, string> {
    return { ...this.#others };
  }
}
