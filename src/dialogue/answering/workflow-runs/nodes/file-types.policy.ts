const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** The media type of a file that code has written, by its extension. */
export const mimeTypeOf = (name: string): string =>
  TYPES[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream';

const REFUSED = /[\p{Cc}\\/:*?"<>|]/gu;
const NAME_CHARACTERS_MAX = 80;

/** The file names under which code finds its input files, in order. They are unique and cannot leave the folder. */
export function fileNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const cleaned = name.replace(REFUSED, '_').replace(/^\.+/, '').slice(-NAME_CHARACTERS_MAX).toWellFormed() || 'file';
    let free = cleaned;
    for (let count = 2; taken.has(free); count++) free = `${count}-${cleaned}`;
    taken.add(free);
    return free;
  });
}
