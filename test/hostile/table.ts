// Every row, by what it is about. A new subject adds its list here, and nothing else.
import type { Row, Subject } from "./row.ts";
import { authorizationLimitRows } from "./rows/authorization-limits.ts";
import { authorizationRows } from "./rows/authorization.ts";
import { callerRows } from "./rows/callers.ts";
import { clusterRows } from "./rows/cluster.ts";
import { engineRows } from "./rows/engine.ts";
import { guardRows } from "./rows/guard.ts";
import { isolationRows } from "./rows/isolation.ts";
import { limitRows } from "./rows/limits.ts";
import { messageRows } from "./rows/messages.ts";
import { nameRows } from "./rows/names.ts";
import { requestStateRows } from "./rows/request-state.ts";
import { scopeRows } from "./rows/scopes.ts";
import { schemaRows } from "./rows/schemas.ts";
import { secretRows } from "./rows/secrets.ts";
import { sessionRows } from "./rows/sessions.ts";
import { shareRows } from "./rows/shares.ts";
import { slownessRows } from "./rows/slowness.ts";
import { subscriptionLimitRows } from "./rows/subscription-limits.ts";
import { taskRows } from "./rows/tasks.ts";
import { templateRows } from "./rows/templates.ts";
import { toolLimitRows } from "./rows/tool-limits.ts";

export const table: Readonly<Partial<Record<Subject, readonly Row[]>>> = {
  isolation: isolationRows,
  guard: guardRows,
  sessions: sessionRows,
  messages: [...messageRows, ...templateRows],
  names: nameRows,
  secrets: secretRows,
  slowness: slownessRows,
  limits: [...limitRows, ...subscriptionLimitRows],
  schemas: schemaRows,
  callers: [...callerRows, ...shareRows],
  tools: toolLimitRows,
  authorization: [...authorizationRows, ...authorizationLimitRows, ...scopeRows],
  tasks: taskRows,
  "request state": requestStateRows,
  cluster: [...clusterRows, ...engineRows],
};
