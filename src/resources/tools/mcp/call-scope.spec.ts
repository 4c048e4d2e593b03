import { executionAsyncId } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { because } from '../../../../test/support/counter-stream.js';
import { type CallScope, currentScope, inScope, SCOPES_KEPT_MS } from './call-scope.js';

const scopeOf = (causationId: string): CallScope => ({
  cause: because(causationId),
  sends: undefined,
  giveUp: () => undefined,
  isResumable: () => false,
});
const [one, two] = [scopeOf('one'), scopeOf('two')];

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

it('concurrent work has its own scope, also in requests after it has ended', async () => {
  const seen: unknown[] = [];
  const later: Promise<void>[] = [];
  const work = (scope: CallScope) =>
    inScope(scope, async () => {
      await nextTurn();
      seen.push(currentScope() === scope);
      later.push(
        nextTurn()
          .then(nextTurn)
          .then(() => void seen.push(currentScope() === scope)),
      );
    });
  await Promise.all([work(one), work(two)]);
  await Promise.all(later);
  expect(seen).toEqual([true, true, true, true]);
  expect(currentScope()).toBeUndefined();
});

/** Not 0 while Node tracks every promise. */
async function trackedId(): Promise<number> {
  await nextTurn();
  return executionAsyncId();
}

it('promises are no longer tracked once all work has ended', async () => {
  let end = (): void => undefined;
  const open = inScope(one, () => new Promise<void>((resolve) => (end = resolve)));
  await inScope(two, async () => undefined);
  jest.advanceTimersByTime(SCOPES_KEPT_MS);
  const whileOpen = await inScope(two, async () => (await nextTurn(), currentScope()));
  expect(whileOpen).toBe(two);
  end();
  await open;
  jest.advanceTimersByTime(SCOPES_KEPT_MS);
  expect(await trackedId()).toBe(0);
});

it('a scope is known while other work has ended', async () => {
  const seen = inScope(one, async () => {
    await inScope(two, async () => undefined);
    jest.advanceTimersByTime(SCOPES_KEPT_MS);
    await nextTurn();
    return currentScope();
  });
  expect(await seen).toBe(one);
});
