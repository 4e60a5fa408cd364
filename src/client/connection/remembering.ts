// Where a handshake begins, from what the client remembers of a server.
import type { JsonObject } from "../../wire/message.ts";
import type { Remembered } from "../settings/remembered.ts";
import type { Step, Wanted } from "./verdicts.ts";

/** Servers change: after this time the client asks again. */
const freshMs = 24 * 60 * 60 * 1000;

/** Whether what is remembered may still hold. */
export function isFresh({ at }: Remembered): boolean {
  return Math.abs(Date.now() - at) < freshMs;
}

/** The first step towards a server. What is remembered of a modern one saves the question; of a legacy one, the probe. */
export function firstStep(wanted: Wanted, remembered?: Remembered): Step {
  const known = remembered && isFresh(remembered) ? wanted.pick([remembered.revision]) : undefined;
  if (remembered && known?.era === "modern")
    return { do: "speak", revision: known, result: resultOf(remembered) };
  const { modern, legacy } = wanted;
  if (legacy && (known || modern === undefined)) return { do: "initialize", revision: legacy };
  if (modern) return { do: "probe", revision: modern };
  return { do: "fail", error: wanted.noneOf([]) };
}

/** The result of a handshake that says the same. */
function resultOf({ server, capabilities, instructions }: Remembered): JsonObject {
  return { serverInfo: server, capabilities, instructions };
}
