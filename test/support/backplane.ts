// Servers that share a backplane in memory: joining it, engines that do one thing differently, and one that loses its data.
import { type Backplane, type Servable } from "halyard";
import { backplaneOf, type BackplaneOptions, memoryBackplane } from "halyard/cluster";
import { portOf } from "halyard/transport";
import { onTestFinished } from "vitest";
import { recordingLogger } from "./log.ts";

export type Engine = Awaited<ReturnType<Backplane["open"]>>;
export type JoinOptions = Parameters<Backplane["open"]>[0];

/** Joins the cluster as a transport does, until the test ends. */
export async function join<Server extends Servable>(server: Server): Promise<Server> {
  const { cluster } = portOf(server);
  await cluster?.join();
  onTestFinished(() => cluster?.leave());
  return server;
}

/** A backplane in memory whose engine does something differently. */
export function backplaneThat(
  differs: (engine: Engine) => Partial<Engine>,
  shared: Backplane = memoryBackplane(),
): Backplane {
  return backplaneOf({
    ...shared,
    async open(options) {
      const engine = await shared.open(options);
      const changes = differs(engine);
      return new Proxy(engine, {
        get(target, name) {
          const member: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name);
          return typeof member === "function" ? (member.bind(target) as unknown) : member;
        },
      });
    },
  });
}

export interface Forgetful {
  readonly backplane: Backplane;
  /** The engine is away, and comes back without its data. */
  loseEverything(): Promise<void>;
}

/** A backplane in memory that can lose its data. */
export function forgetfulBackplane(options: BackplaneOptions = {}): Forgetful {
  let memory = memoryBackplane(options);
  const nodes: { options: JoinOptions; engine: Engine }[] = [];
  const backplane = backplaneOf({
    engine: "memory",
    options,
    async open(given) {
      const node = { options: given, engine: await memory.open(given) };
      nodes.push(node);
      return new Proxy(node.engine, {
        get(_, name) {
          const member: unknown = Reflect.get(node.engine, name);
          return typeof member === "function" ? (member.bind(node.engine) as unknown) : member;
        },
      });
    },
  });
  const loseEverything = async (): Promise<void> => {
    memory = memoryBackplane(options);
    for (const node of nodes) {
      node.options.receiver.lost(new Error("The engine was restarted"));
      node.engine = await memory.open(node.options);
    }
    for (const node of nodes) node.options.receiver.back();
  };
  return { backplane, loseEverything };
}

/** Opens the engine of a backplane without being a node, until the test ends. */
export async function engineOf(backplane: Backplane): Promise<Engine> {
  const receiver = { message() {}, entry() {}, lost() {}, back() {} };
  const prefix = backplane.options.prefix ?? "halyard:test:";
  const engine = await backplane.open({ prefix, node: "nobody", receiver, logger: recordingLogger() });
  onTestFinished(() => engine.close());
  return engine;
}
