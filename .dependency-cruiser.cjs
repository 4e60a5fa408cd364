// The layers: a folder imports only from folders above it in scripts/layers.json, so that no folders form a cycle. Imports of
// types count, and a folder below another one is a layer of its own.
const layers = require("./scripts/layers.json");

/** A file that is a layer of its own does not belong to that of its folder. */
const isFile = (name) => name.endsWith(".ts");
const inLayer = (name) => {
  const own = layers.filter((file) => isFile(file) && file.startsWith(`${name}/`));
  const others = own.map((file) => `(?!${file.slice(name.length + 1).replace(".", "\\.")}$)`).join("");
  return isFile(name) ? `^src/${name.replace(".", "\\.")}$` : `^src/${name}/${others}[^/]+$`;
};

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    ...layers.slice(0, -1).map((layer, index) => ({
      name: `${layer}-imports-only-from-above`,
      severity: "error",
      from: { path: inLayer(layer) },
      to: {
        path: layers.slice(index + 1).map(inLayer),
        // A file that is a layer of its own is not in the layer of its folder.
        pathNot: layers
          .slice(0, index + 1)
          .filter(isFile)
          .map(inLayer),
      },
    })),
    {
      name: "every-folder-has-a-layer",
      severity: "error",
      from: {},
      to: { path: "^src/", pathNot: layers.map(inLayer) },
    },
    {
      name: "node-only-at-the-edges",
      comment: "The core runs anywhere: Node's modules belong to the edges",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: [
          "^src/node/",
          "^src/stdio/",
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
        pathNot: [
          "^src/client/",
          "^src/(errors|kinds|options|refused-names)\\.ts$",
          "^src/(async|wire|protocol|schema)/",
        ],
      },
    },
    {
      name: "page-imports-no-server",
      comment: "The dashboard's page runs in a browser: it is a client, and knows what a server answers",
      severity: "error",
      from: { path: "^src/dashboard/page/" },
      to: {
        pathNot: [
          "^src/dashboard/page/",
          "^src/dashboard/answers\\.ts$",
          "^src/client/index\\.ts$",
          "node_modules/(preact|uplot)/",
        ],
      },
    },
    {
      name: "stdio-and-testing-do-not-meet",
      severity: "error",
      from: { path: "^src/testing/" },
      to: { path: "^src/stdio/" },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    // It finds the sources of #client-platform.
    tsConfig: { fileName: "tsconfig.core.json" },
    doNotFollow: { path: "node_modules" },
  },
};
