// Checks the options that every backplane has.
import { isTimerMs } from "../async/timers.ts";
import { ConfigurationError } from "../errors.ts";
import { checkOptions, type Known } from "../options.ts";
import type { BackplaneOptions } from "./engine.ts";

const known: Known<BackplaneOptions> = { prefix: true, secret: true, leaseMs: true };

/** The bytes that a secret has at least: as many as the keys that are derived from it. */
const minSecretBytes = 32;

/** Throws if an option of the backplane that `subject` creates is unknown or cannot work. */
export function checkBackplaneOptions(subject: string, options: BackplaneOptions): void {
  checkOptions({ subject }, options, known);
  const { prefix, secret, leaseMs } = options;
  const fail = (field: keyof BackplaneOptions, problem: string): never => {
    throw new ConfigurationError("INVALID_OPTION", { subject, field }, problem);
  };
  if (prefix !== undefined && (typeof prefix !== "string" || prefix === "")) {
    fail("prefix", "must be a non-empty string: it begins every name in the engine");
  }
  if (secret !== undefined) {
    const secrets = [secret].flat();
    if (secrets.length === 0) fail("secret", "must not be an empty list: pass a secret or leave it out");
    if (!secrets.every(isSecret)) {
      fail(
        "secret",
        `must have at least ${minSecretBytes} bytes: create one with \`openssl rand -base64 32\``,
      );
    }
  }
  if (leaseMs !== undefined && !isTimerMs(leaseMs)) {
    fail("leaseMs", `must be a whole number of milliseconds, at least 1, not ${String(leaseMs)}`);
  }
}

function isSecret(secret: unknown): boolean {
  return typeof secret === "string" && new TextEncoder().encode(secret).length >= minSecretBytes;
}
