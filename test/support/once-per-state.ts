import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/verbatim-checks/', import.meta.url));
/** They determine what is installed. */
const INSTALLED = ['package.json', 'package-lock.json', 'patches'].map((name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url)),
);

/**
 * The result of a computation that reads only the given files and folders, and the installed packages. It is stored, and computed
 * again if the content of one of these files differs, or a file was added, moved or removed.
 */
export async function oncePerState(name: string, inputs: readonly string[], compute: () => Promise<string>, cache = CACHE) {
  const read = [...inputs, ...INSTALLED];
  const state = await stateOf(read);
  const path = join(cache, name);
  const [known, result] = await stored(path);
  if (known === state) return result;
  const computed = await compute();
  // A file may have been edited meanwhile.
  if ((await stateOf(read)) !== state) return computed;
  await mkdir(cache, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${state}\n${computed}`);
  await rename(draft, path);
  return computed;
}

/** A digest of the paths and contents of files, also of those in folders, and of the version of Node. */
async function stateOf(inputs: readonly string[]): Promise<string> {
  const lines = [process.version];
  for (const input of inputs) {
    const isFolder = (await stat(input)).isDirectory();
    const entries = isFolder ? await readdir(input, { recursive: true, withFileTypes: true }) : [];
    const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
    for (const file of isFolder ? files.sort() : [input]) lines.push(`${file} ${hash('sha256', await readFile(file))}`);
  }
  return hash('sha256', lines.join('\n'));
}

async function stored(path: string): Promise<readonly [state: string | undefined, result: string]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const end = text.indexOf('\n');
  return end === -1 ? [undefined, ''] : [text.slice(0, end), text.slice(end + 1)];
}
