import { expect, it } from '@jest/globals';
import { robotsRules } from './robots.policy.js';

const allowed = (text: string, ...paths: string[]) => paths.map(robotsRules(text));

it('a path without a matching rule is allowed', () => {
  expect(allowed('', '/', '/x')).toEqual([true, true]);
  expect(allowed('<html>Not found</html>', '/x')).toEqual([true]);
  expect(allowed('User-agent: *\nDisallow:', '/x')).toEqual([true]);
});

it('the longest matching rule decides, and of two equally long rules the one that allows', () => {
  const text = 'User-agent: *\nDisallow: /a # private\nAllow: /a/b\nDisallow: /c\nAllow: /c';
  expect(allowed(text, '/a', '/a/x', '/a/b/x', '/b', '/c')).toEqual([false, false, true, true, true]);
});

it('rules for this robot replace those for all', () => {
  const text =
    'user-agent: *\ndisallow: /\n\nUser-Agent: other\nUser-Agent: Verbatim\nDisallow: /private\n\nUser-agent: last\nDisallow: /x';
  expect(allowed(text, '/', '/private/x', '/x')).toEqual([true, false, true]);
});

it('a star matches anything and a final dollar the end', () => {
  const text = 'User-agent: *\nDisallow: /*.pdf$\nDisallow: /*/draft/\nDisallow: /exact$';
  expect(allowed(text, '/a.pdf', '/a.pdf?x', '/a/draft/b', '/draft/b', '/exact', '/exactly')).toEqual([
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
});

it('a pattern with many stars is matched in time, and a too long pattern is ignored', () => {
  const stars = `User-agent: *\nDisallow: /${'*a'.repeat(200)}b$`;
  expect(allowed(stars, `/${'a'.repeat(50_000)}`, `/${'a'.repeat(300)}b`)).toEqual([true, false]);
  expect(allowed(`User-agent: *\nDisallow: /${'*a'.repeat(2_000)}`, `/${'a'.repeat(50_000)}`)).toEqual([true]);
});

it('a very long line of spaces is parsed in time', () =>
  expect(allowed(`User-agent: *\nDisallow: /a${' '.repeat(1_000_000)}b`, '/x')).toEqual([true]));

it('a limited number of rules is read, not counting those for other robots', () => {
  const text = `User-agent: *\n${'Disallow: /x\n'.repeat(1_000)}Disallow: /late`;
  expect(allowed(text, '/x', '/late')).toEqual([false, true]);
  const others = `User-agent: other\n${'Disallow: /x\n'.repeat(2_000)}User-agent: *\nDisallow: /late`;
  expect(allowed(others, '/x', '/late')).toEqual([true, false]);
});

it('rules after very many robot names apply to each of them', () => {
  const names = Array.from({ length: 200_000 }, (_, place) => `User-agent: robot-${place}`).join('\n');
  expect(allowed(`${names}\nUser-agent: *\nDisallow: /x`, '/x')).toEqual([false]);
});
