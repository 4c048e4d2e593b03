import { expect, it } from '@jest/globals';
import { Rejection } from '../../../kernel/rejection.js';
import { REDACTED_CHARACTERS_MIN, redactedError, redaction } from './redaction.policy.js';

const secret = 'pass "word" &1!';

it('a secret is replaced at every place and in every encoding, the longest of several secrets first', () => {
  const redact = redaction({ a: secret, b: `${secret}-longer` });
  const spelled = [
    secret,
    `${secret}-longer`,
    encodeURIComponent(secret),
    new URLSearchParams({ q: secret }).toString(),
    JSON.stringify(secret),
    Buffer.from(secret).toString('base64'),
  ];
  expect(redact({ [secret]: spelled, deep: [{ text: `x${secret}y` }], n: 1, none: null, yes: true })).toEqual({
    '[secret]': ['[secret]', '[secret]', '[secret]', 'q=[secret]', '"[secret]"', '[secret]'],
    deep: [{ text: 'x[secret]y' }],
    n: 1,
    none: null,
    yes: true,
  });
});

it('a secret that is too short to be distinguished from ordinary text is not replaced', () => {
  const [short, long] = ['x'.repeat(REDACTED_CHARACTERS_MIN - 1), 'x'.repeat(REDACTED_CHARACTERS_MIN)];
  expect(redaction({ short })(long)).toBe(long);
  expect(redaction({ long })(long)).toBe('[secret]');
  const value = { same: [1] };
  expect(redaction({})(value)).toBe(value);
});

it('secrets are removed from errors and their causes, which keep their classes', () => {
  const redact = redaction({ secret });
  const cause = new DOMException(`timed out with ${secret}`, 'TimeoutError');
  const error = redactedError(new TypeError(`no ${secret}`, { cause }), redact) as TypeError;
  expect(error).toBeInstanceOf(TypeError);
  expect([error.message, (error.cause as Error).message]).toEqual(['no [secret]', 'timed out with [secret]']);
  expect(`${error.stack} ${(error.cause as Error).stack}`).not.toContain(secret);
  const refused = redactedError(new Rejection('tool-invalid', secret, { errors: { token: secret } }), redact);
  expect(refused).toMatchObject({ code: 'tool-invalid', message: '[secret]', details: { errors: { token: '[secret]' } } });
  expect(redactedError('text', redact)).toBe('text');
});
