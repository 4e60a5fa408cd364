// The first pages work: their files are written to an empty folder, run as TypeScript and as plain JavaScript, and print what the
// page says.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { filesOfPage, readBlocks } from "./support/documents.ts";
import { removeTypes } from "./support/javascript.ts";
import { eventually } from "./support/turns.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const env = { ...process.env, NO_COLOR: "1" };

interface Language {
  readonly extension: string;
  /** What the page installs besides its packages. */
  readonly tools: readonly string[];
  readonly nodeOptions: readonly string[];
  toCode(sample: string): string;
}

const languages: Record<string, Language> = {
  "as TypeScript, by tsx": {
    extension: ".mts",
    tools: ["tsx"],
    nodeOptions: ["--import", "tsx"],
    toCode: (sample) => sample,
  },
  "as JavaScript, types removed, by plain node": {
    extension: ".mjs",
    tools: [],
    nodeOptions: [],
    // docs/start/first-client.md names the file that its client starts.
    toCode: (sample) => removeTypes(sample).replace('["--import", "tsx", "server.mts"]', '["server.mjs"]'),
  },
};

/** The files of a page in a folder of their own, with the packages that the page installs. */
class Project {
  readonly #folder = mkdtempSync(join(tmpdir(), "halyard-start-"));
  readonly #files: ReadonlyMap<string, string>;
  readonly #language: Language;

  constructor(page: string, language: Language) {
    this.#language = language;
    this.#files = filesOfPage(page);
    expect([...this.#files.keys()]).toEqual(["server.mts", "client.mts"]);
    for (const name of ["halyard", "zod", ...language.tools]) {
      const place = join(this.#folder, "node_modules", name);
      mkdirSync(join(place, ".."), { recursive: true });
      symlinkSync(name === "halyard" ? root : join(root, "node_modules", name), place);
    }
  }

  /** Writes a file of the page, with one text replaced, and returns the arguments of `node` that run it. */
  write(file: "server" | "client", from = "", to = ""): string[] {
    const sample = this.#files.get(`${file}.mts`) ?? "";
    expect(sample).toContain(from);
    const name = `${file}${this.#language.extension}`;
    writeFileSync(join(this.#folder, name), this.#language.toCode(sample.replace(from, to)));
    return [...this.#language.nodeOptions, name];
  }

  /** What a program prints until it ends by itself. */
  async print(args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: this.#folder, env });
    return stdout;
  }

  /** Runs the server while `act` runs, which receives its URL. */
  async serve(args: string[], act: (url: string) => Promise<void>): Promise<void> {
    const server = spawn(process.execPath, args, { cwd: this.#folder, env });
    let printed = "";
    server.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    try {
      await eventually(() => expect(printed).toMatch(/^Listening on http.*\n$/));
      await act(printed.trim().replace("Listening on ", ""));
    } finally {
      server.kill();
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** What the page says that its client prints. */
function printedBy(page: string): string | undefined {
  if (page !== "README.md") return readBlocks(page, "text")[0];
  const [, shown] =
    /console\.log\(content\); \/\/ (.*)/.exec(filesOfPage(page).get("client.mts") ?? "") ?? [];
  return `${shown}\n`;
}

describe.each(Object.entries(languages))("%s", (_, language) => {
  test.each(["README.md", "docs/start/first-server.md"])(
    "%s leads to a server, and to a client that calls it",
    async (page) => {
      const project = new Project(page, language);
      try {
        const server = project.write("server", "port: 3000", "port: 0");
        await project.serve(server, async (url) => {
          const client = project.write("client", "http://127.0.0.1:3000/mcp", url);
          expect(await project.print(client)).toBe(printedBy(page));
        });
      } finally {
        project.remove();
      }
    },
  );

  test("docs/start/first-client.md leads to a client that starts a server and calls it", async () => {
    const page = "docs/start/first-client.md";
    const project = new Project(page, language);
    try {
      project.write("server");
      expect(await project.print(project.write("client"))).toBe(printedBy(page));
    } finally {
      project.remove();
    }
  });
});

test.each(["README.md", "docs/start/first-server.md", "docs/start/first-client.md"])(
  "%s installs the packages that it imports, and says how to start its files",
  (page) => {
    const commands = readBlocks(page, "sh").join("");
    expect(commands).toMatch(/^npm install (?!-).*\bhalyard zod\b/m);
    expect(commands).toMatch(/^npm install .*\btsx\b/m);
    expect(commands).toContain("npx tsx client.mts");
    if (page !== "docs/start/first-client.md") expect(commands).toContain("npx tsx server.mts");
  },
);
