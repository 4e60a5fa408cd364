// The headers `Mcp-Param-*`, which repeat annotated arguments of a tool call.
import { encodeHeaderValue } from "../../protocol/header-value.ts";
import { argumentAt, type ParamHeader } from "../../protocol/param-headers.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { HeaderFields } from "../settings/auth.ts";

/** An argument that a header repeats. */
export type MirroredArgument = Pick<ParamHeader, "name" | "path">;

/**
 * The headers that repeat `args`, with names in lower case. An argument that is absent or null has no header. Neither has an
 * array or object, which the server rejects for its type.
 *
 * @throws {RangeError} if an integer is not safe: the server could not compare it
 */
export function mirroredHeaders(
  headers: readonly MirroredArgument[],
  args: JsonObject | undefined,
): HeaderFields {
  const mirrored: { [name: string]: string } = {};
  for (const { name, path } of headers) {
    const value = argumentAt(args, path);
    if (value === undefined || value === null || typeof value === "object") continue;
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
      throw new RangeError(
        `The argument ${path.join(".")} is ${value}, which is not a safe integer: the header Mcp-Param-${name} cannot carry it`,
      );
    mirrored[`mcp-param-${name.toLowerCase()}`] = encodeHeaderValue(String(value));
  }
  return mirrored;
}
