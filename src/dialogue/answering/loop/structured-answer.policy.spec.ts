import { describe, expect, it } from '@jest/globals';
import { withObjectRoot } from '../../../resources/models/model/object-root.policy.js';
import { structuredAnswer } from './structured-answer.policy.js';

const WHY = { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] };
const LIST = { type: 'array', items: { type: 'integer' } };

describe('a structured answer', () => {
  it.each([
    '{"why":"so"}',
    '```json\n{"why":"so"}\n```',
    ' ```\n{"why":"so"}```\n',
    '```JSON {"why":"so"} ```',
    'Here it is:\n\n```json\r\n{"why":"so"}\r\n```\nAsk for more.',
  ])('is taken out of its code fence: %j', (text) => {
    expect(structuredAnswer(text, WHY)).toEqual({ answer: '{"why":"so"}' });
  });

  it('keeps a fence that is part of its value', () => {
    const text = JSON.stringify({ why: '```json\n{}\n```' });
    expect(structuredAnswer(text, WHY)).toEqual({ answer: text });
    expect(structuredAnswer(`\`\`\`json\n${text}\n\`\`\``, WHY)).toEqual({ answer: text });
  });

  it.each([
    ['', /JSON/],
    ['Because.', /JSON/],
    ['{"why":', /JSON/],
    ['{"why":1}', /\/why must be string/],
    ['[{"why":"so"}]', /must be object/],
  ])('reports the problem with %j', (text, problem) => {
    expect(structuredAnswer(text, WHY)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it.each(['', '```'])('is refused if it is nested too deep to be stored, in the fence %j', (fence) => {
    const deep = `{"why":"so","more":${'['.repeat(4_000)}${']'.repeat(4_000)}}`;
    const read = structuredAnswer(`${fence}${deep}${fence}`, WHY);
    expect(read).toEqual({ problem: 'It is nested deeper than 100 levels.' });
  });

  it('may be a list, or an object that contains the list as its value', () => {
    expect(structuredAnswer('[1,2]', LIST)).toEqual({ answer: '[1,2]' });
    expect(structuredAnswer('{"value":[1,2]}', LIST)).toEqual({ answer: '[1,2]' });
    expect(structuredAnswer('```json\n{"value": [1, 2]}\n```', LIST)).toEqual({ answer: '[1,2]' });
    expect(structuredAnswer('{"value":["a"]}', LIST)).toEqual({ problem: expect.stringMatching(/\/0 must be integer/) });
    expect(structuredAnswer('{"value":[1],"more":1}', LIST)).toEqual({ problem: expect.stringMatching(/must be array/) });
  });

  it('is not unwrapped if its schema has an object root', () => {
    const schema = { type: 'object', properties: { value: { type: 'object' } } };
    expect(structuredAnswer('{"value":{"value":{}}}', schema)).toEqual({ answer: '{"value":{"value":{}}}' });
  });
});

describe('a schema for providers that accept only object roots', () => {
  it('does not change if it has an object root', () => {
    expect(withObjectRoot(WHY)).toBe(WHY);
  });

  it('becomes the value of an object, with its references adapted', () => {
    const tree = {
      type: 'array',
      items: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/leaf' }] },
      $defs: { leaf: { type: 'integer' } },
    };
    expect(withObjectRoot(tree)).toEqual({
      type: 'object',
      properties: { value: { type: 'array', items: { anyOf: [{ $ref: '#/properties/value' }, { $ref: '#/$defs/leaf' }] } } },
      required: ['value'],
      additionalProperties: false,
      $defs: { leaf: { type: 'integer' } },
    });
  });
});
