// One input: bytes to a server, in the pieces in which they are written.

export interface Input {
  /** What it plays with, for the count. */
  readonly kind: string;
  /** One character for each byte. Names in double braces stand for what only a running server can say. */
  readonly text: string;
  /** Where the text is cut into writes of their own. */
  readonly cuts: readonly number[];
  /** Whether it asks for an answer, so that none within a second is a fault. */
  readonly complete: boolean;
}

/** What stands for the names in double braces. */
export interface Live {
  readonly session: string;
  readonly event: string;
  readonly stream: string;
  /** A task of the extension, and one of 2025-11-25. */
  readonly task: string;
  readonly coreTask: string;
  /** The state of a call that has asked. */
  readonly state: string;
}

const nothing: Live = {
  session: "none",
  event: "none",
  stream: "none",
  task: "none",
  coreTask: "none",
  state: "none",
};

const names = new RegExp(`\\{\\{(${Object.keys(nothing).join("|")})\\}\\}`, "g");

/** The bytes of an input, in their pieces. */
export function piecesOf(input: Input, live: Live = nothing): Buffer[] {
  const text = fillIn(input.text, live);
  const edges = [0, ...input.cuts.filter((cut) => cut < text.length), text.length];
  return edges
    .slice(1)
    .map((end, at) => Buffer.from(text.slice(edges[at], end), "latin1"))
    .filter((piece) => piece.length > 0);
}

function fillIn(text: string, live: Live): string {
  const filled = text.replaceAll(names, (_, name: keyof Live) => live[name]);
  // The body is as long as it is once everything else is in its place.
  const end = filled.indexOf("\r\n\r\n");
  const length = end < 0 ? 0 : filled.length - end - 4;
  return filled.replace("{{length}}", String(length));
}

/** An input as a word on a command line. */
export function encodeInput(target: string, inputs: readonly Input[]): string {
  return Buffer.from(JSON.stringify({ target, inputs })).toString("base64url");
}

export function decodeInput(word: string): { readonly target: string; readonly inputs: readonly Input[] } {
  return JSON.parse(Buffer.from(word, "base64url").toString()) as { target: string; inputs: Input[] };
}
