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
  ['a boolean from a form', { type: 'boolean' }, 'false', false],
  ['a choice', { enum: ['a', 'b'] }, 'b', 'b'],
  ['its default if it is left out', { default: 'x', required: true }, undefined, 'x'],
  ['its default if it is left empty', { type: 'number', default: 30 }, ' ', 30],
  ['left out if it is optional and null', {}, null, undefined],
] as const)('a field may be %s', (_, more, value, expected) => {
  expect(read(more, value)).toEqual({ config: expected === undefined ? {} : { it: expected }, secrets: {}, errors: {} });
});

it.each([
  ['missing', { required: true }, undefined, 'It is required'],
  ['empty', { required: true }, '', 'It is required'],
  ['of another type', {}, { deep: 1 }, 'It must be a string'],
  ['not a number', { type: 'number' }, 'seven', 'It must be a number'],
  ['not a boolean', { type: 'boolean' }, 'maybe', 'It must be a boolean'],
  ['not one of the choices', { enum: ['a', 'b'] }, 'c', 'It must be one of a, b'],
] as const)('a field that is %s is reported by its name', (_, more, value, problem) => {
  expect(read(more, value).errors).toEqual({ it: problem });
});

it('a secret is separated from the configuration, and need not be given again', () => {
  const secret = { secret: true, required: true };
  expect(read(secret, 'hidden')).toEqual({ config: {}, secrets: { it: 'hidden' }, errors: {} });
  expect(read(secret, '', ['it'])).toEqual({ config: {}, secrets: {}, errors: {} });
  expect(read(secret, '', ['other']).errors).toEqual({ it: 'It is required' });
});

it('fields that the kind does not declare are passed on to it, except the markers of responses', () => {
  const given = JSON.parse(
    '{"actions":{},"has_encrypted_credentials":true,"encrypted_credentials":"x","constructor":1}',
  ) as object;
  expect(readConfig({}, { ...given }, new Set()).config).toEqual({ actions: {}, constructor: 1 });
});
