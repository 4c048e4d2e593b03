import { describe, expect, it } from '@jest/globals';
import { APIError } from 'openai';
import { failureOf, kindOf, REASON_CHARACTERS_MAX, reasonIn } from './openai-failures.js';
import { dislikeIn, isAboutThisSchema } from './openai-request.js';

const errorOf = (error: object) => APIError.generate(400, { error }, undefined, new Headers());
const late = (reason: string) => errorOf({ message: `${'x'.repeat(REASON_CHARACTERS_MAX)} ${reason}` });

describe('the reason of an error', () => {
  it('is found in its message and in its parameter', () => {
    expect(dislikeIn(errorOf({ message: 'max_tokens is not supported' }))).toBe('max-tokens');
    expect(dislikeIn(errorOf({ message: 'Unknown', param: 'stream_options' }))).toBe('usage');
    expect(isAboutThisSchema(errorOf({ message: 'Invalid schema for response_format' }))).toBe(true);
    expect(failureOf(errorOf({ message: 'maximum context' })).failure).toBe('context-too-long');
  });

  it('is searched in REASON_CHARACTERS_MAX characters of each text', () => {
    expect(reasonIn('x'.repeat(10 * REASON_CHARACTERS_MAX), 429)).toBe(`${'x'.repeat(REASON_CHARACTERS_MAX)} 429`);
    expect(dislikeIn(late('max_tokens is not supported'))).toBeUndefined();
    expect(isAboutThisSchema(late('Invalid schema'))).toBe(false);
    expect(failureOf(late('maximum context')).failure).toBe('not-accepted');
  });

  it('is not searched in values that are neither texts nor numbers', () => {
    const odd = { toString: 1, valueOf: 1 };
    expect(dislikeIn(errorOf({ message: 'max_completion_tokens', param: odd }))).toBe('max-tokens');
    expect(kindOf(400, reasonIn(odd, null, undefined, ['content_filter']))).toBe('not-accepted');
  });
});
