import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { withTimeout } from './with-timeout.js';

const late = () => new Error('late');

it.each(['before', 'while'] as const)('waiting ends at once when the signal aborts %s it', async (when) => {
  const leaving = new AbortController();
  let outcome: unknown;
  let answer = (_: string): void => undefined;
  const answered = new Promise<string>((resolve) => (answer = resolve));
  if (when === 'before') leaving.abort();
  const waiting = withTimeout(60_000, answered, late, leaving.signal).then(
    (value) => (outcome = value),
    (error: unknown) => (outcome = error),
  );
  leaving.abort();
  await nextTurn();
  answer('too late');
  await waiting;
  expect(outcome).toEqual(late());
});
