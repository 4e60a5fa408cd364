// The connections of a node to Redis: one for commands, one that receives. If one fails, both are replaced.
import { ignoreRejection } from "../../base/async/promises.ts";
import { pauseInBackground } from "../../base/async/timers.ts";
import { backOffMs, type Commands, type Connector, type Subscriber } from "./connection.ts";

/** Milliseconds that connecting may take. */
const connectMs = 10_000;

/** Milliseconds that a command may take. After that the connection may be dead, and further commands would only queue up. */
const answerMs = 5000;

/** Handles the connections of a link. */
export interface LinkUser {
  /** Prepares new connections before they are used, for example by subscribing. */
  prepare(commands: Commands, subscriber: Subscriber): Promise<void>;
  lost(error: unknown): void;
  back(): void;
}

export class RedisLink {
  readonly #connector: Connector;
  readonly #user: LinkUser;
  #commands: Commands | undefined;
  #close: () => void = () => {};
  #isClosed = false;

  constructor(connector: Connector, user: LinkUser) {
    this.#connector = connector;
    this.#user = user;
  }

  /** Connects for the first time. */
  async open(): Promise<void> {
    await this.#connect();
  }

  /** Sends a command. Rejects at once while there is no connection. */
  async call(key: string, command: readonly string[]): Promise<unknown> {
    const commands = this.#commands;
    if (commands === undefined) {
      throw new Error(this.#isClosed ? "This node has closed its engine" : "There is no connection to Redis");
    }
    const lose = (error: unknown): void => {
      if (this.#commands === commands) this.#lose(error);
    };
    const timer = setTimeout(() => lose(new Error(`Redis did not answer within ${answerMs} ms`)), answerMs);
    try {
      return await commands.call(key, command);
    } catch (error) {
      // After a failover the connection leads to a replica. A new connection finds the current server.
      if (String(error).includes("READONLY")) lose(error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Replaces the connections unless a message arrives within the time of a command. */
  async expectMessage(isReceived: () => boolean): Promise<void> {
    const commands = this.#commands;
    await pauseInBackground(answerMs);
    if (isReceived() || commands === undefined || this.#commands !== commands) return;
    this.#lose(new Error(`Redis delivered no message within ${answerMs} ms`));
  }

  /** Replaces the connections. */
  renew(error: Error): void {
    if (this.#commands !== undefined) this.#lose(error);
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    this.#commands = undefined;
    this.#close();
    this.#close = () => {};
  }

  #lose(error: unknown): void {
    this.#drop();
    this.#user.lost(error);
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    for (let attempts = 0; !this.#isClosed; attempts++) {
      await pauseInBackground(backOffMs(attempts));
      if (this.#isClosed) return;
      const isBack = await this.#connect().then(
        () => true,
        () => false,
      );
      if (isBack && this.#commands !== undefined) return this.#user.back();
    }
  }

  async #connect(): Promise<void> {
    const attempt = new Attempt((error) => {
      if (attempt.commands === this.#commands) this.#lose(error);
    });
    try {
      await inTime(attempt.run(this.#connector, this.#user));
    } catch (error) {
      attempt.close();
      throw error;
    }
    if (this.#isClosed) return attempt.close();
    this.#commands = attempt.commands;
    this.#close = () => attempt.close();
  }
}

/** A pair of connections, from the first step of connecting until it is closed. */
class Attempt {
  readonly #failed: (error: unknown) => void;
  readonly #opened: (Commands | Subscriber)[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isClosed = false;
  /** The connection for commands, once both can be used. */
  commands: Commands | undefined;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  async run(connector: Connector, user: LinkUser): Promise<void> {
    const commands = await this.#add(connector.create());
    const subscriber = await this.#add(await commands.subscriber());
    await user.prepare(commands, subscriber);
    if (this.#failure !== undefined) throw this.#failure.error;
    this.commands = commands;
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#opened) connection.close();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    if (this.commands !== undefined) this.#failed(error);
  }

  async #add<T extends Commands | Subscriber>(connection: T): Promise<T> {
    if (this.#isClosed) throw new Error("Connecting took too long");
    this.#opened.push(connection);
    const failing = new Promise<never>((_, reject) => {
      connection.onFailure((error) => {
        reject(error);
        this.#fail(error);
      });
    });
    await Promise.race([ignoreRejection(failing), connection.connect()]);
    return connection;
  }
}

/** Rejects if `work` takes longer than connecting may. */
async function inTime(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${connectMs} ms`)), connectMs);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
