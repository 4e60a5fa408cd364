// The content that a server returns, by the type of each block. Everything is shown as text, except images that cannot contain
// scripts.
import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  ReadResourceResult,
  SamplingContent,
} from "halyard/client";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { formatBytes } from "../base/format.ts";
import { hrefOf } from "../base/router.ts";
import { Badge } from "../components/badge.tsx";

export function ToolResult({ result }: { readonly result: CallToolResult }): VNode {
  const { content, structuredContent } = result;
  // Servers repeat structured content as text, for clients that do not support it.
  const repeated = JSON.stringify(structuredContent);
  const shown = content.filter((block) => block?.type !== "text" || block.text !== repeated);
  return (
    <>
      {shown.map((block, index) => (
        <Block key={index} block={block} />
      ))}
      {structuredContent !== undefined && (
        <Json
          title={
            shown.length < content.length ? "Structured content, and the same as text" : "Structured content"
          }
          value={structuredContent}
        />
      )}
      {content.length === 0 && structuredContent === undefined && <p class="muted">The result is empty.</p>}
    </>
  );
}

export function PromptResult({ result }: { readonly result: GetPromptResult }): VNode {
  return (
    <>
      {result.description !== undefined && <p class="muted">{result.description}</p>}
      {result.messages.map(({ role, content }, index) => (
        <div class="message" key={index}>
          <Badge tone={role === "assistant" ? "accent" : "plain"}>{role}</Badge>
          <Block block={content} />
        </div>
      ))}
    </>
  );
}

export function ReadResult({ result }: { readonly result: ReadResourceResult }): VNode {
  return (
    <>
      {result.contents.map((resource, index) => (
        <Block key={index} block={{ type: "resource", resource }} />
      ))}
    </>
  );
}

/** Any content block. Unknown types are shown as JSON. */
export function Block({ block }: { readonly block: ContentBlock | SamplingContent }): VNode {
  switch (block?.type) {
    case "text":
      return <Text text={String(block.text)} />;
    case "image":
      return <Media mimeType={block.mimeType} data={block.data} />;
    case "audio":
      return <Media mimeType={block.mimeType} data={block.data} />;
    case "resource_link":
      return (
        <div class="piece">
          <a href={hrefOf("try", block.uri, "resource")}>{block.title ?? block.name}</a>{" "}
          <code>{block.uri}</code>
          {block.description !== undefined && <p class="hint">{block.description}</p>}
        </div>
      );
    case "resource":
      return (
        <div class="piece">
          <p class="hint">
            <code>{block.resource.uri}</code> {block.resource.mimeType}
          </p>
          {"text" in block.resource ? (
            <Text text={String(block.resource.text)} />
          ) : (
            <Media mimeType={block.resource.mimeType ?? ""} data={block.resource.blob} />
          )}
        </div>
      );
    default:
      return <Json title="Other content" value={block} />;
  }
}

/** Images that browsers draw as pictures and nothing else. */
const pictures = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);

function Media({ mimeType, data }: { readonly mimeType: string; readonly data: string }): VNode {
  const size = formatBytes(Math.floor((String(data).length * 3) / 4));
  return (
    <figure class="piece">
      {pictures.has(mimeType) && (
        <img alt={`Image of the type ${mimeType}`} src={`data:${mimeType};base64,${data}`} />
      )}
      <figcaption class="hint">
        {mimeType || "Binary data"}, {size}{" "}
        <a download="content" href={`data:application/octet-stream;base64,${data}`}>
          Save
        </a>
      </figcaption>
    </figure>
  );
}

/** Longer texts are shown when the user expands them. */
const maxShown = 20_000;

function Text({ text, label }: { readonly text: string; readonly label?: string }): VNode {
  const [isWhole, showWhole] = useState(false);
  const isCut = text.length > maxShown && !isWhole;
  return (
    <>
      <pre class="text" tabIndex={0} aria-label={label ?? "Text"} role="region">
        {isCut ? text.slice(0, maxShown) : text}
      </pre>
      {isCut && (
        <button type="button" onClick={() => showWhole(true)}>
          Show all {formatBytes(text.length)}
        </button>
      )}
    </>
  );
}

export function Json({ title, value }: { readonly title: string; readonly value: unknown }): VNode {
  return (
    <div class="piece">
      <p class="hint">{title}</p>
      <Text label={title} text={JSON.stringify(value, undefined, 2) ?? ""} />
    </div>
  );
}
