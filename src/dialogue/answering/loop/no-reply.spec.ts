import { describe, expect, it } from '@jest/globals';
import { withoutNoReply } from './no-reply.js';
import type { Piece } from './piece.js';

const usage: Piece = { type: 'usage', promptTokens: 1, completionTokens: 1 };
const over: Piece = { type: 'round-over' };

async function shown(...pieces: (string | Piece)[]): Promise<(string | Piece)[]> {
  async function* made(): AsyncGenerator<Piece> {
    for (const piece of pieces) yield typeof piece === 'string' ? { type: 'text', text: piece } : piece;
  }
  const all: (string | Piece)[] = [];
  for await (const piece of withoutNoReply(made())) all.push(piece.type === 'text' ? piece.text : piece);
  return all;
}

describe('an answer that may say nothing', () => {
  it('shows nothing where it does', async () => {
    expect(await shown('NO_REPLY')).toEqual([]);
    expect(await shown(' NO', '_RE', usage, 'PLY\n')).toEqual([usage]);
    expect(await shown(usage)).toEqual([usage]);
  });
  it('shows all of its text where it says something, from the moment that is known', async () => {
    expect(await shown('No', 'body.')).toEqual(['No', 'body.']);
    expect(await shown('N', 'O', usage, '_REPLY is', ' what I say')).toEqual([usage, 'NO_REPLY is', ' what I say']);
    expect(await shown('NO')).toEqual(['NO']);
  });
  it('may say nothing in each round anew', async () => {
    expect(await shown('Let me see. ', over, 'NO_', 'REPLY')).toEqual(['Let me see. ', over]);
    expect(await shown('NO_REPLY', over, 'It is done.')).toEqual([over, 'It is done.']);
    expect(await shown('NO', over, 'NO_REPLY')).toEqual(['NO', over]);
  });
});
