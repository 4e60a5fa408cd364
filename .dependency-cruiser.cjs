// The layers: a file imports only from its own layer and those above it in scripts/layers.json. Imports of types count. A folder
// that is not listed belongs to the nearest listed one around it.
const layers = require("./scripts/layers.json");

const patternOf = (path) => (path.endsWith(".ts") ? `^src/${path.replace(".", "\\.")}$` : `^src/${path}/`);
/** The files of a layer: those below its path that no layer inside it has. */
const inLayer = (layer) => {
  const inner = layers.filter((other) => other.startsWith(`${layer}/`)).map(patternOf);
  return { path: patternOf(layer), ...(inner.length > 0 && { pathNot: inner }) };
};
/** The files of the layers that come later, which may lie around this layer or inside it. */
const after = (layer, index) => ({
  path: layers.slice(index + 1).map(patternOf),
  pathNot: layers
    .slice(0, index + 1)
    .filter((earlier) => earlier !== layer || !isAround(layer, index))
    .map(patternOf),
});
const isAround = (layer, index) => layers.slice(index + 1).some((later) => later.startsWith(`${layer}/`));

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    ...layers.slice(0, -1).map((layer, index) => ({
      name: `${layer}-imports-only-from-above`,
      severity: "error",
      from: inLayer(layer),
      to: after(layer, index),
    })),
    {
      name: "every-folder-has-a-layer",
      severity: "error",
      from: {},
      to: { path: "^src/", pathNot: layers.map(patternOf) },
    },
    {
      name: "node-only-at-the-edges",
      comment: "The core runs anywhere: Node's modules belong to the edges",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: [
          "^src/transports/node/",
          "^src/transports/stdio/",
          "^src/testing/",
          "^src/client/(oauth/)?platform/node",
          "^src/dashboard/platform/node",
        ],
      },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "client-imports-no-server",
      comment: "What a client and a server share belongs to wire/, protocol/ or schema/",
      severity: "error",
      from: { path: "^src/client/" },
      to: {
        path: "^src/",
        pathNot: ["^src/client/", "^src/(base|protocol)/"],
      },
    },
    {
      name: "dashboard-imports-public-entries",
      comment: "The dashboard stands on what anybody can import: public entries, and what all wings share",
      severity: "error",
      from: { path: "^src/dashboard/" },
      to: {
        path: "^src/",
        pathNot: [
          "^src/dashboard/",
          "^src/(base|protocol)/",
          "^src/(client|window|transports/(node|fetch))/index\\.ts$",
        ],
      },
    },
    {
      name: "page-imports-no-server",
      comment:
        "The dashboard's page runs in a browser: it is a client, and shares protocol data with servers",
      severity: "error",
      from: { path: "^src/dashboard/page/" },
      to: {
        pathNot: [
          "^src/dashboard/page/",
          "^src/dashboard/answers\\.ts$",
          "^src/client/index\\.ts$",
          "^src/(base|protocol)/",
          "node_modules/(preact|uplot)/",
        ],
      },
    },
    {
      name: "stdio-and-testing-do-not-meet",
      severity: "error",
      from: { path: "^src/testing/" },
      to: { path: "^src/transports/stdio/" },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    // It finds the sources of #client-platform.
    tsConfig: { fileName: "tsconfig.core.json" },
    doNotFollow: { path: "node_modules" },
  },
};
