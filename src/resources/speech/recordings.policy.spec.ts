import { describe, expect, it } from '@jest/globals';
import { RECORDING_BYTES_MAX, refuseRecording, SPOKEN_PART_CHARACTERS_MAX, spokenParts } from './recordings.policy.js';

describe('a text for speech', () => {
  it('is one part if it is short and no part if it is blank', () => {
    expect(spokenParts(' Tea. ')).toEqual(['Tea.']);
    expect(spokenParts(' \n')).toEqual([]);
  });

  it('is cut at the end of a sentence, else between words, else anywhere', () => {
    const sentences = 'Tea is at four. '.repeat(600).trim();
    expect(spokenParts(sentences).every((part) => part.endsWith('four.'))).toBe(true);
    expect(spokenParts(sentences).join(' ')).toBe(sentences);
    const words = 'tea '.repeat(2_000).trim();
    expect(spokenParts(words).join(' ')).toBe(words);
    const one = 'x'.repeat(SPOKEN_PART_CHARACTERS_MAX + 1);
    expect(spokenParts(one).map(({ length }) => length)).toEqual([SPOKEN_PART_CHARACTERS_MAX, 1]);
    const faces = `x${'😀'.repeat(SPOKEN_PART_CHARACTERS_MAX)}`;
    expect(spokenParts(faces).every((part) => part.isWellFormed())).toBe(true);
    expect(spokenParts(faces).join('')).toBe(faces);
  });
});

describe('a recording', () => {
  it('is refused if its type is unsupported or it is too large', () => {
    expect(() => refuseRecording({ filename: 'a.WAV', size: RECORDING_BYTES_MAX })).not.toThrow();
    expect(() => refuseRecording({ filename: 'a.exe', size: 1 })).toThrow(/Unsupported audio format/);
    expect(() => refuseRecording({ filename: 'a.wav', size: RECORDING_BYTES_MAX + 1 })).toThrow(/exceeds/);
  });
});
