/** A declaration further inside a page is ignored, as in browsers. */
const HEAD_BYTES = 1024;
const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
const DECLARATION = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w:.-]+)|<meta\s[^>]*?\bcharset\s*=[\s"']*([\w:.-]+)/i;

/** The character set that a page in HTML or XHTML declares at its beginning; undefined if it declares none that is known. */
export function declaredCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1').replaceAll(COMMENT, '');
  const [, ofXml, ofMeta] = DECLARATION.exec(head) ?? [];
  const label = ofXml ?? ofMeta;
  try {
    return label && new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
