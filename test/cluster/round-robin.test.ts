// The balancer of these tests does what balancers do, so that what they find is due to the nodes.
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request as send,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished, expect, test } from "vitest";
import { type BalancedNode, RoundRobin, type RoundRobinOptions } from "../support/round-robin.ts";
import { until } from "../support/turns.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface TestNode extends BalancedNode {
  readonly server: Server;
}

async function startNode(name: string, handle: Handle): Promise<TestNode> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, server };
}

/** Nodes a, b and c that handle requests alike, behind a balancer. */
async function balanced(
  handle: (name: string) => Handle,
  options: RoundRobinOptions = {},
): Promise<{ balancer: RoundRobin; nodes: TestNode[]; url: string }> {
  const nodes = await Promise.all(["a", "b", "c"].map((name) => startNode(name, handle(name))));
  const balancer = await RoundRobin.open(nodes, options);
  onTestFinished(() => balancer.close());
  return { balancer, nodes, url: `${balancer.origin}/mcp` };
}

/** Responds with its name and the body. */
const echo =
  (name: string): Handle =>
  async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.end(`${name} ${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`);
  };

const post = (url: string, body: string, headers: Record<string, string> = {}): Promise<string> =>
  fetch(url, { method: "POST", body, headers }).then((response) => response.text());

/** Begins a GET whose chunks the test reads. */
async function open(url: string): Promise<IncomingMessage> {
  const request = send(url).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response.setEncoding("utf8");
}

test("each request goes to the next node, though all come on one connection, and they are counted", async () => {
  const { balancer, url } = await balanced(echo);
  const replies: string[] = [];
  for (const body of ["one", "two", "three", "four"]) replies.push(await post(`${url}?x=1`, body));
  expect(replies).toEqual([
    "a POST /mcp?x=1 one",
    "b POST /mcp?x=1 two",
    "c POST /mcp?x=1 three",
    "a POST /mcp?x=1 four",
  ]);
  expect(Object.fromEntries(balancer.counts)).toEqual({ a: 2, b: 1, c: 1 });
});

test("host and repeated headers reach the node, and those of the reply the client", async () => {
  const { url } = await balanced(() => (request, response) => {
    response.setHeader("set-cookie", ["x=1", "y=2"]);
    response.writeHead(418, "Short and stout").end(`${request.headers.host} ${request.headers.cookie}`);
  });
  const response = await fetch(url, { headers: { cookie: "z=3" } });
  expect(await response.text()).toBe(`${new URL(url).host} z=3`);
  expect([response.status, response.statusText]).toEqual([418, "Short and stout"]);
  expect(response.headers.getSetCookie()).toEqual(["x=1", "y=2"]);
});

test("a request names its node only where that is allowed", async () => {
  const steerable = await balanced(echo, { isSteerable: true });
  for (let time = 0; time < 3; time++) {
    expect(await post(steerable.url, "", { "x-node": "b" })).toMatch(/^b /);
  }
  expect((await fetch(steerable.url, { headers: { "x-node": "nobody" } })).status).toBe(502);
  const plain = await balanced(echo);
  expect(await post(plain.url, "", { "x-node": "b" })).toMatch(/^a /);
});

test("chunks come as they are sent, and when the client leaves the node is notified", async () => {
  const streams: ServerResponse[] = [];
  const { url } = await balanced(() => (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    streams.push(response);
  });
  const response = await open(url);
  expect(response.headers["content-type"]).toBe("text/event-stream");
  for (const chunk of ["data: 1\n\n", "data: 2\n\n"]) {
    streams[0]?.write(chunk);
    expect(await once(response, "data")).toEqual([chunk]);
  }
  response.destroy();
  await until(() => streams[0]?.closed === true);
});

test("a client that leaves before there is a reply leaves the node as well", async () => {
  const waiting: ServerResponse[] = [];
  const { url } = await balanced(() => (_, response) => void waiting.push(response));
  const leaving = new AbortController();
  const reply = fetch(url, { method: "POST", body: "?", signal: leaving.signal }).catch(() => "left");
  await until(() => waiting.length === 1);
  leaving.abort();
  expect(await reply).toBe("left");
  await until(() => waiting[0]?.closed === true);
});

test("a stream that breaks off at the node breaks off at the client", async () => {
  const { url } = await balanced(() => (_, response) => {
    response.write("begun", () => response.destroy());
  });
  const response = await open(url);
  const chunks: unknown[] = [];
  const reading = async (): Promise<void> => {
    for await (const chunk of response) chunks.push(chunk);
  };
  await expect(reading()).rejects.toThrow("aborted");
  expect(chunks).toEqual(["begun"]);
});

test("a dead node is passed over, with the body of the request, until it is taken out or comes back", async () => {
  const { balancer, nodes, url } = await balanced(echo);
  nodes[0]?.server.close().closeAllConnections();
  const big = "x".repeat(1_000_000);
  expect(await post(url, big)).toBe(`b POST /mcp ${big}`);
  balancer.nodes = nodes.slice(2);
  expect(await post(url, "only c is left")).toMatch(/^c /);
  balancer.nodes = [];
  expect((await fetch(url)).status).toBe(502);
});

test("a GET that breaks before its reply is repeated elsewhere; a POST may have had an effect, and fails", async () => {
  const events: string[] = [];
  const { url } = await balanced(
    (name) => (request, response) => (name === "c" ? response.end("c") : request.socket.destroy()),
    { observe: (event, { name }) => events.push(`${event} ${name}`) },
  );
  expect(await (await fetch(url)).text()).toBe("c");
  expect(events).toEqual([
    "sent a",
    "skipped a",
    "sent b",
    "skipped b",
    "sent c",
    "responded c",
    "finished c",
  ]);
  expect((await fetch(url, { method: "POST", body: "!" })).status).toBe(502);
});
