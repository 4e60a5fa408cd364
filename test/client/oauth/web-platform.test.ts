// Discovery as browsers and workers have it: they hide addresses, and every response without CORS headers.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyPackage, type PackageCopy } from "../../support/package-copy.ts";
import { type ClientPackage, Web } from "./support/web.ts";

const origin = "https://mcp.example.com";
const [atPath, atRoot] = ["/mcp", ""].map(
  (path) => `${origin}/.well-known/oauth-protected-resource${path}`,
) as [string, string];
const issuer = "https://auth.example.com";
const metadata = `${issuer}/.well-known/oauth-authorization-server`;
const described = { resource: `${origin}/mcp`, authorization_servers: [issuer] };

let copy: PackageCopy;
let bundled: ClientPackage;

beforeAll(async () => {
  copy = await copyPackage(["oauth4webapi"]);
  const { outputFiles } = await build({
    stdin: {
      contents: 'export * from "halyard/client"; export * from "halyard/client/oauth";',
      resolveDir: copy.folder,
    },
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
    outdir: "out",
  });
  const file = join(copy.folder, "oauth.mjs");
  await writeFile(file, outputFiles.map(({ text }) => text).join("\n"));
  bundled = (await import(/* @vite-ignore */ file)) as ClientPackage;
});

afterAll(() => copy.remove());

/** A web in which a page cannot read what is at these addresses. */
function webHiding(...urls: string[]): Web {
  const web = new Web(`${origin}/mcp`, bundled);
  for (const url of urls) web.places[url] = () => Promise.reject(new TypeError("Failed to fetch"));
  return web;
}

test("a document that cannot be read may be missing, so the next one is tried [CL-PRM-ORDER]", async () => {
  const web = webHiding(atPath, metadata).describe(atRoot, described);
  const openid = `${issuer}/.well-known/openid-configuration`;
  await web.issue(openid, issuer).connect();
  expect(web.urls).toEqual([atPath, atRoot, metadata, openid, `${issuer}/token`]);
});

test("if none can be read, the error names the header that is missing", async () => {
  const remedy =
    "it is down, its response (404, too) lacks Access-Control-Allow-Origin, or connect-src of this page forbids it";
  expect(await webHiding(atPath).failure()).toBe(`metadata: Could not fetch ${atPath}: ${remedy}`);
  const web = webHiding(metadata).describe(atPath, described);
  expect(await web.failure()).toBe(`metadata: Could not fetch ${metadata}: ${remedy}`);
});

test("no header is sent that would take a preflight", async () => {
  const web = webHiding().describe(atPath, described);
  await web.issue(metadata, issuer).connect();
  for (const { headers } of web.asked.slice(0, 2)) expect([...headers.keys()]).toEqual(["accept"]);
  expect(web.asked).toHaveLength(3);
});

test.each([
  ["https://127.0.0.1/x", "127.0.0.1, a loopback address"],
  ["https://[fd00::1]/x", "[fd00::1], a private address"],
  ["https://localhost/x", "localhost, a loopback address"],
])("%s is refused by what the URL shows [SEC-SSRF-PRIVATE]", async (url, what) => {
  const web = webHiding();
  web.challenge = `Bearer resource_metadata="${url}"`;
  expect(await web.failure()).toContain(`forbidden-address: ${origin} leads to ${what}`);
});

test("a redirect is not followed, since it does not show where it leads to", async () => {
  const web = webHiding();
  web.places[atPath] = () => Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
  expect(await web.failure()).toBe(
    `forbidden-address: ${atPath} redirects to an address that is not visible here: serve the document here`,
  );
});
