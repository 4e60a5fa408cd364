// What an answer may look like, whatever was asked.

/** Says what is wrong with a message of the server; undefined if nothing is. */
export function messageProblem(text: string): string | undefined {
  if (/\n\s+at |node:internal|\/dist\/|node_modules/.test(text)) return `a stack leaves the server: ${text}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `an answer is no JSON: ${text.slice(0, 200)}`;
  }
  for (const message of [value].flat()) {
    const { jsonrpc, error } = (message ?? {}) as { jsonrpc?: unknown; error?: RpcError };
    if (jsonrpc !== "2.0") return `an answer is no JSON-RPC: ${text.slice(0, 200)}`;
    // An internal error is ours only with the id under which the log has the rest.
    if (error?.code === -32603 && !isOurs(error))
      return `an internal error without an id: ${text.slice(0, 200)}`;
  }
  return undefined;
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly errorId?: unknown };
}

function isOurs({ message, data }: RpcError): boolean {
  return typeof data?.errorId === "string" && message.includes(data.errorId);
}

/** Says what is wrong with the bytes that came back over HTTP; undefined if nothing is. */
export function responseProblem(text: string, isHead: boolean): string | undefined {
  const statuses = [...text.matchAll(/(?:^|[\n}])HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  if (text !== "" && statuses.length === 0) return `no HTTP came back: ${text.slice(0, 200)}`;
  // 503 is ours when it says so in JSON. 500 never is: no hook of an author's fails here.
  const foreign = statuses.find((status) => status >= 500 && status !== 503);
  if (foreign !== undefined) return `status ${foreign}: ${text.slice(0, 1000)}`;
  if (/^x-injected:/im.test(headOf(text))) return `a header was injected: ${headOf(text)}`;
  return isHead ? undefined : bodyProblem(text);
}

function headOf(text: string): string {
  return text.slice(0, Math.max(0, text.indexOf("\r\n\r\n")));
}

/** The first response is looked into; where more follow, their statuses have been seen. */
function bodyProblem(text: string): string | undefined {
  const head = headOf(text);
  const rest = text.slice(head.length + 4);
  const length = Number(/\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
  if (/\ncontent-type: application\/json/i.test(head) && length > 0 && rest.length >= length) {
    return messageProblem(Buffer.from(rest.slice(0, length), "latin1").toString());
  }
  if (!/\ncontent-type: text\/event-stream/i.test(head)) return undefined;
  for (const [, data = ""] of rest.matchAll(/^data: (.*)\n\n/gm)) {
    if (data === "" || data.startsWith("/")) continue;
    const problem = messageProblem(Buffer.from(data, "latin1").toString());
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Whether a whole answer, or the head of a stream, is there. */
export function isAnswered(text: string): boolean {
  const head = headOf(text);
  if (head === "" || /^HTTP\/1\.1 1\d\d/.test(head)) return false;
  if (/\ncontent-type: text\/event-stream/i.test(head)) return true;
  const length = Number(/\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return text.length >= head.length + 4 + length;
}
