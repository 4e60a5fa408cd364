// What docs/guides/deploy.md says to run, with nothing replaced but what differs from machine to machine, and times.
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { readBlocks } from "../support/documents.ts";

const path = "docs/guides/deploy.md";
const [server = ""] = readBlocks(path, "ts");
const [site = "", several = ""] = readBlocks(path, "nginx");
const [unit = ""] = readBlocks(path, "ini");

export const publicHost = "mcp.example.com";
export const resource = `https://${publicHost}/mcp`;

/** A minute of silence becomes seconds, so that a test can wait for it. Streams are looked at once a second, so not less. */
const timeScale = 20;

/** Replaces what must be there. */
export function replaced(text: string, ...changes: readonly (readonly [string | RegExp, string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    const next = changed.replaceAll(from, to);
    if (next === changed) throw new Error(`The guide has no ${String(from)}`);
    return next;
  }, text);
}

/** The one number of the guide after `name`. */
function figure(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`${path} has no ${String(pattern)}`);
  return Number(found.replaceAll("_", ""));
}

/** What has to fit together, in milliseconds and bytes. */
export const figures = {
  keepAliveMs: figure(server, /keepAliveMs: ([\d_]+)/),
  graceMs: figure(server, /graceMs: ([\d_]+)/),
  readTimeoutMs: figure(site, /proxy_read_timeout (\d+)s/) * 1000,
  bodyBytes: figure(site, /client_max_body_size (\d+)m/) * 1024 * 1024,
  headerBytes: figure(site, /large_client_header_buffers 4 (\d+)k/) * 1024,
  nodeHeaderBytes: figure(unit, /--max-http-header-size=(\d+)/),
  stopMs: figure(unit, /TimeoutStopSec=(\d+)/) * 1000,
};

/** The longest silence that nginx bears in these tests. */
export const readTimeoutMs = figures.readTimeoutMs / timeScale;

/** The arguments of node for the server of the guide, with the definitions of the tests. */
export function serverArguments(isOneOfSeveral: boolean): string[] {
  const fixture = new URL("fixtures/definitions.mjs", import.meta.url).href;
  const code = replaced(
    server,
    [/^\/\/ Your tools.*$/gm, "define(server);"],
    [/keepAliveMs: [\d_]+/g, `keepAliveMs: ${figures.keepAliveMs / timeScale}`],
    ...(isOneOfSeveral ? [['version: "1.0.0" }', 'version: "1.0.0" }, { backplane }'] as const] : []),
  );
  const flags = /^ExecStart=\S+ (--\S+) /m.exec(unit)?.slice(1) ?? [];
  const imports = `import { backplane, define } from ${JSON.stringify(fixture)};`;
  return [...flags, ...programArguments(`${imports}\n${code}`)];
}

/** Where the package can be imported from. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

export interface Places {
  /** Where the certificate is, and the log. */
  readonly folder: string;
  readonly port: number;
  /** In place of the same port over IPv6, which not every machine has. */
  readonly secondPort: number;
  readonly instances: readonly number[];
}

/** The configuration of nginx: the site of the guide. */
export function nginxConfiguration({ folder, port, secondPort, instances }: Places): string {
  const isSeveral = instances.length > 1;
  // A function, since the text has dollars of its own.
  const whole = isSeveral ? site.replace(/^upstream mcp \{[^}]*\}\n/m, () => several) : site;
  const moved = replaced(
    whole,
    [/listen 443\b/g, `listen 127.0.0.1:${port}`],
    ["[::]:443", `127.0.0.1:${secondPort}`],
    [`/etc/letsencrypt/live/${publicHost}`, folder],
    ["/var/log/nginx", folder],
    [/proxy_read_timeout \d+s/g, `proxy_read_timeout ${readTimeoutMs}ms`],
    ...instances.map((instance, index) => [`127.0.0.1:${3001 + index}`, `127.0.0.1:${instance}`] as const),
  );
  return wholeConfiguration(folder, moved);
}

/** A site in the least that it can stand in. */
export function wholeConfiguration(folder: string, text: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join("\n");
  // One process, which keeps its user: the folder belongs to the user who runs the tests.
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events {}
http {
access_log off;
${temporary}
${text}}
`;
}

/** The arguments of node for a program of a guide. */
export function programArguments(code: string): string[] {
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
  return ["--input-type=module", "--eval", ts.transpileModule(code, { compilerOptions }).outputText];
}
