// The part of time that a timeline shows: its live edge, zoom and pan, by buttons, keys, wheel and drag.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Span } from "./layout.ts";

const leastMs = 20;
const mostMs = 24 * 3_600_000;
const firstMs = 60_000;
/** The part of the view to the right of now. */
const margin = 0.03;

export interface TimeWindow {
  readonly span: Span;
  readonly isLive: boolean;
  setLive(isLive: boolean): void;
  /** Shows a shorter (`factor` < 1) or longer time; `at` stays where it is. */
  zoom(factor: number, at?: number): void;
  /** Moves by a part of what is shown. */
  pan(part: number): void;
  fit(all: Span): void;
  /** Moves so far that the time is shown. */
  reveal(at: number): void;
}

/** `now` is the present of the server. */
export function useTimeWindow(now: number): TimeWindow {
  const [lengthMs, setLength] = useState(firstMs);
  /** Undefined in live mode. */
  const [end, setEnd] = useState<number>();
  const to = end ?? now + lengthMs * margin;
  const span = { from: to - lengthMs, to };
  const show = (length: number, shownTo: number): void => {
    setLength(Math.min(mostMs, Math.max(leastMs, length)));
    setEnd(shownTo);
  };
  return {
    span,
    isLive: end === undefined,
    setLive: (isLive) => setEnd(isLive ? undefined : to),
    zoom(factor, at) {
      const length = Math.min(mostMs, Math.max(leastMs, lengthMs * factor));
      setLength(length);
      if (end === undefined) return;
      const anchor = at ?? (span.from + to) / 2;
      setEnd(anchor + ((to - anchor) * length) / lengthMs);
    },
    pan: (part) => setEnd(to + part * lengthMs),
    fit: (all) => show((all.to - all.from) * 1.08 + leastMs, all.to + (all.to - all.from) * 0.04),
    reveal(at) {
      if (at < span.from || at > to) setEnd(at + lengthMs / 2);
    },
  };
}

/** The current time, updated every `everyMs` while the component is on screen. */
export function useNow(aheadMs: number, everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now + aheadMs;
}

/** Zooms by wheel and pans by drag over the element; returns a ref for it, and its width. */
export function useGestures(window: TimeWindow): {
  readonly ref: { current: HTMLDivElement | null };
  readonly width: number;
} {
  const ref = useRef<HTMLDivElement>(null);
  const latest = useRef(window);
  latest.current = window;
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const stops = [watchWidth(element, setWidth), hearWheel(element, latest), hearDrag(element, latest)];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  return { ref, width };
}

function watchWidth(element: Element, setWidth: (width: number) => void): () => void {
  const observer = new ResizeObserver(() => setWidth(Math.max(1, element.clientWidth)));
  observer.observe(element);
  return () => observer.disconnect();
}

function hearWheel(element: HTMLElement, window: { readonly current: TimeWindow }): () => void {
  const turn = (event: WheelEvent): void => {
    event.preventDefault();
    const { left, width } = element.getBoundingClientRect();
    const { span, pan, zoom } = window.current;
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) return pan(sideways / width);
    const at = span.from + ((event.clientX - left) / width) * (span.to - span.from);
    zoom(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY / 300))), at);
  };
  element.addEventListener("wheel", turn, { passive: false });
  return () => element.removeEventListener("wheel", turn);
}

/** A drag begins after a few pixels, so that a click on a bar stays a click. */
function hearDrag(element: HTMLElement, window: { readonly current: TimeWindow }): () => void {
  const abort = new AbortController();
  let at: number | undefined;
  let isDragging = false;
  const on = (
    name: "pointerdown" | "pointermove" | "pointerup" | "pointercancel",
    hear: (event: PointerEvent) => void,
  ): void => element.addEventListener(name, hear, { signal: abort.signal });
  const stop = (): void => {
    at = undefined;
    isDragging = false;
    delete element.dataset["dragging"];
  };
  on("pointerdown", (event) => {
    if (event.button === 0) at = event.clientX;
  });
  on("pointermove", (event) => {
    if (at === undefined) return;
    const moved = event.clientX - at;
    if (!isDragging && Math.abs(moved) < 4) return;
    if (!isDragging) element.setPointerCapture(event.pointerId);
    isDragging = true;
    element.dataset["dragging"] = "";
    window.current.pan(-moved / element.clientWidth);
    at = event.clientX;
  });
  on("pointerup", stop);
  on("pointercancel", stop);
  return () => abort.abort();
}
