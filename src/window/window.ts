// The window of a server: the one place to look inside while it runs.
import type { Logger } from "../base/logging/logger.ts";
import { openedBy, type Servable, type ServerPort } from "../server/calls/port.ts";
import { checkEnd, checkFollow, checkHook, checkObserver, checkSnapshot } from "./arguments.ts";
import { Around, type AroundHook } from "./around.ts";
import { endPeer, type PeerEnd } from "./end.ts";
import { followElsewhere, followForOthers } from "./follow/everywhere.ts";
import { FollowQueue } from "./follow/follow-queue.ts";
import type { Follow, Follower, FollowOptions } from "./follow/followed.ts";
import { Follows } from "./follow/follows.ts";
import { Inside } from "./inside/inside.ts";
import { ClusterNodes, type WindowNodes } from "./inside/nodes.ts";
import { type Observer, Observers } from "./inside/observers.ts";
import { type RecentCalls, RecentCounts } from "./inside/recent-calls.ts";
import { RunningCalls } from "./inside/running-calls.ts";
import { refuseOtherWindowNames } from "./other-names.ts";
import { Snapshots } from "./snapshot/snapshots.ts";
import type { SnapshotOptions, SnapshotPage, Views, WindowCounts } from "./snapshot/views.ts";

/** The name of a server, and the revisions that it speaks. */
export interface WindowServer {
  readonly name: string;
  readonly version: string;
  /** Newest first. */
  readonly revisions: readonly string[];
  /** The newest revision of each era, if it speaks that. */
  readonly newest: { readonly modern: string | undefined; readonly legacy: string | undefined };
}

/**
 * Looks inside one server while it runs: what happens, what is open, what one client sends and gets. Nothing of it costs anything
 * until you use it. From the first use of anything but `observe` and `recent` on, the server keeps a list of its
 * running calls.
 */
export interface ServerWindow {
  readonly server: WindowServer;
  /** The logger of the server. */
  readonly logger: Logger;
  /** The other nodes of the cluster. */
  readonly nodes: WindowNodes;
  /** Calls `observer` with every event of this process, until you call the returned function. */
  observe(observer: Observer): () => void;
  /** Counts what is open on this node. Costs little, however much that is. */
  counts(): WindowCounts;
  /** Returns how many calls ended and failed in each second of the last five minutes. Counting begins when you first call this. */
  recent(): RecentCalls;
  /**
   * Returns one page of what is open on this node: `sessions`, `streams`, `subscriptions`, `calls`, `tasks`, `tools` or `nodes`. Rows
   * that begin or end between two pages may be missing or appear twice. Sessions whose clients are slow come first, then those that
   * were used last; slow clients and pipes may be a few seconds late if there are many sessions.
   */
  snapshot<Kind extends keyof Views>(kind: Kind, options?: SnapshotOptions): SnapshotPage<Views[Kind]>;
  /**
   * Calls `follower` with what a client sends and gets, and with its calls, streams and events, in batches. Begins with the calls
   * and streams that are open. Connections of other clients pay nothing for it.
   */
  follow(options: FollowOptions, follower: Follower): Follow;
  /** Runs `hook` around every call, inside the hooks before it, until you call the returned function. */
  around(hook: AroundHook): () => void;
  /** Ends the session of a client on all nodes, or its streams on this node. */
  end(peer: string): Promise<PeerEnd>;
}

const windows = new WeakMap<object, ServerWindow>();

/**
 * Opens the window of a server: the same one each time. Throws a `ConfigurationError` for anything but a server of this copy of the
 * package.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { windowOf } from "halyard/window";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const inside = windowOf(server);
 * const stop = inside.observe((event) => console.log(event.type));
 * for (const { client, idleMs } of inside.snapshot("sessions").rows) console.log(client, idleMs);
 * stop();
 * ```
 */
export function windowOf(server: Servable | ServerPort): ServerWindow {
  const { port, core } = openedBy(server, "windowOf");
  let found = windows.get(core);
  if (found === undefined) windows.set(core, (found = new OpenWindow(port, core)));
  return found;
}

class OpenWindow implements ServerWindow {
  readonly server: WindowServer;
  readonly logger: Logger;
  readonly nodes: WindowNodes;
  readonly #inside: Inside;
  readonly #observers: Observers;
  readonly #snapshots: Snapshots;
  readonly #follows: Follows;
  readonly #around: Around;
  #recent: RecentCounts | undefined;

  static {
    refuseOtherWindowNames(this.prototype);
  }

  constructor(port: ServerPort, core: Inside["core"]) {
    const { settings, info, cluster } = core;
    const { revisions, logger } = settings;
    this.server = {
      name: info.name,
      version: info.version,
      revisions: revisions.dates(),
      newest: { modern: revisions.modern?.date, legacy: revisions.legacy?.date },
    };
    this.logger = logger;
    this.nodes = new ClusterNodes(cluster);
    this.#observers = new Observers(settings);
    this.#follows = new Follows(() => this.#inside, this.#observers);
    const calls = new RunningCalls(this.#follows);
    this.#inside = new Inside(port, core, calls);
    this.#snapshots = new Snapshots(this.#inside);
    this.#around = new Around(core.window, calls, logger);
    followForOthers(this.nodes, (options, take) => this.#followHere(options, take));
  }

  observe(observer: Observer): () => void {
    checkObserver(observer);
    return this.#observers.add(observer);
  }

  counts(): WindowCounts {
    this.#listCalls();
    return this.#snapshots.counts();
  }

  recent(): RecentCalls {
    const { core } = this.#inside;
    core.window.counter = this.#recent ??= new RecentCounts();
    return this.#recent.read();
  }

  snapshot<Kind extends keyof Views>(kind: Kind, options: SnapshotOptions = {}): SnapshotPage<Views[Kind]> {
    checkSnapshot(kind, options);
    this.#listCalls();
    return this.#snapshots.of(kind, options);
  }

  follow(options: FollowOptions, follower: Follower): Follow {
    checkFollow(options, follower);
    const { peer, everywhere = false } = options;
    if (!everywhere || this.nodes.isAlone || peer === undefined) return this.#followHere(options, follower);
    return this.#followAll(peer, options, follower);
  }

  around(hook: AroundHook): () => void {
    checkHook(hook);
    this.#listCalls();
    return this.#around.add(hook);
  }

  async end(peer: string): Promise<PeerEnd> {
    checkEnd(peer);
    return endPeer(this.#inside, peer);
  }

  #followHere(options: FollowOptions, follower: Follower): Follow {
    this.#listCalls();
    return this.#follows.follow(options, follower);
  }

  /** Lists running calls from now on: those that run already are not known. */
  #listCalls(): void {
    const { core, calls } = this.#inside;
    core.window.calls = calls;
  }

  /** One queue for this node and the others, so that the follower gets one batch at a time. */
  #followAll(peer: string, options: FollowOptions, follower: Follower): Follow {
    const queue = new FollowQueue(follower, options, (error) =>
      this.logger.error("A follower failed", { error }),
    );
    const take: Follower = (batch, dropped) => {
      queue.addAll(batch, dropped);
      queue.deliver();
    };
    const here = this.#followHere({ peer }, take);
    const stopElsewhere = followElsewhere(this.nodes, peer, (batch, dropped) => void take(batch, dropped));
    return {
      flush: () => here.flush(),
      stop: () => {
        queue.isOver = true;
        here.stop();
        stopElsewhere();
      },
    };
  }
}
