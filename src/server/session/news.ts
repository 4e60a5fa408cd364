// The messages of a node to the others about sessions, sent at once, or when the engine can be reached again.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { JsonObject } from "../../base/wire/message.ts";

/** A message to the other nodes about the session with the id in it. */
interface Told {
  readonly kind: "session" | "ended";
  readonly body: JsonObject & { readonly id: string };
}

/** Messages that wait until the engine can be reached; further ones are dropped. */
const maxUntold = 10_000;

export class News {
  readonly #cluster: Cluster;
  readonly #untold: Told[] = [];

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Whether messages wait for {@link News.tellWaiting}. */
  get isWaiting(): boolean {
    return this.#untold.length > 0;
  }

  /** Sends a message to the other nodes. If the engine fails, only the id waits: a node that receives it reads the session. */
  async tell(kind: Told["kind"], body: Told["body"]): Promise<void> {
    try {
      await this.#cluster.bus.tell(kind, body);
    } catch {
      if (this.#untold.length < maxUntold) this.#untold.push({ kind, body: { id: body.id } });
    }
  }

  /** Sends the waiting messages in order, until the engine fails. */
  async tellWaiting(): Promise<void> {
    for (let news = this.#untold[0]; news !== undefined; news = this.#untold[0]) {
      await this.#cluster.bus.tell(news.kind, news.body);
      this.#untold.shift();
    }
  }
}
