// `--backplane` of the conformance fixture: all that a node needs to join.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { EngineProcess } from "../support/engines.ts";
import { startEverything } from "../support/everything.ts";
import { clusterEngines } from "./engines.ts";
import { Nodes } from "./nodes.ts";

test.each(["redis://127.0.0.1:1", "nats://127.0.0.1:1"])(
  "a node that cannot reach %s ends with one line that says so",
  async (backplane) => {
    const started = startEverything("--backplane", backplane);
    await expect(started).rejects.toThrow(
      new RegExp(
        `ended with 1 before it was ready: Cannot use the backplane at ${backplane}: .*refused.*\\n$`,
        "i",
      ),
    );
  },
);

describe.each(clusterEngines)("three nodes on $name", ({ program }) => {
  test("answer over HTTP+SSE on the stream of the client, whichever node gets a message", async () => {
    const engine = await EngineProcess.start(program);
    onTestFinished(() => engine.stop());
    const nodes = await Nodes.start({ backplane: engine.url, args: ["--legacy-sse"] });
    onTestFinished(() => nodes.stop());
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new SSEClientTransport(new URL("/sse", nodes.url)));
    onTestFinished(() => client.close());
    for (const name of ["Ada", "Bob", "Cy", "Dee"]) {
      const { content } = await client.callTool({ name: "greet", arguments: { name } });
      expect(content).toEqual([{ type: "text", text: `Hello, ${name}!` }]);
    }
    expect(Math.min(...nodes.balancer.counts.values())).toBeGreaterThan(1);
  }, 60_000);
});
