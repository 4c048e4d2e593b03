import { expect, it } from '@jest/globals';
import type { Timing } from '../../../kernel/timing.js';
import type { AnsweringOptions } from '../loop/answering-options.js';
import { ENQUEUED_TURNS_MAX, EnqueuedTurns } from './enqueued-turns.js';

const turn = (number: number) => ({ conversationId: `c${number}`, turnId: `t${number}` });
const options = { settings: { staleProducerMs: 20_000, noWorkerTurnMs: 50_000 } } as AnsweringOptions;

it('keeps a turn until it is forgotten, or longer ago than any turn waits for a worker', () => {
  let nowMs = 1;
  const enqueued = new EnqueuedTurns({ elapsedMs: () => nowMs } as Timing, options);
  for (const number of [1, 2]) enqueued.note(turn(number));
  enqueued.forget('t1');
  nowMs += 70_000;
  expect(enqueued.all).toEqual([turn(2)]);
  nowMs += 70_001;
  expect(enqueued.all).toEqual([]);
});

it('keeps a maximum of turns, the newest', () => {
  const enqueued = new EnqueuedTurns({ elapsedMs: () => 1 } as Timing, options);
  for (let number = 0; number <= ENQUEUED_TURNS_MAX; number++) enqueued.note(turn(number));
  const ids = enqueued.all.map(({ turnId }) => turnId);
  expect([ids.length, ids.includes('t0'), ids.includes(`t${ENQUEUED_TURNS_MAX}`)]).toEqual([ENQUEUED_TURNS_MAX, false, true]);
});
