import { setImmediate as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { AnswerDelta } from './answer-delta.js';
import { READ_AHEAD_MAX, ReadAhead } from './read-ahead.js';

const text = (said: string): AnswerDelta => ({ type: 'text', text: said });
const usage: AnswerDelta = { type: 'usage', promptTokens: 3, completionTokens: 4 };
const ROUND_OVER: AnswerDelta = { type: 'round-over' };

/** A generator of deltas, with the number of deltas requested from it and whether it was ended. */
function composed(...deltas: (AnswerDelta | Error)[]) {
  const asked = { count: 0, ended: false };
  async function* compose(): AsyncGenerator<AnswerDelta> {
    try {
      for (const delta of deltas) {
        asked.count++;
        if (delta instanceof Error) throw delta;
        yield delta;
      }
    } finally {
      asked.ended = true;
    }
  }
  return { asked, compose };
}

async function all(deltas: AsyncIterable<AnswerDelta>): Promise<AnswerDelta[]> {
  const found: AnswerDelta[] = [];
  for await (const delta of deltas) found.push(delta);
  return found;
}

it('reads ahead until tools would follow, and returns all deltas when it is taken', async () => {
  const { asked, compose } = composed(text('a'), usage, ROUND_OVER, text('b'));
  const ahead = new ReadAhead(compose(), Promise.resolve(), [text('before')]);
  await pause();
  expect([asked.count, ahead.used]).toEqual([3, [usage]]);
  expect(ahead.take()).toEqual([text('before'), text('a'), usage, ROUND_OVER]);
  expect(await all(ahead.rest())).toEqual([text('b')]);
  expect(asked).toEqual({ count: 4, ended: true });
});

it('returns deltas that arrive between take and rest once and in order', async () => {
  const { compose } = composed(text('a'), text('b'), text('c'));
  const ahead = new ReadAhead(compose(), Promise.resolve());
  expect(ahead.take()).toEqual([]);
  expect(await all(ahead.rest())).toEqual([text('a'), text('b'), text('c')]);
});

it('throws the error of composing after the deltas before it', async () => {
  const { compose } = composed(text('a'), new Error('The model is away.'));
  const ahead = new ReadAhead(compose(), Promise.resolve());
  await pause();
  expect(ahead.take()).toEqual([text('a')]);
  await expect(all(ahead.rest())).rejects.toThrow('The model is away.');
});

it('reads at most READ_AHEAD_MAX deltas and ends the generator when it is discarded', async () => {
  const { asked, compose } = composed(...Array.from({ length: READ_AHEAD_MAX + 10 }, (_, index) => text(`${index}`)));
  const ahead = new ReadAhead(compose(), Promise.resolve());
  for (let turn = 0; turn < 10; turn++) await pause();
  expect(asked).toEqual({ count: READ_AHEAD_MAX, ended: false });
  ahead.giveUp();
  await pause();
  expect(asked).toEqual({ count: READ_AHEAD_MAX, ended: true });
});
