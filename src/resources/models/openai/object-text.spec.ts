import { expect, it, jest } from '@jest/globals';
import { ObjectText } from './object-text.js';

const textOf = (...pieces: readonly string[]) => {
  const text = new ObjectText();
  for (const piece of pieces) text.add(piece);
  return text;
};

it.each([
  ['{}', true],
  [' \r\n\t{"a":[{"b":"}"}]} \n', true],
  ['{"a":"\\"}"}', true],
  ['{"a":"\\\\"}', true],
  ['', false],
  ['[]', false],
  ['{"a":"}', false],
  ['{"a":"\\"}', false],
  ['{]', false],
  ['{a}', false],
  ['{} {}', false],
  ['{}x', false],
  ['x{}', false],
  ['\u00a0{}', false],
])('knows of %j whether it is a complete object, however it is split', (written, expected) => {
  expect([textOf(written).isWhole, textOf(...written).isWhole, textOf(...written).text]).toEqual([expected, expected, written]);
});

it('may become whole with its last piece, and be no object with the next', () => {
  const text = new ObjectText();
  const states = ['{"a":', '{}', '}', ' ', '}', '{}'].map((piece) => {
    text.add(piece);
    return text.isWhole;
  });
  expect(states).toEqual([false, false, true, true, false, false]);
});

it('parses once, and only a text whose brackets are closed', () => {
  const parse = jest.spyOn(JSON, 'parse');
  const open = textOf('{"a":"');
  for (let deltas = 0; deltas < 100; deltas++) {
    open.add('}');
    expect(open.isWhole).toBe(false);
  }
  expect(parse).not.toHaveBeenCalled();
  open.add('"}');
  for (let asked = 0; asked < 100; asked++) expect(open.isWhole).toBe(true);
  expect(parse).toHaveBeenCalledTimes(1);
  parse.mockRestore();
});
