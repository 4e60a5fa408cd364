// The handlers with which a client answers the server's questions, and their parameters.
import type { ModelPreferences, Root, SamplingContent, SamplingTool } from "../../protocol/asking.ts";
import type { LogLevel } from "../../protocol/model.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { SamplingMessage } from "./received.ts";
import type { FormSchema } from "../../protocol/forms/form-schema.ts";

/** The second parameter of every question handler. */
export interface QuestionContext {
  /** Aborted when the server no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** The server that asks, as the client dialled it, without the query of its URL: show it to the user. */
  readonly server: string;
  /** The name of that server in `connectAll`. */
  readonly name?: string;
}

/** A form for the user to fill in. */
export interface FormQuestion {
  readonly mode: "form";
  readonly message: string;
  /** The form, which the client has validated. */
  readonly requestedSchema: FormSchema;
  /** The complete parameters that the server sent. */
  readonly params: JsonObject;
}

/**
 * A page for the user to visit, with `http` or `https`: the client rejects other schemes. Show the whole URL, ask for consent,
 * and open it outside the client; never fetch it yourself.
 */
export interface UrlQuestion {
  readonly mode: "url";
  readonly message: string;
  readonly url: string;
  readonly elicitationId?: string | undefined;
  readonly params: JsonObject;
}

/** What the user did. Fields of a form that are missing in `content` get the defaults of its schema. */
export type ElicitAnswer =
  | { readonly action: "accept"; readonly content?: JsonObject | undefined }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/**
 * Answers forms, pages or both. If it throws, a legacy server receives an error without details (those of a `ProtocolError` if it
 * throws one), and the call of a modern client rejects with the exception.
 */
export type OnElicit<Question> = (
  question: Question,
  context: QuestionContext,
) => ElicitAnswer | Promise<ElicitAnswer>;

/** A function for both modes, or one for each mode that you support. The client declares only these modes. */
export type ElicitOption =
  | OnElicit<FormQuestion | UrlQuestion>
  | { readonly form?: OnElicit<FormQuestion> | undefined; readonly url?: OnElicit<UrlQuestion> | undefined };

/** A request to your model. */
export interface SampleQuestion {
  readonly messages: SamplingMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: ModelPreferences;
  readonly includeContext?: string;
  readonly metadata?: JsonObject;
  readonly tools?: readonly SamplingTool[];
  readonly toolChoice?: { readonly mode?: "auto" | "required" | "none" };
}

/** The answer of your model. */
export interface SampleAnswer {
  readonly role: "assistant" | "user";
  readonly content: SamplingContent | readonly SamplingContent[];
  readonly model: string;
  readonly stopReason?: string | undefined;
}

/** Asks your model. Throw `InputDeclined` if the user rejects the request. */
export type OnSample = (
  question: SampleQuestion,
  context: QuestionContext,
) => SampleAnswer | Promise<SampleAnswer>;

/** A function, or an object with a function and the features that it supports. */
export type SampleOption =
  | OnSample
  | {
      readonly answer: OnSample;
      /** Whether it handles `tools` and `toolChoice`. */ readonly tools?: boolean | undefined;
      /** Whether it handles `includeContext`. */ readonly context?: boolean | undefined;
    };

/** The folders that the server may work on, or a function that returns the current ones. */
export type RootsOption = readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>);

/** Functions by the method of the notification that each receives. */
export interface NotificationHandlers {
  readonly [method: string]: (params: JsonObject) => unknown;
}

/**
 * Functions by the method of the request that each answers with a result. If one throws, the server receives an error without details,
 * or those of a `ProtocolError`.
 */
export interface RequestHandlers {
  readonly [method: string]: (
    params: JsonObject,
    context: QuestionContext,
  ) => JsonObject | Promise<JsonObject>;
}

/** A log message of the server. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly logger?: string | undefined;
  readonly data: unknown;
}
