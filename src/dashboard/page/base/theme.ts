// The theme: light, dark, or that of the system. The choice is kept for all tabs.
import { storeOf } from "./store.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const place = "halyard-theme";

/** The chosen theme. */
export const theme = storeOf<Theme>(
  themes.find((known) => known === localStorage.getItem(place)) ?? "system",
  (chosen) => {
    localStorage.setItem(place, chosen);
    apply(chosen);
  },
);

/** Changes when other colours are shown, by choice or by the system, so that canvases are drawn again. */
export const shownTheme = storeOf<"light" | "dark">("light");

const systemDark = matchMedia("(prefers-color-scheme: dark)");
systemDark.addEventListener("change", () => apply(theme.get()));
apply(theme.get());

/** Chooses the next theme, for a button. */
export function nextTheme(): void {
  theme.set(themes[(themes.indexOf(theme.get()) + 1) % themes.length] ?? "system");
}

function apply(chosen: Theme): void {
  const { dataset } = document.documentElement;
  if (chosen === "system") delete dataset["theme"];
  else dataset["theme"] = chosen;
  shownTheme.set(chosen === "system" ? (systemDark.matches ? "dark" : "light") : chosen);
}
