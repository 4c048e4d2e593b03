import { describe, expect, it } from '@jest/globals';
import { withoutNoReply } from './no-reply.js';
import type { AnswerDelta } from './answer-delta.js';

const usage: AnswerDelta = { type: 'usage', promptTokens: 1, completionTokens: 1 };
const over: AnswerDelta = { type: 'round-over' };

async function shown(...deltas: (string | AnswerDelta)[]): Promise<(string | AnswerDelta)[]> {
  async function* made(): AsyncGenerator<AnswerDelta> {
    for (const delta of deltas) yield typeof delta === 'string' ? { type: 'text', text: delta } : delta;
  }
  const all: (string | AnswerDelta)[] = [];
  for await (const delta of withoutNoReply(made())) all.push(delta.type === 'text' ? delta.text : delta);
  return all;
}

describe('an answer that may be NO_REPLY', () => {
  it('shows no text if it is NO_REPLY', async () => {
    expect(await shown('NO_REPLY')).toEqual([]);
    expect(await shown(' NO', '_RE', usage, 'PLY\n')).toEqual([usage]);
    expect(await shown(usage)).toEqual([usage]);
  });
  it('shows all of its text as soon as it cannot be NO_REPLY any more', async () => {
    expect(await shown('No', 'body.')).toEqual(['No', 'body.']);
    expect(await shown('N', 'O', usage, '_REPLY is', ' what I say')).toEqual([usage, 'NO_REPLY is', ' what I say']);
    expect(await shown('NO')).toEqual(['NO']);
  });
  it('is checked in each round separately', async () => {
    expect(await shown('Let me see. ', over, 'NO_', 'REPLY')).toEqual(['Let me see. ', over]);
    expect(await shown('NO_REPLY', over, 'It is done.')).toEqual([over, 'It is done.']);
    expect(await shown('NO', over, 'NO_REPLY')).toEqual(['NO', over]);
  });
});
