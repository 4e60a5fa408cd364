// Try it.
import type { VNode } from "preact";
import { Empty } from "../components/empty.tsx";

export function TryIt(): VNode {
  return <Empty title="Tools cannot be tried yet" />;
}
