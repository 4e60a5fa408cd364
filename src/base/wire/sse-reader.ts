// Reads server-sent events from bytes, in pieces of any size. Knows nothing of MCP.

/** One event. A field that it did not have is undefined. */
export interface SseEvent {
  /** `message`, unless the event names another. */
  readonly type: string;
  readonly data: string | undefined;
  readonly id: string | undefined;
  /** How long to wait before reconnecting. */
  readonly retryMs: number | undefined;
}

/** What a reader finds. */
export interface SseSink {
  event(event: SseEvent): void;
  /** A comment: the sender is alive. */
  comment(): void;
  /** An event, or a line, exceeds the limit. The reader reads nothing more. */
  tooLarge(): void;
}

const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;
const d = 0x64;
const digits = /^\d{1,9}$/;
const byteOrderMark = 0xfeff;
const keepMark = { ignoreBOM: true };
/** Decodes whole texts only, without the `stream` option: that is several times as fast. */
const wholeDecoder = new TextDecoder("utf-8", keepMark);

/** How many pieces of a text are kept apart. */
const maxPieces = 64;

/** A text that grows. When appending to a string, an engine keeps every piece, which can take 30 times the memory of the text. */
class GrowingText {
  #text = "";
  #pieces: string[] = [];
  length = 0;

  add(piece: string): void {
    this.length += piece.length;
    if (this.#pieces.push(piece) === maxPieces) this.#join();
  }

  /** Returns the text, and begins a new one. */
  take(): string {
    this.#join();
    const text = this.#text;
    this.#text = "";
    this.length = 0;
    return text;
  }

  #join(): void {
    this.#text += this.#pieces.join("");
    this.#pieces = [];
  }
}

export class SseReader {
  readonly #sink: SseSink;
  readonly #maxLength: number;
  /** Holds the start of a character whose end has not arrived. */
  #partialDecoder: InstanceType<typeof TextDecoder> | undefined;
  #isStart = true;
  /** The start of a line whose end has not arrived. */
  readonly #line = new GrowingText();
  /** Whether the last piece ended with CR: a LF that follows belongs to it. */
  #endedWithReturn = false;
  #isOver = false;
  #hasFields = false;
  #type = "message";
  #data: string | undefined;
  /** The data of an event with more than one line of it. */
  readonly #lines = new GrowingText();
  #id: string | undefined;
  #retryMs: number | undefined;

  /** The limit applies to the UTF-16 units of one event, which has at least as many bytes. */
  constructor(maxLength: number, sink: SseSink) {
    this.#maxLength = maxLength;
    this.#sink = sink;
  }

  feed(piece: Uint8Array): void {
    if (this.#isOver || piece.length === 0) return;
    const decoded = this.#decode(piece);
    const text = this.#endedWithReturn || decoded.includes("\r") ? this.#withLineFeeds(decoded) : decoded;
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      if (this.#line.length > 0) {
        this.#line.add(text.slice(from, end));
        const line = this.#line.take();
        this.#take(line, 0, line.length);
      } else if (end === from) this.#endEvent();
      else this.#take(text, from, end);
      if (this.#isOver) return;
      from = end + 1;
    }
    if (from < text.length) this.#line.add(from === 0 ? text : text.slice(from));
    this.#checkLength(this.#line.length);
  }

  #decode(piece: Uint8Array): string {
    const isWhole = (piece[piece.length - 1] as number) < 0x80;
    const isPlain = isWhole && this.#partialDecoder === undefined;
    const decoder = isPlain ? wholeDecoder : (this.#partialDecoder ??= new TextDecoder("utf-8", keepMark));
    const text = isPlain ? decoder.decode(piece) : decoder.decode(piece, { stream: true });
    if (isWhole) this.#partialDecoder = undefined;
    if (!this.#isStart || text === "") return text;
    this.#isStart = false;
    return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
  }

  /** Turns CRLF and CR into LF, also where a piece ends between the two. */
  #withLineFeeds(text: string): string {
    if (text === "") return text;
    const rest = this.#endedWithReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#endedWithReturn = text.charCodeAt(text.length - 1) === carriageReturn;
    return rest.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  }

  /** Takes the line between `from` and `end`, which is not empty. */
  #take(text: string, from: number, end: number): void {
    const first = text.charCodeAt(from);
    if (first === colon) return this.#sink.comment();
    this.#hasFields = true;
    if (first === d && text.startsWith("data:", from)) return this.#addData(valueIn(text, from + 5, end));
    const line = text.slice(from, end);
    const at = line.indexOf(":");
    this.#set(at < 0 ? line : line.slice(0, at), at < 0 ? "" : valueIn(line, at + 1, line.length));
  }

  #set(field: string, value: string): void {
    if (field === "data") this.#addData(value);
    else if (field === "event") this.#type = value === "" ? "message" : value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && digits.test(value)) this.#retryMs = Number(value);
  }

  #addData(value: string): void {
    if (this.#data === undefined) this.#data = value;
    else {
      if (this.#lines.length === 0) this.#lines.add(this.#data);
      this.#lines.add(`\n${value}`);
    }
    this.#checkLength(0);
  }

  #checkLength(pending: number): void {
    if (pending + (this.#lines.length || (this.#data?.length ?? 0)) <= this.#maxLength) return;
    this.#isOver = true;
    this.#line.take();
    this.#lines.take();
    this.#sink.tooLarge();
  }

  #endEvent(): void {
    if (!this.#hasFields) return;
    const data = this.#lines.length > 0 ? this.#lines.take() : this.#data;
    const event = { type: this.#type, data, id: this.#id, retryMs: this.#retryMs };
    this.#hasFields = false;
    this.#type = "message";
    this.#data = this.#id = this.#retryMs = undefined;
    this.#sink.event(event);
  }
}

/** The value of a field: one space after the colon does not belong to it. */
function valueIn(text: string, from: number, end: number): string {
  return text.slice(text.charCodeAt(from) === space && from < end ? from + 1 : from, end);
}
