import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

/** A cache written by hand shows by how it forgets: the first of a map or a set goes. */
const FORGETS_FIRST = /\.delete\([^;]{0,200}\.next\(\)\.value/;

/** Asked who was admitted before whom: the order is what it is for. */
const NO_CACHES = ['src/work/limits/turns-under-way.ts'];

const sources = ['src', 'projections'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.spec.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
);

it.each([
  'if (known.size > MAX) known.delete(known.keys().next().value!);',
  'this.seen.delete(\n  this.seen.values().next().value as string,\n);',
])('knows a cache when it sees one: %s', (code) => expect(code).toMatch(FORGETS_FIRST));

it('all caches are of one make: `LRUCache`', () => {
  const forgetting = sources.filter((file) => FORGETS_FIRST.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(forgetting).toEqual(NO_CACHES);
});
