import { describe, expect, it } from '@jest/globals';
import { isBeyondNumbers, parseExactJson } from './exact-json.policy.js';

const ID = '1234567890123456789';

describe('a whole number in a JSON text', () => {
  it.each([
    [`{"id":${ID}}`, { id: ID }],
    [`{"ids":[-${ID},1,${ID}]}`, { ids: [`-${ID}`, 1, ID] }],
    [ID, ID],
    ['9007199254740991', 9007199254740991],
    ['[9007199254740992,-9007199254740993]', ['9007199254740992', '-9007199254740993']],
  ])('keeps all its digits: %s', (text, value) => {
    expect(parseExactJson(text, 'It')).toEqual(value);
  });

  it.each([
    [`[0.${ID},${ID}.5,${ID}e3,1e17]`, [Number(`0.${ID}`), Number(`${ID}.5`), Number(`${ID}e3`), 1e17]],
    [String.raw`{"a \"${ID}":"\\","b":"${ID}, \" ${ID}"}`, { [`a "${ID}`]: '\\', b: `${ID}, " ${ID}` }],
  ])('is not searched in fractions and texts: %s', (text, value) => {
    expect(parseExactJson(text, 'It')).toEqual(value);
  });

  it('is refused with the rest of a text that is no JSON', () => {
    expect(() => parseExactJson(`{"id":${ID}, "`, 'It')).toThrow(SyntaxError);
  });

  it.each([
    [ID, true],
    ['123', false],
    [`${ID}.5`, false],
    [`${ID}a`, false],
  ])('%s is beyond numbers: %s', (text, is) => {
    expect(isBeyondNumbers(text)).toBe(is);
  });
});
