import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { because } from '../../../../test/support/counter-stream.js';
import { type CallScope, CallScopes, SCOPES_KEPT_MS } from './call-scope.js';

const scopeOf = (causationId: string): CallScope => ({
  cause: because(causationId),
  sends: undefined,
  giveUp: () => undefined,
  isResumable: () => false,
});
// The storage of the process may be in use by work of other suites.
const storage = new AsyncLocalStorage<CallScope>();
const scopes = new CallScopes(storage);
const [one, two] = [scopeOf('one'), scopeOf('two')];

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

it('concurrent work has its own scope, also in requests after it has ended', async () => {
  const seen: unknown[] = [];
  const later: Promise<void>[] = [];
  const work = (scope: CallScope) =>
    scopes.run(scope, async () => {
      await nextTurn();
      seen.push(scopes.current() === scope);
      later.push(
        nextTurn()
          .then(nextTurn)
          .then(() => void seen.push(scopes.current() === scope)),
      );
    });
  await Promise.all([work(one), work(two)]);
  await Promise.all(later);
  expect(seen).toEqual([true, true, true, true]);
  expect(scopes.current()).toBeUndefined();
});

it('the storage is switched off once all work has ended', async () => {
  const off = jest.spyOn(storage, 'disable');
  let end = (): void => undefined;
  const open = scopes.run(one, () => new Promise<void>((resolve) => (end = resolve)));
  await scopes.run(two, async () => undefined);
  jest.advanceTimersByTime(SCOPES_KEPT_MS);
  const whileOpen = await scopes.run(two, async () => (await nextTurn(), scopes.current()));
  expect(whileOpen).toBe(two);
  expect(off).not.toHaveBeenCalled();
  end();
  await open;
  jest.advanceTimersByTime(SCOPES_KEPT_MS);
  expect(off).toHaveBeenCalledTimes(1);
});

it('a scope is known while other work has ended', async () => {
  const seen = scopes.run(one, async () => {
    await scopes.run(two, async () => undefined);
    jest.advanceTimersByTime(SCOPES_KEPT_MS);
    await nextTurn();
    return scopes.current();
  });
  expect(await seen).toBe(one);
});
