// How a person signs in on Node: the address is printed or opened, and a server on loopback waits for the answer.
import { OAuthError } from "../settings/errors.ts";
import type { OpenOption } from "../settings/options.ts";
import { Loopback, type Visit } from "./node-loopback.ts";
import type { SignIn, SignInOptions } from "./platform.ts";
import { spawn } from "node:child_process";
import { shownUrl } from "../../settings/shown.ts";

export async function beginSignIn(
  { open, redirectUri = "http://127.0.0.1/callback" }: SignInOptions,
  registered: string | undefined,
): Promise<SignIn> {
  const uri = new URL(redirectUri);
  const loopback = await Loopback.at(uri, registered);
  let visit: Visit | undefined;
  let reject: ((problem: OAuthError) => void) | undefined;
  let isOver = false;
  return {
    // With a port of its own, as it was written: authorization servers compare it as a text.
    redirectUri: uri.port === "" ? loopback.redirectUri : redirectUri,
    answer: (url, state) =>
      new Promise((resolve, fail) => {
        reject = fail;
        loopback.expect(state, (arrived) => {
          visit = arrived;
          resolve(arrived.parameters);
        });
        show(url, open).catch((cause: unknown) => {
          const problem = `The address of the sign-in could not be opened: ${String(cause)}`;
          fail(new OAuthError("sign-in", problem, { cause }));
        });
      }),
    end(problem) {
      if (isOver) return;
      isOver = true;
      visit?.reply(problem);
      reject?.(new OAuthError("sign-in", problem ?? "The sign-in is over"));
      loopback.release();
    },
  };
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

/** Says why no browser can be opened here; undefined if it is worth a try. */
function browserProblem(): string | undefined {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  const isHeadless = !["darwin", "win32"].includes(process.platform) && !DISPLAY && !WAYLAND_DISPLAY;
  return isHeadless ? "there is no display" : undefined;
}

/** Opens `url` in the browser, and calls `failed` if that does not work. */
function openBrowser(url: string, failed: (problem: string) => void): void {
  const { href, protocol } = new URL(url);
  // The address comes from a server, which must not open a file or a program.
  if (protocol !== "https:" && protocol !== "http:") {
    throw new OAuthError(
      "forbidden-address",
      `${shownUrl(href)} is no address for a browser: it must begin with https or http`,
    );
  }
  const [command, ...before] = commandOf(process.platform);
  const child = spawn(command, [...before, href], { stdio: "ignore", detached: true, shell: false });
  child.on("error", ({ message }) => failed(message));
  child.on("exit", (code) => void (code && failed(`${command} exited with ${code}`)));
  child.unref();
}

function commandOf(os: NodeJS.Platform): readonly [string, ...string[]] {
  if (os === "darwin") return ["/usr/bin/open"];
  if (os !== "win32") return ["xdg-open"];
  // By its full path: Windows looks in the current directory first.
  const { SystemRoot = "C:\\Windows" } = process.env;
  return [`${SystemRoot}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"];
}
