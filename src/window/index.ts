/**
 * The window of a server: its events, what is open, the messages of a client, and hooks around calls. On it you can build a
 * dashboard or telemetry of your own; the dashboard of this package stands on it, too.
 *
 * @module
 */
export { type ServerWindow, type WindowServer, windowOf } from "./window.ts";
export type { PeerEnd } from "./end.ts";
export type {
  AskEvent,
  GapEvent,
  MergeEvent,
  PushEvent,
  RefusalEvent,
  RequestEvent,
  ServerEvent,
  SessionEvent,
  TaskEvent,
} from "../server/diagnostics/events.ts";
export type { Observer } from "./inside/observers.ts";
export type { AroundCall, AroundHook, CallEnd } from "./around.ts";
export type {
  CallView,
  NodeView,
  SessionView,
  SnapshotOptions,
  SnapshotPage,
  StreamView,
  SubscriptionView,
  TaskView,
  ToolView,
  Views,
  WindowCounts,
} from "./snapshot/views.ts";
export type {
  Follow,
  Followed,
  FollowedCall,
  FollowedEvent,
  FollowedItem,
  FollowedMessage,
  FollowedStream,
  FollowedStreamRef,
  Follower,
  FollowOptions,
} from "./follow/followed.ts";
export type { RecentCalls } from "./inside/recent-calls.ts";
export type { AnswerTaker, IntroductionTaker, NodeAnswerer, WindowNodes } from "./inside/nodes.ts";
export { describePeer, type KnownPeer, type PeerView } from "./inside/peers.ts";
export { textWithoutSecrets, withoutSecrets } from "./secrets.ts";
