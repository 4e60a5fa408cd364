// Counts what a server announces: each event once, however often it is sent again to resume a stream.

const updated = "notifications/resources/updated";

export class Announced {
  readonly #events = new Map<string, Set<string>>();
  #unnamed = 0;

  /** How many events announced a change of the resource. */
  of(uri: string): number {
    return this.#events.get(uri)?.size ?? 0;
  }

  /** Returns what takes the pieces of one reply, as the server sends them. */
  reader(): (piece: string) => void {
    let rest = "";
    return (piece) => {
      const events = (rest + piece).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) this.#read(event);
    };
  }

  #read(event: string): void {
    const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? "";
    if (!data.includes(updated)) return;
    const { params } = JSON.parse(data) as { params: { uri: string } };
    const id = /^id: ?(.*)$/m.exec(event)?.[1] ?? `event ${++this.#unnamed}`;
    const events = this.#events.get(params.uri) ?? new Set();
    this.#events.set(params.uri, events.add(id));
  }
}
