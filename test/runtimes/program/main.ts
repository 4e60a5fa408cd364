// One program for every runtime: `main.mjs <role> <argument>…`, as a server until its input ends, or as a check that prints what it saw.
import { checkRevision } from "./calls.ts";
import { checkClosing, checkSlowReader } from "./closing.ts";
import { checkCommand } from "./command.ts";
import { checkDashboard } from "./dashboard.ts";
import { checkHttp } from "./http.ts";
import { checkLosing } from "./losing.ts";
import { checkSignIn } from "./sign-in.ts";
import { serveHere, serveProtected, serveStandardIo } from "./serving.ts";

type Role = (...args: string[]) => Promise<unknown>;

const roles: Readonly<Record<string, Role>> = {
  "serve-http": serveHere,
  "serve-protected": serveProtected,
  "serve-stdio": serveStandardIo,
  http: checkHttp,
  revision: (url = "", revision = "") => checkRevision(url, revision),
  command: checkCommand,
  "sign-in": checkSignIn,
  dashboard: checkDashboard,
  losing: checkLosing,
  closing: checkClosing,
  "slow-reader": checkSlowReader,
};

const [name = "", ...args] = process.argv.slice(2);
const role = roles[name];
if (role === undefined) throw new Error(`No such role: ${name}`);
const seen = await role(...args);
// Nothing ends the process from here on: it does so by itself, unless something is left open.
if (seen !== undefined) process.stdout.write(`${JSON.stringify(seen)}\n`);
