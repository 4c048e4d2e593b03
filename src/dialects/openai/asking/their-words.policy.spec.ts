import { expect, it } from '@jest/globals';
import { Rejection } from '../../../kernel/rejection.js';
import { inTheirWords } from './their-words.policy.js';

const NAMES = { json_schema: 'response_format', question: 'messages', max_tokens: 'max_output_tokens' };
const thrownFor = (error: unknown): unknown => {
  try {
    return inTheirWords(NAMES)(error);
  } catch (thrown) {
    return thrown;
  }
};

it.each([
  ['question has a NUL', 'messages has a NUL', 'messages'],
  ['question\nhas two lines', 'messages\nhas two lines', 'messages'],
  ['llm_params.max_tokens must be whole', 'max_output_tokens must be whole', 'max_output_tokens'],
  ['llm_params.seed must be whole', 'seed must be whole', 'seed'],
])('%j names the field of the dialect', (message, theirs, param) =>
  expect(thrownFor(new Rejection('invalid-request', message))).toMatchObject({
    code: 'invalid-request',
    message: theirs,
    details: { param },
  }),
);

it('a schema that cannot be used is reported at the field that held it', () =>
  expect(thrownFor(new Rejection('invalid-json-schema', 'type is unknown'))).toMatchObject({
    code: 'invalid-json-schema',
    message: 'response_format: type is unknown',
    details: { param: 'response_format' },
  }));

it('a missing conversation has a code of its own', () =>
  expect(thrownFor(new Rejection('conversation-not-found', 'No such conversation'))).toMatchObject({
    code: 'openai-conversation-not-found',
    message: 'No such conversation',
  }));

it.each([
  new Rejection('quota', 'Too many requests', { limit: 5 }),
  new Rejection('quota', 'questions are too many'),
  new Rejection('quota', 'toString is no field'),
  new Rejection('quota', '"question" is quoted'),
  new Error('question is broken'),
])('%s is thrown unchanged', (error) => expect(thrownFor(error)).toBe(error));
