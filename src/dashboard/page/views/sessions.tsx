// Sessions.
import type { VNode } from "preact";
import { Empty } from "../components/empty.tsx";

export function Sessions(): VNode {
  return <Empty title="Sessions are not shown yet" />;
}
