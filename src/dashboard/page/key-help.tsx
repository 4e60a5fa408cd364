// The help: all keys that are bound now.
import type { VNode } from "preact";
import { boundKeys } from "./base/keyboard.ts";
import { Dialog } from "./components/dialog.tsx";
import { Key } from "./components/key.tsx";

export function KeyHelp({ onClose }: { readonly onClose: () => void }): VNode {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="key-help">
        {boundKeys().map(({ keys, what }) => (
          <div key={keys}>
            <dt>
              <Key keys={keys} />
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        <div>
          <dt>
            <Key keys="Enter" />
          </dt>
          <dd>Open the row</dd>
        </div>
      </dl>
    </Dialog>
  );
}
