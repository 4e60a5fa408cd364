// Converts the messages and events of one client to the entries of its timeline.
import { isObject, readMessage, type ReadMessage, type RpcNotification } from "../../base/wire/message.ts";
import { Calls, nameIn, type OpenCall } from "./calls.ts";
import type { Heard, HeardEvent, HeardMessage } from "./heard.ts";
import { Questions } from "./questions.ts";
import { shortEventId, Streams } from "./streams.ts";
import { Tasks } from "./tasks.ts";
import type { Entry, Track } from "./track.ts";

type Read<Kind> = Extract<ReadMessage, { readonly kind: Kind }>["message"];

export class Conversation {
  readonly #track: Track;
  readonly #calls: Calls;
  readonly #questions: Questions;
  readonly #streams: Streams;
  readonly #tasks: Tasks;

  constructor(track: Track) {
    this.#track = track;
    this.#calls = new Calls(track);
    this.#questions = new Questions(track);
    this.#streams = new Streams(track);
    this.#tasks = new Tasks(track);
  }

  /** Whether the task is one of this client. */
  hasTask(taskId: string): boolean {
    return this.#tasks.has(taskId);
  }

  take(heard: Heard): void {
    if (heard.type === "message") this.#message(heard);
    else if (heard.type === "event") this.#event(heard);
    else if (heard.type === "call") this.#calls.begin(heard.request, heard);
    else this.#streams.changed(heard, this.#calls.of(heard)?.entry);
  }

  #message(heard: HeardMessage): void {
    const value: unknown = JSON.parse(heard.text);
    const owners = new Set<Entry | undefined>([this.#streams.carried(heard)]);
    for (const one of Array.isArray(value) ? value : [value]) {
      const read = readMessage(one);
      if (!read.ok) continue;
      const entries = heard.direction === "sent" ? this.#sent(read, heard) : this.#received(read, heard);
      for (const entry of entries) owners.add(entry);
    }
    this.#track.keep(heard, [...owners]);
  }

  #sent(read: Extract<ReadMessage, { ok: true }>, heard: HeardMessage): (Entry | undefined)[] {
    if (read.kind === "response") return [this.#questions.answer(read.message, heard)];
    if (read.kind === "notification") return [this.#told(read.message, heard)];
    const { params = {} } = read.message;
    const answered = this.#questions.answerRound(params["inputResponses"], nameIn(params), heard);
    return [this.#calls.begin(read.message, heard), ...answered];
  }

  #received(read: Extract<ReadMessage, { ok: true }>, heard: HeardMessage): (Entry | undefined)[] {
    if (read.kind === "response") return this.#answered(read.message, heard);
    if (read.kind === "notification") return [this.#pushed(read.message, heard)];
    const call = this.#calls.of(heard);
    return [this.#questions.ask(read.message, call?.entry.label, heard)];
  }

  /** A notification of the client. */
  #told({ method, params = {} }: RpcNotification, heard: HeardMessage): Entry {
    const cancelled =
      method === "notifications/cancelled" ? this.#calls.cancel(params["requestId"], heard) : undefined;
    return cancelled ?? this.#point(method, "from the client", heard);
  }

  /** A notification of the server: of a call, of a task, or a push. */
  #pushed(notification: RpcNotification, heard: HeardMessage): Entry {
    const { method, params = {} } = notification;
    const task = method.startsWith("notifications/tasks") ? this.#tasks.read(params, heard.at) : undefined;
    return task ?? this.#calls.note(notification, heard) ?? this.#point(method, nameIn(params), heard);
  }

  #answered(response: Read<"response">, heard: HeardMessage): (Entry | undefined)[] {
    const call = this.#calls.end(response, heard);
    this.#streams.answered(heard, call?.entry.label);
    if (call === undefined) return [this.#calls.endElsewhere(response, heard)];
    if ("error" in response) return [call.entry];
    return [call.entry, ...this.#followUps(call, response.result, heard)];
  }

  /** Adds the questions and the task in a result. */
  #followUps({ method, entry }: OpenCall, result: object, heard: HeardMessage): (Entry | undefined)[] {
    if (!isObject(result)) return [];
    const asked = this.#questions.askRound(result["inputRequests"], entry.label, heard);
    const tool = method === "tools/call" ? entry.label : undefined;
    return [...asked, this.#tasks.read(result, heard.at, tool)];
  }

  #point(kind: string, label: string | undefined, { at, eventId }: HeardMessage): Entry {
    const detail = eventId && `event ${shortEventId(eventId)}`;
    return this.#track.addPoint({ lane: "pushes", kind, label, startedAt: at, detail });
  }

  #event({ event, at }: HeardEvent): void {
    if (event.type === "request") this.#calls.ended(event, at);
    else if (event.type === "ask") this.#questions.ended(event, at);
    else if (event.type === "task") this.#tasks.heard(event, at);
    else if (event.type === "gap") this.#streams.gap(event, at);
    else {
      this.#streams.session(event, at);
      if (event.state !== "ended") return;
      this.#calls.endAll(at);
      this.#questions.endAll(at);
    }
  }
}
