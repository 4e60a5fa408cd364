// Replies that do not end, or that come in pieces that cost more than they carry.
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import {
  type Asked,
  event,
  HttpScript,
  logged,
  newestLegacy,
  responseTo,
} from "../../../support/http-script.ts";
import type { Row } from "../row.ts";
import { type Attack, attackVictim, type Report } from "../victim.ts";

const megabyte = 1024 * 1024;
const maxBytes = megabyte / 2;
const limits = { maxBytes };

/** Writes the text again and again until the reader leaves. */
function pour({ socket }: Asked, text: string): void {
  const write = (): void => {
    if (socket.destroyed) return;
    if (socket.write(text)) setImmediate(write);
    else socket.once("drain", write);
  };
  write();
}

function begin({ socket }: Asked, type: string, coding = "transfer-encoding: chunked"): void {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${coding}\r\n\r\n`);
}

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** 100 megabytes in 100 kilobytes. */
let bomb: Buffer | undefined;
const makeBomb = (): Buffer => (bomb ??= gzipSync(Buffer.alloc(100 * megabyte, "x"), { level: 1 }));

interface Attacking extends Omit<Attack, "target"> {
  readonly revision?: string;
  readonly work: (asked: Asked) => void;
}

async function attacked({ work, revision, ...attack }: Attacking): Promise<Report> {
  const server = await HttpScript.open(revision);
  server.on("work", work).on("again", ({ result }) => result());
  const options = { limits, ...(revision && { revision }), ...attack.options };
  const report = await attackVictim({
    ...attack,
    target: server.url,
    options,
    flags: { again: true, ...attack.flags },
  });
  expect(report.again).toEqual({ ok: true });
  expect(report.polluted).toEqual([]);
  expect(report.peakMb).toBeLessThan(80);
  expect(report.keptMb).toBeLessThan(8);
  return report;
}

const tooLarge = {
  ok: false,
  code: "INVALID_RESPONSE",
  message: expect.stringMatching(/more than 524288 bytes.*limits\.maxBytes/) as string,
};

const ways = { "node:http": {}, fetch: { fetch: true } };

const piecesOf = (way: keyof typeof ways): Row[] => [
  {
    name: `a body in pieces of one byte takes no more memory than one piece (${way})`,
    limit: "limits.maxBytes",
    async attack() {
      const { outcome } = await attacked({
        flags: ways[way],
        work: (asked) => {
          begin(asked, "application/json");
          pour(asked, chunk("x").repeat(4096));
        },
      });
      expect(outcome).toMatchObject(tooLarge);
    },
  },
  {
    name: `a line of an event in pieces of one byte takes no more memory than one piece (${way})`,
    limit: "limits.maxBytes",
    async attack() {
      const { outcome } = await attacked({
        flags: ways[way],
        work: (asked) => {
          begin(asked, "text/event-stream");
          pour(asked, chunk("x").repeat(4096));
        },
      });
      expect(outcome).toMatchObject(tooLarge);
    },
  },
];

export const streamRows: readonly Row[] = [
  ...piecesOf("node:http"),
  ...piecesOf("fetch"),
  {
    name: "an event of a million empty lines of data takes no more memory than its text",
    limit: "limits.maxBytes",
    async attack() {
      const { outcome } = await attacked({
        work: (asked) => {
          begin(asked, "text/event-stream", "connection: close");
          pour(asked, "data:\n".repeat(10_000));
        },
      });
      expect(outcome).toMatchObject(tooLarge);
    },
  },
  ...[": keep alive\n\n", event(logged("x".repeat(100))), "field\n"].map((text): Row => ({
    name: `${JSON.stringify(text.slice(0, 20))} without end is read until the time of the call is over, and nothing of it is kept`,
    async attack() {
      const { outcome } = await attacked({
        options: { timeoutMs: 200 },
        work: (asked) => {
          begin(asked, "text/event-stream", "connection: close");
          pour(asked, text.repeat(Math.ceil(65_536 / text.length)));
        },
      });
      expect(outcome).toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("timeoutMs") });
    },
  })),
  {
    name: "ids of events that are a megabyte each are not kept",
    async attack() {
      const id = "i".repeat(maxBytes - 100);
      const { outcome } = await attacked({
        revision: newestLegacy,
        work: (asked) => {
          const write = asked.stream();
          for (let at = 0; at < 150; at++) write(event("", { id: `${at}${id}` }));
          write(event(responseTo(asked)));
          asked.response.end();
        },
      });
      expect(outcome).toEqual({ ok: true });
    },
  },
  {
    name: "ids of events do not keep the pieces that they came in",
    async attack() {
      const { outcome } = await attacked({
        revision: newestLegacy,
        work: (asked) => {
          begin(asked, "text/event-stream", "connection: close");
          const padding = `:${" ".repeat(65_000)}\n`;
          let at = 0;
          const next = (): void => {
            if (++at > 1000) return void asked.socket.end(event(responseTo(asked)));
            asked.socket.write(
              `${event("", { id: `an-id-of-more-than-13-characters-${at}` })}${padding}`,
              next,
            );
          };
          next();
        },
      });
      expect(outcome).toEqual({ ok: true });
    },
  },
  ...[
    ["body", "application/json"],
    ["stream of events", "text/event-stream"],
  ].map(([what, type]): Row => ({
    name: `a compressed ${what} that expands to 100 megabytes is read up to the limit`,
    limit: "limits.maxBytes",
    async attack() {
      const body = makeBomb();
      const { outcome } = await attacked({
        flags: { fetch: true },
        work: ({ response }) => {
          response.writeHead(200, { "content-type": type, "content-encoding": "gzip" });
          response.end(body);
        },
      });
      expect(outcome).toMatchObject(tooLarge);
    },
  })),
  {
    name: "headers without end are read up to the limit of the runtime",
    async attack() {
      const { outcome } = await attacked({
        options: { backoff: { firstMs: 1 } },
        work: (asked) => {
          asked.socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
          pour(asked, `x: ${"x".repeat(1000)}\r\n`);
        },
      });
      expect(outcome).toMatchObject({ code: "CONNECTION_LOST" });
    },
  },
  {
    name: "interim replies without end are read until the time of the call is over",
    async attack() {
      const { outcome } = await attacked({
        options: { timeoutMs: 200 },
        work: (asked) => pour(asked, "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)),
      });
      expect(outcome).toMatchObject({ code: "TIMEOUT" });
    },
  },
];
