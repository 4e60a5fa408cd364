// The navigation: at the side of a wide page, at the bottom of a narrow one.
import type { VNode } from "preact";
import type { About } from "../answers.ts";
import { hrefOf } from "./base/router.ts";
import { Key } from "./components/key.tsx";
import type { View } from "./views/index.ts";

export interface NavigationProps {
  readonly about: About;
  readonly views: readonly View[];
  /** The path of the open one. */
  readonly open: string;
  readonly onHelp: () => void;
}

export function Navigation({ about, views, open, onHelp }: NavigationProps): VNode {
  return (
    <nav class="navigation" aria-label="Views">
      <div class="server" title={`${about.name} ${about.version}`}>
        <svg class="sail" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M8.6 1v11H15C13.6 7 11.6 3.6 8.6 1zM7 3.4C4.6 5.7 2.6 8.6 1.6 12H7zM1 13.2h14L13.4 15H2.6z" />
        </svg>
        <div>
          <b>{about.name}</b>
          <span>{about.version}</span>
        </div>
      </div>
      <ul>
        {views
          .filter(({ key }) => key !== undefined)
          .map(({ path, title, icon, key }) => (
            <li key={path}>
              <a href={hrefOf(path)} aria-current={path === open ? "page" : undefined}>
                <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
                  <path d={icon} />
                </svg>
                <span>{title}</span>
                <Key keys={`g ${key}`} />
              </a>
            </li>
          ))}
      </ul>
      <div class="navigation-end">
        <button type="button" class="quiet" onClick={onHelp}>
          Keys <Key keys="?" />
        </button>
      </div>
    </nav>
  );
}
