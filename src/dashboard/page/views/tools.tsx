// The tools and the other methods: how often they are called, how long they take, how they fail, and which run now.
import type { VNode } from "preact";
import type { ToolRow } from "../../answers.ts";
import { useAbout } from "../base/about.ts";
import { formatCount, formatDuration, formatLatency } from "../base/format.ts";
import { go, hrefOf } from "../base/router.ts";
import { Empty } from "../components/empty.tsx";
import type { Column } from "../components/table.tsx";
import { Bar, Count } from "./cells.tsx";
import { Listing } from "./listing.tsx";

/** The meanings of common error codes. */
const meanings: Readonly<Record<number, string>> = {
  0: "The tool returned an error",
  [-32_700]: "The message is not JSON",
  [-32_600]: "The request is not valid",
  [-32_601]: "There is no such method",
  [-32_602]: "The parameters are not valid",
  [-32_603]: "The server failed",
  [-32_002]: "There is no such resource",
  [-32_020]: "The headers and the body differ",
  [-32_021]: "The client lacks a capability",
  [-32_022]: "The revision is not supported",
  [-32_042]: "The user has to open a URL first",
};

const columns: readonly Column<ToolRow>[] = [
  {
    title: "Name",
    line: 1,
    show: (row) => <Name row={row} />,
    sort: ({ name, method }) => name ?? method,
  },
  {
    title: "Running",
    width: 68,
    line: 2,
    isFigure: true,
    show: ({ running }) => <Count of={running} tone="accent" />,
    sort: ({ running }) => running,
    hint: "Calls that run now",
  },
  {
    title: "Oldest",
    width: 82,
    isFigure: true,
    show: ({ runningMs }) => (
      <span class={runningMs === undefined ? "muted" : undefined}>{formatDuration(runningMs)}</span>
    ),
    sort: ({ runningMs }) => runningMs ?? -1,
    hint: "How long the oldest running call has taken",
  },
  {
    title: "Calls",
    width: 74,
    line: 2,
    isFigure: true,
    show: ({ calls, cancelled }) => (
      <span title={`${formatCount(cancelled)} cancelled`}>
        <Count of={calls} />
      </span>
    ),
    sort: ({ calls }) => calls,
    hint: "Calls that ended since the dashboard was opened",
  },
  {
    title: "Errors",
    width: 60,
    line: 2,
    isFigure: true,
    show: ({ errors }) => <Count of={errors} tone="bad" />,
    sort: ({ errors }) => errors,
  },
  {
    title: "Codes",
    width: 156,
    show: ({ errorCodes }) => <Codes codes={errorCodes} />,
    hint: "The codes of the errors, the most frequent first",
  },
  percentile("p50", "Half"),
  percentile("p90", "90 %"),
  { ...percentile("p99", "99 %"), line: 1 },
  {
    title: "Longest",
    width: 82,
    isFigure: true,
    show: ({ longestMs }) => <Latency ms={longestMs} hasBar={false} />,
    sort: ({ longestMs }) => longestMs ?? -1,
  },
];

function percentile(share: "p50" | "p90" | "p99", calls: string): Column<ToolRow> {
  return {
    title: share,
    width: 116,
    isFigure: true,
    show: (row) => <Latency ms={row[share]} />,
    sort: (row) => row[share] ?? -1,
    hint: `${calls} of the calls took at most this long. A bar is a sixth longer if it is ten times as long`,
  };
}

export function Tools(): VNode {
  const { tryIt } = useAbout();
  return (
    <Listing
      name="tools"
      label="Tools"
      nouns={["tool or method", "tools and methods"]}
      everyMs={1_000}
      hint="Tool, prompt or method"
      columns={() => columns}
      keyOf={({ method, name }) => `${method} ${name ?? ""}`}
      isOpenable={(row) => isTried(row, tryIt)}
      onOpen={({ name = "" }) => go("try", name)}
      note={() => <span class="note">Figures since the dashboard was opened</span>}
      empty={
        <Empty title="There is no tool, and nothing was called">
          <p>
            Register a tool with <code>server.tool(…)</code>. Once a client calls it, its latency stands here.
          </p>
        </Empty>
      }
    />
  );
}

function isTried({ method, name }: ToolRow, tryIt: boolean): boolean {
  return tryIt && method === "tools/call" && name !== undefined;
}

function Name({ row }: { readonly row: ToolRow }): VNode {
  const { tryIt } = useAbout();
  const { method, name = method } = row;
  const kind = row.name === undefined || method === "tools/call" ? undefined : method;
  const text = (
    <>
      {name} {kind && <span class="muted">{kind}</span>}
    </>
  );
  if (!isTried(row, tryIt))
    return (
      <span class={row.name === undefined ? "muted" : undefined} title={`${method} ${row.name ?? ""}`}>
        {text}
      </span>
    );
  return (
    <a class="client" href={hrefOf("try", name)} title={`${name} · try it`}>
      {text}
    </a>
  );
}

function Codes({ codes }: { readonly codes: ToolRow["errorCodes"] }): VNode {
  const title = codes.map(
    ({ code, count }) => `${formatCount(count)} × ${code}: ${meanings[code] ?? "An error of the server"}`,
  );
  return (
    <span class="figure" title={title.join("\n")}>
      {codes.map(({ code, count }) => (
        <span key={code} class="error-code">
          {code === 0 ? "result" : code}
          <span class="muted">×{formatCount(count)}</span>
        </span>
      ))}
    </span>
  );
}

function Latency({
  ms,
  hasBar = true,
}: {
  readonly ms: number | undefined;
  readonly hasBar?: boolean;
}): VNode {
  return (
    <span class={ms === undefined ? "measure muted" : "measure"}>
      {hasBar && ms !== undefined && <Bar share={scaled(ms)} />}
      <span class="value">{formatLatency(ms)}</span>
    </span>
  );
}

/** From 0.1 ms to 100 s, of which each power of ten is a sixth. */
function scaled(ms: number): number {
  return Math.max(0.02, Math.log10(ms / 0.1) / 6);
}
