// Shows the dashboard's page with made-up answers, so that a view can be looked at without a server: `tsx scripts/page-preview.ts
// [port] [empty|one|many]`. The page is built anew whenever it is loaded.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Ask } from "../src/dashboard/answers.ts";
import { bundlePage, type PageTexts } from "./build-page.ts";
import { type Scene, type Told, tell } from "./page-preview/answers.ts";

const token = "preview-token-0123";
const [port = "0", scene = "many"] = process.argv.slice(2);
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

let page: PageTexts = await bundlePage();

const http = createServer(async (request, response) => {
  const path = new URL(request.url ?? "/", "http://localhost").pathname;
  response.setHeader("content-security-policy", policy).setHeader("cache-control", "no-store");
  const end = (type: string, body: string): void =>
    void response.setHeader("content-type", `${type}; charset=utf-8`).end(body);
  if (path === "/page.js") return end("text/javascript", page.js);
  if (path === "/page.css") return end("text/css", page.css);
  if (path === "/ask") {
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    return end("application/json", JSON.stringify(await answer(request)));
  }
  page = await bundlePage().catch((error: unknown) => {
    console.error(String(error));
    return page;
  });
  return end("text/html", page.html);
});
http.listen(Number(port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/#token=${token}`);
});

async function answer(request: IncomingMessage): Promise<unknown> {
  const { ask, ...question } = JSON.parse(await text(request)) as { ask: Ask };
  return tell(scene as Scene, ask, question as Told);
}
