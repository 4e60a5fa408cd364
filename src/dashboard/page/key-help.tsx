// The help: all keys that are bound now.
import type { VNode } from "preact";
import { boundKeys } from "./base/keyboard.ts";
import { Dialog } from "./components/dialog.tsx";
import { Key } from "./components/key.tsx";

export function KeyHelp({ onClose }: { readonly onClose: () => void }): VNode {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="key-help">
        {[...keysByPurpose()].map(([what, all]) => (
          <div key={what}>
            <dt>
              {all.map((keys) => (
                <Key key={keys} keys={keys} />
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function keysByPurpose(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { keys, what } of boundKeys()) found.set(what, [...(found.get(what) ?? []), keys]);
  return found;
}
