// Pages that a user has to visit before a request can be answered: as an error, as questions, and when the user would not.
import {
  errorCodes,
  type HalyardError,
  InputCancelled,
  InputDeclined,
  UrlElicitationRequired,
} from "../../errors.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import { type RpcError, rpcErrorOf } from "../../wire/message.ts";
import { callerOf } from "../context/connection.ts";
import type { Call } from "../calls/call.ts";
import { elicitationMethod, elicitationNeeds, urlParams } from "./elicitation.ts";
import { InputRequired } from "./input-required.ts";
import { cannotAsk } from "./question.ts";

/** The user's refusal to visit one of the pages, if the client has brought it: to ask again would be to insist. */
export function visitRefusal(error: unknown, call: Call): HalyardError | undefined {
  if (!(error instanceof UrlElicitationRequired)) return undefined;
  for (const [index, { message }] of error.elicitations.entries()) {
    const action = call.inputResponses?.[visitKey(index)]?.["action"];
    if (action === "decline") return new InputDeclined(message);
    if (action === "cancel") return new InputCancelled(message);
  }
  return undefined;
}

function visitKey(index: number): string {
  return `visit-${index + 1}`;
}

/** The same demand as questions, for a revision that has no error for it. */
export function asVisits(error: UrlElicitationRequired, call: Call): InputRequired {
  const requests = error.elicitations.map(({ message, url }, index): [string, InputRequest] => {
    const params = urlParams(message, url, "", call.table);
    return [visitKey(index), { method: elicitationMethod, params }];
  });
  return new InputRequired({ inputRequests: Object.fromEntries(requests) });
}

/** The error for a client that has to send its user to a page first. */
export function urlRequired(error: UrlElicitationRequired, call: Call): RpcError {
  const { message: text } = error;
  const refusal = cannotAsk(call, elicitationMethod, elicitationNeeds.url);
  if (refusal !== undefined) return rpcErrorOf(refusal);
  if (call.table.urlRequired !== "error") return { code: errorCodes.internal, message: text };
  const elicitations = error.elicitations.map(({ message, url, elicitationId = crypto.randomUUID() }) => {
    call.core.elicitations.remember(elicitationId, call.session, callerOf(call.exchange));
    return urlParams(message, url, elicitationId, call.table);
  });
  return { code: errorCodes.legacyUrlElicitationRequired, message: text, data: { elicitations } };
}
