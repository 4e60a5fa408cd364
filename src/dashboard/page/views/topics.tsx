// The topics: their subscribers, how many clients the last pushes reached, and merged messages.
import { Fragment, type VNode } from "preact";
import type { TopicRow } from "../../answers.ts";
import { useAbout } from "../base/about.ts";
import { formatAgo, formatCount } from "../base/format.ts";
import { hrefOf } from "../base/router.ts";
import { Empty } from "../components/empty.tsx";
import type { Column } from "../components/table.tsx";
import { Client, Count, Text } from "./cells.tsx";
import { Listing } from "./listing.tsx";

const mergedMeans =
  "Messages that waited for a slow reader and were replaced by a later one of the same topic";

const columns: readonly Column<TopicRow>[] = [
  {
    title: "Notification",
    width: 172,
    line: 1,
    show: ({ notification }) => <Notification name={notification} />,
    sort: ({ notification }) => notification,
  },
  {
    title: "Key",
    line: 2,
    show: ({ key }) => <Text of={key} />,
    sort: ({ key }) => key,
    hint: "The URI or another key that the notification is about",
  },
  {
    title: "Listeners",
    width: 78,
    line: 1,
    isFigure: true,
    show: ({ listeners }) => <Count of={listeners} />,
    sort: ({ listeners }) => listeners,
  },
  {
    title: "Who",
    show: ({ listeners, who }) => <Who listeners={listeners} who={who} />,
    hint: "Some of the listeners, with links to their timelines",
  },
  {
    title: "Last push",
    width: 118,
    line: 2,
    isFigure: true,
    show: ({ pushes: [last] }) =>
      last === undefined ? (
        <span class="muted">–</span>
      ) : (
        <span title={`From ${last.node}`}>{formatAgo(last.agoMs)}</span>
      ),
    sort: ({ pushes: [last] }) => last?.agoMs ?? Number.MAX_VALUE,
    hint: "How long ago something was pushed",
  },
  {
    title: "Fan-out",
    width: 156,
    show: ({ pushes }) => <FanOut pushes={pushes} />,
    hint: "How many listeners the last pushes reached, the newest first",
  },
  {
    title: "Pushed",
    width: 66,
    isFigure: true,
    show: ({ pushed }) => <Count of={pushed} />,
    sort: ({ pushed }) => pushed,
    hint: "Pushes since the dashboard was opened",
  },
  {
    title: "Merged",
    width: 68,
    isFigure: true,
    show: ({ merged }) => (
      <span title={mergedMeans}>
        <Count of={merged} tone="warn" />
      </span>
    ),
    sort: ({ merged }) => merged,
    hint: mergedMeans,
  },
];

export function Topics(): VNode {
  const { tryIt } = useAbout();
  return (
    <Listing
      name="topics"
      label="Topics"
      nouns={["topic", "topics"]}
      everyMs={2_000}
      hint="Notification or URI"
      columns={() => columns}
      keyOf={({ notification, key }) => `${notification} ${key ?? ""}`}
      empty={
        <Empty title="No subscribers">
          <p>
            A client subscribes with <code>resources/subscribe</code> or <code>subscriptions/listen</code>.
          </p>
          {tryIt && <a href={hrefOf("try")}>Subscribe in this page</a>}
        </Empty>
      }
    />
  );
}

/** All notifications begin with the same word, which is only written out for screen readers. */
function Notification({ name }: { readonly name: string }): VNode {
  const prefix = "notifications/";
  const isUsual = name.startsWith(prefix);
  return (
    <span title={name}>
      {isUsual && <span class="hidden">{prefix}</span>}
      {isUsual ? name.slice(prefix.length) : name}
    </span>
  );
}

function Who({ listeners, who }: Pick<TopicRow, "listeners" | "who">): VNode {
  const more = listeners - who.length;
  return (
    <span class="who">
      {who.map(({ peer, client }, index) => (
        <Fragment key={peer}>
          {index > 0 && ", "}
          <Client peer={peer} client={client} />
        </Fragment>
      ))}
      {more > 0 && <span class="muted"> and {formatCount(more)} more</span>}
    </span>
  );
}

function FanOut({ pushes }: Pick<TopicRow, "pushes">): VNode {
  return (
    <span class="figure">
      {pushes.map(({ agoMs, delivered, node }, index) => (
        <span
          key={index}
          class={index === 0 ? "push" : "push muted"}
          title={`${formatCount(delivered)} listeners, ${formatAgo(agoMs)}, from ${node}`}
        >
          {formatCount(delivered)}
        </span>
      ))}
    </span>
  );
}
