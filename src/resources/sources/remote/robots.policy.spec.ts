import { expect, it } from '@jest/globals';
import { robotsRules } from './robots.policy.js';

const allowed = (text: string, ...paths: string[]) => paths.map(robotsRules(text));

it('what nobody forbids is allowed', () => {
  expect(allowed('', '/', '/x')).toEqual([true, true]);
  expect(allowed('<html>Not found</html>', '/x')).toEqual([true]);
  expect(allowed('User-agent: *\nDisallow:', '/x')).toEqual([true]);
});

it('the longest rule that fits decides, and of two as long the one that allows', () => {
  const text = 'User-agent: *\nDisallow: /a # private\nAllow: /a/b\nDisallow: /c\nAllow: /c';
  expect(allowed(text, '/a', '/a/x', '/a/b/x', '/b', '/c')).toEqual([false, false, true, true, true]);
});

it('rules for this robot count instead of those for all', () => {
  const text =
    'user-agent: *\ndisallow: /\n\nUser-Agent: other\nUser-Agent: Verbatim\nDisallow: /private\n\nUser-agent: last\nDisallow: /x';
  expect(allowed(text, '/', '/private/x', '/x')).toEqual([true, false, true]);
});

it('stars stand for anything, a dollar for the end', () => {
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

it('a pattern of many stars takes no longer than others, and one that nobody would write is left out', () => {
  const stars = `User-agent: *\nDisallow: /${'*a'.repeat(200)}b$`;
  expect(allowed(stars, `/${'a'.repeat(50_000)}`, `/${'a'.repeat(300)}b`)).toEqual([true, false]);
  expect(allowed(`User-agent: *\nDisallow: /${'*a'.repeat(2_000)}`, `/${'a'.repeat(50_000)}`)).toEqual([true]);
});

it('a line of spaces without end takes no longer than others', () =>
  expect(allowed(`User-agent: *\nDisallow: /a${' '.repeat(1_000_000)}b`, '/x')).toEqual([true]));

it('so many rules count, and those for other robots are none of them', () => {
  const text = `User-agent: *\n${'Disallow: /x\n'.repeat(1_000)}Disallow: /late`;
  expect(allowed(text, '/x', '/late')).toEqual([false, true]);
  const others = `User-agent: other\n${'Disallow: /x\n'.repeat(2_000)}User-agent: *\nDisallow: /late`;
  expect(allowed(others, '/x', '/late')).toEqual([true, false]);
});

it('however many robots are named, the rules that follow are for each of them', () => {
  const names = Array.from({ length: 200_000 }, (_, place) => `User-agent: robot-${place}`).join('\n');
  expect(allowed(`${names}\nUser-agent: *\nDisallow: /x`, '/x')).toEqual([false]);
});
