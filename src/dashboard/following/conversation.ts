// Converts the messages and events of one client to the entries of its timeline.
import { isObject } from "../../base/wire/message.ts";
import type { Followed, FollowedEvent, FollowedMessage } from "../../window/index.ts";
import { Calls, nameIn, type OpenCall, paramsOf } from "./calls.ts";
import { Questions } from "./questions.ts";
import { shortEventId, Streams } from "./streams.ts";
import { Tasks } from "./tasks.ts";
import type { Entry, Track } from "./track.ts";

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

  take(item: Followed): void {
    if (item.type === "message") this.#message(item);
    else if (item.type === "event") this.#event(item);
    else if (item.type === "call") this.#calls.changed(item);
    else this.#streams.changed(item, this.#calls.of(item.call)?.entry);
  }

  #message(item: FollowedMessage): void {
    const carrier = this.#streams.carried(item);
    const entries = item.direction === "sent" ? this.#sent(item) : this.#received(item);
    this.#track.keep(item, [...new Set([carrier, ...entries])]);
  }

  #sent(item: FollowedMessage): (Entry | undefined)[] {
    if (item.kind === "response") return [this.#questions.answer(item)];
    if (item.kind === "notification") return [this.#told(item)];
    const params = paramsOf(item.message);
    const answered = this.#questions.answerRound(params["inputResponses"], nameIn(params), item);
    return [this.#calls.begin(item), ...answered];
  }

  #received(item: FollowedMessage): (Entry | undefined)[] {
    if (item.kind === "response") return this.#answered(item);
    if (item.kind === "notification") return [this.#pushed(item)];
    return [this.#questions.ask(item, this.#calls.of(item.call)?.entry.label)];
  }

  /** A notification of the client. */
  #told(item: FollowedMessage): Entry {
    const { method = "", message } = item;
    const cancelled =
      method === "notifications/cancelled"
        ? this.#calls.cancel(paramsOf(message)["requestId"], item)
        : undefined;
    return cancelled ?? this.#point(item, "from the client");
  }

  /** A notification of the server: of a call, of a task, or a push. */
  #pushed(item: FollowedMessage): Entry {
    const { method = "", message, at } = item;
    const params = paramsOf(message);
    const task = method.startsWith("notifications/tasks") ? this.#tasks.read(params, at) : undefined;
    return task ?? this.#calls.note(item) ?? this.#point(item, nameIn(params));
  }

  #answered(item: FollowedMessage): (Entry | undefined)[] {
    const call = this.#calls.end(item);
    this.#streams.answered(item, call?.entry.label);
    if (call === undefined) return [this.#calls.endElsewhere(item)];
    const { result } = item.message;
    return isObject(result) ? [call.entry, ...this.#followUps(call, result, item)] : [call.entry];
  }

  /** Adds the questions and the task in a result. */
  #followUps(
    { method, entry }: OpenCall,
    result: { readonly [member: string]: unknown },
    item: FollowedMessage,
  ): (Entry | undefined)[] {
    const asked = this.#questions.askRound(result["inputRequests"], entry.label, item);
    const tool = method === "tools/call" ? entry.label : undefined;
    return [...asked, this.#tasks.read(result, item.at, tool)];
  }

  #point({ method: kind = "", at, eventId }: FollowedMessage, label: string | undefined): Entry {
    const detail = eventId && `event ${shortEventId(eventId)}`;
    return this.#track.addPoint({ lane: "pushes", kind, label, startedAt: at, detail });
  }

  #event({ event, at }: FollowedEvent): void {
    if (event.type === "ask") this.#questions.ended(event, at);
    else if (event.type === "task") this.#tasks.changed(event, at);
    else if (event.type === "gap") this.#streams.gap(event, at);
    else if (event.type === "session") {
      this.#streams.session(event, at);
      if (event.state !== "ended") return;
      this.#calls.endAll(at);
      this.#questions.endAll(at);
    }
  }
}
