import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Rejection } from '../../../../kernel/rejection.js';
import { Fields, refuseUnsayable, shown } from './file-fields.policy.js';

const fieldsOf = (value: Record<string, unknown>, path = 'spec') => {
  const unknown: string[] = [];
  return { fields: new Fields(value, path, unknown), unknown };
};

it('a key that every object inherits is not in a file', () => {
  const { fields } = fieldsOf({});
  for (const key of ['constructor', 'toString', '__proto__']) {
    expect([fields.raw(key), fields.has(key), fields.text(key), fields.list(key)]).toEqual([undefined, false, '', []]);
  }
});

it('a missing value is empty: a text, a list and a mapping, while a flag and a whole number are undefined', () => {
  const { fields } = fieldsOf({ a: null });
  for (const key of ['a', 'b']) {
    expect([fields.text(key), fields.list(key), fields.record(key), fields.number(key)]).toEqual(['', [], {}, 0]);
    expect([fields.flag(key), fields.whole(key)]).toEqual([undefined, undefined]);
  }
});

it('a name that YAML reads as a number or as a truth value is text', () => {
  const { fields } = fieldsOf({ a: 42, b: false });
  expect([fields.text('a'), fields.text('b')]).toEqual(['42', 'false']);
});

it.each(['a\0b', '\uD800'])('a name with a character that cannot be stored is refused, and another text is not: %j', (text) => {
  const { fields } = fieldsOf({ text });
  expect(() => fields.name('text')).toThrow('spec.text must not hold NUL or half of a surrogate pair');
  expect(fields.text('text')).toBe(text);
});

it('unknown keys are reported once all known ones are read, with the path and without the end of a long name', () => {
  const { fields, unknown } = fieldsOf({ known: 1, [`${'x'.repeat(300)}`]: 2 }, 'spec.model');
  fields.raw('known');
  fields.end();
  expect(unknown).toEqual([`spec.model.${'x'.repeat(100)}`]);
});

it('a value is shown in at most 100 characters, and one that JSON has no text for as nothing', () => {
  expect([shown(undefined), shown('x'.repeat(300)), shown([1])]).toEqual(["'nothing'", `'${'x'.repeat(100)}'`, "'[1]'"]);
});

it('a value that JSON cannot represent is refused at any depth, and any other is not', () => {
  const unsayable = fc.constantFrom<() => unknown>(
    () => NaN,
    () => -Infinity,
    () => JSON.parse('{"__proto__":1}'),
  );
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.boolean(), { maxLength: 6 }), unsayable, (beside, nesting, bad) => {
      const nested = (inner: unknown) =>
        nesting.reduce<unknown>((value, isList) => (isList ? [beside, value] : { beside, value }), inner);
      const isOdd = JSON.stringify(beside).includes('"__proto__"');
      fc.pre(!isOdd);
      expect(() => refuseUnsayable(nested('good'), 'spec')).not.toThrow();
      expect(() => refuseUnsayable(nested(bad()), 'spec')).toThrow(Rejection);
    }),
  );
});
