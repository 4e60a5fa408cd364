// The official conformance suite against three nodes, each request on the next one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { legs, passLeg } from "../conformance/legs.ts";
import { EngineProcess } from "../support/engines.ts";
import { clusterEngines } from "./engines.ts";
import { nodeNames, Nodes } from "./nodes.ts";

describe.each(clusterEngines)("three nodes on $name", ({ program }) => {
  let engine: EngineProcess;
  let nodes: Nodes;

  beforeAll(async () => {
    engine = await EngineProcess.start(program);
    nodes = await Nodes.start({ backplane: engine.url });
  }, 60_000);

  afterAll(async () => {
    for (const name of nodeNames) expect(await nodes.stopNode(name)).toBe(0);
    await nodes.stop();
    await engine.stop();
  });

  test.each(legs)(
    "pass the official conformance suite: $selection",
    async (leg) => {
      nodes.balancer.counts.clear();
      await passLeg(nodes.url, leg);
      // Each has had its share.
      expect([...nodes.balancer.counts.keys()].toSorted()).toEqual(nodeNames);
    },
    120_000,
  );
});
