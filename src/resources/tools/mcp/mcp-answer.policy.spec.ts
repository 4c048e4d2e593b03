import { describe, expect, it } from '@jest/globals';
import { resultOf, withoutSecrets } from './mcp-answer.policy.js';

describe('what the model is given of an answer', () => {
  it('is the structured part where there is one, whatever it is', () => {
    const content = [{ type: 'text', text: 'nine' }];
    expect([{ of: 9 }, [], null, 0].map((structuredContent) => resultOf({ content, structuredContent }))).toEqual([
      { of: 9 },
      [],
      null,
      0,
    ]);
  });

  it('is its text, in lines', () => {
    expect(
      resultOf({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
    ).toBe('a\nb');
    expect(resultOf({})).toBe('');
  });

  it('is that there is something, where it is of a kind that nobody knows', () => {
    expect(resultOf({ content: [{ type: 'hologram' }] })).toBe('[hologram, not shown]');
  });

  it('is an error where the tool failed, also without a word', () => {
    expect(resultOf({ isError: true, structuredContent: { ignored: true } })).toEqual({
      status: 'error',
      error: 'The tool failed without saying why.',
    });
  });
});

describe('what came back', () => {
  it('is told without the secrets that were sent, as JSON writes them', () => {
    const secret = 'a "long" secret\\';
    expect(withoutSecrets({ deep: [`key=${secret}!`] }, [secret])).toEqual({ deep: ['key=[removed]!'] });
  });

  it('keeps words that are too short for a secret', () => {
    expect(withoutSecrets({ name: 'ann' }, ['ann', ''])).toEqual({ name: 'ann' });
  });
});
