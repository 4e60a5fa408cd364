// The first step of a handshake, from the remembered facts about a server.
import type { JsonObject } from "../../base/wire/message.ts";
import type { Remembered } from "../settings/remembered.ts";
import type { Step, Wanted } from "./verdicts.ts";

/** A server may change, so after this time the client asks again. */
const freshMs = 24 * 60 * 60 * 1000;

/** Whether remembered facts are recent enough. */
export function isFresh({ at }: Remembered): boolean {
  return Math.abs(Date.now() - at) < freshMs;
}

/** The first step of a handshake. Remembered facts save the discovery of a modern server, and the probe of a legacy one. */
export function firstStep(wanted: Wanted, remembered?: Remembered): Step {
  const known = remembered && isFresh(remembered) ? wanted.pick([remembered.revision]) : undefined;
  if (remembered && known?.era === "modern")
    return { do: "speak", revision: known, result: resultOf(remembered) };
  const { modern, legacy } = wanted;
  if (legacy && (known || modern === undefined)) return { do: "initialize", revision: legacy };
  if (modern) return { do: "probe", revision: modern };
  return { do: "fail", error: wanted.noneOf([]) };
}

/** The result of a handshake with the remembered facts. */
function resultOf({ server, capabilities, instructions }: Remembered): JsonObject {
  return { serverInfo: server, capabilities, instructions };
}
