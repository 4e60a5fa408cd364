// Serves the page with a strict Content-Security-Policy. Without the URL of a server, the page uses the notebook of the demo.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { serveHttp } from "halyard/node";
import { createDemoServer } from "../demo/server.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const html = readFileSync(here("index.html"));
const { outputFiles } = await build({
  entryPoints: [here("page.ts")],
  bundle: true,
  minify: true,
  // The page loads what it needs at once, and the rest when it uses it.
  splitting: true,
  format: "esm",
  outdir: "scripts",
  write: false,
});
const scripts = new Map(outputFiles.map(({ path, contents }) => [`/${basename(path)}`, contents]));

const port = Number(process.env["PORT"] ?? 8080);
const origin = `http://localhost:${port}`;
const [given, issuer] = process.argv.slice(2);
const server = given ?? (await serveHttp(createDemoServer(), { port: 0, cors: { origins: [origin] } })).url;
const connectTo = [server, issuer].flatMap((url) => (url === undefined ? [] : [new URL(url).origin]));
const policy = `default-src 'none'; script-src 'self'; connect-src ${connectTo.join(" ")}; frame-ancestors 'none'`;

createServer(({ url = "" }, response) => {
  const { pathname } = new URL(url, origin);
  const script = scripts.get(pathname);
  if (script) response.setHeader("content-type", "text/javascript").end(script);
  else if (pathname !== "/") response.writeHead(404).end();
  else response.writeHead(200, { "content-type": "text/html", "content-security-policy": policy }).end(html);
}).listen(port, "127.0.0.1", () => console.log(`Open ${origin}/?server=${encodeURIComponent(server)}`));
