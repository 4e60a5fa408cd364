// The limits as SECURITY.md says them, so that the tests hold the table to the code.
import { readTable } from "../support/documents.ts";

const rows = readTable("SECURITY.md", "Default limits of authorization");

export function limitOf(name: string): number {
  const limit = Number(rows.find((row) => row["limit"] === name)?.["default"]);
  if (!(limit > 0)) throw new Error(`SECURITY.md has no limit "${name}"`);
  return limit;
}
