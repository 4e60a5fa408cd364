// Shows the page.
import { render } from "preact";
import { App } from "./app.tsx";
import { hearKeys } from "./base/keyboard.ts";

hearKeys();
render(<App />, document.body);
