// What a client on stdio needs at least, by hand: lines out, lines in, and a map of the requests that wait.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { modernCall } from "../baselines/messages.js";

/** `{ target: { command, args } }`. */
export async function connectBaselineStdio({ target: { command, args } }) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let lastId = 0;
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      waiting.get(id)(result);
      waiting.delete(id);
    }
  });
  return {
    call: async (text) => {
      const id = ++lastId;
      const { content } = await new Promise((resolve) => {
        waiting.set(id, resolve);
        child.stdin.write(`${modernCall(id, text)}\n`);
      });
      return content[0].text;
    },
    close: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}
