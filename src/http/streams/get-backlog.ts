// The messages of one GET stream that its reader was too slow for.

/** A message that belongs to a stream and is still to be written. */
interface Unwritten {
  readonly text: string;
  readonly id: string | undefined;
  readonly sequence: number;
}

export class GetBacklog {
  #messages: Unwritten[] = [];
  /** The length of all texts. */
  length = 0;

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  add(message: Unwritten): void {
    this.#messages.push(message);
    this.length += message.text.length;
  }

  takeAll(): readonly Unwritten[] {
    const messages = this.#messages;
    this.#messages = [];
    this.length = 0;
    return messages;
  }
}
