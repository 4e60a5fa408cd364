// The keys of the page: components bind them while they are on screen, and the help lists the bound ones.
import { useEffect, useRef } from "preact/hooks";

export interface Binding {
  /** A key, or two after each other: `/`, `j`, `Escape`, `g n`. */
  readonly keys: string;
  /** What the key does, for the help. */
  readonly what: string;
  /** Returns false if the key did nothing, so that the browser handles it. */
  readonly run: () => boolean | void;
}

interface Holder {
  readonly current: readonly Binding[];
}

/** The innermost component binds last and is asked first. */
const holders: Holder[] = [];
const secondKeyMs = 1_000;
let first = { key: "", at: 0 };

/** Binds keys for as long as the component is on screen. */
export function useKeys(bindings: readonly Binding[]): void {
  const holder = useRef(bindings);
  holder.current = bindings;
  useEffect(() => {
    holders.push(holder);
    return () => void holders.splice(holders.indexOf(holder), 1);
  }, []);
}

/** The keys that are bound now. */
export function boundKeys(): readonly Binding[] {
  const all = holders.flatMap(({ current }) => current);
  return all.filter(({ keys }, index) => all.findLastIndex((other) => other.keys === keys) === index);
}

/** Listens to the keys of the whole page. */
export function hearKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    // A dialog has the keyboard to itself.
    if (document.querySelector("dialog[open]") !== null) return;
    if (isTyping(event.target) && event.key !== "Escape") return;
    const keys = event.timeStamp - first.at < secondKeyMs ? `${first.key} ${event.key}` : event.key;
    const hit = holders
      .toReversed()
      .some(({ current }) =>
        current.some(
          (binding) => (binding.keys === keys || binding.keys === event.key) && binding.run() !== false,
        ),
      );
    first = { key: event.key, at: hit ? Number.NEGATIVE_INFINITY : event.timeStamp };
    if (hit) event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}
