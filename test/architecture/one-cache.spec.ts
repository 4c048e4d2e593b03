import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

/** A handwritten cache is recognised by its eviction: it deletes the first entry of a map or a set. */
const FORGETS_FIRST = /\.delete\([^;]{0,200}\.next\(\)\.value/;

/** Not caches: here the order of entries is the purpose. */
const NO_CACHES = ['src/work/limits/turns-under-way.ts'];

const sources = ['src', 'projections'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.spec.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
);

it.each([
  'if (known.size > MAX) known.delete(known.keys().next().value!);',
  'this.seen.delete(\n  this.seen.values().next().value as string,\n);',
])('recognises a cache: %s', (code) => expect(code).toMatch(FORGETS_FIRST));

it('all caches are an `LRUCache`', () => {
  const forgetting = sources.filter((file) => FORGETS_FIRST.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(forgetting).toEqual(NO_CACHES);
});
