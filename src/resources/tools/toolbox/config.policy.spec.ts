import { expect, it } from '@jest/globals';
import { readConfig } from './config.policy.js';
import type { ConfigField } from './tool-kind.port.js';

const field = (more: Partial<ConfigField>): ConfigField => ({
  type: 'string',
  label: 'It',
  description: '',
  required: false,
  secret: false,
  ...more,
});
const read = (more: Partial<ConfigField>, value: unknown, there: readonly string[] = []) =>
  readConfig({ it: field(more) }, value === undefined ? {} : { it: value }, new Set(there));

it.each([
  ['text', {}, ' as it is ', ' as it is '],
  ['a number', { type: 'number' }, 7, 7],
  ['a number from a form', { type: 'number' }, '7.5', 7.5],
  ['a truth from a form', { type: 'boolean' }, 'false', false],
  ['a choice', { enum: ['a', 'b'] }, 'b', 'b'],
  ['the default of what is left out', { default: 'x', required: true }, undefined, 'x'],
  ['the default of what is left empty', { type: 'number', default: 30 }, ' ', 30],
  ['nothing for what may be left out', {}, null, undefined],
] as const)('a field is %s', (_, more, value, expected) => {
  expect(read(more, value)).toEqual({ config: expected === undefined ? {} : { it: expected }, secrets: {}, errors: {} });
});

it.each([
  ['missing', { required: true }, undefined, 'It is required'],
  ['empty', { required: true }, '', 'It is required'],
  ['of another type', {}, { deep: 1 }, 'It must be a string'],
  ['no number', { type: 'number' }, 'seven', 'It must be a number'],
  ['no truth', { type: 'boolean' }, 'maybe', 'It must be a boolean'],
  ['no choice', { enum: ['a', 'b'] }, 'c', 'It must be one of a, b'],
] as const)('a field that is %s is told by its name', (_, more, value, problem) => {
  expect(read(more, value).errors).toEqual({ it: problem });
});

it('a secret is taken out, and need not be given again', () => {
  const secret = { secret: true, required: true };
  expect(read(secret, 'hidden')).toEqual({ config: {}, secrets: { it: 'hidden' }, errors: {} });
  expect(read(secret, '', ['it'])).toEqual({ config: {}, secrets: {}, errors: {} });
  expect(read(secret, '', ['other']).errors).toEqual({ it: 'It is required' });
});

it('what no field asks for is left to the kind, but for the marks of answers', () => {
  const given = JSON.parse(
    '{"actions":{},"has_encrypted_credentials":true,"encrypted_credentials":"x","constructor":1}',
  ) as object;
  expect(readConfig({}, { ...given }, new Set()).config).toEqual({ actions: {}, constructor: 1 });
});
