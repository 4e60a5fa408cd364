// How a person signs in on Node: the address is printed or opened, and a server on loopback waits for the answer.
import { OAuthError } from "../settings/errors.ts";
import type { OpenOption } from "../settings/options.ts";
import { browserProblem, openBrowser } from "./node-browser.ts";
import { Loopback, type Visit } from "./node-loopback.ts";
import type { SignIn, SignInOptions } from "./platform.ts";

export async function beginSignIn(
  { open, redirectUri = "http://127.0.0.1/callback" }: SignInOptions,
  registered: string | undefined,
): Promise<SignIn> {
  const uri = new URL(redirectUri);
  const loopback = await Loopback.at(uri, registered);
  // With a port of its own, as it was written: authorization servers compare it as a text.
  return new NodeSignIn(loopback, uri.port === "" ? loopback.redirectUri : redirectUri, open);
}

class NodeSignIn implements SignIn {
  readonly redirectUri: string;
  readonly #loopback: Loopback;
  readonly #open: OpenOption | undefined;
  #visit: Visit | undefined;
  #reject: ((problem: OAuthError) => void) | undefined;
  #isOver = false;

  constructor(loopback: Loopback, redirectUri: string, open: OpenOption | undefined) {
    this.redirectUri = redirectUri;
    this.#loopback = loopback;
    this.#open = open;
  }

  answer(url: string, state: string): Promise<URLSearchParams> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#loopback.expect(state, (visit) => {
        this.#visit = visit;
        resolve(visit.parameters);
      });
      show(url, this.#open).catch((cause: unknown) => {
        reject(
          new OAuthError("sign-in", `The address of the sign-in could not be opened: ${String(cause)}`, {
            cause,
          }),
        );
      });
    });
  }

  end(problem?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#visit?.reply(problem);
    this.#reject?.(new OAuthError("sign-in", problem ?? "The sign-in is over"));
    this.#loopback.release();
  }
}

/** Hands the address to the user's function, or prints it and opens a browser if that is wanted. */
async function show(url: string, open: OpenOption | undefined): Promise<void> {
  if (typeof open === "function") return open(url);
  const problem = open === "browser" ? browserProblem() : undefined;
  const cannot = (why: string): string => `No browser can be opened here: ${why}. `;
  print(`${problem ? cannot(problem) : ""}To sign in at ${new URL(url).host}, visit this address:\n${url}`);
  if (open === "browser" && !problem) {
    openBrowser(url, (why) => print(`${cannot(why)}Visit the address above`));
  }
}

function print(text: string): void {
  process.stderr.write(`${text}\n`);
}
