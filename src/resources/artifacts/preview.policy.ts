const PREVIEW_CHARACTERS_MAX = 2000;
/** A character of UTF-8 has at most four bytes. */
const PREVIEW_BYTES_MAX = 4 * PREVIEW_CHARACTERS_MAX;

const TEXT = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|sql|x-ndjson)$|.*\+(json|xml)$)/;

/** The beginning of a text. Null if the media type or the bytes are not text. */
export function previewOf(mimeType: string, content: Uint8Array): string | null {
  if (!TEXT.test(mimeType.split(';')[0]!.trim().toLowerCase())) return null;
  const head = content.subarray(0, PREVIEW_BYTES_MAX);
  const isCut = head.length < content.length;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: isCut });
    return text.includes('\0') ? null : [...text].slice(0, PREVIEW_CHARACTERS_MAX).join('');
  } catch {
    return null;
  }
}
