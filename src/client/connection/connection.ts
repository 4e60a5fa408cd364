// The connection of a client: its channel, its knowledge of the server, its state, and how it reconnects after a loss.
import { Ending } from "../../base/async/ending.ts";
import { ignoreRejection, untilAborted } from "../../base/async/promises.ts";
import { within } from "../../base/async/timers.ts";
import { clip, errorCodes, HalyardError } from "../../base/errors.ts";
import { protocolNotifications } from "../../protocol/notifications.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import type { RpcNotification } from "../../base/wire/message.ts";
import { Attempts, backoffPause } from "../channel/backoff.ts";
import type { Channel, Tap, Transport } from "../channel/channel.ts";
import { ConnectionLost, HttpFailure, NoCommonRevision, RpcRejection } from "../settings/errors.ts";
import { shownUrl } from "../settings/shown.ts";
import type { Remembered, ServerFacts } from "../settings/server-facts.ts";
import { type ClientState, type StateName, tellThrown } from "../settings/events.ts";
import { type Agreed, type HandshakeSettings, shakeHands } from "./handshake.ts";
import { Listeners } from "./listeners.ts";
import { beginOpening, type Opening } from "./opening.ts";
import { Reception, type ReceptionSettings } from "./reception.ts";
import { firstStep, saysLegacy, type Step, Wanted } from "./verdicts.ts";

/** The settings of a connection. */
export interface ConnectionSettings extends HandshakeSettings {
  /** `auto`, an era, or the date of the revision to speak. */
  readonly revision: string;
  readonly remembered?: Remembered | undefined;
  readonly tap?: Tap | undefined;
  readonly limits: ReceptionSettings["limits"];
}

/** How often each request of the first handshake is tried. */
const connectTries = 3;

export class ServerConnection {
  readonly #settings: ConnectionSettings;
  readonly #wanted: Wanted;
  readonly #attempts: Attempts;
  readonly #closing = new Ending(isClosed);
  readonly #stateListeners = new Listeners<ClientState>();
  readonly #reopenListeners = new Listeners();
  readonly #gapListeners = new Listeners();
  readonly #notificationListeners = new Map<string, Listeners<RpcNotification>>();
  #transport: Transport;
  #reception: Reception | undefined;
  /** The channel of the reception, while requests may use it. */
  #channel: Channel | undefined;
  /** The previous reception, if it may still receive responses: over HTTP each request has its own. */
  #retired: Reception | undefined;
  /** The channel whose revision was remembered and has not been confirmed by a response. */
  #assumed: Channel | undefined;
  #peer: ServerFacts | undefined;
  #learnedAt = 0;
  #openedAt = 0;
  #state: ClientState = { name: "connecting", reason: "Not connected yet" };
  /** The state to go back to when credentials have been obtained. */
  #beforeAuth: ClientState | undefined;
  /** The current opening of a channel, to end it early. */
  #opening: Opening | undefined;
  /** The reopening of the channel, which all waiting requests share. */
  #reopening: Promise<void> | undefined;
  /** Ends restoring the session when its channel is lost meanwhile. */
  #interrupt: (() => void) | undefined;

  constructor(transport: Transport, settings: ConnectionSettings) {
    const { revision } = settings;
    this.#transport = transport;
    this.#settings = settings;
    this.#wanted = new Wanted(revisions.filter(({ date, era }) => ["auto", era, date].includes(revision)));
    this.#attempts = new Attempts(settings.backoff, true);
  }

  /** The facts about the server, once the client is connected. */
  get peer(): ServerFacts {
    if (this.#peer === undefined) throw new Error("The client is not connected yet");
    return this.#peer;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** The channel, if requests can be sent at once; otherwise wait for `ready`. */
  get channel(): Channel | undefined {
    return this.#channel;
  }

  onState(callback: (state: ClientState) => void): () => void {
    return this.#stateListeners.add(callback);
  }

  onNotification(method: string, callback: (message: RpcNotification) => void): () => void {
    const listeners = this.#notificationListeners.get(method) ?? new Listeners<RpcNotification>();
    this.#notificationListeners.set(method, listeners);
    return listeners.add(callback);
  }

  /**
   * Calls `callback` when there is a new channel. Waiting requests continue when the callback has ended; requests of the callback
   * are sent at once.
   */
  onReopened(callback: () => void | Promise<void>): () => void {
    return this.#reopenListeners.add(callback);
  }

  onGap(callback: () => void): () => void {
    return this.#gapListeners.add(callback);
  }

  /**
   * Connects, from the remembered facts or from another first step. Rejects with the reason, and leaves nothing open, if that
   * fails.
   */
  async open(signal?: AbortSignal, first?: Step): Promise<void> {
    const { remembered } = this.#settings;
    const step = first ?? firstStep(this.#wanted, remembered);
    this.#enter("connecting", `Connecting to ${this.#transport.address}`);
    try {
      await this.#establish(step, connectTries, signal);
      if (step.do === "speak") {
        this.#assumed = this.#channel;
        this.#learnedAt = remembered?.at ?? 0;
      }
      this.#enter("ready", step.do === "speak" ? "The server is remembered" : "Connected");
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** Resolves with a channel for a request: the current one, or the next one once it is open and restored. */
  async ready(signal?: AbortSignal): Promise<Channel> {
    for (;;) {
      this.#closing.throwIfOver();
      if (this.#reopening) await untilAborted(this.#reopening, signal);
      else if (this.#channel) return this.#channel;
      else if (this.#reception) this.#resume(this.#reception);
      else this.#tryOnce();
    }
  }

  /**
   * Tells the connection that a request failed on a channel. Returns whether the connection caused the failure: it then opens
   * another channel, and the request can be sent again on it if the server has not run it.
   */
  failed(channel: Channel, error: unknown): boolean {
    const isCurrent = channel === this.#channel;
    if (isCurrent && isOfCredentials(error) && error.status !== 403) this.#suspend(error);
    const step = this.#remedy(channel, error);
    if (step && isCurrent) this.#lose(error as Error, step);
    return step !== undefined;
  }

  /** Tells the connection that a request succeeded on a channel, which confirms an assumed revision. */
  answered(channel: Channel): void {
    if (channel === this.#assumed) this.#assumed = undefined;
  }

  /** Sets whether requests wait for credentials, perhaps until a person has visited `url`. */
  authorizing(isWaiting: boolean, url?: string): void {
    const state = this.#state;
    const before = this.#beforeAuth;
    const isShown = state.name === "needs-auth";
    this.#opening?.hold(url !== undefined);
    if (!isWaiting) {
      this.#beforeAuth = undefined;
      if (isShown && before) this.#enter(before.name, "No longer waiting for credentials", before.error);
    } else if (!isShown || url !== state.url) {
      if (!isShown || !before) this.#beforeAuth = state;
      const reason = url ? `Sign in at ${shownUrl(url)}` : "Waiting for credentials";
      this.#become({ name: "needs-auth", reason, ...(url && { url }) });
    }
  }

  /** The facts about the server, for the next `connect`. */
  remember(): Remembered {
    const { revision, server, capabilities, instructions } = this.peer;
    return { revision: revision.date, server, capabilities, instructions, at: this.#learnedAt };
  }

  async close(): Promise<void> {
    this.#enter("closed", "You closed the client");
    this.#closing.end();
    this.#opening?.abort(this.#closing.reason);
    const receptions = [this.#reception, this.#retired];
    this.#interrupt?.();
    this.#channel = this.#reception = this.#retired = undefined;
    await Promise.all([
      ...receptions.map((reception) => reception?.close()),
      this.#reopening?.catch(() => {}),
    ]);
  }

  /** Opens a channel and makes it the current one. */
  async #establish(step: Step, tries: number, signal?: AbortSignal): Promise<void> {
    const { connectTimeoutMs } = this.#settings;
    const { address } = this.#transport;
    this.#closing.throwIfOver();
    const opening = (this.#opening = beginOpening(connectTimeoutMs, address, signal));
    try {
      const agreed = await this.#shakeHands(step, tries, opening.signal);
      if (this.#closing.isOver) await agreed.reception.close();
      this.#closing.throwIfOver();
      this.#adopt(agreed);
    } finally {
      opening.finish();
      this.#opening = undefined;
    }
  }

  #shakeHands(step: Step, tries: number, signal: AbortSignal): Promise<Agreed> {
    const { answers, backoff, observe, tap, limits } = this.#settings;
    const receiving: ReceptionSettings = {
      answers,
      backoff,
      observe,
      tap,
      limits,
      notified: (message) => this.#notify(message),
      gap: (reception) =>
        void (reception === this.#reception && this.#gapListeners.tell(undefined, this.#report)),
      ended: (reception, reason) => void (reception === this.#reception && this.#lose(reason, this.#again())),
    };
    return shakeHands(
      this.#settings,
      {
        transport: this.#transport,
        wanted: this.#wanted,
        tries,
        signal,
        open: (transport) => Reception.open(transport, receiving, signal),
      },
      step,
    );
  }

  #adopt({ reception, transport, peer }: Agreed): void {
    this.#transport = transport;
    this.#reception = reception;
    this.#channel = reception.channel;
    this.#peer = peer;
    this.#learnedAt = Date.now();
    this.#openedAt = performance.now();
  }

  #notify(message: RpcNotification): void {
    const { method } = message;
    const listeners = this.#notificationListeners.get(method);
    if (listeners?.size) listeners.tell(message, this.#report);
    else if (!protocolNotifications.has(method))
      this.#settings.observe?.({ type: "unhandled", message: "notification", method: clip(method) });
  }

  /** The step that a failed request demands; undefined if the connection did not cause the failure. */
  #remedy(channel: Channel, error: unknown): Step | undefined {
    if (error instanceof ConnectionLost) {
      const isLost = error.reason === "session-gone" || this.#transport.kind !== "http";
      return isLost && error.reason !== "closed" ? this.#again() : undefined;
    }
    const isUnknownMethod = error instanceof RpcRejection && error.code === errorCodes.methodNotFound;
    const isRefused = error instanceof HttpFailure && saysLegacy(error.status);
    const wasWrong = channel === this.#assumed && (isUnknownMethod || isRefused);
    const isUnspoken = error instanceof RpcRejection && error.code === errorCodes.unsupportedVersion;
    return wasWrong || isUnspoken ? firstStep(this.#wanted) : undefined;
  }

  /** The first step of reconnecting to a known server. */
  #again(): Step {
    const { revision } = this.peer;
    return { do: revision.era === "modern" ? "probe" : "initialize", revision };
  }

  /** Stops using the channel until a request tries again, perhaps with other credentials. */
  #suspend(error: Error): void {
    this.#channel = undefined;
    this.#enter("needs-auth", error.message, error);
  }

  #resume({ channel }: Reception): void {
    this.#channel = channel;
    this.#enter("ready", "A request tries again");
  }

  #lose(reason: Error, step: Step): void {
    const reception = this.#reception;
    if (reception === undefined) return;
    this.#channel = this.#reception = undefined;
    reception.retire(reason);
    const ended = this.#transport.kind === "http" ? this.#retired : reception;
    if (ended !== reception) this.#retired = reception;
    ignoreRejection(Promise.resolve(ended?.close()));
    const isProven =
      reception.hasReceived || performance.now() - this.#openedAt > this.#settings.backoff.maxMs;
    if (isProven) this.#attempts.reset();
    if (this.#reopening) this.#interrupt?.();
    else if (this.#transport.reopens) this.#reopen(reason, step, this.#attempts);
    else this.#fail(reason);
  }

  /** Reopens the channel for a request after the client has given up. */
  #tryOnce(): void {
    const { error, reason } = this.#state;
    const loss = error instanceof Error ? error : new Error(reason);
    if (!this.#transport.reopens) throw notOpenedAgain(loss, this.#transport);
    this.#reopen(loss, this.#again(), new Attempts({ ...this.#settings.backoff, maxAttempts: 1 }));
  }

  #reopen(loss: Error, step: Step, attempts: Attempts): void {
    // Deferred, because a listener of the state may send a request, which must find this promise.
    const reopening = Promise.resolve().then(() => this.#tryAgain(loss, step, attempts));
    this.#reopening = ignoreRejection(reopening);
    this.#enter("reconnecting", loss.message, loss);
  }

  async #tryAgain(loss: Error, step: Step, attempts: Attempts): Promise<void> {
    let reason = loss;
    for (;;) {
      const waitMs = attempts.next();
      if (waitMs === undefined) throw this.#fail(reason);
      try {
        if (attempts.made > 1) await backoffPause(waitMs, this.#closing.signal, 0);
        await this.#establish(step, 1);
        await this.#restore();
        if (this.#channel) break;
      } catch (error) {
        this.#closing.throwIfOver();
        reason = error as Error;
        if (isOfCredentials(error) || error instanceof NoCommonRevision) throw this.#fail(error);
      }
      this.#enter("reconnecting", reason.message, reason);
    }
    this.#reopening = undefined;
    this.#enter("ready", `Connected again after: ${loss.message}`);
  }

  /** Lets the parts of the client restore their subscriptions and settings, unless the channel is lost again. */
  async #restore(): Promise<void> {
    const lost = new Promise<void>((resolve) => (this.#interrupt = resolve));
    const restored = this.#reopenListeners.run(undefined, this.#report);
    await within(this.#settings.connectTimeoutMs, Promise.race([restored, lost]));
    this.#interrupt = undefined;
  }

  /** Enters a state in which the client tries again only on another request, and returns the error. */
  #fail(error: unknown): unknown {
    const reason = error instanceof Error ? error.message : String(error);
    this.#reopening = undefined;
    this.#enter(isOfCredentials(error) ? "needs-auth" : "closed", reason, error);
    return error;
  }

  #enter(name: StateName, reason: string, error?: unknown): void {
    this.#become(error === undefined ? { name, reason } : { name, reason, error });
  }

  #become(state: ClientState): void {
    if (this.#closing.isOver) return;
    this.#state = state;
    this.#settings.observe?.({ type: "state", state });
    this.#stateListeners.tell(state, this.#report);
  }

  readonly #report = (error: unknown): void =>
    tellThrown(this.#settings.observe, this, `A callback failed: ${String(error)}`);
}

/** Whether the server rejects all available credentials, so that trying again needs other ones. */
function isOfCredentials(error: unknown): error is Error & { readonly status?: number } {
  return error instanceof HalyardError && (error.code === "NEEDS_AUTH" || error.code === "OAUTH");
}

function isClosed(): ConnectionLost {
  return new ConnectionLost("closed", "The client is closed", { mayHaveRun: false });
}

function notOpenedAgain(loss: Error, { kind }: Transport): ConnectionLost {
  const remedy = kind === "stdio" ? "pass restart: true to start the server again" : "connect again";
  const reason = loss instanceof ConnectionLost ? loss.reason : "cut";
  return new ConnectionLost(reason, `${loss.message}: ${remedy}`, { mayHaveRun: false, cause: loss });
}
