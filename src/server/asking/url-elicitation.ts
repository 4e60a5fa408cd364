// Pages that the user must open before a request can succeed: as an error, as questions, and when the user refuses.
import { errorCodes, type HalyardError, type UrlElicitationRequired } from "../../base/errors.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import { type RpcError, rpcErrorOf } from "../../base/wire/message.ts";
import type { Call } from "../calls/call.ts";
import { callerOf } from "../context/connection.ts";
import { InputRequired } from "../results/results.ts";
import type { ElicitationIds } from "./elicitation-ids.ts";
import { elicitationMethod, elicitationNeeds, refusalOf, urlParams } from "./elicitation.ts";
import { cannotAsk } from "./question.ts";

/** The user's refusal to open one of the pages, if the retry has it; the server does not ask again. */
export function urlRefusal(error: UrlElicitationRequired, call: Call): HalyardError | undefined {
  for (const [index, { message }] of error.elicitations.entries()) {
    const refusal = refusalOf(call.inputResponses?.[keyOf(index)]?.["action"], message);
    if (refusal) return refusal;
  }
  return undefined;
}

function keyOf(index: number): string {
  return `visit-${index + 1}`;
}

/** The pages as questions, for a revision that has no such error. */
export function urlQuestions(error: UrlElicitationRequired, call: Call): InputRequired {
  const requests = error.elicitations.map(({ message, url }, index): [string, InputRequest] => {
    const params = urlParams(message, url, "", call.protocol);
    return [keyOf(index), { method: elicitationMethod, params }];
  });
  return new InputRequired({ inputRequests: Object.fromEntries(requests) });
}

/** The error for a client whose user must open a page first. */
export function urlRequiredError(
  error: UrlElicitationRequired,
  call: Call,
  elicitationIds: ElicitationIds,
): RpcError {
  const { message: text } = error;
  const refusal = cannotAsk(call, elicitationMethod, elicitationNeeds.url);
  if (refusal) return rpcErrorOf(refusal);
  if (call.protocol.urlRequired !== "error") return { code: errorCodes.internal, message: text };
  const elicitations = error.elicitations.map(({ message, url, elicitationId = crypto.randomUUID() }) => {
    elicitationIds.remember(elicitationId, call.session, callerOf(call.exchange));
    return urlParams(message, url, elicitationId, call.protocol);
  });
  return { code: errorCodes.legacyUrlElicitationRequired, message: text, data: { elicitations } };
}
