// Adapts responses of `node:http` to `HttpResponder`, each in its turn. One that other code has used counts as disconnected.
import { ServerResponse } from "node:http";
import { Socket } from "node:net";
import {
  closedSink,
  type EventSink,
  type HttpHeaders,
  type HttpRequest,
  type HttpResponder,
  type RefusalWatch,
} from "../http/edge/request.ts";
import { highWater, type Unsent } from "../http/edge/unsent.ts";
import { NodeOutflow } from "./outflow.ts";

/** Writes the head, with names and values in one flat array, the fastest form for Node. */
function writeHead(response: ServerResponse, status: number, headers: HttpHeaders, length?: number): void {
  const list = length === undefined ? [] : ["content-length", String(length)];
  for (const name in headers) list.push(name, headers[name] ?? "");
  if (response.writeHead === ServerResponse.prototype.writeHead) response.writeHead(status, list);
  // Middleware that replaces `writeHead`, for compression or cookies, may support objects only.
  else response.writeHead(status, { ...headers, ...(length !== undefined && { "content-length": length }) });
}

export class NodeResponder implements HttpResponder {
  refusals: RefusalWatch | undefined;
  corsHeaders: HttpHeaders | undefined;
  /** Called when other code has sent the response. */
  onTaken: (() => void) | undefined;
  readonly #response: ServerResponse;
  readonly #request: HttpRequest;
  readonly #unsent: Unsent;
  #hasAnswered = false;

  constructor(response: ServerResponse, request: HttpRequest, unsent: Unsent) {
    this.#response = response;
    this.#request = request;
    this.#unsent = unsent;
  }

  reply(status: number, headers: HttpHeaders, body = ""): void {
    if (this.#hasAnswered || this.gone) return;
    this.#hasAnswered = true;
    const response = this.#response;
    const length = Buffer.byteLength(body);
    writeHead(response, status, this.#withCors(headers), status === 204 ? undefined : length);
    if (length > highWater) {
      const outflow = this.#outflow();
      outflow.write(body);
      return outflow.end();
    }
    // As many bytes as characters means ASCII, which Node writes faster as latin1.
    response.end(body, length === body.length ? "latin1" : "utf8");
    if (response.writableLength > 0) this.#outflow().watch();
  }

  stream(headers: HttpHeaders): EventSink {
    if (this.#hasAnswered || this.gone) return closedSink;
    this.#hasAnswered = true;
    this.#response.writeHead(200, this.#withCors(headers));
    this.#response.flushHeaders();
    return this.#outflow();
  }

  onGone(callback: () => void): void {
    this.#response.on("close", () => {
      if (!this.#hasAnswered || !this.#response.writableFinished) callback();
    });
  }

  get gone(): boolean {
    const { destroyed, headersSent, writableEnded, req } = this.#response;
    const isTaken = !this.#hasAnswered && (headersSent || writableEnded);
    if (isTaken) this.onTaken?.();
    return isTaken || destroyed || req.socket.destroyed;
  }

  #withCors(headers: HttpHeaders): HttpHeaders {
    return this.corsHeaders === undefined ? headers : { ...headers, ...this.corsHeaders };
  }

  #outflow(): NodeOutflow {
    return new NodeOutflow(this.#response, this.#request, this.#unsent);
  }
}

/** By connection, the callbacks of the requests that wait for their turn. */
const waiting = new WeakMap<Socket, Set<(isOpen: boolean) => void>>();

/** How many requests may wait on one connection; one more closes it. */
const maxAhead = 100;

/** Resolves with true when the response may be written, or false if the connection closes first. Undefined if it may now. */
export function turnOf(response: ServerResponse): Promise<boolean> | undefined {
  const { socket } = response.req;
  if (response.socket !== null || response.writableEnded || response.destroyed) return undefined;
  // Some hosts, such as test tools, make a response without a connection.
  if (!(socket instanceof Socket) || socket.bytesRead === 0) return undefined;
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve(false);
    const queue = queueOf(socket);
    queue.add(resolve);
    response.once("socket", () => {
      queue.delete(resolve);
      resolve(true);
    });
    if (queue.size > maxAhead) socket.destroy();
  });
}

function queueOf(socket: Socket): Set<(isOpen: boolean) => void> {
  const known = waiting.get(socket);
  if (known !== undefined) return known;
  const queue = new Set<(isOpen: boolean) => void>();
  waiting.set(socket, queue);
  socket.once("close", () => queue.forEach((settle) => settle(false)));
  return queue;
}
