import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the build, which has the documents as assets, or of the sources if they run unbuilt. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = ['src', 'projections'];
/** The folder of pages for users. Its subfolders with examples and decisions are left out. */
const PAGES = 'docs';

export type DemoDocument = Readonly<{ path: string; filename: string }>;

/** This project's documentation, which is beside the code. @throws Error if there is none */
export async function demoDocuments(root = ROOT): Promise<readonly DemoDocument[]> {
  const pages = await Promise.all([
    markdownIn(root, false),
    markdownIn(join(root, PAGES), false),
    ...FOLDERS.map((folder) => markdownIn(join(root, folder), true)),
  ]);
  const found = pages.flat().sort();
  if (found.length === 0) throw new Error(`The documents of the demo are missing: there is no *.md in ${root}.`);
  return found.map((path) => ({ path, filename: relative(root, path).replaceAll('/', '-') }));
}

async function markdownIn(folder: string, recursive: boolean): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive, withFileTypes: true }).catch(noneWhereThereIsNoFolder);
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function noneWhereThereIsNoFolder(error: unknown): [] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
