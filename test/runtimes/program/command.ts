// A client that starts its server: messages of both sizes, a server that prints, one that is killed and started again, and the end.
import { connect } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { call, changesOf, checkCalls } from "./calls.ts";
import { noises, pause } from "./server.ts";

/** What a client sees of the server that this command starts. */
export async function checkCommand(command = "", ...args: string[]): Promise<object> {
  const target = { command, args };
  const seen: Record<string, object> = {};
  for (const { date: revision } of protocolRevisions) {
    const client = await connect(target, { revision });
    seen[revision] = { changes: await changesOf(client), ...(await checkCalls(client)) };
  }
  return { revisions: seen, restarted: await checkRestart(target), noises: await checkNoises(target) };
}

interface Command {
  readonly command: string;
  readonly args: string[];
}

async function checkRestart(target: Command): Promise<object> {
  const client = await connect({ ...target, restart: true });
  const first = Number(await call(client, "pid"));
  const lost = (await client.callTool("die").catch((error: unknown) => error)) as {
    code?: unknown;
    reason?: unknown;
    message?: string;
  };
  const second = Number(await call(client, "pid"));
  await client.close();
  return {
    lost: [lost.code, lost.reason, lost.message?.includes("was ended by SIGKILL")],
    isAnother: second !== first,
    isGone: await isGone(second),
  };
}

/** Whether a process has ended; closing the client waits for that. */
async function isGone(pid: number): Promise<boolean> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await pause(10);
  }
  return false;
}

/** What a server prints goes to its standard error, and what it prints before it serves is reported. */
async function checkNoises(target: Command): Promise<object> {
  const [stderr, ignored]: [string[], string[]] = [[], []];
  const client = await connect(target, {
    observe: (event) => {
      if (event.type === "stderr") stderr.push(event.line);
      if (event.type === "ignored") ignored.push(event.reason);
    },
  });
  const answer = await call(client, "noisy");
  await client.close();
  const printed = ["after", ...noises];
  return {
    answer,
    ignored: ignored.map((reason) => /noise: \w+/.exec(reason)?.[0] ?? reason),
    missing: printed.filter((name) => !stderr.join("\n").includes(`noise: ${name}`)),
  };
}
