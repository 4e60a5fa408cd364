// The arguments of a handler without a schema: an empty object. Other packages pass such a handler its context there.
import { refuseNames } from "../../base/refused-names.ts";

const names: object = refuseNames(
  {},
  {
    subject: "args",
    methods: {},
    read: {
      "signal sessionId requestId requestInfo authInfo sendNotification sendRequest mcpReq http log reportProgress session":
        "ctx, the second parameter of the handler",
    },
  },
);

export function noArguments(): object {
  return Object.create(names) as object;
}
