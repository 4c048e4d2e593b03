/** The maximum size of the result of a call, as JSON. */
export const MCP_RESULT_BYTES_MAX = 256 * 1024;

const REDACTED = '[removed]';
/** Shorter secrets are not replaced, because they may occur in ordinary text. */
const REDACTED_CHARACTERS_MIN = 8;

type ContentItem = Readonly<{ type: string; [field: string]: unknown }>;

/** The response of a server to a call. */
export type CallAnswer = Readonly<{
  content?: readonly ContentItem[] | undefined;
  structuredContent?: unknown;
  isError?: boolean | undefined;
}>;

/** The result for the model: the structured content, or else the text, also that of resources. Other content is only named. */
export function resultOf({ content = [], structuredContent, isError }: CallAnswer): unknown {
  if (isError) return { status: 'error', error: textOf(content) || 'The tool failed without saying why.' };
  return structuredContent === undefined ? textOf(content) : structuredContent;
}

const textOf = (content: readonly ContentItem[]): string => content.map(lineOf).join('\n');

function lineOf(item: ContentItem): string {
  switch (item.type) {
    case 'text':
      return String(item['text']);
    case 'image':
    case 'audio':
      return `[${item.type} ${nameOf(item['mimeType'])}, ${bytesIn(item['data'])} bytes, not shown]`;
    case 'resource_link':
      return `[resource ${nameOf(item['uri'])}${item['name'] === undefined ? '' : ` (${nameOf(item['name'])})`}]`;
    case 'resource': {
      const resource = (item['resource'] ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof resource['text'] === 'string') return `[resource ${nameOf(resource['uri'])}]\n${resource['text']}`;
      return `[resource ${nameOf(resource['uri'])}, ${nameOf(resource['mimeType'] ?? 'of unknown type')}, not shown]`;
    }
    default:
      return `[${nameOf(item.type)}, not shown]`;
  }
}

const nameOf = (value: unknown): string => String(value).slice(0, 2048);
const bytesIn = (base64: unknown): number => (typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0);

/** Replaces the secrets that the service sent, because the server may have sent them back. */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  const hidden = secrets.filter((secret) => secret.length >= REDACTED_CHARACTERS_MIN);
  const written = JSON.stringify(value);
  if (hidden.length === 0 || written === undefined) return value;
  return JSON.parse(
    hidden.reduce((text, secret) => text.replaceAll(JSON.stringify(secret).slice(1, -1), REDACTED), written),
  ) as T;
}
