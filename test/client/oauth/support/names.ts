// The names that DNS knows while a test runs.
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** Resolves these names, and no others, until the test ends. Returns the names that were asked for. */
export function resolveNames(names: Readonly<Record<string, readonly string[]>>): string[] {
  const real = dns.lookup;
  const asked: string[] = [];
  const lookup = (name: string): Promise<{ address: string; family: number }[]> => {
    asked.push(name);
    const addresses = names[name];
    if (addresses === undefined) return Promise.reject(new Error(`getaddrinfo ENOTFOUND ${name}`));
    return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
  };
  Object.assign(dns, { lookup });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(dns, { lookup: real });
    syncBuiltinESMExports();
  });
  return asked;
}
