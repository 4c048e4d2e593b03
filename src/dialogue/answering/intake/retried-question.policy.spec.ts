import { expect, it } from '@jest/globals';
import type { TurnStatus } from '../../conversation/conversation.events.js';
import type { Turn } from '../../conversation/turn.policy.js';
import { canonicalText } from '../../../kernel/event-sourcing/fingerprints.js';
import type { QuestionRequest } from './question.dto.js';
import { asksForPlace, repetitionOf } from './retried-question.policy.js';

const fingerprint = (request: QuestionRequest) => canonicalText(['stream', request]);
const first: QuestionRequest = { question: 'Why?', conversation_id: null };
const turn = (status: TurnStatus, more: Partial<Turn> = {}) => ({ index: 0, status, superseded: false, ...more }) as Turn;

/** Classifies a request whose key was used by the first question of the conversation `c`, or by another request. */
const means = (request: QuestionRequest, stands: Turn | undefined, asked: QuestionRequest = first) =>
  repetitionOf(request, { fingerprint: fingerprint(asked), conversationId: 'c', turn: stands }, fingerprint);

const RETRIES: readonly QuestionRequest[] = [
  { ...first, index: 0 },
  { ...first, index: 0, conversation_id: 'c' },
];

it.each(RETRIES)('a retry is the same question while that may still be answered and after it was answered: %j', (retry) => {
  for (const status of ['asked', 'running', 'paused', 'answered'] as const) expect(means(retry, turn(status))).toBe('again');
});

it.each(RETRIES)('a retry of a failed or stopped question asks again, whatever else it changes: %j', (retry) => {
  for (const status of ['failed', 'stopped'] as const) {
    expect(means(retry, turn(status))).toBe('anew');
    expect(means({ ...retry, model_id: 'another' }, turn(status))).toBe('anew');
    expect(means(retry, turn(status), retry)).toBe('anew');
  }
});

it('a retry matches the request that was sent before the conversation was known', () =>
  expect(means(RETRIES[1]!, turn('running'), RETRIES[0])).toBe('again'));

it('a retry matches a first question without a conversation field', () =>
  expect(means(RETRIES[1]!, turn('running'), { question: 'Why?' })).toBe('again'));

it('a question with another index, conversation or text is a different request', () => {
  for (const more of [{ index: 1 }, { conversation_id: 'd' }, { question: 'How?' }]) {
    expect(means({ ...RETRIES[1]!, ...more }, turn('answered'))).toBe('differently');
  }
  expect(means({ ...RETRIES[1]!, index: 1 }, turn('failed'))).toBe('differently');
  expect(means({ ...RETRIES[1]!, conversation_id: 'd' }, turn('failed'))).toBe('differently');
});

it('a question whose turn is superseded or not in the log yet matches only the same request', () => {
  for (const stands of [turn('failed', { superseded: true }), undefined]) {
    expect(means(RETRIES[1]!, stands)).toBe('differently');
    expect(means(RETRIES[1]!, stands, RETRIES[1])).toBe('again');
  }
});

it('the same request without an index is a repetition, also of a failed question', () => {
  expect(means(first, turn('failed'))).toBe('again');
  expect(means({ ...first, question: 'How?' }, turn('failed'))).toBe('differently');
});

it('decisions on tool calls replace no question', () => {
  expect(asksForPlace({ index: 0, tool_actions: [{ call_id: 'c1' }] })).toBe(false);
  expect(asksForPlace({ index: 0, tool_actions: [] })).toBe(true);
});
