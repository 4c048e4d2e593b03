import { describe, expect, it } from '@jest/globals';
import { functionOf } from './functions.policy.js';

const parameters = { type: 'object' };

describe('a function of the caller', () => {
  it.each([
    [{ name: 'pick' }, { name: 'pick' }],
    [{ name: 'pick', description: null, parameters: null, strict: null }, { name: 'pick' }],
    [{ name: 'pick', description: '' }, { name: 'pick' }],
    [
      { name: 'pick', description: 'Picks.', parameters, x: 1 },
      { name: 'pick', description: 'Picks.', parameters },
    ],
  ])('%j is declared as %j', (given, declared) => expect(functionOf(given, 'tools[0]')).toEqual({ declared, ignored: [] }));

  it('may be strict, which has no effect', () => {
    expect(functionOf({ name: 'pick', strict: true }, 'tools[0]').ignored).toEqual(['tools[0].strict']);
    expect(functionOf({ name: 'pick', strict: false }, 'tools[0]').ignored).toEqual([]);
  });

  it.each([
    [{}, 'name', 'a string'],
    [{ name: '' }, 'name', 'a string'],
    [{ name: 7 }, 'name', 'a string'],
    [{ name: 'pick', description: 7 }, 'description', 'a string'],
    [{ name: 'pick', parameters: [] }, 'parameters', 'an object'],
    [{ name: 'pick', strict: 'yes' }, 'strict', 'a boolean'],
  ])('%j is refused', (given, field, kind) =>
    expect(() => functionOf(given, 'tools[0]')).toThrow(
      expect.objectContaining({
        code: 'invalid-request',
        message: `tools[0].${field} must be ${kind}.`,
        details: { param: `tools[0].${field}` },
      }),
    ),
  );
});
