// The child's side of a benchmark process: says that it is ready, answers commands over IPC, ends with its parent.

/** Answers the parent's commands with these functions; `hello` tells the parent that this process is ready. */
export function answerParent(commands, hello = {}) {
  const all = { memory, ...commands };
  process.on("message", (message) => {
    if (message?.command !== undefined) void answer(all, message);
  });
  process.on("disconnect", () => process.exit());
  process.send({ hello });
}

async function answer(commands, { sequence, command, input }) {
  try {
    process.send({ sequence, output: await commands[command](input ?? {}) });
  } catch (error) {
    process.send({ sequence, error: error.stack });
  }
}

/** What is left after garbage collection, in bytes; needs --expose-gc. */
async function memory() {
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}
