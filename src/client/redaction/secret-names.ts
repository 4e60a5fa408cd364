// The names whose values are secrets: of fields in messages, of headers, of variables and of options of a command.

/**
 * Names of fields, in lower case and without `-` and `_`. Only whole names count: `progressToken`, `nextPageToken` and
 * `maxTokens` are not secrets.
 */
const fields: ReadonlySet<string> = new Set(
  (
    "sessionid mcpsessionid token accesstoken refreshtoken idtoken authtoken bearertoken apitoken sessiontoken csrftoken " +
    "password passwd passphrase passcode pin otp secret clientsecret privatekey secretkey accesskey secretaccesskey apikey xapikey " +
    "authorization proxyauthorization dpop clientassertion codeverifier credential credentials cookie setcookie requeststate"
  ).split(" "),
);

/** The endings of names of secret headers, variables and options, optionally followed by a number. */
const ending =
  /(?:auth|authorization|token|key|secret|password|passwd|passphrase|passcode|credentials?|cookie|dpop|assertion|signature|session[-_]?id|sid|pat|pwd|(?<![a-z])pass|key[-_]base)(?:[-_]?\d+)?$/i;

/** The headers whose values are not secrets. */
const plainHeader =
  /^(?:accept|content-type$|user-agent$|origin$|referer$|cache-control$|trace(?:parent|state)$|baggage$|x-(?:request|correlation)-id$|mcp-(?!session-id))/;

export function isSecretField(name: string): boolean {
  return fields.has(name.replaceAll(/[-_]/g, "").toLowerCase());
}

/** Whether the value of a header, variable or option of that name is a secret. */
export function isSecretSetting(name: string): boolean {
  return ending.test(name);
}

/** Whether the value of a header may be shown. Names in lower case. */
export function isPlainHeader(name: string): boolean {
  return plainHeader.test(name);
}
