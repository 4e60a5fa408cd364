// Opens the browser of the system, without a shell.
import { spawn } from "node:child_process";
import { shownUrl } from "../../settings/shown.ts";
import { OAuthError } from "../settings/errors.ts";

/** Says why no browser can be opened here; undefined if it is worth a try. */
export function browserProblem(): string | undefined {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  const isHeadless = !["darwin", "win32"].includes(process.platform) && !DISPLAY && !WAYLAND_DISPLAY;
  return isHeadless ? "there is no display" : undefined;
}

/** Opens `url` in the browser, and calls `failed` if that does not work. */
export function openBrowser(url: string, failed: (problem: string) => void): void {
  const { href, protocol } = new URL(url);
  // The address comes from a server, which must not open a file or a program.
  if (protocol !== "https:" && protocol !== "http:") {
    throw new OAuthError(
      "forbidden-address",
      `${shownUrl(href)} is no address for a browser: it must begin with https or http`,
    );
  }
  const [command, ...before] = commandOf(process.platform);
  const child = spawn(command, [...before, href], { stdio: "ignore", detached: true, shell: false });
  child.on("error", ({ message }) => failed(message));
  child.on("exit", (code) => void (code && failed(`${command} exited with ${code}`)));
  child.unref();
}

function commandOf(os: NodeJS.Platform): readonly [string, ...string[]] {
  if (os === "darwin") return ["/usr/bin/open"];
  if (os !== "win32") return ["xdg-open"];
  // By its full path: Windows looks in the current directory first.
  const { SystemRoot = "C:\\Windows" } = process.env;
  return [`${SystemRoot}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"];
}
