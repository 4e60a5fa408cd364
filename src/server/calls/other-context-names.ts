// The names that other packages use for what a handler's context does, and what replaces them here.
import type { RefusedNames } from "../../base/refused-names.ts";

/** The methods of loggers. */
const logLevels = "debug info warn warning error";

export const otherContextNames: RefusedNames = {
  subject: "ctx",
  methods: {
    sendNotification: "ctx.notify(method, params), ctx.progress(done, total) or ctx.log(level, data)",
    sendRequest: "ctx.elicit(), ctx.sample(), ctx.roots() or ctx.ask(method, params)",
    reportProgress: "ctx.progress(done, total, message)",
    streamContent: "ctx.progress(done, total, message), and return the content",
    "elicitInput requestElicitation": "ctx.elicit(message, schema)",
    "createMessage requestSampling": "ctx.sample(messages)",
    listRoots: "ctx.roots()",
    closeSSEStream: "ctx.closeStream()",
    [logLevels]: "ctx.log(level, data)",
  },
  read: {
    mcpReq: "ctx itself: ctx.signal, ctx.id, ctx.log(), ctx.elicit()",
    "requestInfo http req": "ctx.headers",
    authInfo: "ctx.principal",
    sessionId: "ctx.session",
    requestId: "ctx.id",
    _meta: "ctx.meta",
    "task taskId taskStore": "ctx.progress(done, total, message), which sets the status of the task",
  },
};

/** `ctx.log` is a function, not a logger. */
export const otherLogNames: RefusedNames = {
  subject: "ctx.log",
  methods: { [logLevels]: "ctx.log(level, data)" },
};
