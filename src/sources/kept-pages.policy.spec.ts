import { expect, it } from '@jest/globals';
import { withKeptPages } from './kept-pages.policy.js';

const page = (name: string, sha256 = name) => ({ filename: `${name}.html`, sha256, size: 1, url: `https://a.example/${name}` });
const missed = (name: string, mayPass: boolean) => ({ url: `https://a.example/${name}`, reason: 'HTTP 503.', mayPass });
const told = (name: string, reason = 'HTTP 503.') => ({ url: `https://a.example/${name}`, reason });
const KEPT = 'HTTP 503. What was read of it before is kept.';

it('keeps what was read of a page that is away for a while, and says so', () =>
  expect(withKeptPages([page('a', 'new')], [missed('b', true)], [page('a', 'old'), page('b')])).toEqual({
    files: [page('a', 'new'), page('b')],
    failures: [told('b', KEPT)],
  }));

it('keeps nothing of a page that is gone, or that was never read', () =>
  expect(withKeptPages([page('a')], [missed('b', false), missed('c', true)], [page('b')])).toEqual({
    files: [page('a')],
    failures: [told('b'), told('c')],
  }));

it('keeps nothing beside what is there in its place', () => {
  const moved = { ...page('b'), url: 'https://a.example/other' };
  expect(withKeptPages([moved], [missed('b', true)], [page('b')]).files).toEqual([moved]);
});
