// Light, dark, or as the system has it; the choice is kept for all tabs.
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

/** Changes whenever other colours are shown, by choice or by the system: what is drawn on a canvas is drawn again. */
export const shownTheme = storeOf<"light" | "dark">("light");

const systemDark = matchMedia("(prefers-color-scheme: dark)");
systemDark.addEventListener("change", () => apply(theme.get()));
apply(theme.get());

/** The next one, for a button. */
export function nextTheme(): void {
  theme.set(themes[(themes.indexOf(theme.get()) + 1) % themes.length] ?? "system");
}

function apply(chosen: Theme): void {
  const { dataset } = document.documentElement;
  if (chosen === "system") delete dataset["theme"];
  else dataset["theme"] = chosen;
  shownTheme.set(chosen === "system" ? (systemDark.matches ? "dark" : "light") : chosen);
}
