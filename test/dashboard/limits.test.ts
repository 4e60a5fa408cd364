// The limits of the dashboard are those of the code: each probe tells whether the limit is exactly what the table says.
import { connect, type Socket } from "node:net";
import { ConfigurationError } from "halyard";
import { dashboard } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import { expect, onTestFinished } from "vitest";
import { makeServer } from "../support/catalogue.ts";
import { stopClock } from "../support/clock.ts";
import { asking, openDashboard } from "../support/dashboard.ts";
import { type Probes, probeLimits } from "../support/limit-probes.ts";
import { deferred, until } from "../support/turns.ts";

const about = { ask: "about" };
const token = "a-token-that-is-long-enough";

const probes: Probes = {
  "least characters of a token": (limit) => {
    expect(() => dashboard({ token: "x".repeat(limit - 1) })).toThrow(ConfigurationError);
    expect(() => dashboard({ token: "x".repeat(limit) })).not.toThrow();
  },
  "messages of history": (limit) => {
    expect(() => dashboard({ history: limit + 1 })).toThrow(ConfigurationError);
    expect(() => dashboard({ history: limit })).not.toThrow();
  },
  "wrong tokens of an address in a minute": async (limit) => {
    const { guess } = guesses();
    for (let at = 0; at < limit; at++) expect(await guess("192.0.2.1")).toBe(401);
    expect(await guess("192.0.2.1")).toBe(429);
  },
  "addresses whose wrong tokens are counted": async (limit) => {
    const { guess } = guesses();
    for (let at = 1; at < limit; at++) await guess(`10.0.${at >> 8}.${at & 255}`);
    for (let at = 0; at < 10; at++) expect(await guess("192.0.2.1")).toBe(401);
    // The last one that is counted by itself has used its guesses; all further ones share theirs.
    expect(await guess("192.0.2.1")).toBe(429);
    for (let at = 0; at < 10; at++) expect(await guess(`198.51.100.${at}`)).toBe(401);
    expect(await guess("198.51.100.10")).toBe(429);
  },
  "bytes of a question": async (limit) => {
    const { send, origin, token: own } = await openDashboard();
    const headers = { origin, authorization: `Bearer ${own}` };
    const padded = JSON.stringify(about).padEnd(limit);
    expect((await send(asking(padded, headers))).status).toBe(200);
    expect((await send(asking(`${padded} `, headers))).status).toBe(413);
  },
  "questions answered at once": async (limit) => {
    const { send } = mounted();
    const gate = deferred();
    const slow = (): Promise<Response> => send(about, {}, gate.promise);
    const begun = Array.from({ length: limit - 1 }, slow);
    expect((await send(about)).status).toBe(200);
    begun.push(slow());
    expect((await send(about)).status).toBe(503);
    gate.resolve();
    for (const { status } of await Promise.all(begun)) expect(status).toBe(200);
    expect((await send(about)).status).toBe(200);
  },
  "characters of a search": async (limit) => {
    const { send } = mounted();
    expect((await send({ ask: "tools", search: "x".repeat(limit) })).status).toBe(200);
    expect((await send({ ask: "tools", search: "x".repeat(limit + 1) })).status).toBe(400);
  },
  "entries of a timeline in a question": async (limit) => {
    const { send } = mounted();
    const entries = Array<string>(limit).fill("1");
    expect((await send({ ask: "messages", peer: "x", entries })).status).toBe(200);
    expect((await send({ ask: "messages", peer: "x", entries: [...entries, "1"] })).status).toBe(400);
  },
  "connections to its own port": async (limit) => {
    const { port } = await openDashboard();
    const open = Array.from({ length: limit }, () => watched(port));
    await until(() => open.every(({ isOpen }) => isOpen()));
    const oneMore = watched(port);
    await until(() => oneMore.isClosed());
    expect(open.some(({ isClosed }) => isClosed())).toBe(false);
  },
};

interface Mounted {
  /** `begun`: the body is sent when this resolves. */
  send(question: unknown, headers?: Record<string, string>, begun?: Promise<void>): Promise<Response>;
}

function mounted(): Mounted {
  const page = dashboard({ token });
  const handler = fetchHandler(makeServer().server, { dashboard: page, trustProxy: true });
  onTestFinished(() => handler.close());
  return {
    send: (question, headers, begun) => {
      const { body, ...init } = asking(question, { authorization: `Bearer ${token}`, ...headers });
      const sent = begun === undefined ? body : laterBody(String(body), begun);
      return page.fetchHandler(
        new Request("http://localhost/dashboard/ask", { ...init, body: sent, duplex: "half" } as RequestInit),
      );
    },
  };
}

function laterBody(text: string, begun: Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      await begun;
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

/** Sends another wrong token each time. */
function guesses(): { guess(address: string): Promise<number> } {
  stopClock();
  const { send } = mounted();
  let guessed = 0;
  return {
    guess: async (address) => {
      const authorization = `Bearer wrong-${guessed++}`;
      return (await send(about, { authorization, "x-forwarded-for": address })).status;
    },
  };
}

function watched(port: number): { isOpen(): boolean; isClosed(): boolean } {
  let state = "opening";
  const socket: Socket = connect(port, "127.0.0.1", () => (state = "open"));
  socket.on("error", () => {}).on("close", () => (state = "closed"));
  onTestFinished(() => void socket.destroy());
  return { isOpen: () => state === "open", isClosed: () => state === "closed" };
}

probeLimits("Dashboard", probes);
