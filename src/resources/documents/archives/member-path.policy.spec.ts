import { expect, it } from '@jest/globals';
import { isOfTheSystem, memberPathOf, PATH_CHARACTERS_MAX, uniquePath } from './member-path.policy.js';

it.each([
  ['guide/intro.md', 'guide/intro.md'],
  ['.\\guide\\\\intro.md', 'guide/intro.md'],
  ['a\0.md', 'a.md'],
  ['Überblick/größe.md', 'Überblick/größe.md'],
])('accepts %j as the path %j', (name, path) => {
  expect(memberPathOf(name)).toBe(path);
});

it.each([
  '/etc/passwd.md',
  'C:\\x.md',
  'c:x.md',
  '../x.md',
  'a/../../x.md',
  'a\\..\\x.md',
  './',
  '',
  'x'.repeat(PATH_CHARACTERS_MAX + 1),
])('refuses %j', (name) => {
  expect(memberPathOf(name)).toBeUndefined();
});

it('recognizes files that operating systems add', () => {
  const paths = ['__MACOSX/a.md', 'x/.DS_Store', 'x/._a.md', 'Thumbs.db', 'a.md', 'my.DS_Store.md'];
  expect(paths.map(isOfTheSystem)).toEqual([true, true, true, true, false, false]);
});

it('gives each file a unique path', () => {
  const taken = new Set<string>();
  expect(['a/b.md', 'a/b.md', 'a/.b', 'a/.b', 'a/b.md'].map((path) => uniquePath(path, taken))).toEqual([
    'a/b.md',
    'a/b (2).md',
    'a/.b',
    'a/.b (2)',
    'a/b (3).md',
  ]);
});
