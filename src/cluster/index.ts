/** The parts that every backplane shares, for an engine of your own, and the backplane in memory. */
export type { Backplane } from "./node/backplane.ts";
export type {
  BackplaneOptions,
  Engine,
  EngineReceiver,
  EngineSource,
  EngineJoin,
  LogEntry,
} from "./engine/engine.ts";
export { backplaneOf } from "./backplane-of.ts";
export { memoryBackplane } from "./memory.ts";
