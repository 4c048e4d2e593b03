import { extensionOf, MEDIA_TYPES } from '../../documents/document.port.js';
import type { SourceFile } from './source.events.js';

type ShownFile = Readonly<{ type: string; size_bytes: number; token_count: number }>;
type Folder = Map<string, ShownFile | Folder>;

/** The files and folders of a source by name, as clients show them. */
export type DirectoryStructure = Readonly<{ [name: string]: ShownFile | DirectoryStructure }>;

/** The files of a source as a tree. The address of a page is one name, also if it contains slashes. */
export function directoryStructure(files: readonly SourceFile[], tokensByFile: ReadonlyMap<string, number>): DirectoryStructure {
  const root: Folder = new Map();
  for (const { filename, size, url } of files) {
    const steps = url === undefined ? filename.split('/') : [filename];
    const type = MEDIA_TYPES[extensionOf(filename)] ?? 'application/octet-stream';
    const file = { type, size_bytes: size, token_count: tokensByFile.get(filename) ?? 0 };
    const folder = folderAt(root, steps.slice(0, -1));
    // A file whose path conflicts with the name of a file or folder is listed at the root.
    if (folder && !folder.has(steps.at(-1)!)) folder.set(steps.at(-1)!, file);
    else root.set(freeName(root, filename), file);
  }
  return asObject(root);
}

function freeName(root: Folder, wanted: string): string {
  let name = wanted;
  for (let number = 2; root.has(name); number++) name = `${wanted} (${number})`;
  return name;
}

function folderAt(root: Folder, steps: readonly string[]): Folder | undefined {
  let folder = root;
  for (const step of steps) {
    const next = folder.get(step) ?? new Map<string, ShownFile | Folder>();
    if (!(next instanceof Map)) return undefined;
    folder.set(step, next);
    folder = next;
  }
  return folder;
}

const asObject = (folder: Folder): DirectoryStructure =>
  Object.fromEntries([...folder].map(([name, inside]) => [name, inside instanceof Map ? asObject(inside) : inside]));
