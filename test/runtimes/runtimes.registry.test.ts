// Servers and clients from the packed package, on every runtime that README names: one program of checks, run by each of them.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { legs, passLeg } from "../conformance/legs.ts";
import { durableObject, startWorkerOf, type Worker } from "../transports/fetch/workerd.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { filesOfPage, readBlocks } from "../support/documents.ts";
import { removeTypes } from "../support/javascript.ts";
import { expected } from "./expected.ts";
import { type Ended, type Runtime, Runtimes, Started, supported } from "./installed.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const main = "main.mjs";
const oldest = supported[0] ?? "bun";

/** Every runtime with itself, and those that are not Node also with the oldest Node in both directions. */
const pairs = supported.flatMap((runtime): (readonly [client: Runtime, server: Runtime])[] =>
  runtime.startsWith("node")
    ? [[runtime, runtime]]
    : [
        [runtime, runtime],
        [runtime, oldest],
        [oldest, runtime],
      ],
);

let runtimes: Runtimes;

/** What a check printed, if it ended by itself and wrote nothing else. */
function seenIn({ code, stdout, stderr }: Ended): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** Starts a server of the program, which ends with the test. */
async function serve(runtime: Runtime, ...args: string[]): Promise<{ server: Started; url: string }> {
  const server = runtimes.start(runtime, main, ...args);
  onTestFinished(async () => void (await server.kill()));
  return { server, url: await server.says(/http:\S+/) };
}

/** Ends the input of a server, which then closes and ends by itself. */
async function endOf(server: Started): Promise<Omit<Ended, "stdout">> {
  server.endInput();
  const { code, stderr } = await server.ended;
  return { code, stderr };
}

const cleanEnd = { code: 0, stderr: "" };

describe("the packed package", { timeout: 60_000 }, () => {
  beforeAll(async () => {
    runtimes = await Runtimes.install();
  }, 300_000);

  afterAll(() => runtimes.remove());

  test.each(pairs)("calls over HTTP from %s to %s, on every revision", async (client, runtime) => {
    const { server, url } = await serve(runtime, "serve-http");
    expect(seenIn(await runtimes.run(client, main, "http", url))).toEqual(expected.http);
    expect(await endOf(server)).toEqual(cleanEnd);
  });

  test.each(pairs)("starts from %s a server on %s, also after it was killed", async (client, runtime) => {
    const command = [...runtimes.command(runtime), main, "serve-stdio"];
    expect(seenIn(await runtimes.run(client, main, "command", ...command))).toEqual(expected.command);
  });

  test.each(supported)("signs a person in over the loopback redirect on %s", async (runtime) => {
    const { issuer } = await AuthorizationServer.startForTest();
    const { server, url } = await serve(runtime, "serve-protected", issuer);
    expect(seenIn(await runtimes.run(runtime, main, "sign-in", url))).toEqual(expected["sign-in"]);
    expect(await endOf(server)).toEqual(cleanEnd);
  });

  describe.each(supported)("on %s", (runtime) => {
    test.each(["dashboard", "losing", "closing", "slow-reader"] as const)(
      "passes the check %s",
      async (check) => {
        expect(seenIn(await runtimes.run(runtime, main, check))).toEqual(expected[check]);
      },
    );

    test.each(["SIGTERM", "SIGINT"] as const)("ends an HTTP server on %s", async (signal) => {
      const { server } = await serve(runtime, "serve-http");
      expect(await server.kill(signal)).toMatchObject(cleanEnd);
    });
  });

  test.each(supported)("runs the server and the client of README.md on %s", async (runtime) => {
    const files = filesOfPage("README.md");
    const write = (name: string, from: string, to: string): Promise<void> => {
      const sample = files.get(`${name}.mts`) ?? "";
      expect(sample).toContain(from);
      return writeFile(join(runtimes.folder, `${name}.mjs`), removeTypes(sample.replace(from, to)));
    };
    await write("server", "port: 3000", "port: 0");
    const server = runtimes.start(runtime, "server.mjs");
    onTestFinished(async () => void (await server.kill()));
    await write("client", "http://127.0.0.1:3000/mcp", await server.says(/http:\S+/));
    const { code, stdout, stderr } = await runtimes.run(runtime, "client.mjs");
    expect({ code, stderr }).toEqual(cleanEnd);
    // Each runtime has its own quotes and line breaks.
    expect(stdout.replaceAll(/[\s"',[\]{}]+/g, " ").trim()).toBe("type: text text: 21 °C in Oslo");
  });

  test.each(supported)("opens the dashboard of README.md on %s", async (runtime) => {
    const sample = readBlocks("README.md", "ts").find((block) => block.includes("halyard/dashboard")) ?? "";
    expect(sample).toContain("port: 3000");
    await writeFile(join(runtimes.folder, "seen.mjs"), removeTypes(sample.replace("port: 3000", "port: 0")));
    const server = runtimes.start(runtime, "seen.mjs");
    onTestFinished(async () => void (await server.kill()));
    const page = await fetch(await server.says(/http:\S+token=\S+/));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("<title>");
  });

  /** The server of the guide, and the same where `require` cannot load ES modules. */
  const inCommonJs = {
    require: (code: string) => code,
    "import()": (code: string) =>
      `(async () => {\n${code.replaceAll(/require\((".*?")\)/g, "await import($1)")}})();\n`,
  };

  test.each(supported.flatMap((runtime) => Object.keys(inCommonJs).map((way) => [way, runtime] as const)))(
    "runs the CommonJS server of docs/guides/javascript.md by %s on %s",
    async (way, runtime) => {
      const [code = ""] = readBlocks("docs/guides/javascript.md", "cjs");
      await writeFile(join(runtimes.folder, "server.cjs"), inCommonJs[way as keyof typeof inCommonJs](code));
      const [command, ...args] = runtimes.command(runtime);
      const client = await connect({ command, args: [...args, "server.cjs"], cwd: runtimes.folder });
      expect(client.server).toMatchObject({ name: "demo" });
      await client.close();
    },
  );

  describe("in a Worker", () => {
    let worker: Worker;

    beforeAll(async () => {
      worker = await startWorkerOf(join(runtimes.folder, "worker.mjs"), {}, durableObject);
    });

    afterAll(() => worker.stop());

    test("does nothing when its entries are loaded, which the runtime would refuse", async () => {
      expect(await (await fetch(`${worker.origin}/entries`)).json()).toHaveLength(9);
    });

    test.each(protocolRevisions)("calls a server over fetch, on $date", async ({ date }) => {
      const { server, url } = await serve(oldest, "serve-http");
      const query = new URLSearchParams({ url, revision: date });
      const seen = await fetch(`${worker.origin}/check?${query}`);
      expect(await seen.json()).toEqual(expected.http.revisions[date]);
      expect(await endOf(server)).toEqual(cleanEnd);
    });

    test.each(protocolRevisions)(
      "serves a client on Node from a Durable Object, on $date",
      async ({ date }) => {
        const seen = await runtimes.run(oldest, main, "revision", `${worker.origin}/mcp`, date);
        expect(seenIn(seen)).toEqual(expected.http.revisions[date]);
      },
    );
  });

  test.skipIf(!supported.includes("node-20"))("says on Node 18 which Node it needs", async () => {
    const { code, stdout, stderr } = await runtimes.run("node-18", main, "closing");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^Error: Halyard needs Node 20\.19 or later, and this is Node 18\.\d+\.\d+: install a newer version$/m,
    );
  });

  /** How each runtime serves the default export of a module, by the lines of docs/guides/mounting.md. */
  const serving: readonly (readonly [Runtime, readonly string[]])[] = [
    ["bun", []],
    ["deno", ["serve", "--host", "127.0.0.1", "--port", "0"]],
  ];

  describe.each(serving)("serves the official conformance suite by fetchHandler on %s", (runtime, args) => {
    let served: Started;
    let url: string;

    beforeAll(async () => {
      served = new Started(runtimes.command(runtime)[0], [...args, "examples/everything/fetch.ts"], root);
      url = `${await served.says(/http:\/\/[\w.]+:\d+/)}/mcp`;
    });

    afterAll(() => served.kill("SIGTERM"));

    test.each(legs)("which finds nothing wrong: $selection", (leg) => passLeg(url, leg), 120_000);
  });
});
