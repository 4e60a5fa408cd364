// The search of a view: `/` focuses it, Escape empties it and leaves it.
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { useKeys } from "../base/keyboard.ts";
import { Key } from "./key.tsx";

export interface SearchProps {
  /** What the search covers, such as `Search sessions`. */
  readonly label: string;
  /** What can be found, such as `Clients, people, nodes`. */
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function Search({ label, hint = label, value, onChange }: SearchProps): VNode {
  const field = useRef<HTMLInputElement>(null);
  const leave = (): boolean => {
    if (document.activeElement !== field.current) return false;
    onChange("");
    field.current?.blur();
    return true;
  };
  useKeys([
    { keys: "/", what: label, run: () => field.current?.focus() },
    { keys: "Escape", what: "Go back", run: leave },
  ]);
  return (
    <label class="search">
      <span class="hidden">{label}</span>
      <input
        ref={field}
        type="search"
        placeholder={hint}
        value={value}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <Key keys="/" />
    </label>
  );
}
