// The facts about the server, for every view below the shell.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { About } from "../../answers.ts";

const AboutContext = createContext<About | undefined>(undefined);

/** Gives `about` to all below it. */
export const AboutProvider = AboutContext.Provider;

/** The facts about the server. Views are shown only once they are known. */
export function useAbout(): About {
  const about = useContext(AboutContext);
  if (about === undefined) throw new Error("A view is shown outside of the shell");
  return about;
}
