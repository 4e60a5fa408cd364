// Takes the pictures of docs/images/dashboard: `npm run screenshots`, or `-- --only silence` for one scene.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Camera } from "./camera.ts";
import { takeSilence } from "./silence.ts";
import { takeOneNode, takeThreeNodes } from "./views.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    seconds: { type: "string", default: "100" },
    into: { type: "string", default: fileURLToPath(new URL("../../docs/images/dashboard", import.meta.url)) },
  },
});

const scenes = {
  silence: takeSilence,
  one: takeOneNode,
  three: (camera: Camera) => takeThreeNodes(camera, Number(values.seconds)),
};

const camera = await Camera.open(values.into);
try {
  for (const [name, take] of Object.entries(scenes)) if (name === (values.only ?? name)) await take(camera);
} finally {
  await camera.close();
}
process.exit();
