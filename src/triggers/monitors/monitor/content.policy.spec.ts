import { expect, it } from '@jest/globals';
import { contentOfText, hashOf, numberIn, valueAt } from './content.policy.js';

it('a change in the last digit of a large whole number is a change', () => {
  const [one, other] = ['9007199254740992', '9007199254740993'].map((id) => contentOfText(`{"items":[{"id":${id}}]}`));
  expect(hashOf(one!.text)).not.toBe(hashOf(other!.text));
  expect(valueAt(other!.json, 'items[0].id')).toBe('9007199254740993');
  expect(numberIn(valueAt(other!.json, 'items[0].id'))).toBe(9007199254740992);
});
