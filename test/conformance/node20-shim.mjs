// The suite's bundle imports fs.globSync, which Node 20 has not; only a command that is not used here calls it.
import { register } from "node:module";

const hooks = `
const bundle = /\\/@modelcontextprotocol\\/conformance\\/dist\\/index\\.js$/;

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!bundle.test(url) || loaded.source == null) return loaded;
  return { ...loaded, source: String(loaded.source).replace(/\\bglobSync as [\\w$]+,?/, "") };
}
`;

register(`data:text/javascript,${encodeURIComponent(hooks)}`);
