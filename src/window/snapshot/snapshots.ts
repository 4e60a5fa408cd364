// Pulls one page of rows of a kind, and the counts of what is open.
import { subjectOf } from "../../server/calls/failure.ts";
import { clientOfCall, textOf } from "../inside/clients.ts";
import type { Inside } from "../inside/inside.ts";
import { ChosenCopies } from "./copies.ts";
import { Paging } from "./paging.ts";
import { addSessions, type Source } from "./sessions.ts";
import { addStreams } from "./streams.ts";
import { addSubscriptions } from "./subscriptions.ts";
import type {
  CallView,
  NodeView,
  SnapshotOptions,
  SnapshotPage,
  TaskView,
  Views,
  WindowCounts,
} from "./views.ts";
import { Visits } from "./visits.ts";

type Makers = { readonly [Kind in keyof Views]: (options: SnapshotOptions) => SnapshotPage<Views[Kind]> };

export class Snapshots {
  readonly #inside: Inside;
  readonly #makers: Makers;

  constructor(inside: Inside) {
    const visits = new Visits(inside);
    const source: Source = { inside, visits, copies: new ChosenCopies(inside, visits) };
    this.#inside = inside;
    this.#makers = {
      sessions: paged((paging, { era }) => addSessions(paging, source, era)),
      streams: (options) => {
        const paging = new Paging<Views["streams"]>(options);
        addStreams(paging, source);
        // Without a search, not all streams were visited.
        return paging.page(paging.isSearch ? 0 : this.counts().streams);
      },
      subscriptions: paged((paging, { topics }) => addSubscriptions(paging, inside, topics)),
      calls: paged((paging) => addCalls(paging, inside)),
      tasks: paged((paging) => addTasks(paging, inside)),
      tools: paged((paging) => {
        for (const { key: name } of inside.core.catalogue.tools.visible)
          if (paging.matches(name.toLowerCase())) paging.add(() => ({ name }));
      }),
      nodes: paged((paging) => addNodes(paging, inside)),
    };
  }

  of<Kind extends keyof Views>(kind: Kind, options: SnapshotOptions): SnapshotPage<Views[Kind]> {
    return this.#makers[kind](options);
  }

  counts(): WindowCounts {
    const { core, endpoints, calls } = this.#inside;
    let streams = 0;
    let unsentBytes = 0;
    for (const { state, legacySse, unsent } of endpoints) {
      streams += state.openStreams + (legacySse?.size ?? 0);
      unsentBytes += unsent.bytes;
    }
    const { sessions, subscriptions } = core.hub.counts;
    return {
      sessions,
      streams,
      subscriptions,
      calls: calls.size,
      questions: core.asks.size,
      tasks: core.tasks.runs.size,
      unsentBytes,
      keptBytes: core.cluster.logBudget.bytes,
    };
  }
}

function paged<Row>(
  add: (paging: Paging<Row>, options: SnapshotOptions) => void,
): (options: SnapshotOptions) => SnapshotPage<Row> {
  return (options) => {
    const paging = new Paging<Row>(options);
    add(paging, options);
    return paging.page();
  };
}

function addCalls(paging: Paging<CallView>, { calls }: Inside): void {
  for (const { id, call, startedAt } of calls) {
    const isStream = call.row.stream === true;
    const make = (): CallView => ({
      ...clientOfCall(call, isStream ? calls.clientOf(call.exchange.connection) : undefined),
      id,
      method: call.method,
      name: subjectOf(call),
      era: call.era,
      revision: call.revision,
      transport: call.transport,
      session: call.session,
      isStream,
      runningMs: paging.now - startedAt,
    });
    if (!paging.isSearch) paging.add(make);
    else {
      const row = make();
      const { peer, client, who, method, name, revision, transport } = row;
      if (paging.matches(textOf([peer, client, who, method, name, revision, transport]), peer))
        paging.add(() => row);
    }
  }
}

function addTasks(paging: Paging<TaskView>, { core }: Inside): void {
  const wallClock = Date.now();
  for (const [id, { record, call }] of core.tasks.runs) {
    const client = clientOfCall(call);
    const { tool, status, statusMessage, createdAt, ttlMs } = record;
    const text = textOf([client.peer, client.client, client.who, tool, id, status]);
    if (paging.matches(text, client.peer))
      paging.add(() => ({
        ...client,
        id,
        tool,
        status,
        statusMessage,
        ageMs: wallClock - Date.parse(createdAt),
        ttlMs,
      }));
  }
}

function addNodes(paging: Paging<NodeView>, { core }: Inside): void {
  const { cluster, info } = core;
  const alone = { id: cluster.node, isSelf: true, version: info.version };
  const heard = cluster.nodes();
  for (const { id, isSelf, version } of heard.length > 0 ? heard : [alone]) {
    const aheadMs = isSelf ? 0 : cluster.clockOf(id) - Date.now();
    if (paging.matches(textOf([id, version]))) paging.add(() => ({ id, isSelf, version, aheadMs }));
  }
}
