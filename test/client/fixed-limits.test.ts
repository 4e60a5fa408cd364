// The times and fixed sizes of a client in SECURITY.md are those of the code.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readDocument, readTable } from "../support/documents.ts";

/** Where each fixed value is: the file, the constant, and how many of its units make one of the table's. */
const places: Readonly<Record<string, readonly [file: string, name: string, unit?: number]>> = {
  "attempts of each request while connecting": ["connection/connection.ts", "connectTries"],
  "milliseconds that a server on a pipe may be silent when asked for its revision": [
    "connection/handshake.ts",
    "probeMs",
  ],
  "hours that remembered holds": ["connection/remembering.ts", "freshMs", 3_600_000],
  "attempts to subscribe before listen rejects": ["listening/listening.ts", "firstAttempts"],
  "subscribe requests of a legacy session at once": ["listening/uri-holds.ts", "parallel"],
  "milliseconds for unsubscribing": ["listening/uri-holds.ts", "unsubscribeMs"],
  "milliseconds of the first wait before a round without questions": ["answering/rounds.ts", "firstWaitMs"],
  "milliseconds of the longest such wait": ["answering/rounds.ts", "longestWaitMs"],
  "milliseconds between two looks at a task, at least": ["tasks/waiting.ts", "leastPollMs"],
  "milliseconds between two looks at a task, if the server does not say": ["tasks/waiting.ts", "usualPollMs"],
  "seconds that a call waits for the definition of its tool, at most half of its own time": [
    "catalogue/definitions.ts",
    "longestMs",
    1000,
  ],
  "seconds in which the client does not list again for an unlisted tool": [
    "catalogue/definitions.ts",
    "missingForMs",
    1000,
  ],
  "names of unlisted tools that are remembered": ["catalogue/definitions.ts", "maxMissing"],
  "names of tools that are compared with that of a rejected call": ["catalogue/tool-calls.ts", "maxNames"],
  "characters of such a name": ["catalogue/tool-calls.ts", "maxNameLength"],
  "hours that a result stays in the cache, whatever its ttlMs": [
    "cache/freshness.ts",
    "longestMs",
    3_600_000,
  ],
  "values and keys of an output schema": ["catalogue/output-check.ts", "maxSchemaElements"],
  "thousands of steps of compiling all output schemas that are kept compiled": [
    "catalogue/output-check.ts",
    "maxKeptSteps",
    1000,
  ],
  "wrong entries of a page that observe reports": ["catalogue/page.ts", "maxReports"],
  "fields of a form": ["answering/requested-form.ts", "maxFields"],
  "characters of a URI that a change names": ["listening/filter.ts", "maxUri"],
  "characters of the URL for messages of HTTP+SSE": ["http/legacy-sse.ts", "maxEndpointLength"],
  "seconds for a server to accept a notification or an answer": ["http/channel.ts", "acceptMs", 1000],
  "characters of a prefixed tool name": ["tool-names.ts", "maxLength"],
  "characters of a server's name for connectAll": ["tool-names.ts", "maxServerName"],
  "cancelled requests of a pipe that are remembered": ["channel/pipe-channel.ts", "maxCancelled"],
  "redirects of a request, to the same origin only": ["http/requester.ts", "maxRedirects"],
  "refusals of credentials that auth may cure, for each request": ["http/refusals.ts", "maxRefusals"],
  "connections to the loopback server of a sign-in": ["oauth/platform/node-loopback.ts", "maxConnections"],
  "seconds for a request to that server": ["oauth/platform/node-loopback.ts", "requestMs", 1000],
  "seconds between two looks at the popup of a sign-in": ["oauth/platform/web-sign-in.ts", "lookMs", 1000],
  "milliseconds in which a page must take the answer that finishSignIn has": [
    "oauth/platform/web-sign-in.ts",
    "takenMs",
  ],
  "seconds of silence of a long-lived stream that had comments": ["http/silence.ts", "aliveMs", 1000],
  "seconds of silence of a long-lived stream that had none": ["http/silence.ts", "quietMs", 1000],
  "seconds that a timer may be late before the machine counts as having slept": [
    "http/silence.ts",
    "sleptMs",
    1000,
  ],
  "seconds between two looks at the silence of a stream": ["http/silence.ts", "checkEveryMs", 1000],
  "seconds after which a GET stream that ends counts as one that worked": [
    "http/get-stream.ts",
    "longLivedMs",
    1000,
  ],
  "milliseconds that a stream may stay open after the response": ["http/post.ts", "lingerMs"],
  "milliseconds for DELETE when the client closes": ["http/channel.ts", "farewellMs"],
  "milliseconds that a connection of node:http waits for a request": ["platform/node-send.ts", "idleMs"],
  "milliseconds for the rest of a body that nobody needs": ["platform/node-send.ts", "restMs"],
  "seconds that Retry-After can ask for": ["http/failure.ts", "maxRetryAfterMs", 1000],
  "characters of a body that an error shows": ["http/failure.ts", "maxExcerpt"],
  "values of one source, such as a header, that a client looks for in what it shows of a server": [
    "redaction/secrets.ts",
    "maxKnown",
  ],
  "characters of these values": ["redaction/secrets.ts", "maxCharacters"],
  "proofs of DPoP among them": ["redaction/secrets.ts", "maxProofs"],
  "characters of a secret, at least": ["redaction/redactor.ts", "minLength"],
  "characters of a variable that is replaced by its name in addresses, at least": [
    "settings/used-variables.ts",
    "minLength",
  ],
  "characters of a value that may be ordinary, such as a header x-tenant, at least": [
    "redaction/redactor.ts",
    "minUnsureLength",
  ],
  "characters of one that has no letters or no digits, at least": ["redaction/redactor.ts", "minWordsLength"],
  "characters in a row of a secret that are replaced": ["redaction/redactor.ts", "leastRun"],
  "characters in a row of such a value that are replaced": ["redaction/redactor.ts", "leastUnsureRun"],
  "characters of the start of a secret that are replaced where a text is cut off": [
    "redaction/redactor.ts",
    "leastStart",
  ],
  "attempts to send the answer to a question of a server": ["connection/reception.ts", "responseAttempts"],
  "milliseconds that connecting waits for the stream of a legacy session to open": [
    "http/channel.ts",
    "openingMs",
  ],
  "event ids of a stream that are remembered": ["http/event-stream.ts", "maxSeen"],
  "characters of an event id, all visible ASCII or blanks": ["http/event-stream.ts", "maxIdLength"],
  "milliseconds in which killed processes of a stdio server must vanish": [
    "platform/node-process-tree.ts",
    "killMs",
  ],
  "milliseconds that the streams of an ended stdio server may stay open": [
    "platform/node-server-process.ts",
    "drainMs",
  ],
  "characters of messages that wait for a stdio server and are written together": [
    "platform/node-server-process.ts",
    "maxTogether",
  ],
  "lines of standard output that are no messages, in an error": [
    "platform/node-server-process.ts",
    "maxStray",
  ],
  "lines of standard output that are no messages, reported for each process": [
    "platform/node-stdio.ts",
    "maxStrayReports",
  ],
  "seconds before tokens expire in which they are refreshed, or a tenth of their life": [
    "oauth/token-source.ts",
    "marginMs",
    1000,
  ],
  "seconds between two refreshes of tokens that the server did not refuse": [
    "oauth/token-holder.ts",
    "refreshAgainMs",
    1000,
  ],
  "seconds for a document of OAuth, redirects included": ["oauth/net/net.ts", "documentMs", 1000],
  "seconds for a request to an authorization server": ["oauth/net/net.ts", "requestMs", 1000],
  "minutes for which a document of OAuth is used again, at most": [
    "oauth/net/net.ts",
    "longestFreshMs",
    60_000,
  ],
  "kilobytes of a document or a response of OAuth": ["oauth/net/net.ts", "maxBytes", 1024],
  "redirects of a document of OAuth, to the same origin only": ["oauth/net/net.ts", "maxRedirects"],
  "characters of a URL in the metadata of OAuth": ["oauth/net/guard.ts", "maxUrl"],
  "characters of the scopes that a server asks for, with those of before": [
    "oauth/token-source.ts",
    "maxScope",
  ],
  "characters of WWW-Authenticate": ["settings/challenge.ts", "maxHeader"],
  "characters of a value of a server in an error of OAuth": ["oauth/settings/errors.ts", "maxShown"],
  "seconds between two signs of life of who holds a lock of fileStore": [
    "oauth/platform/node-file-lock.ts",
    "beatMs",
    1000,
  ],
  "seconds without a sign of life, seen by who waits for a lock of fileStore": [
    "oauth/platform/node-file-lock.ts",
    "staleMs",
    1000,
  ],
  "milliseconds between the first two looks at a lock of fileStore": [
    "oauth/platform/node-file-lock.ts",
    "firstPollMs",
  ],
  "milliseconds between two looks at a lock of fileStore, at most": [
    "oauth/platform/node-file-lock.ts",
    "longestPollMs",
  ],
  "megabytes of the file of a fileStore": ["oauth/platform/node-file-store.ts", "maxFileBytes", 1_048_576],
  "links from the path of a fileStore to its file": ["oauth/platform/node-file-store.ts", "maxLinks"],
  "attempts to replace a file that another program has open, on Windows": [
    "oauth/platform/node-file-store.ts",
    "maxRenames",
  ],
  "milliseconds between two such attempts": ["oauth/platform/node-file-store.ts", "renamePauseMs"],
};

/** Rows about the attempts of a call, by the names of their rules in `attemptRules`. */
const attempts: Readonly<Record<string, readonly string[]>> = {
  "further attempts of a call that the server refused (429, 503) or that could not reach it": [
    "refused",
    "unreachable",
  ],
  "further attempts of a call whose session ended": ["session-gone"],
  "further attempts of a call that may have run, if it may run twice": ["cut", "exited"],
};

/** Constants that are no limit of what a server or a user meets. */
const others: ReadonlySet<string> = new Set([
  "cache/frozen.ts overhead",
  "oauth/platform/node-file-safety.ts root",
  "redaction/redactor.ts gramLength",
  "redaction/redactor.ts maxPieces",
  "redaction/redactor.ts maxPlaces",
  "tool-names.ts digestLength",
  "platform/node-server-process.ts brace",
]);

const folder = new URL("../../src/client/", import.meta.url);
const constant = /^(?:export )?const (\w+) = ([\d_x*a-f ]+);$/gm;

/** The values of all numeric constants of the client, by file and name. */
const found = new Map<string, number>();
for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
  if (!file.endsWith(".ts")) continue;
  for (const [, name = "", text = ""] of readFileSync(new URL(file, folder), "utf8").matchAll(constant)) {
    const factors = text.split("*").map((factor) => Number(factor.replaceAll("_", "")));
    found.set(
      `${file} ${name}`,
      factors.reduce((product, factor) => product * factor, 1),
    );
  }
}

const rows = readTable("SECURITY.md", "Times and sizes of a client");

test("the fixed values of the table are those of the code, and all are listed", () => {
  const listed = rows.filter(({ what = "" }) => !(what in attempts));
  expect(listed.map(({ what, value }) => [what, Number(value)])).toEqual(
    listed.map(({ what = "" }) => {
      const [file, name, unit = 1] = places[what] ?? ["no place", "for this row"];
      return [what, (found.get(`${file} ${name}`) ?? Number.NaN) / unit];
    }),
  );
  const named = new Set(Object.values(places).map(([file, name]) => `${file} ${name}`));
  expect([...found.keys()].filter((name) => !named.has(name) && !others.has(name))).toEqual([]);
  expect(listed.length).toBe(Object.keys(places).length);
});

test("the attempts of a call are those of the table", () => {
  const source = readDocument("src/client/calls/attempts.ts");
  const usual = Number(/^const rule = \{ most: (\d+)/m.exec(source)?.[1]);
  for (const [what, rules] of Object.entries(attempts)) {
    const value = Number(rows.find((row) => row["what"] === what)?.["value"]);
    for (const rule of rules) {
      const line = new RegExp(`^ {2}"?${rule}"?: (.*),$`, "m").exec(source)?.[1] ?? "";
      expect([rule, Number(/most: (\d+)/.exec(line)?.[1] ?? usual)]).toEqual([rule, value]);
    }
  }
});

test("the times by default are those of the table", () => {
  const declared = ["settings/options", "settings/limits", "oauth/settings/options"]
    .map((file) => readDocument(`dist/client/${file}.d.ts`))
    .join("\n");
  const defaults = declared.matchAll(
    /@default \{([^}]*)\} \*\/\s+readonly (\w+)\??: number(?: \| undefined)?;/g,
  );
  const values = new Map([...defaults].map(([, value, name]) => [name, Number(value)]));
  const listed = readTable("SECURITY.md", "Default times of a client");
  expect(listed.map(({ option, default: value }) => [option, Number(value)])).toEqual(
    listed.map(({ option = "" }) => [option, values.get(option)]),
  );
  const timed = [...values.keys()].filter((name) => /Ms$|^maxAttempts$/.test(name ?? ""));
  expect(listed.map(({ option }) => option).toSorted()).toEqual(timed.toSorted());
});
