// Keeps secrets out of texts that others have written, such as errors that repeat what was sent.

/** The text with each of the secrets replaced; those that are undefined or empty are ignored. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  return secrets.reduce<string>(
    (safe, secret) => (secret ? safe.replaceAll(secret, "[redacted]") : safe),
    text,
  );
}
