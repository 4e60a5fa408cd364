// Streams.
import type { VNode } from "preact";
import { Empty } from "../components/empty.tsx";

export function Streams(): VNode {
  return <Empty title="Streams are not shown yet" />;
}
