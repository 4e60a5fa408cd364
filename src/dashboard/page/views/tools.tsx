// Tools.
import type { VNode } from "preact";
import { Empty } from "../components/empty.tsx";

export function Tools(): VNode {
  return <Empty title="Tools are not shown yet" />;
}
