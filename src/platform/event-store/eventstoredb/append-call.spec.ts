import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { AppendCall } from './append-call.js';
import type { BatchCall, BatchRequest } from './stubs.js';

const DEADLINE_MS = 5_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('an append that cannot be written fails at once and leaves nothing that waits for its deadline', async () => {
  const done: string[] = [];
  const write = () => {
    throw new Error('The call cannot be written.');
  };
  const broken = Object.assign(new EventEmitter(), { write, cancel: () => done.push('cancelled') });
  const call = new AppendCall({ call: broken as unknown as BatchCall, giveUp: () => done.push('connection given up') });
  await expect(call.send('a', [{} as BatchRequest], DEADLINE_MS)).rejects.toBeInstanceOf(StoreUnavailable);
  jest.advanceTimersByTime(DEADLINE_MS);
  expect(done).toEqual([]);
  call.retire();
  expect(done).toEqual(['cancelled']);
});
