// docs/reference/errors.md says the same as the code.
import { errorCodes, type HalyardErrorCode } from "halyard";
import * as client from "halyard/client";
import { OAuthError, type OAuthProblem } from "halyard/client/oauth";
import { expect, test } from "vitest";
import { readTable } from "./support/documents.ts";

// The compiler holds these lists together equal to the type.
const halyardCodes = {
  PROTOCOL: "ProtocolError",
  TOOL: "ToolError",
  RESOURCE_NOT_FOUND: "ResourceNotFoundError",
  INVALID_NAME: "ConfigurationError",
  DUPLICATE_NAME: "ConfigurationError",
  INVALID_SCHEMA: "ConfigurationError",
  INVALID_DEFINITION: "ConfigurationError",
  INVALID_OPTION: "ConfigurationError",
  ASK_FAILED: "HalyardError",
  INPUT_DECLINED: "InputDeclined",
  INPUT_CANCELLED: "InputCancelled",
  INPUT_PENDING: "InputPending",
  URL_ELICITATION_REQUIRED: "UrlElicitationRequired",
  CANNOT_LISTEN: "HalyardError",
  BACKPLANE_UNAVAILABLE: "HalyardError",
};

const clientCodes = {
  CONNECTION_LOST: "ConnectionLost",
  HTTP: "HttpFailure",
  NEEDS_AUTH: "AuthRequired",
  OAUTH: "OAuthError",
  TIMEOUT: "CallTimeout",
  NO_COMMON_REVISION: "NoCommonRevision",
  INVALID_RESPONSE: "InvalidResponse",
  TOOL_CALL: "ToolCallError",
  OUTPUT_MISMATCH: "OutputMismatch",
  TASK_ENDED: "TaskEnded",
  NO_TASKS: "HalyardError",
  CANNOT_START: "CannotStart",
  CANNOT_LOAD: "HalyardError",
};

const oauthProblems = {
  metadata: true,
  "forbidden-address": true,
  issuer: true,
  resource: true,
  registration: true,
  response: true,
  denied: true,
  "sign-in": true,
  token: true,
  refused: true,
  store: true,
} satisfies Record<OAuthProblem, true>;

({ ...halyardCodes, ...clientCodes }) satisfies Record<HalyardErrorCode, string>;

test("errorCodes are those of the table in docs/reference/errors.md", () => {
  const rows = readTable("docs/reference/errors.md", "Error codes that clients receive");
  expect(Object.fromEntries(rows.map(({ name, code }) => [name, Number(code)]))).toEqual(errorCodes);
  expect(rows.filter(({ when }) => when === "")).toEqual([]);
});

test("HalyardErrorCode and its classes are those of the table in docs/reference/errors.md", () => {
  const rows = readTable("docs/reference/errors.md", "Error classes");
  expect(Object.fromEntries(rows.map((row) => [row["code"], row["class"]]))).toEqual(halyardCodes);
  expect(rows.filter(({ when }) => when === "")).toEqual([]);
});

test("the classes of halyard/client are those of their table in docs/reference/errors.md", () => {
  const rows = readTable("docs/reference/errors.md", "Error classes of a client");
  expect(Object.fromEntries(rows.map((row) => [row["code"], row["class"]]))).toEqual(clientCodes);
  expect(rows.flatMap(Object.values).filter((cell) => cell === "")).toEqual([]);
  const ours = Object.entries({ ...client, OAuthError }).filter(
    ([name, value]) =>
      typeof value === "function" &&
      value.prototype instanceof client.HalyardError &&
      !Object.values(halyardCodes).includes(name),
  );
  const listed = Object.values(clientCodes).filter((name) => name !== "HalyardError");
  expect(ours.map(([name]) => name).toSorted()).toEqual(listed.toSorted());
});

test("the problems of an OAuthError are those of their table in docs/reference/errors.md, each with a remedy", () => {
  const rows = readTable("docs/reference/errors.md", "Problems of a sign-in");
  expect(rows.map(({ problem }) => problem)).toEqual(Object.keys(oauthProblems));
  expect(rows.flatMap(Object.values).filter((cell) => cell === "")).toEqual([]);
  expect(new OAuthError("denied", "The person said no")).toMatchObject({ name: "OAuthError", code: "OAUTH" });
});
