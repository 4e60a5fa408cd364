// Tells whether Halyard has been built; the baselines and the official SDK can be measured without it.
const NOT_BUILT = new Set(["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);

/** Imports the given Halyard entry; undefined, with a line on stderr, where there is none yet. */
export async function importHalyard(entry) {
  try {
    return await import(entry);
  } catch (error) {
    if (!NOT_BUILT.has(error.code)) throw error;
    console.error(`Halyard is not measured, build it first: ${error.message}`);
    return undefined;
  }
}
