// Questions of a server: floods of them, forms that cost more than they should, pages that are none, and rounds without end.
import { connect, type UrlQuestion } from "halyard/client";
import { expect, onTestFinished } from "vitest";
import {
  event,
  failing,
  HttpScript,
  newestLegacy,
  quick,
  responseTo,
  start,
} from "../../../support/http-script.ts";
import { deferred, nextTurn, until } from "../../../support/turns.ts";
import type { Row } from "../row.ts";
import { attackVictim, type Report } from "../victim.ts";
import { expectAlive, wired } from "../wired.ts";

const ask = (method: string, params: object, id: string | number): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const input = (inputRequests: object, requestState?: string): object => ({
  resultType: "input_required",
  inputRequests,
  requestState,
});
const form = (properties: object, required: string[] = []): object => ({
  method: "elicitation/create",
  params: { mode: "form", message: "?", requestedSchema: { type: "object", properties, required } },
});

/** A legacy server sends requests with its response, to a client whose user never answers, and accepts none of its responses. */
async function askedOverHttp(requestOf: (id: number) => object): Promise<Report> {
  const server = await HttpScript.open(newestLegacy);
  server.on("work", (asked) => {
    const write = asked.stream();
    for (let id = 0; id < 90; id++) write(event(requestOf(id)));
    write(event(responseTo(asked)));
    asked.response.end();
  });
  server.on("again", ({ result }) => result());
  server.on("POST", () => {});
  const limits = { maxBytes: 2_000_000, maxQuestionBytes: 4_000_000 };
  const report = await attackVictim({
    target: server.url,
    options: { revision: newestLegacy, limits },
    flags: { asks: true, again: true },
  });
  expect(report.outcome).toEqual({ ok: true });
  expect(report.again).toEqual({ ok: true });
  return report;
}

const megabyte = "x".repeat(1_000_000);

/** Pages that a browser would run, or open without a server. */
const dangerous = [
  "javascript:alert(1)",
  "JAVASCRIPT:alert(1)",
  " javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "file:///etc/passwd",
  "blob:https://example.com/1",
  "vbscript:x",
  "ms-msdt:/id",
  "about:blank",
  "//example.com",
  "https://",
];

export const questionRows: readonly Row[] = [
  {
    name: "a flood of questions on the stream of a session does not become a flood of requests",
    limit: "limits.maxQuestions",
    async attack() {
      const server = await HttpScript.open(newestLegacy);
      server.on("GET", (asked) => {
        const write = asked.stream();
        for (let id = 0; id < 600; id++) {
          write(event(ask("ping", {}, `p${id}`)));
          write(event(ask("sampling/createMessage", {}, `s${id}`)));
          write(event(ask("no/such/method", {}, `n${id}`)));
        }
        write(
          event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "end" } }),
        );
      });
      // Responses have no method: they are never answered.
      server.on("POST", () => {});
      const limits = { maxQuestions: 10 };
      let ended = false;
      const ignored: string[] = [];
      const client = await connect(server.url, {
        revision: newestLegacy,
        limits,
        onSample: () => new Promise(() => {}),
        onLog: () => void (ended = true),
        observe: (seen) => void (seen.type === "ignored" && ignored.push(seen.reason)),
      });
      onTestFinished(() => client.close());
      await until(() => ended);
      await nextTurn();
      await until(() => server.of("POST").length >= limits.maxQuestions);
      expect(server.of("POST").length).toBeLessThanOrEqual(2 * limits.maxQuestions);
      expect(ignored.at(-1)).toContain("limits.maxQuestions");
      server.on("work", ({ result }) => result({ yes: true }));
      expect(await client.request("work")).toMatchObject({ yes: true });
    },
  },
  {
    name: "so many questions are answered at once, the others are refused, and then there is room again",
    limit: "limits.maxQuestions",
    async attack() {
      const gate = deferred();
      let running = 0;
      let most = 0;
      const { server, client } = await wired(
        { revision: newestLegacy },
        {
          limits: { maxQuestions: 3 },
          onElicit: async () => {
            most = Math.max(most, ++running);
            await gate.promise;
            running--;
            return { action: "decline" };
          },
        },
      );
      const question = { message: "?", requestedSchema: { type: "object", properties: {} } };
      for (let id = 0; id < 1000; id++) server.end.send(ask("elicitation/create", question, `q${id}`));
      await expectAlive(client);
      gate.resolve();
      await until(() => server.received.filter(({ result }) => result !== undefined).length === 3);
      expect(most).toBe(3);
      server.end.send(ask("elicitation/create", question, "later"));
      await until(() => server.received.some(({ id, result }) => id === "later" && result !== undefined));
    },
  },
  {
    name: "questions that wait for the user are kept up to a limit of bytes, and the others are refused",
    limit: "limits.maxQuestionBytes",
    async attack() {
      const schema = { type: "object", properties: {} };
      const report = await askedOverHttp((id) =>
        ask("elicitation/create", { message: `${id} ${megabyte}`, requestedSchema: schema }, id),
      );
      expect(report.keptMb).toBeLessThan(8);
    },
  },
  {
    name: "requests with ids too long to repeat are ignored, so that no responses wait that carry them",
    limit: "limits.maxQuestions",
    async attack() {
      const report = await askedOverHttp((id) => ask("ping", {}, `${id} ${megabyte}`));
      expect(report.keptMb).toBeLessThan(8);
      expect(report.seen).toBeGreaterThanOrEqual(90);
    },
  },
  {
    name: "a question about a task has an answer that repeats the id of the task, and nothing else",
    async attack() {
      const { server, client } = await wired(
        { revision: newestLegacy },
        { onElicit: () => ({ action: "decline" }) },
      );
      const key = "io.modelcontextprotocol/related-task";
      const question = { message: "?", requestedSchema: { type: "object", properties: {} } };
      const about = (task: object): object => ({ ...question, _meta: { [key]: task } });
      server.end.send(ask("elicitation/create", about({ taskId: "t1", more: megabyte }), "long"));
      server.end.send(ask("elicitation/create", about({ taskId: megabyte }), "longer"));
      await until(() => server.received.filter(({ result }) => result !== undefined).length === 2);
      const answers = server.received.filter(({ result }) => result !== undefined);
      expect(answers.map(({ result }) => result)).toEqual([
        { action: "decline", _meta: { [key]: { taskId: "t1" } } },
        { action: "decline" },
      ]);
      await expectAlive(client);
    },
  },
  {
    name: "states of rounds that wait are kept up to a limit of bytes",
    limit: "limits.maxQuestionBytes",
    async attack() {
      const { server, client } = await wired({}, { limits: { maxQuestionBytes: 2_500_000 } });
      server.on("tools/call", () => input(undefined as never, megabyte));
      const calls = Array.from({ length: 5 }, () => client.callTool("work", {}, { maxTimeMs: 1500 }));
      const reasons = await Promise.all(calls.map((call) => failing(call)));
      const refused = reasons.filter(({ message }) => message.includes("limits.maxQuestionBytes"));
      expect(refused).toHaveLength(3);
      await expectAlive(client);
    },
  },
  {
    name: "only pages with http and https reach the user",
    requirements: ["ELIC-URL-CONSENT-HOST", "ELIC-URL-SHOW-FULL"],
    async attack() {
      const shown: string[] = [];
      const onElicit = {
        url: ({ url }: UrlQuestion) => {
          shown.push(url);
          return { action: "accept" as const };
        },
      };
      const modern = await wired({}, { onElicit });
      const legacy = await wired({ revision: newestLegacy }, { onElicit });
      for (const url of dangerous) {
        const page = { mode: "url", message: "?", url, elicitationId: "1" };
        modern.server.on("tools/call", () => input({ a: { method: "elicitation/create", params: page } }));
        const error = await failing(modern.client.callTool("work"));
        expect(error, url).toMatchObject({ code: "INVALID_RESPONSE" });
        expect(error.message).toContain("http");
        legacy.server.end.send(ask("elicitation/create", page, url));
        await until(() => legacy.server.received.some(({ id }) => id === url));
        expect(legacy.server.received.find(({ id }) => id === url)?.error).toMatchObject({ code: -32602 });
      }
      expect(shown).toEqual([]);
      const url = "https://example.com/a?b=c";
      legacy.server.end.send(
        ask("elicitation/create", { mode: "url", message: "?", url, elicitationId: "1" }, "ok"),
      );
      await until(() => shown.length === 1);
      expect(shown).toEqual([url]);
    },
  },
  {
    name: "a form with 100,000 fields is refused before anybody sees it",
    async attack() {
      let asked = 0;
      const { server, client } = await wired({}, { onElicit: () => (asked++, { action: "decline" }) });
      const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`f${at}`, {}]));
      server.on("tools/call", () => input({ a: form(fields) }));
      expect((await failing(client.callTool("work"))).message).toContain("more than 1000 properties");
      expect(asked).toBe(0);
      await expectAlive(client);
    },
  },
  {
    name: "a form with many fields, patterns that take exponential time and names of Object is answered",
    async attack() {
      const fields = Object.fromEntries(
        Array.from({ length: 900 }, (_, at) => [`f${at}`, { type: "string", default: "x" }]),
      );
      const { server, client } = await wired(
        {},
        {
          onElicit: ({ mode }) =>
            mode === "form"
              ? {
                  action: "accept",
                  content: { evil: `${"a".repeat(5000)}!`, mail: `${"@".repeat(50_000)} `, constructor: "x" },
                }
              : { action: "decline" },
        },
      );
      const evil = { type: "string", pattern: "^(a+)+$" };
      const properties = JSON.parse(
        JSON.stringify({
          ...fields,
          evil,
          mail: { type: "string" },
          constructor: { type: "string" },
        }).replace("{", '{"__proto__":{"type":"string","default":"p"},"toString":{"type":"string"},'),
      ) as object;
      server.on("tools/call", ({ params }) =>
        params?.["inputResponses"] === undefined
          ? input({ a: form(properties, ["evil", "constructor"]) })
          : {
              resultType: "complete",
              content: [],
              given: Object.keys((params["inputResponses"] as { a: { content: object } }).a.content).length,
            },
      );
      expect(await client.callTool("work")).toMatchObject({ given: 904 });
    },
  },
  {
    name: "rounds without end are ended, whether they ask or not",
    limit: "limits.maxRounds",
    async attack() {
      const { server, client } = await wired(
        {},
        { limits: { maxRounds: 2 }, onElicit: () => ({ action: "decline" }) },
      );
      for (const round of [
        input({ a: form({}) }, "s"),
        { resultType: "input_required", requestState: "s" },
      ]) {
        server.on("tools/call", () => round);
        const error = await failing(client.callTool("work"));
        expect(error).toMatchObject({ code: "INVALID_RESPONSE" });
        expect(error.message).toContain("limits.maxRounds");
      }
      await expectAlive(client);
    },
  },
  {
    name: "a state of megabytes is carried as it is, and one past the limit is refused",
    limit: "limits.maxBytes",
    async attack() {
      const { server, client } = await wired({}, { onElicit: () => ({ action: "decline" }) });
      const state = "\u2028é".repeat(2_000_000);
      server.on("tools/call", ({ params }) =>
        params?.["requestState"] === undefined
          ? input({ a: form({}) }, state)
          : { resultType: "complete", content: [], same: params["requestState"] === state },
      );
      expect(await client.callTool("work")).toMatchObject({ same: true });
      server.on("tools/call", () => input({ a: form({}) }, "x".repeat(33 * 1024 * 1024)));
      expect((await failing(client.callTool("work"))).message).toContain("limits.maxBytes");
      await expectAlive(client);
    },
  },
  {
    name: "more questions in a round than the limit are refused before the first is asked",
    limit: "limits.maxQuestions",
    async attack() {
      let asked = 0;
      const { server, client } = await wired({}, { onElicit: () => (asked++, { action: "decline" }) });
      server.on("tools/call", () =>
        input(Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`q${at}`, form({})]))),
      );
      expect((await failing(client.callTool("work"))).message).toContain("limits.maxQuestions");
      expect(asked).toBe(0);
    },
  },
  {
    name: "keys of questions that every object has are answered under their own names",
    async attack() {
      const { server, client } = await wired({}, { onElicit: () => ({ action: "decline" }) });
      const question = JSON.stringify(form({}));
      server.on("tools/call", ({ params, id }, end) =>
        params?.["inputResponses"] === undefined
          ? void end.send(
              `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"input_required","inputRequests":{"__proto__":${question},"constructor":${question}}}}`,
            )
          : { resultType: "complete", content: [], keys: Object.keys(params["inputResponses"] as object) },
      );
      expect(await client.callTool("work")).toMatchObject({ keys: ["__proto__", "constructor"] });
    },
  },
  {
    name: "a notification that the server never takes does not wait for ever",
    async attack() {
      const { server, client } = await start({
        revision: newestLegacy,
        backoff: quick,
        timeoutMs: 100,
        roots: [],
      });
      server.on("notifications/roots/list_changed", () => {});
      expect(await failing(client.rootsChanged())).toMatchObject({ code: "TIMEOUT", limit: "timeoutMs" });
    },
  },
];
