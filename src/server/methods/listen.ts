// subscriptions/listen: opens a listener in the hub, and responds when the subscription ends.
import { invalidParams, invalidRequest } from "../../base/errors.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import { subscriptionMeta } from "../push/frame.ts";
import type { Listener, Stream } from "../push/listener.ts";
import { topicOf } from "../push/topic.ts";
import { encodeNotification, isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Call } from "../calls/call.ts";
import { peerOf } from "../diagnostics/events.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { ExtensionListen, Extensions } from "../catalogue/extensions.ts";
import { assertTotalRoom, keysProblem, permittedUris } from "../catalogue/subscriptions.ts";
import type { MethodHandler } from "../calls/seams.ts";

const acknowledged = "notifications/subscriptions/acknowledged";

export function listen({ extensions }: Catalogue): MethodHandler {
  return {
    run(call) {
      const { stream } = call.exchange;
      if (!stream) throw invalidRequest("This transport has no streams, which listen requires");
      const wanted = readFilter(extensions, call);
      const mustAsk =
        call.core.settings.authorizeSubscription !== undefined || wanted.some(({ permits }) => permits);
      if (!mustAsk) return open(call, stream, wanted);
      return permitted(call, wanted).then((allowed) => open(call, stream, allowed));
    },
  };
}

/** Opens the subscription. Resolves with the closing result when it ends. */
function open(call: Call, stream: Stream, members: readonly Wanted[]): Promise<object> {
  const { core, id } = call;
  const { maxQueueBytes, maxSubscriptions } = core.settings.limits;
  if (call.exchange.connection.subscriptions >= maxSubscriptions) {
    throw invalidRequest(`A connection may have at most ${maxSubscriptions} listen requests`);
  }
  // The client may have cancelled the request while middleware or an authorization held it.
  if (call.cancelled) return Promise.resolve({});
  const { honoured, topics } = honour(members);
  const { caller } = call;
  assertTotalRoom(core.hub, caller, topics);
  // Open before the acknowledgement, to miss no change; held, so that no change is sent before it.
  const listener = core.hub.open({
    stream,
    transport: call.transport,
    topics,
    principal: call.principal,
    grant: call.grant,
    caller,
    subscription: { id },
    held: true,
    maxQueueBytes,
  });
  observe(call, "opened");
  const closing = closingResult(call, listener);
  stream.write(encodeNotification(acknowledged, { _meta: subscriptionMeta(id), notifications: honoured }));
  listener.release();
  call.forgetParams();
  const { connection } = call.exchange;
  if (connection.endsSubscriptions) connection.endSubscriptions();
  return closing;
}

/**
 * Resolves when the client cancels or the transport ends the subscription. The listener is closed synchronously, because the
 * next message of the client may have arrived already and may publish something.
 */
function closingResult(call: Call, listener: Listener): Promise<object> {
  const { inFlight } = call.exchange.connection;
  return new Promise((resolve) => {
    const end = (): void => {
      if (!inFlight.closeListen(call)) return;
      call.core.hub.close(listener);
      observe(call, "closed");
      resolve({ _meta: subscriptionMeta(call.id) });
    };
    inFlight.openListen(call, end);
    call.onCancel(end);
  });
}

/** A member of the filter that this server supports, with its keys if it has any. */
interface Wanted {
  readonly member: string;
  readonly notification: string;
  readonly keys: readonly string[] | undefined;
  readonly permits?: ExtensionListen["permits"];
}

function readFilter(extensions: Extensions, call: Call): Wanted[] {
  const filter = call.params["notifications"];
  if (!isObject(filter)) throw invalidParams("notifications must be an object");
  const members: Wanted[] = [];
  // Go through the supported members, since the client's filter may have very many.
  for (const member of [...call.protocol.listens.keys(), ...extensions.listenMembers]) {
    const wanted = Object.hasOwn(filter, member) ? filter[member] : undefined;
    const row = wanted === undefined ? undefined : rowOf(member, extensions, call);
    if (!row) continue;
    const keys = row.kind === "keys" ? readKeys(member, row, wanted, call) : undefined;
    if (!keys && !isOn(member, wanted)) continue;
    members.push({ member, notification: row.notification, keys, permits: row.permits });
  }
  return members;
}

/** The filter without the keys that the client may not subscribe to, and without members that have no keys left. */
async function permitted(call: Call, members: readonly Wanted[]): Promise<Wanted[]> {
  const checked = members.map(async (wanted) => {
    const permits =
      wanted.notification === resourceUpdated
        ? (uris: readonly string[]) => permittedUris(call.core.settings, uris, call)
        : wanted.permits;
    if (!permits || !wanted.keys?.length) return [wanted];
    const keys = await permits(wanted.keys, call);
    return keys.length === 0 ? [] : [{ ...wanted, keys }];
  });
  return (await Promise.all(checked)).flat();
}

/** The acknowledged filter, and its topics. */
function honour(members: readonly Wanted[]): { honoured: JsonObject; topics: string[] } {
  const honoured = members.map(({ member, keys }) => [member, keys ?? true] as const);
  const topics = members.flatMap(({ notification, keys }) =>
    keys ? keys.map((key) => topicOf(notification, key)) : [notification],
  );
  return { honoured: Object.fromEntries(honoured), topics };
}

/** The row of a filter member, or undefined if this server does not support it. */
function rowOf(member: string, extensions: Extensions, call: Call): ExtensionListen | undefined {
  const row = call.protocol.listens.get(member);
  if (!row) return extensions.listen(member, call);
  return call.core.features.has(row.feature) ? row : undefined;
}

function isOn(member: string, wanted: unknown): boolean {
  if (typeof wanted === "boolean") return wanted;
  throw invalidParams(`${member} must be true or false`);
}

function readKeys(member: string, { notification }: ExtensionListen, wanted: unknown, call: Call): string[] {
  const problem = keysProblem({ member, notification }, wanted, call.core.settings.limits);
  if (problem) throw invalidParams(problem);
  return [...new Set(wanted as readonly string[])];
}

function observe(call: Call, state: "opened" | "closed"): void {
  call.core.settings.observe?.({ type: "subscription", state, client: call.client, ...peerOf(call) });
}
