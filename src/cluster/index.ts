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
export { backplaneOf, memoryBackplane } from "./backplane-of.ts";
