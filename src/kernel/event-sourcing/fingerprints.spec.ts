import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { canonicalText, Fingerprints } from './fingerprints.js';

const fingerprints = new Fingerprints('a secret for tests');

it('are equal for objects with the same fields in another order', () =>
  expect(fingerprints.of('stream', { a: 1, b: { c: [1, 2], d: null } })).toBe(
    fingerprints.of('stream', { b: { d: null, c: [1, 2] }, a: 1 }),
  ));

it('are equal in two processes with the same secret', () =>
  expect(new Fingerprints('a secret for tests').of('yes')).toBe(fingerprints.of('yes')));

it('cannot be computed without the secret, so short texts cannot be guessed', () => {
  const stored = fingerprints.of('yes');
  expect(new Fingerprints('another secret').of('yes')).not.toBe(stored);
  for (const text of ['yes', canonicalText(['yes'])]) expect(createHash('sha256').update(text).digest('hex')).not.toBe(stored);
});

it('are refused without a secret', () => expect(() => new Fingerprints('')).toThrow('ENCRYPTION_SECRET_KEY'));
