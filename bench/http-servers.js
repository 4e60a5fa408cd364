// The HTTP servers that are compared, and those of them that can be measured here and now.
import { importHalyard } from "./available.js";

export const BASELINE = { name: "baseline", file: "./baselines/http.js" };
export const CHECKED = { name: "baseline, checked", file: "./baselines/http-checked.js" };
export const HALYARD = { name: "halyard", file: "./servers/halyard-http.js" };
export const OFFICIAL_V2 = { name: "official v2", file: "./servers/official-v2-http.js" };
export const OFFICIAL_V1 = { name: "official v1", file: "./servers/official-v1-http.js" };
export const MCP_LITE = { name: "mcp-lite", file: "./servers/mcp-lite-http.js" };
export const MCP_LITE_JSON = {
  ...MCP_LITE,
  name: "mcp-lite, asked for JSON only",
  accept: "application/json",
};

const halyard = await importHalyard("halyard/node");
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);

/** Leaves out Halyard where it is not built, and with `--only=baseline,halyard` every other server. */
export function measurable(servers) {
  const built = servers.filter((server) => server.file !== HALYARD.file || halyard !== undefined);
  if (only === undefined) return built;
  const names = only.split(",");
  return built.filter((server) => server === BASELINE || names.some((name) => server.name.startsWith(name)));
}

/** The baseline alone, everyone against it, then the peers against Halyard. `targets` is for Halyard against the baseline. */
export function comparisons(servers, targets = {}) {
  const lines = [{ name: BASELINE.name }];
  for (const server of servers) {
    if (server === BASELINE) continue;
    const target = server === HALYARD ? targets : {};
    lines.push({ name: server.name, against: BASELINE.name, ...target });
  }
  if (!servers.includes(HALYARD)) return lines;
  const peers = servers.filter(
    (server) => server.file !== HALYARD.file && server !== BASELINE && server !== CHECKED,
  );
  if (servers.includes(CHECKED)) lines.push({ name: HALYARD.name, against: CHECKED.name });
  return [...lines, ...peers.map(({ name }) => ({ name, against: HALYARD.name }))];
}
