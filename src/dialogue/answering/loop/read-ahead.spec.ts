import { setImmediate as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { AnswerDelta } from './answer-delta.js';
import { READ_AHEAD_MAX, ReadAhead } from './read-ahead.js';

const text = (said: string): AnswerDelta => ({ type: 'text', text: said });
const usage: AnswerDelta = { type: 'usage', promptTokens: 3, completionTokens: 4 };
const ROUND_OVER: AnswerDelta = { type: 'round-over' };

/** What it was asked for, and whether it was told that no more is wanted. */
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

it('reads up to where tools would follow, and gives all of it once it is taken', async () => {
  const { asked, compose } = composed(text('a'), usage, ROUND_OVER, text('b'));
  const ahead = new ReadAhead(compose(), [text('before')]);
  await pause();
  expect([asked.count, ahead.used]).toEqual([3, [usage]]);
  expect(ahead.take()).toEqual([text('before'), text('a'), usage, ROUND_OVER]);
  expect(await all(ahead.rest())).toEqual([text('b')]);
  expect(asked).toEqual({ count: 4, ended: true });
});

it('gives what comes between the taking and the rest once, and in its place', async () => {
  const { compose } = composed(text('a'), text('b'), text('c'));
  const ahead = new ReadAhead(compose());
  expect(ahead.take()).toEqual([]);
  expect(await all(ahead.rest())).toEqual([text('a'), text('b'), text('c')]);
});

it('tells whoever takes it what went wrong, after what had come', async () => {
  const { compose } = composed(text('a'), new Error('The model is away.'));
  const ahead = new ReadAhead(compose());
  await pause();
  expect(ahead.take()).toEqual([text('a')]);
  await expect(all(ahead.rest())).rejects.toThrow('The model is away.');
});

it('reads no more than so much, and nothing once it is given up', async () => {
  const { asked, compose } = composed(...Array.from({ length: READ_AHEAD_MAX + 10 }, (_, index) => text(`${index}`)));
  const ahead = new ReadAhead(compose());
  for (let turn = 0; turn < 10; turn++) await pause();
  expect(asked).toEqual({ count: READ_AHEAD_MAX, ended: false });
  ahead.giveUp();
  await pause();
  expect(asked).toEqual({ count: READ_AHEAD_MAX, ended: true });
});
