// The revisions and the reserved keys, as the tests know them.
import { protocolRevisions } from "halyard/testing";

/** The reserved keys of `_meta`, spelled out, so that the tests do not trust the source for them. */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

const datesOf = (era: "modern" | "legacy"): string[] =>
  protocolRevisions.filter((revision) => revision.era === era).map((revision) => revision.date);

/** Newest first, as everywhere. */
export const modernDates: readonly string[] = datesOf("modern");
export const legacyDates: readonly string[] = datesOf("legacy");
export const newestModern: string = modernDates[0] ?? "";
export const newestLegacy: string = legacyDates[0] ?? "";
