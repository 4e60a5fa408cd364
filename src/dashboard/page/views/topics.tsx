// Topics.
import type { VNode } from "preact";
import { Empty } from "../components/empty.tsx";

export function Topics(): VNode {
  return <Empty title="Topics are not shown yet" />;
}
