// Takes the pictures of docs/images/dashboard: `npm run screenshots`, or `-- --only silence` for some of them.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Camera } from "./camera.ts";
import { takeSilence } from "./silence.ts";
import { takeViews } from "./views.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "views silence" },
    seconds: { type: "string", default: "100" },
    into: { type: "string", default: fileURLToPath(new URL("../../docs/images/dashboard", import.meta.url)) },
  },
});

const camera = await Camera.open(values.into);
try {
  if (values.only.includes("silence")) await takeSilence(camera);
  if (values.only.includes("views")) await takeViews(camera, Number(values.seconds));
} finally {
  await camera.close();
}
process.exit();
