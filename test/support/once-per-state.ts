import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/verbatim-checks/', import.meta.url));
/** What is installed, and what changes it. npm writes the last one when it has installed. */
const INSTALLED = ['package.json', 'package-lock.json', 'patches', 'node_modules/.package-lock.json'].map((name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url)),
);

/** A file or folder that a computation reads, or a value that it gets. */
type Input = string | Readonly<{ value: unknown }>;

/**
 * The result of a computation that reads only the given inputs and the installed packages. It is stored, and computed again if a
 * value or the content of one of these files differs, or a file was added, moved or removed.
 */
export async function oncePerState(name: string, inputs: readonly Input[], compute: () => Promise<string>, cache = CACHE) {
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

/** A digest of values, of the paths and contents of files, also of those in folders, and of the version of Node. */
async function stateOf(inputs: readonly Input[]): Promise<string> {
  const lines = [process.version];
  for (const input of inputs) {
    if (typeof input !== 'string') {
      lines.push(JSON.stringify(input));
      continue;
    }
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
