import { describe, expect, it } from '@jest/globals';
import {
  charactersOf,
  type FieldRule,
  flag,
  listOf,
  oneOf,
  orNull,
  readFields,
  share,
  textOf,
  wholeNumber,
} from './config-fields.policy.js';

const positive = (value: unknown) => (Number(value) > 0 ? Number(value) : undefined);

describe('the rule of a field', () => {
  it.each<[string, FieldRule<unknown>, unknown[], unknown[]]>([
    ['true or false', flag(true), [true, false], [0, 'true', null]],
    ['one of a, b', oneOf(['a', 'b']), ['a', 'b'], ['c', '', null]],
    ['a whole number from 1 to 9', wholeNumber(5, { min: 1, max: 9 }), [1, 9], [0, 10, 1.5, '5', null]],
    ['a number from 0 to 1', share(0.5), [0, 0.5, 1], [-0.1, 1.1, '0.5', NaN]],
    // Characters are code points, and white space around the text does not count.
    ['a text of 2 to 3 characters', textOf({ min: 2, max: 3 }), ['ab', ' abc ', '𝟘𝟙𝟚'], ['a', ' a ', 'abcd', '𝟘𝟙𝟚𝟛', 7]],
    ['true or false, or null', orNull(flag(true)), [true, false, null], [0]],
    ['a list of 1 to 2 numbers', listOf({ min: 1, max: 2, of: 'numbers' }, positive), [[1], [1, 2]], [[], [1, 2, 3], [1, 0], 1]],
  ])('accepts %s', (is, rule, valid, invalid) => {
    expect(rule.is).toBe(is);
    expect(valid.map(rule.read)).toEqual(valid);
    expect(invalid.map(rule.read)).toEqual(invalid.map(() => undefined));
  });

  it.each([
    ['a flag', flag(true), true],
    ['a flag that is off', flag(false), false],
    ['a choice', oneOf(['a', 'b'], 'b'), 'b'],
    ['a required choice', oneOf(['a', 'b']), undefined],
    ['a whole number', wholeNumber(5, { min: 1, max: 9 }), 5],
    ['a share', share(0.5), 0.5],
    ['a text', textOf({ min: 0, max: 3 }, ''), ''],
    ['a required text', textOf({ min: 0, max: 3 }), undefined],
    ['a field that may be null', orNull(flag(true)), null],
    ['a list', listOf({ min: 0, max: 2, of: 'numbers' }, positive, []), []],
    ['a required list', listOf({ min: 0, max: 2, of: 'numbers' }, positive), undefined],
  ])('has the default of %s', (_, { fallback }, expected) => expect(fallback).toEqual(expected));
});

describe('an object', () => {
  const rules = { on: flag(true), name: textOf({ min: 1, max: 3 }) };
  it.each([
    ['all fields', { on: false, name: 'a' }, { on: false, name: 'a' }, { on: false, name: 'a' }, []],
    ['a missing field with a default', { name: 'a' }, { name: 'a' }, { on: true, name: 'a' }, []],
    [
      'an invalid field with a default',
      { on: 1, name: 'a' },
      { name: 'a' },
      { on: true, name: 'a' },
      ['at.on must be true or false.'],
    ],
    ['a missing required field', { on: false }, { on: false }, undefined, ['at.name must be a text of 1 to 3 characters.']],
    ['an unknown field', { name: 'a', x: 1 }, { name: 'a' }, { on: true, name: 'a' }, ['at.x is not known.']],
    [
      'an unknown field with a long name',
      { name: 'a', ['x'.repeat(65)]: 1 },
      { name: 'a' },
      { on: true, name: 'a' },
      [`at.${'x'.repeat(64)} is not known.`],
    ],
  ])('with %s', (_, value, kept, values, problems) => expect(readFields(value, rules, 'at')).toEqual({ kept, values, problems }));

  it('does not inherit fields', () =>
    expect(readFields({}, { toString: flag(true) }, 'at')).toEqual({ kept: {}, values: { toString: true }, problems: [] }));
  it('must be one', () =>
    expect(readFields([], rules, 'at')).toEqual({ kept: {}, values: undefined, problems: ['at must be an object.'] }));
});

it.each([
  ['', 0],
  ['abc', 3],
  ['a𝟘b𝟙', 4],
  ['\ud800a', 2],
])('%j has %i characters', (text, count) => expect(charactersOf(text)).toBe(count));
