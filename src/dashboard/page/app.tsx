// The shell: signs in, requests the facts about the server, and shows the view that the address names.
import type { VNode } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import type { About } from "../answers.ts";
import { AboutProvider } from "./base/about.ts";
import { ask } from "./base/api.ts";
import { isPaused, trouble } from "./base/polling.ts";
import { go, route } from "./base/router.ts";
import { nextTheme } from "./base/theme.ts";
import { token } from "./base/token.ts";
import { type Binding, useKeys } from "./base/keyboard.ts";
import { Empty } from "./components/empty.tsx";
import { KeyHelp } from "./key-help.tsx";
import { Navigation } from "./navigation.tsx";
import { SignIn } from "./sign-in.tsx";
import { TopBar } from "./top-bar.tsx";
import { type View, views } from "./views/index.ts";

const retryMs = 2_000;

export function App(): VNode {
  const isSignedIn = token.use() !== undefined;
  const about = useServer(isSignedIn);
  if (!isSignedIn) return <SignIn />;
  if (about === undefined) return <Connecting />;
  return (
    <AboutProvider value={about}>
      <Shell about={about} />
    </AboutProvider>
  );
}

function Shell({ about }: { readonly about: About }): VNode {
  const { path, rest } = route.use();
  const [isHelpOpen, openHelp] = useState(false);
  const offered = views.filter(({ isOffered }) => isOffered?.(about) ?? true);
  const view = offered.find((known) => known.path === path);
  useKeys(keysOf(offered, view, () => openHelp(true)));
  useEffect(() => {
    document.title = `${view?.title ?? "Halyard"} · ${about.name}`;
  }, [view]);
  return (
    <div class="shell">
      <Navigation about={about} views={offered} open={view?.parent ?? path} onHelp={() => openHelp(true)} />
      <TopBar title={view?.title ?? "Not found"} />
      <main class={trouble.use() && "stale"}>
        {view === undefined ? (
          <Empty title={`There is no view "${path}"`}>
            <a href="#/now">Show what goes on now</a>
          </Empty>
        ) : (
          <Guarded key={view.path} view={view} rest={rest} />
        )}
      </main>
      {isHelpOpen && <KeyHelp onClose={() => openHelp(false)} />}
    </div>
  );
}

/** A view that fails shows its error, and the other views can still be opened. */
function Guarded({ view, rest }: { readonly view: View; readonly rest: readonly string[] }): VNode {
  const [error, tryAgain] = useErrorBoundary();
  if (error === undefined) return <view.component rest={rest} />;
  return (
    <Empty title={`${view.title} cannot be shown`}>
      <p>{String(error)}</p>
      <button type="button" onClick={tryAgain}>
        Try again
      </button>
    </Empty>
  );
}

function Connecting(): VNode {
  const error = trouble.use();
  return (
    <div class="sign-in">
      <p aria-live="polite">{error?.message ?? "Connecting…"}</p>
    </div>
  );
}

/** Requests the facts about the server until they arrive. */
function useServer(isSignedIn: boolean): About | undefined {
  const [about, setAbout] = useState<About>();
  useEffect(() => {
    if (!isSignedIn) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const connect = (): Promise<void> =>
      ask("about", {}, abort.signal).then(setAbout, (error) => {
        if (abort.signal.aborted) return;
        trouble.set(error);
        timer = setTimeout(() => void connect(), retryMs);
      });
    void connect();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [isSignedIn]);
  return about;
}

function keysOf(offered: readonly View[], view: View | undefined, help: () => void): Binding[] {
  const goBack = (): boolean => {
    if (view?.parent === undefined) return false;
    go(view.parent);
    return true;
  };
  return [
    ...offered.flatMap(({ key, title, path }) =>
      key === undefined ? [] : [{ keys: `g ${key}`, what: title, run: () => go(path) }],
    ),
    { keys: "Escape", what: "Go back", run: goBack },
    { keys: "p", what: "Pause or resume", run: () => isPaused.set(!isPaused.get()) },
    { keys: "d", what: "Change the theme", run: nextTheme },
    { keys: "?", what: "Show these keys", run: help },
  ];
}
