import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chosenActions, completeArguments, modelParameters } from './action.policy.js';
import { fitted, MENDED_MAX, PARAMETERS_DEPTH_MAX, problemOfParameters } from './arguments.policy.js';
import type { ActionDefinition, ParameterDefinition, ParametersDefinition } from './tool.events.js';

const action = (
  properties: Readonly<Record<string, ParameterDefinition>>,
  more: Partial<ParametersDefinition> = {},
): ActionDefinition => ({
  name: 'act',
  description: 'Acts',
  active: true,
  parameters: { type: 'object', properties, ...more },
});

describe('the parameters of an action', () => {
  it('are given to the model as JSON Schema, without the fixed ones and in their order', () => {
    const parameters = modelParameters(
      action(
        {
          zebra: { type: 'string', description: 'Z', filled_by_llm: true, value: '', default: 'z', required: true },
          hidden: { type: 'string', filled_by_llm: false, value: 'x', required: true },
          valued: { type: 'string', value: 'x' },
          ant: {
            type: 'object',
            properties: { value: { type: 'string' } },
            required: ['value'],
          },
        },
        { required: ['hidden', 'ant'], additionalProperties: false, $defs: { x: {} } },
      ),
    );
    expect(JSON.stringify(parameters)).toBe(
      JSON.stringify({
        additionalProperties: false,
        $defs: { x: {} },
        type: 'object',
        properties: {
          zebra: { type: 'string', description: 'Z', default: 'z' },
          ant: { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] },
        },
        required: ['zebra', 'ant'],
      }),
    );
  });

  it('keep their fixed values whatever arguments the model sends', () => {
    const fixed = action({ a: {}, b: { filled_by_llm: false, value: 'fixed' }, c: { filled_by_llm: false, default: 'other' } });
    expect(completeArguments(fixed, { a: 1, b: 'mine', c: 'mine', d: 2 })).toEqual({ a: 1, b: 'fixed', c: 'other', d: 2 });
    expect(completeArguments(action({ e: { filled_by_llm: false } }), { e: 'mine' })).toEqual({});
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        expect(completeArguments(fixed, args)).toMatchObject({ b: 'fixed', c: 'other' });
      }),
    );
  });
});

describe('arguments', () => {
  it.each([
    ['a number as text', { n: { type: 'integer' } }, { n: ' 7 ' }, { n: 7 }],
    ['text as a number', { s: { type: 'string' } }, { s: 7 }, { s: '7' }],
    ['a boolean as text', { b: { type: 'boolean' } }, { b: 'True' }, { b: true }],
    [
      'one inside another',
      { o: { type: 'object', properties: { 'a/b': { type: 'number' } } } },
      { o: { 'a/b': '1e3' } },
      { o: { 'a/b': 1000 } },
    ],
    ['null for an optional parameter', { s: { type: 'string' } }, { s: null }, {}],
    ['undescribed', {}, { x: [1] }, { x: [1] }],
    [
      'text that does not match a pattern, which the called service checks',
      { s: { type: 'string', pattern: '^(a+)+$' } },
      { s: 'b' },
      { s: 'b' },
    ],
    [
      'whole numbers that JavaScript would round, as text',
      { n: { type: 'integer' }, l: { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'null' }] } } },
      { n: '1234567890123456789', l: ['-1234567890123456789'] },
      { n: '1234567890123456789', l: ['-1234567890123456789'] },
    ],
    ['named like a keyword', { pattern: { type: 'string' } }, { pattern: 'x' }, { pattern: 'x' }],
  ] as const)('may be %s', (_, properties, given, args) => {
    expect(fitted(action(properties as never), given)).toEqual({ args });
  });

  it.each([
    ['missing', { s: { required: true } }, {}, "The arguments must have required property 's'."],
    ['null for a required parameter', { s: { type: 'string', required: true } }, { s: null }, 'The argument s must be string.'],
    ['text that is not a number', { n: { type: 'integer' } }, { n: '7 apples' }, 'The argument n must be integer.'],
    [
      'a whole number as text where an object is asked',
      { o: { type: 'object' } },
      { o: '1234567890123456789' },
      'The argument o must be object.',
    ],
    ['a fraction for an integer', { n: { type: 'integer' } }, { n: '7.5' }, 'The argument n must be integer.'],
    [
      'a value outside the enum',
      { s: { enum: ['a', 'b'] } },
      { s: 'c' },
      'The argument s must be equal to one of the allowed values: a, b.',
    ],
    [
      'of a wrong type inside a list',
      { l: { type: 'array', items: { type: 'object' } } },
      { l: [{}, 1] },
      'The argument l.1 must be object.',
    ],
  ] as const)('may not be %s', (_, properties, given, problem) => {
    expect(fitted(action(properties as never), given)).toEqual({ problem });
  });

  it('may not be additional properties if the schema forbids them', () => {
    expect(fitted(action({}, { additionalProperties: false }), { odd: 1 })).toEqual({
      problem: 'The arguments must NOT have additional properties: odd.',
    });
  });

  it('are converted up to a maximum number, in a copy', () => {
    const list = action({ l: { type: 'array', items: { type: 'integer' } } });
    const given = { l: Array<string>(MENDED_MAX).fill('1') };
    expect(fitted(list, given)).toEqual({ args: { l: Array<number>(MENDED_MAX).fill(1) } });
    expect(given.l[0]).toBe('1');
    expect(fitted(list, { l: [...given.l, '1'] })).toHaveProperty('problem');
  });

  it('are refused if the schema refers to itself endlessly', () => {
    const endless = action({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } });
    expect(fitted(endless, { a: 1 })).toEqual({ problem: 'The schema refers to itself without an end.' });
  });

  it('cannot be checked against schemas that are too deep, invalid or refer to other documents', () => {
    const deep = Array.from({ length: PARAMETERS_DEPTH_MAX }).reduce<object>((items) => ({ type: 'array', items }), {});
    expect(problemOfParameters(action({ a: deep as ParameterDefinition }))).toMatch(/nested deeper/);
    expect(problemOfParameters(action({ a: { type: 'nonsense' } }))).toBeDefined();
    expect(problemOfParameters(action({ a: { $ref: 'https://elsewhere.example/schema.json' } }))).toBeDefined();
    const lenient = { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', $defs: { t: { type: 'string' } } };
    for (let times = 0; times < 2; times++)
      expect(problemOfParameters(action({ a: { $ref: '#/$defs/t' } }, lenient))).toBeUndefined();
  });
});

describe('parameters in earlier drafts of JSON Schema and in OpenAPI 3.0', () => {
  it.each([
    [
      'a list with a schema for each place',
      { l: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } },
      { l: ['a', 1] },
    ],
    [
      'an exclusive bound',
      { n: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } },
      { n: 1 },
    ],
    ['an identifier', { o: { id: 'https://api.example/o', type: 'object' } }, { o: {} }],
    [
      'a nullable value with and without a type',
      { s: { type: 'string', nullable: true }, a: { nullable: true, enum: ['x'] } },
      { a: 'x' },
    ],
    ['a schema that contains itself', { o: { $ref: '#' }, n: { type: 'number' } }, { o: { o: { n: 1 } } }],
  ])('may be %s', (_, properties, args) => {
    const given = action(properties);
    expect(problemOfParameters(given)).toBeUndefined();
    expect(fitted(given, args)).toEqual({ args });
  });

  it('are checked as far as they can be', () => {
    const given = action({ o: { $ref: '#' }, n: { type: 'number', minimum: 0, exclusiveMinimum: true } });
    expect(fitted(given, { o: { n: -1 } })).toEqual({ problem: 'The argument o.n must be >= 0.' });
  });
});

describe('the choices of an owner about actions', () => {
  const served = [action({ a: { type: 'string', description: 'A' } }), { ...action({}), name: 'get', access: 'read' } as const];
  const choose = (...choices: Parameters<typeof chosenActions>[2]) => chosenActions('mcp_tool', served, choices, { texts: true });

  it('switch actions off and require approvals; other fields are ignored', () => {
    expect(choose({ name: 'act', active: false, require_approval: true, idempotent: true })).toEqual([
      { ...served[0], active: false, require_approval: true },
      served[1],
    ]);
  });

  it('fix parameters, and replace descriptions only if texts may be replaced', () => {
    const parameters = { properties: { a: { value: 'x', filled_by_llm: false, type: 'integer' }, b: {} } };
    expect(choose({ name: 'act', description: 'Mine', parameters } as never)[0]).toMatchObject({
      description: 'Mine',
      parameters: { properties: { a: { type: 'string', description: 'A', value: 'x', filled_by_llm: false } } },
    });
    const [reworded] = chosenActions('mcp_tool', served, [{ name: 'act', description: 'Old' }], { texts: false });
    expect(reworded!.description).toBe('Acts');
  });

  it('set the access only where it differs from the derived one', () => {
    expect(choose({ name: 'act', access: 'write' }, { name: 'get', access: 'read' })).toEqual(served);
    expect(choose({ name: 'act', access: 'read' }, { name: 'get', access: 'write' })).toMatchObject([
      { access: 'read' },
      { access: 'write' },
    ]);
  });
});
