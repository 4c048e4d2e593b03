import { describe, expect, it } from '@jest/globals';
import {
  KEPT_BYTES_MAX,
  METADATA_KEY_CHARACTERS_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_CHARACTERS_MAX,
  responseRequestOf,
} from './response-request.policy.js';

const requested = (body: object) => responseRequestOf({ input: 'When is tea?', ...body }, 'agent');
const refusedAt = (param: string) => expect.objectContaining({ code: 'invalid-request', details: { param } });
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));

describe('metadata', () => {
  it('has at most so many pairs', () => {
    expect(requested({ metadata: pairs(METADATA_PAIRS_MAX) }).echo.metadata).toEqual(pairs(METADATA_PAIRS_MAX));
    expect(() => requested({ metadata: pairs(METADATA_PAIRS_MAX + 1) })).toThrow(refusedAt('metadata'));
  });

  it('has keys and values of at most so many characters', () => {
    const [key, value] = ['k'.repeat(METADATA_KEY_CHARACTERS_MAX), 'v'.repeat(METADATA_VALUE_CHARACTERS_MAX)];
    expect(requested({ metadata: { [key]: value } }).echo.metadata).toEqual({ [key]: value });
    expect(() => requested({ metadata: { [`${key}k`]: value } })).toThrow(refusedAt('metadata'));
    expect(() => requested({ metadata: { k: `${value}v` } })).toThrow(refusedAt('metadata.k'));
  });
});

it('a message without content says nothing, and is kept as one without parts', () => {
  const input = [
    { role: 'user', content: null },
    { role: 'user', content: 'When is tea?' },
  ];
  expect(requested({ input }).items).toEqual([
    { type: 'message', role: 'user', content: [] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'When is tea?' }] },
  ]);
});

describe('what is kept of a request', () => {
  const empty = requested({ input: 'x' });
  const room = KEPT_BYTES_MAX - Buffer.byteLength(JSON.stringify([empty.echo, empty.items])) + 1;
  /** Two bytes each. */
  const filling = 'é'.repeat(room / 2) + 'x'.repeat(room % 2);

  it('has at most so many bytes', () => {
    expect(requested({ input: filling }).said).toMatchObject({ question: filling });
    expect(() => requested({ input: `${filling}x` })).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it('is nothing where the response is not stored', () => {
    expect(requested({ input: `${filling}x`, store: false }).store).toBe(false);
  });
});
