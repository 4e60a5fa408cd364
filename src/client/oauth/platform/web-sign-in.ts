// How a person signs in in a browser: in a popup or a window of yours, which answers over a channel, or by leaving the page.
import { ConfigurationError } from "../../../base/errors.ts";
import { OAuthError } from "../settings/errors.ts";
import type { ReturnedAnswer, SignIn, SignInOptions } from "./platform.ts";

/** A window that this page has opened. */
interface Popup {
  readonly closed: boolean;
  opener: unknown;
  close(): void;
}

interface Channel {
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  postMessage(data: string): void;
  close(): void;
}

interface Location {
  readonly href: string;
  readonly origin: string;
  readonly pathname: string;
  readonly search: string;
  assign(url: string): void;
}

/** What a page has beyond what runtimes share; a worker has less. */
interface Page {
  readonly location?: Location;
  readonly BroadcastChannel: new (name: string) => Channel;
  readonly document?: { hasFocus(): boolean };
  readonly history: {
    replaceState(state: unknown, unused: string, url?: string): void;
    readonly state: unknown;
  };
  readonly sessionStorage: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
  open(url: string, name: string, features: string): Popup | null;
  close(): void;
}

/** The sign-in for which this page was left. */
interface Leaving {
  readonly state: string;
  readonly redirectUri: string;
  readonly kept: string;
}

const page = globalThis as unknown as Page;
const name = "halyard-sign-in";
const lookMs = 5000;
const takenMs = 2000;

export function checkSignIn({ open, redirectUri }: SignInOptions): void {
  const fail = (field: string, problem: string): never => {
    throw new ConfigurationError("INVALID_OPTION", { subject: "oauth", field }, problem);
  };
  if (typeof open !== "function" && !(page.document && (open === "popup" || open === "redirect"))) {
    fail(
      "open",
      `cannot be ${JSON.stringify(open)} here: pass a function${page.document ? ', "popup" or "redirect"' : ""}`,
    );
  }
  const uri = redirectUri ?? page.location?.href ?? "";
  if (!URL.canParse(uri) || new URL(uri).origin !== page.location?.origin) {
    fail(
      "redirectUri",
      `is ${JSON.stringify(redirectUri)}: pass the address of a page of ${page.location?.origin ?? "your site"}`,
    );
  }
}

export async function beginSignIn({ open, redirectUri }: SignInOptions): Promise<SignIn> {
  const { origin, pathname } = page.location as Location;
  const uri = redirectUri ?? origin + pathname;
  let end = (_problem: string): void => {};
  return {
    redirectUri: uri,
    answer: (url, state, kept) =>
      new Promise((resolve, reject) => {
        const fail = (problem: string, cause?: unknown): void =>
          reject(new OAuthError("sign-in", problem, { cause }));
        if (open === "redirect") {
          end = fail;
          return leave(url, { state, redirectUri: uri, kept });
        }
        const channel = new page.BroadcastChannel(name + state);
        channel.addEventListener("message", ({ data }) => {
          post(channel, "taken");
          resolve(new URLSearchParams(String(data)));
        });
        const close = open === "popup" ? openPopup(url, name + state, fail) : undefined;
        end = (problem) => {
          channel.close();
          close?.();
          fail(problem);
        };
        if (typeof open === "function") {
          const opened = async (): Promise<void> => open(url);
          opened().catch((cause: unknown) => fail(`open failed: ${String(cause)}`, cause));
        }
      }),
    end: (problem = "The sign-in is over") => end(problem),
  };
}

/** Opens a popup, and returns what closes it. Tells if the browser does not allow it, or the person has closed it. */
function openPopup(url: string, id: string, fail: (problem: string) => void): () => void {
  const popup = page.open(url, id, "popup,width=600,height=700");
  if (popup === null) {
    fail(
      "The browser has blocked the popup: connect in the handler of a click, or pass open: (url) => { … } and show a link",
    );
    return () => {};
  }
  // The authorization server needs no hold on this page.
  popup.opener = null;
  // A site that cuts itself off from other windows (COOP) looks like a closed one, but then the person is there and not here.
  let isBack = false;
  const timer = setInterval(() => {
    const wasBack = isBack;
    isBack = popup.closed && page.document?.hasFocus() === true;
    if (isBack && wasBack) fail("The window of the sign-in was closed before it was over");
  }, lookMs);
  return () => {
    clearInterval(timer);
    popup.close();
  };
}

function leave(url: string, leaving: Leaving): void {
  page.sessionStorage.setItem(name, JSON.stringify(leaving));
  page.location?.assign(url);
}

export function returned(isMine: (kept: string) => boolean): ReturnedAnswer | undefined {
  const { state, redirectUri, kept } = JSON.parse(
    page.sessionStorage.getItem(name) ?? "{}",
  ) as Partial<Leaving>;
  const parameters = new URLSearchParams(page.location?.search);
  if (!state || parameters.get("state") !== state || !kept || !isMine(kept)) return undefined;
  page.sessionStorage.removeItem(name);
  page.history.replaceState(page.history.state, "", redirectUri);
  return { parameters, kept };
}

/**
 * Finishes a sign-in on the page at `redirectUri`, when that was opened in a popup or a window: hands the answer to the page that
 * waits for it, and closes this window. Resolves with whether it was one: a page that is also your application starts only otherwise.
 *
 * @example
 * ```ts
 * import { finishSignIn } from "halyard/client/oauth";
 *
 * const isSignIn = await finishSignIn();
 * if (!isSignIn) console.log("start the application");
 * ```
 */
export async function finishSignIn(): Promise<boolean> {
  const search = page.location?.search ?? "";
  const state = new URLSearchParams(search).get("state");
  if (!state) return false;
  const channel = new page.BroadcastChannel(name + state);
  const isTaken = await new Promise<boolean>((resolve) => {
    channel.addEventListener("message", () => resolve(true));
    setTimeout(resolve, takenMs, false);
    post(channel, search);
  });
  channel.close();
  if (isTaken) page.close();
  return isTaken;
}

function post(channel: Channel, text: string): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target: only its origin can join it
  channel.postMessage(text);
}
