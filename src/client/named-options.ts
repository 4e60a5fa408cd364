// Options for several servers, whose functions receive the name of the server.
import type { JsonObject } from "../base/wire/message.ts";
import type { Change } from "./listening/filter.ts";
import type { ClientEvent } from "./settings/events.ts";
import type { ElicitOption, LogEntry, OnElicit, QuestionContext, SampleOption } from "./settings/handlers.ts";
import type { ConnectOptions } from "./settings/options.ts";
import type { CallOptions, Progress } from "./settings/call-options.ts";

/** Adds the name under which you connected to the server. */
export type FromServer<Sent> = Sent & { readonly server: string };

/** Receives the changes of several servers as they happen. */
export type OnServerChange = (change: FromServer<Change>) => void | Promise<void>;

/** The options of one request to one of several servers. */
export interface ServerCallOptions extends Omit<CallOptions, "onProgress"> {
  readonly onProgress?: ((progress: FromServer<Progress>) => void) | undefined;
}

/** Options that all servers share. Their functions receive the name of the server. */
export interface SharedOptions extends Omit<
  ConnectOptions,
  "observe" | "onLog" | "onNotification" | "record"
> {
  /** Receives the events of the clients, and what is ignored of entries. */
  readonly observe?: ((event: FromServer<ClientEvent>) => void) | undefined;
  /** Receives the log messages of all servers. */
  readonly onLog?: ((entry: FromServer<LogEntry>) => void) | undefined;
  /** Receives notifications that are not part of the protocol, or of an extension, by their method. */
  readonly onNotification?:
    | { readonly [method: string]: (params: JsonObject, server: string) => unknown }
    | undefined;
  /** Receives each message as a line of JSON, without secrets, for {@link replay} of `halyard/testing`. */
  readonly record?: ((line: string, server: string) => void) | undefined;
}

/** The options for one server. */
export function namedOptions(server: string, shared: SharedOptions): ConnectOptions {
  const { observe, onLog, onNotification, onRequest, record, onElicit, onSample, ...others } = shared;
  return {
    ...others,
    ...(observe && { observe: (event) => observe({ ...event, server }) }),
    ...(onLog && { onLog: (entry) => onLog({ ...entry, server }) }),
    ...(onNotification && {
      onNotification: mapped(onNotification, (receive) => (params) => receive(params, server)),
    }),
    ...(onRequest && { onRequest: mapped(onRequest, (answer) => named(server, answer)) }),
    ...(record && { record: (line) => record(line, server) }),
    ...(onElicit && { onElicit: namedElicit(server, onElicit) }),
    ...(onSample && { onSample: namedSample(server, onSample) }),
  };
}

function mapped<From, To>(
  handlers: Readonly<Record<string, From>>,
  map: (handler: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [method, map(handler)]));
}

export function namedCallOptions(server: string, options: ServerCallOptions = {}): CallOptions {
  const { onProgress, ...others } = options;
  return onProgress ? { ...others, onProgress: (progress) => onProgress({ ...progress, server }) } : others;
}

type Answering<Question, Answer> = (question: Question, context: QuestionContext) => Answer;

function named<Question, Answer>(
  name: string,
  answer: Answering<Question, Answer>,
): Answering<Question, Answer> {
  return (question, context) => answer(question, { ...context, name });
}

function namedElicit(name: string, option: ElicitOption): ElicitOption {
  if (typeof option === "function") return named(name, option as OnElicit<unknown>);
  const { form, url } = option;
  return { ...(form && { form: named(name, form) }), ...(url && { url: named(name, url) }) };
}

function namedSample(name: string, option: SampleOption): SampleOption {
  return typeof option === "function"
    ? named(name, option)
    : { ...option, answer: named(name, option.answer) };
}
