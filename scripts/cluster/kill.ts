// Kills the node that holds a stream and runs a call, and prints what their client sees of it.
import { deferred } from "../../test/support/turns.ts";
import { type CallReader, EventClient, type Message } from "./event-client.ts";
import { log } from "./log.ts";

const times = 100;
const everyMs = 50;
/** The client has heard this many when the node is killed. */
const killAt = 30;
/** Longer than anything may take: a call of a dead node ends within ten seconds of the resume. */
const patienceMs = 20_000;

export interface Victims {
  readonly url: string;
  /** Ends a node with -9. */
  kill(name: string): Promise<void>;
  /** The node that a stream was last resumed on after the event with this id. */
  resumedOn(cursor: string): string;
}

/** Resolves to whether nothing was lost, nothing doubled, and the call ended. */
export async function showKill({ url, kill, resumedOn }: Victims): Promise<boolean> {
  const client = await EventClient.open(url);
  const heard: number[] = [];
  const enough = deferred();
  const all = deferred();
  await client.listen("a", {
    ...told("the GET stream", resumedOn),
    message({ method, params }) {
      if (method !== "notifications/message") return;
      heard.push(Number(params?.data));
      if (heard.length === killAt) enough.resolve();
      if (new Set(heard).size === times) all.resolve();
    },
    lost: (error) => log("", `-- the GET stream is lost: ${String(error)}`),
  });
  const call = client
    .call("a", "work", { seconds: 60 }, told("the stream of the call", resumedOn))
    .then(endOf, endOf);
  const { result, error } = await client.call("c", "tick", { times, everyMs });
  if (result === undefined) throw new Error(`The call of tick failed: ${error?.message}`);
  if ((await within(enough.promise.then(() => true))) === undefined) {
    throw new Error(`Only ${heard.length} numbers came in ${patienceMs} ms`);
  }
  log("a", `-- kill -9, after ${killAt} of ${times} numbers`);
  const killedAt = performance.now();
  await kill("a");
  const end = await within(call);
  const afterMs = Math.round(performance.now() - killedAt);
  await within(all.promise);
  client.close();
  return report(
    heard,
    end === undefined ? unended : { ...end, text: `${end.text}, ${afterMs} ms after the kill` },
  );
}

/** Logs what becomes of a stream that node a has. */
function told(stream: string, resumedOn: Victims["resumedOn"]): CallReader {
  return {
    broken: () => log("a", `-- ${stream} broke off`),
    resumed: (cursor, ms) => log(resumedOn(cursor), `-- ${stream} was resumed here after ${ms} ms`),
  };
}

interface End {
  readonly text: string;
  /** Whether the client got a response. */
  readonly isResponse: boolean;
}

const unended: End = { text: `still open after ${patienceMs} ms`, isResponse: false };

function endOf(ended: Message | Error): End {
  if (ended instanceof Error) return { text: `lost: ${ended.message}`, isResponse: false };
  const { result, error } = ended;
  const text = error
    ? `ended with error ${error.code} "${error.message}"`
    : `returned "${result?.content?.[0]?.text}"`;
  return { text, isResponse: true };
}

function report(heard: readonly number[], call: End): boolean {
  const distinct = new Set(heard).size;
  const missed = times - distinct;
  const doubled = heard.length - distinct;
  const isOrdered = heard.every((number, index) => index === 0 || number > (heard[index - 1] ?? 0));
  console.log(`
Numbers pushed:  ${times}
Messages missed: ${missed}
Doubled:         ${doubled}
In order:        ${isOrdered ? "yes" : "no"}
The call:        ${call.text}
`);
  return missed === 0 && doubled === 0 && isOrdered && call.isResponse;
}

/** Resolves with undefined if it takes too long. */
async function within<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patienceMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
