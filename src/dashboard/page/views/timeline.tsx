// Timeline.
import type { VNode } from "preact";
import { Empty } from "../components/empty.tsx";

export function Timeline(): VNode {
  return <Empty title="Timeline are not shown yet" />;
}
