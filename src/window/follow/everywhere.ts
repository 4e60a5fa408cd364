// Follows a client on the other nodes: asks their windows at intervals for what has happened since.
import { inBackground } from "../../base/async/timers.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { WindowNodes } from "../inside/nodes.ts";
import type { Follow, Followed, Follower, FollowOptions } from "./followed.ts";

const kind = "follow";
/** Set in every question and answer. Windows of another format do not understand each other. */
const format = 1;
/** Milliseconds that nodes have to answer a question, after which the next one follows. */
const deadlineMs = 300;
/** Milliseconds without a question, after which a node no longer follows the client for the one that asked. */
const patienceMs = 10_000;
/** Clients that a node follows for others. Past it, it answers nothing about further ones. */
const maxFollowed = 100;
/** Items that wait for the node that asks. Past it, the oldest are dropped. */
const maxItems = 1000;
/** Characters of an answer: some engines take messages of one megabyte. */
const maxCharacters = 400_000;

/** Begins to follow a client on this node. */
type FollowHere = (options: FollowOptions, take: Follower) => Follow;

/** A client that this node follows for another one. */
interface Asked {
  readonly follow: Follow;
  items: Followed[];
  /** The number of its newest item; the node that asks says which one it has got. */
  last: number;
  characters: number;
  dropped: number;
  askedAt: number;
}

/** Answers the windows of other nodes about the clients of this one. */
export function followForOthers(nodes: WindowNodes, followHere: FollowHere): void {
  const all = new Map<string, Asked>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Stops following those that no node asks about any more, until none is left. */
  const wait = (): ReturnType<typeof setTimeout> => {
    const check = (): void => {
      const latest = performance.now() - patienceMs;
      for (const [key, { askedAt, follow }] of all) {
        if (askedAt > latest) continue;
        follow.stop();
        all.delete(key);
      }
      timer = all.size > 0 ? wait() : undefined;
    };
    return inBackground(setTimeout(check, patienceMs / 2));
  };
  nodes.answer(kind, ({ format: theirs, follow, peer, got }, from) => {
    if (theirs !== format || typeof follow !== "string" || typeof peer !== "string" || peer === "")
      return undefined;
    const key = `${from} ${follow}`;
    const known = all.get(key);
    if (known === undefined && all.size >= maxFollowed) return undefined;
    const asked = known ?? beginFollow(peer, followHere);
    all.set(key, asked);
    timer ??= wait();
    return answerOf(asked, isObject(got) ? Number(got[nodes.self]) : 0);
  });
}

function beginFollow(peer: string, followHere: FollowHere): Asked {
  const take = (batch: readonly Followed[], dropped: number): void => {
    asked.dropped += dropped;
    for (const item of batch) keep(asked, item);
  };
  const follow = followHere({ peer }, take);
  const asked: Asked = { follow, items: [], last: 0, characters: 0, dropped: 0, askedAt: 0 };
  return asked;
}

/** `got` is the number of the last item that the asking node has. */
function answerOf(asked: Asked, got: number): JsonObject {
  asked.askedAt = performance.now();
  asked.follow.flush();
  while (asked.items.length > 0 && asked.last - asked.items.length < got) forgetOldest(asked);
  const { items, last, dropped } = asked;
  return { format, items, last, dropped };
}

/** The text of a message is made again where it arrives. */
function keep(asked: Asked, item: Followed): void {
  const kept = item.type === "message" ? { ...item, text: "" } : item;
  asked.items.push(kept);
  asked.last++;
  asked.characters += sizeOf(kept);
  while (asked.items.length > 0 && (asked.items.length > maxItems || asked.characters > maxCharacters)) {
    forgetOldest(asked);
    asked.dropped++;
  }
}

function forgetOldest(asked: Asked): void {
  const oldest = asked.items.shift();
  if (oldest !== undefined) asked.characters -= sizeOf(oldest);
}

const sizes = new WeakMap<Followed, number>();

/** The characters of an item as JSON. */
function sizeOf(item: Followed): number {
  const size = sizes.get(item) ?? JSON.stringify(item).length;
  sizes.set(item, size);
  return size;
}

let lastFollow = 0;

/** Asks the other nodes about a client until you call the returned function. */
export function followElsewhere(
  nodes: WindowNodes,
  peer: string,
  take: (batch: readonly Followed[], dropped: number) => void,
): () => void {
  const follow = String(++lastFollow);
  /** By node, the number of its last item, and how many it has dropped. */
  const got = new Map<string, { readonly last: number; readonly dropped: number }>();
  let isOver = false;
  const receive = (answer: JsonObject, from: string): boolean => {
    const { format: theirs, items, last, dropped } = answer;
    if (isOver || theirs !== format || !Array.isArray(items) || !isCount(last) || !isCount(dropped))
      return isOver;
    const before = got.get(from) ?? { last: 0, dropped: 0 };
    got.set(from, { last, dropped });
    const fresh = items.slice(Math.max(0, items.length - (last - before.last)));
    take(fresh.filter(isItem).map(withText), Math.max(0, dropped - before.dropped));
    return false;
  };
  const ask = (): void => {
    if (isOver) return;
    const known = Object.fromEntries([...got].map(([node, { last }]) => [node, last]));
    const asked = nodes.ask(kind, { format, follow, peer, got: known }, deadlineMs, receive);
    const later = (): void => void inBackground(setTimeout(ask, nodes.hasJoined ? 0 : deadlineMs));
    asked.then(later, () => void inBackground(setTimeout(ask, deadlineMs)));
  };
  ask();
  return () => {
    isOver = true;
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isItem(value: unknown): value is Followed {
  return isObject(value) && typeof value["type"] === "string" && typeof value["at"] === "number";
}

function withText(item: Followed): Followed {
  return item.type === "message" ? { ...item, text: JSON.stringify(item.message) } : item;
}
