// Checks the options that every backplane has.
import { filledText, type Known, milliseconds } from "../../base/kinds.ts";
import { checkOptions } from "../../base/options.ts";
import type { BackplaneOptions } from "./engine.ts";

/** The bytes that a secret has at least: as many as the keys that are derived from it. */
const minSecretBytes = 32;

const known: Known<BackplaneOptions> = {
  prefix: filledText,
  secret: {
    is: (value) => (Array.isArray(value) ? [...value, value[0]] : [value]).every(isSecret),
    mustBe: `a text of at least ${minSecretBytes} bytes, or a list of them`,
    remedy: () => "create one with `openssl rand -base64 32`",
    isSecret: true,
  },
  leaseMs: milliseconds,
};

/** Throws if an option of the backplane that `subject` creates is unknown or cannot work. */
export function checkBackplaneOptions(subject: string, options: BackplaneOptions): void {
  checkOptions({ subject }, options, known);
}

function isSecret(secret: unknown): boolean {
  return typeof secret === "string" && new TextEncoder().encode(secret).length >= minSecretBytes;
}
