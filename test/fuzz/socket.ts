// One input over a socket of its own, and what is wrong with what came back.
import { connect, type Socket } from "node:net";
import { type Input, type Live, piecesOf } from "./input.ts";
import { isAnswered, responseProblem } from "./judge.ts";

/** No answer, or no close, within this many milliseconds is a hang. */
export const hangMs = 1000;

/** How long an input that may be half a request is given before the client says that no more will come. */
const patienceMs = 25;

export interface Heard {
  readonly text: string;
  readonly problem: string | undefined;
}

/** Writes an input, waits for an answer or for the end, and goes away. */
export async function sendOverSocket(port: number, input: Input, live: Live): Promise<Heard> {
  const socket = connect(port, "127.0.0.1");
  const heard = new Hearing(socket);
  try {
    await heard.until(() => !socket.connecting, hangMs);
    if (socket.connecting) return { text: "", problem: "no connection within a second" };
    for (const piece of piecesOf(input, live)) {
      if (socket.writable) socket.write(piece);
      if (input.cuts.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const isEnough = (): boolean => isAnswered(heard.text);
    await heard.until(isEnough, input.complete ? hangMs : patienceMs);
    if (!isEnough() && !heard.closed) {
      if (input.complete) return { text: heard.text, problem: "no answer within a second" };
      socket.end();
      await heard.until(() => false, hangMs);
      if (!heard.closed && !isEnough()) {
        return { text: heard.text, problem: "neither an answer nor an end within a second" };
      }
    }
    const isHead = input.text.startsWith("HEAD ");
    return { text: heard.text, problem: responseProblem(heard.text, isHead) };
  } finally {
    socket.destroy();
  }
}

/** What has come back over a socket so far. */
class Hearing {
  text = "";
  closed = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    socket.setEncoding("latin1").setNoDelay(true);
    socket.on("data", (chunk: string) => {
      this.text += chunk;
      this.#wake();
    });
    socket.on("connect", () => this.#wake());
    // A server that has had enough may reset the connection.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.closed = true;
      this.#wake();
    });
  }

  /** Resolves when `holds`, when the socket has closed, or when the time is over. */
  async until(holds: () => boolean, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!this.closed && !holds()) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
