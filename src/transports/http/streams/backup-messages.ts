// The newest messages of a session's log. If the stream that they were written to is lost, another stream repeats them.
import type { KeptMessage } from "./missed.ts";

/** How many messages are kept. If more were dropped, the client gets a notification for each topic instead. */
const maxMessages = 1000;

export class BackupMessages {
  readonly #maxLength: number;
  #messages: KeptMessage[] = [];
  #length = 0;
  /** The number of the newest message that was dropped. */
  #droppedTo = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  add(message: KeptMessage): void {
    this.#messages.push(message);
    this.#length += message.text.length;
    while (this.#messages.length > maxMessages || this.#length > this.#maxLength) {
      const [oldest] = this.#messages.splice(0, 1);
      this.#length -= oldest?.text.length ?? 0;
      this.#droppedTo = oldest?.sequence ?? this.#droppedTo;
    }
  }

  /** Removes and returns the messages after that number; undefined if some of them were dropped. */
  takeAfter(sequence: number): readonly KeptMessage[] | undefined {
    const isWhole = this.#droppedTo <= sequence;
    const messages = this.#messages.filter((message) => message.sequence > sequence);
    this.clear();
    return isWhole ? messages : undefined;
  }

  clear(): void {
    this.#messages = [];
    this.#length = 0;
    this.#droppedTo = 0;
  }
}
