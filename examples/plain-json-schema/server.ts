// Tools built from a table at run time, described and validated by plain JSON Schema, without a schema library.
import { type JsonSchema, McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";

interface Conversion {
  readonly from: string;
  readonly to: string;
  readonly factor: number;
}

// The table could also come from a file, a database or another service.
const conversions: readonly Conversion[] = [
  { from: "miles", to: "kilometres", factor: 1.609344 },
  { from: "pounds", to: "kilograms", factor: 0.45359237 },
  { from: "pints", to: "litres", factor: 0.56826125 },
];

const input: JsonSchema = {
  type: "object",
  properties: { amount: { type: "number", minimum: 0 } },
  required: ["amount"],
  additionalProperties: false,
};

const server = new McpServer({ name: "units", version: "1.0.0" });

for (const { from, to, factor } of conversions) {
  const description = `Converts ${from} to ${to}.`;
  server.tool(`${from}_to_${to}`, { description, input }, ({ amount }) => {
    const converted = Number(amount) * factor;
    return `${amount} ${from} = ${converted.toFixed(2)} ${to}`;
  });
}

await serveStdio(server);
