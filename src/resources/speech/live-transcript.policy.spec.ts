import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../test/support/cpu-time.js';
import { LIVE_CHARACTERS_MAX, type LiveTranscript, wholeText, withHeard } from './live-transcript.policy.js';

const NOTHING: LiveTranscript = { language: null, committed: '', mutable: '', lastChunk: -1 };
const after = (...texts: readonly string[]) =>
  texts.reduce((transcript, text, chunk) => withHeard(transcript, text, chunk, 'en'), NOTHING);

describe('a live transcript', () => {
  it('keeps the words of the first chunk mutable', () => {
    expect(after('Tea is at')).toEqual({ language: 'en', committed: '', mutable: 'Tea is at', lastChunk: 0 });
  });

  it('commits words that two chunks agree on, as the later chunk writes them', () => {
    const heard = after('tea is at', 'Tea is at four, I think');
    expect(heard).toMatchObject({ committed: 'Tea is at', mutable: 'four, I think', lastChunk: 1 });
    expect(wholeText(heard)).toBe('Tea is at four, I think');
  });

  it('replaces mutable words that the next chunk does not contain', () => {
    expect(after('Tea is at poor', 'Tea is at four')).toMatchObject({ committed: 'Tea is at', mutable: 'four' });
    expect(after('Key', 'Tea is')).toMatchObject({ committed: '', mutable: 'Tea is' });
  });

  it('joins chunks that hold only the end of the speech', () => {
    const heard = after('one two three', 'one two three four five', 'three four five six', 'five six seven');
    expect(wholeText(heard)).toBe('one two three four five six seven');
  });

  it('joins chunks in linear time, also if most of their words are the same', () => {
    const many = 'o '.repeat(29_000);
    let heard = NOTHING;
    expect(cpuMsOf(() => (heard = after(`${many}never`, `${many}never more`, `${many}ever`)))).toBeLessThan(1_000);
    expect(heard.committed.endsWith('o o never')).toBe(true);
  });

  it('has no chunk with more than LIVE_CHARACTERS_MAX characters', () => {
    expect(() => after('x'.repeat(LIVE_CHARACTERS_MAX))).not.toThrow();
    expect(() => after('x '.repeat(LIVE_CHARACTERS_MAX))).toThrow(/at most/);
  });

  it('does not change for a silent chunk', () => {
    expect(after('Tea is', ' ')).toMatchObject({ committed: '', mutable: 'Tea is', lastChunk: 1 });
  });
});
